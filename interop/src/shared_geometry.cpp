// SPDX-License-Identifier: Apache-2.0
#include <raylift/geometry/error.h>
#include <raylift/geometry/scene/scene.h>
#include <raylift/interop/shared_geometry.h>

#include <string>
#include <utility>

#include "memory/plan_placement.h"

namespace raylift {
namespace {

struct Counts {
  std::size_t vertices = 0;
  std::size_t triangles = 0;
};

/// The elements of the arrays that an upload makes.
Counts counts_of(const Scene& scene, bool flatten) {
  if (!flatten) return {scene.unique_vertices(), scene.unique_triangles()};
  Counts counts;
  for (const Instance& instance : scene.instances) {
    if (instance.mesh >= scene.meshes.size()) continue;  // the upload says so
    counts.vertices += scene.meshes[instance.mesh].vertices.size();
    counts.triangles += scene.meshes[instance.mesh].triangles.size();
  }
  return counts;
}

/// Chroma's rule, for both arrays at once. OpenGL itself would fall back to host memory without an error.
void check_room(std::uint64_t bytes, const Device& device, const UploadOptions& options) {
  const std::uint64_t room = usable_bytes(device.memory_info().free_bytes, options.reserve, options.budget);
  if (bytes != 0 && bytes >= room)
    throw Error(ErrorKind::out_of_device_memory,
                "vertices and triangles of " + std::to_string(bytes) + " bytes don't fit onto " + device.info().id +
                    " as OpenGL's buffers: " + std::to_string(room) + " bytes may be used",
                {}, "free device memory, lower the reserve, or upload without sharing");
}

}  // namespace

SharedGeometry::Mapping SharedGeometry::map(StreamRef stream) const {
  raylift::Mapping<Float3, UInt3> mapping = map_together(stream, vertices_, triangles_);
  GeometryView view = geometry_.view();
  view.vertices = mapping.span<0>().data;
  view.triangles = mapping.span<1>().data;
  return {std::move(mapping), view};
}

SharedUpload::SharedUpload(const Scene& scene, const Device& device, const UploadOptions& options, Sharing sharing)
    : SharedUpload(counts_of(scene, options.flatten).vertices, counts_of(scene, options.flatten).triangles, device,
                   options, sharing) {}

SharedUpload::SharedUpload(std::size_t vertices, std::size_t triangles, const Device& device,
                           const UploadOptions& options, Sharing sharing)
    : options_(options), stream_(device) {
  check_room(vertices * sizeof(Float3) + triangles * sizeof(UInt3), device, options);
  const SharedOptions with{SharedOptions::Access::write_discard, sharing};
  vertices_ = SharedBuffer<Float3>(device, vertices, with);
  triangles_ = SharedBuffer<UInt3>(device, triangles, with);
  mapping_ = map_together(stream_, vertices_, triangles_);
  stream_.synchronize();  // the upload has a stream of its own

  const auto target = [](auto span) {
    return std::pair(reinterpret_cast<std::byte*>(span.data), span.size * sizeof(*span.data));
  };
  const std::string why = vertices_.shares() ? "in an OpenGL buffer, shared"
                                             : "on the device, and copied to OpenGL: " + vertices_.why_not();
  options_.external = [why, vertex_memory = target(mapping_->span<0>()), triangle_memory = target(mapping_->span<1>()),
                       others = options.external](const std::string& name, std::size_t bytes) {
    const bool is_vertices = name == info(ViewArray::vertices).name;
    if (!is_vertices && name != info(ViewArray::triangles).name)
      return others ? others(name, bytes) : UploadOptions::ExternalMemory{};
    const auto& [data, size] = is_vertices ? vertex_memory : triangle_memory;
    if (bytes != size)
      throw Error(ErrorKind::usage, "the array '" + name + "' has " + std::to_string(bytes) +
                                        " bytes, and its OpenGL buffer was made for " + std::to_string(size));
    return UploadOptions::ExternalMemory{data, why};
  };
}

SharedGeometry SharedUpload::finish(GpuGeometry geometry) {
  if (!mapping_) throw Error(ErrorKind::usage, "a shared upload is finished already");
  if (geometry.view().vertices != mapping_->span<0>().data || geometry.view().triangles != mapping_->span<1>().data)
    throw Error(ErrorKind::usage, "the geometry was not uploaded into these OpenGL buffers", {},
                "upload it with the options of this SharedUpload");
  mapping_->unmap();
  mapping_.reset();
  vertices_.freeze();
  triangles_.freeze();
  return {std::move(vertices_), std::move(triangles_), std::move(geometry)};
}

SharedGeometry upload_shared(const Scene& scene, const Device& device, const UploadOptions& options,
                             const Progress& progress, Sharing sharing) {
  SharedUpload shared(scene, device, options, sharing);
  GpuGeometry geometry = upload(scene, device, shared.options(), progress);
  return shared.finish(std::move(geometry));
}

}  // namespace raylift
