// SPDX-License-Identifier: Apache-2.0
#include "rays/device_scene.h"

#include <raylift/geometry/error.h>

namespace raylift::viewer {

std::optional<SharedGeometryBuffers> DeviceScene::buffers() const {
  if (!shared_) return std::nullopt;
  return SharedGeometryBuffers{shared_->vertex_buffer(), shared_->triangle_buffer()};
}

std::string DeviceScene::sharing() const {
  if (!shared_) return "OpenGL has its own copy: the arrays do not fit whole into device memory";
  if (shared_->shares()) return "rays and OpenGL share vertices and triangles";
  return "OpenGL has its own copy: " + shared_->why_not();
}

void DeviceScene::with_view(StreamRef stream, const std::function<void(const GeometryView&)>& work) const {
  if (!shared_) return work(own_->view());
  const SharedGeometry::Mapping mapping = shared_->map(stream);
  work(mapping.view());
}

std::uint64_t DeviceScene::device_triangles() const {
  for (const ResidencyReport::Array& array : report().arrays)
    if (array.name == info(ViewArray::triangles).name) return array.device_bytes / sizeof(UInt3);
  return 0;
}

Device choose_device(const std::string& name) {
  return name == "auto" ? Device::choose() : Device::parse(name);
}

DeviceScene upload_for_view(const Scene& scene, const Device& device, const UploadOptions& options,
                            const Progress& progress) {
  try {
    return DeviceScene(upload_shared(scene, device, options, progress));
  } catch (const Error& error) {
    // Shared buffers can't be split, and must lie on OpenGL's GPU. Ordinary arrays can be anywhere.
    if (error.kind() != ErrorKind::out_of_device_memory && error.kind() != ErrorKind::device) throw;
  }
  return DeviceScene(upload(scene, device, options, progress));
}

}  // namespace raylift::viewer
