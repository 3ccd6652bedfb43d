// SPDX-License-Identifier: Apache-2.0
#include "../cuda_link.h"

#include <GL/gl.h>
// Needs GL's types.
#include <cuda_gl_interop.h>

#include "device/cuda/check.h"

namespace raylift::detail {
namespace {

using cuda::check;
using cuda::CurrentDevice;

unsigned flags_of(MapFlags flags) {
  switch (flags) {
    case MapFlags::read_only:
      return cudaGraphicsMapFlagsReadOnly;
    case MapFlags::write_discard:
      return cudaGraphicsMapFlagsWriteDiscard;
    case MapFlags::none:
      break;
  }
  return cudaGraphicsMapFlagsNone;
}

std::vector<cudaGraphicsResource_t> handles(std::span<void* const> resources) {
  std::vector<cudaGraphicsResource_t> result;
  for (void* resource : resources) result.push_back(static_cast<cudaGraphicsResource_t>(resource));
  return result;
}

}  // namespace

std::vector<int> cuda_gl_devices(std::string& why_none) {
  int devices[16] = {};
  unsigned count = 0;
  const cudaError_t code = cudaGLGetDevices(&count, devices, 16, cudaGLDeviceListAll);
  if (code != cudaSuccess) {
    (void)cudaGetLastError();
    why_none = std::string("cudaGLGetDevices: ") + cudaGetErrorName(code) + ", " + cudaGetErrorString(code);
    return {};
  }
  if (count == 0) why_none = "CUDA sees no device behind this OpenGL context";
  return {devices, devices + count};
}

void* cuda_register(int device, unsigned buffer, MapFlags flags) {
  const CurrentDevice current(device);
  check(current.code(), "selecting cuda:" + std::to_string(device));
  cudaGraphicsResource_t resource = nullptr;
  // Registered for everything: what a map may do can change later.
  check(cudaGraphicsGLRegisterBuffer(&resource, buffer, cudaGraphicsRegisterFlagsNone),
        "registering an OpenGL buffer with cuda:" + std::to_string(device));
  const cudaError_t code = cudaGraphicsResourceSetMapFlags(resource, flags_of(flags));
  if (code != cudaSuccess) (void)cudaGraphicsUnregisterResource(resource);
  check(code, "setting the flags of a shared buffer");
  return resource;
}

void cuda_unregister(int device, void* resource) noexcept {
  const CurrentDevice current(device);
  if (cudaGraphicsUnregisterResource(static_cast<cudaGraphicsResource_t>(resource)) != cudaSuccess)
    (void)cudaGetLastError();
}

void cuda_set_flags(int device, void* resource, MapFlags flags) {
  const CurrentDevice current(device);
  check(cudaGraphicsResourceSetMapFlags(static_cast<cudaGraphicsResource_t>(resource), flags_of(flags)),
        "setting the flags of a shared buffer");
}

void cuda_map(int device, std::span<void* const> resources, StreamHandle stream) {
  const CurrentDevice current(device);
  std::vector<cudaGraphicsResource_t> list = handles(resources);
  check(cudaGraphicsMapResources(static_cast<int>(list.size()), list.data(), static_cast<cudaStream_t>(stream)),
        "mapping shared buffers on cuda:" + std::to_string(device));
}

std::byte* cuda_pointer(int device, void* resource, std::size_t bytes) {
  const CurrentDevice current(device);
  void* data = nullptr;
  std::size_t size = 0;
  check(cudaGraphicsResourceGetMappedPointer(&data, &size, static_cast<cudaGraphicsResource_t>(resource)),
        "finding a shared buffer's address");
  if (size < bytes)
    throw Error(ErrorKind::device,
                "CUDA maps " + std::to_string(size) + " of a shared buffer's " + std::to_string(bytes) + " bytes");
  return static_cast<std::byte*>(data);
}

void cuda_unmap(int device, std::span<void* const> resources, StreamHandle stream) {
  const CurrentDevice current(device);
  std::vector<cudaGraphicsResource_t> list = handles(resources);
  check(cudaGraphicsUnmapResources(static_cast<int>(list.size()), list.data(), static_cast<cudaStream_t>(stream)),
        "unmapping shared buffers on cuda:" + std::to_string(device));
}

}  // namespace raylift::detail
