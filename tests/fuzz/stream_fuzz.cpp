// SPDX-License-Identifier: Apache-2.0
// What an import process gives back, with anything in its bytes: it is refused, or it is a scene or an error that all
// of raylift can work with. The input is a byte that says which, and then either as scene_stream.h has it.
#include <raylift/geometry/checks/overlaps.h>
#include <raylift/geometry/error.h>
#include <raylift/geometry/scene/flatten.h>
#include <raylift/geometry/scene/solids.h>
#include <raylift/gpu/rays/boundary.h>
#include <raylift/gpu/upload/gpu_geometry.h>

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "import/scene_stream.h"

namespace {

using namespace raylift;

/// More than that takes long, and shows nothing new.
constexpr std::uint64_t kMaxTriangles = 20'000;

void use(const Scene& scene) {
  for (const Instance& instance : scene.instances) {
    (void)scene.path(instance);
    (void)scene.copy_number(instance);
    for (std::size_t part = 0; part != scene.meshes[instance.mesh].parts.size(); ++part)
      (void)scene.material(instance, part);
  }
  (void)solid_tree(scene);
  (void)find_overlaps(scene);
  const Device device = Device::host(std::uint64_t{1} << 28);
  for (const bool flat : {false, true}) {
    UploadOptions options;
    options.reserve = 0;
    options.bvh = true;
    options.flatten = flat;
    const GpuGeometry geometry = upload(scene, device, options);
    const GeometryView view = geometry.view();
    const Hit hit = closest_hit(view, {LocalPoint(0.1F, 0.2F, 0.3F), 0, {0.6F, 0, 0.8F}, 1e30F});
    if (hit.valid() && view.solid_id(hit.instance, hit.triangle) >= scene.instances.size()) std::abort();
    (void)locate(view, LocalPoint(0.1F, 0.2F, 0.3F));
  }
}

void run(std::string_view bytes) {
  ByteReader reader(bytes, refuse_import);
  if (reader.get<std::uint8_t>() % 2 == 0) {
    const Error error = get_error(reader);
    if (exit_code(error.kind()) == 0) std::abort();
    return;
  }
  const Scene scene = get_scene(reader);
  reader.expect_end();
  if (scene.expanded_triangles() <= kMaxTriangles && scene.instances.size() <= kMaxTriangles) use(scene);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    run({reinterpret_cast<const char*>(data), size});
  } catch (const raylift::Error&) {
  }
  return 0;
}
