// SPDX-License-Identifier: Apache-2.0
// Any numbers as a scene through weld, check, find_overlaps, flatten and an upload to a small host device: no crash,
// and what the device holds is what was put there.
#include <raylift/geometry/checks/check.h>
#include <raylift/geometry/checks/overlaps.h>
#include <raylift/geometry/error.h>
#include <raylift/geometry/scene/convert.h>
#include <raylift/geometry/scene/flatten.h>
#include <raylift/gpu/upload/gpu_geometry.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "geometry/src/scene/weld.h"

namespace {

using namespace raylift;

/// Takes values off the front of the input; zeros once it is used up.
class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  template <class T>
  T take() {
    T value{};
    const std::size_t count = size_ < sizeof(T) ? size_ : sizeof(T);
    if (count != 0) std::memcpy(&value, data_, count);
    data_ += count;
    size_ -= count;
    return value;
  }
  float coordinate() {
    // Mostly small whole numbers, so that vertices coincide; sometimes any bits at all.
    if (take<std::uint8_t>() % 8 != 0) return static_cast<float>(take<std::int8_t>());
    const float value = take<float>();
    return std::isfinite(value) ? value : 0;
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
};

Scene scene_of(Bytes& bytes) {
  Scene scene;
  scene.materials.resize(2);
  const unsigned meshes = 1 + bytes.take<std::uint8_t>() % 3;
  for (unsigned m = 0; m != meshes; ++m) {
    Mesh& mesh = scene.meshes.emplace_back();
    const unsigned vertices = 1 + bytes.take<std::uint8_t>() % 40;
    const unsigned triangles = bytes.take<std::uint8_t>() % 60;
    for (unsigned i = 0; i != vertices; ++i) {
      const float x = bytes.coordinate();
      const float y = bytes.coordinate();
      mesh.vertices.push_back({x, y, bytes.coordinate()});
    }
    const auto index = [&] { return static_cast<std::uint32_t>(bytes.take<std::uint8_t>() % vertices); };
    for (unsigned i = 0; i != triangles; ++i) {
      const std::uint32_t a = index();
      const std::uint32_t b = index();
      mesh.triangles.push_back({a, b, index()});
    }
    const auto cut = static_cast<std::uint32_t>(triangles == 0 ? 0 : bytes.take<std::uint8_t>() % (triangles + 1));
    mesh.parts = {{0, cut}, {cut, triangles - cut}};
    scene.bindings.push_back({bytes.take<std::uint8_t>() % 2 == 0 ? kNone : 1U, 0U});
  }
  scene.nodes.emplace_back();
  const unsigned instances = 1 + bytes.take<std::uint8_t>() % 5;
  for (unsigned i = 0; i != instances; ++i) {
    const std::uint32_t mesh = bytes.take<std::uint8_t>() % meshes;
    Transform transform;
    for (int k = 0; k != 12; ++k)
      if (const auto value = bytes.take<std::int8_t>(); value != 0) transform.m[k] = value;
    scene.instances.push_back({mesh, 0, mesh, i % 2 == 0 ? kNone : 0U, transform});
  }
  return scene;
}

void run(Bytes bytes) {
  Scene scene = scene_of(bytes);
  const float tolerance = std::abs(bytes.coordinate());
  for (Mesh& mesh : scene.meshes) {
    const std::size_t triangles = mesh.triangles.size();
    weld(mesh, bytes.take<std::uint8_t>() % 2 == 0 ? 0.0 : tolerance);
    if (mesh.triangles.size() != triangles) std::abort();
    for (const UInt3& t : mesh.triangles)
      if (t.x >= mesh.vertices.size() || t.y >= mesh.vertices.size() || t.z >= mesh.vertices.size()) std::abort();
  }
  scene.bounds = world_bounds(scene);
  (void)find_overlaps(scene);
  const FlatScene flat = flatten(scene);
  if (flat.triangles.size() != scene.expanded_triangles()) std::abort();

  UploadOptions options;
  options.reserve = 0;
  options.bvh = false;
  options.flatten = bytes.take<std::uint8_t>() % 2 == 0;
  options.chunk_bytes = std::size_t{512} << 10 << bytes.take<std::uint8_t>() % 4;
  options.policy = bytes.take<std::uint8_t>() % 2 == 0 ? PlacementPolicy::automatic : PlacementPolicy::chroma;
  const Device device = Device::host(std::uint64_t{bytes.take<std::uint16_t>()} * 4);
  const GpuGeometry geometry = upload(scene, device, options);
  if (!options.flatten) return;
  const Stream stream(device);
  std::vector<UInt3> back(flat.triangles.size());
  geometry.array(ViewArray::triangles).copy_to(std::as_writable_bytes(std::span(back)), stream);
  stream.synchronize();
  if (back != flat.triangles) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    run({data, size});
  } catch (const raylift::Error&) {
  }
  return 0;
}
