// SPDX-License-Identifier: Apache-2.0
// The contract of recolouring on every device: each triangle has the colour that it should have, and gets its own back.
#include <raylift/geometry/error.h>
#include <raylift/geometry/scene/flatten.h>
#include <raylift/gpu/upload/colors.h>

#include "gpu/asking.h"
#include "support/devices.h"
#include "support/expect_error.h"
#include "support/random_optics.h"

namespace raylift {
namespace {

using test::SceneTriangle;
using test::SurfaceAnswer;
using test::SurfaceQuery;
using test::triangles_of;

class Colors : public test::OnDevice {
 protected:
  [[nodiscard]] GpuGeometry upload_as(const Scene& scene, bool flat) const {
    UploadOptions options;
    options.flatten = flat;
    return upload(scene, device(), options);
  }
  /// The colour of every triangle of the scene.
  static std::vector<std::uint32_t> colors_of(const Scene& scene, const GpuGeometry& geometry) {
    const bool flat = geometry.view().solid_ids != nullptr;
    std::vector<SurfaceQuery> queries;
    for (const SceneTriangle& one : triangles_of(scene))
      queries.push_back({0, 0, flat ? 0 : one.solid, flat ? one.flat : one.two_level, false});
    std::vector<std::uint32_t> colors;
    for (const SurfaceAnswer& answer : ask_all(geometry, queries)) colors.push_back(answer.color);
    return colors;
  }
  static Scene scene() {
    Scene scene = test::random_tree(7, 100);
    for (std::size_t i = 0; i != scene.materials.size(); ++i)
      scene.materials[i].color = {0.25F * static_cast<float>(i), 0.5F, 1, 0.75F};
    return scene;
  }
};
RAYLIFT_ON_BOTH_DEVICES(Colors);

TEST_P(Colors, OfSolidsChangeAndComeBack) {
  const Scene scene = Colors::scene();
  const std::vector<SceneTriangle> triangles = triangles_of(scene);
  const std::vector<std::uint32_t> plain = flatten(scene).colors;
  const Stream stream(device());
  for (const bool flat : {false, true}) {
    GpuGeometry geometry = upload_as(scene, flat);
    EXPECT_EQ(colors_of(scene, geometry), plain);
    color_solids(geometry, std::vector<std::uint32_t>{0, 31, 32, 64, 99, 64}, 0x80123456, stream);
    color_solids(geometry, std::vector<std::uint32_t>{32}, 0x00FF00FF, stream);
    color_solids(geometry, {}, 1, stream);
    std::vector<std::uint32_t> wanted = plain;
    for (std::size_t i = 0; i != triangles.size(); ++i) {
      const std::uint32_t solid = triangles[i].solid;
      if (solid == 0 || solid == 31 || solid == 64 || solid == 99) wanted[i] = 0x80123456;
      if (solid == 32) wanted[i] = 0x00FF00FF;
    }
    EXPECT_EQ(colors_of(scene, geometry), wanted) << flat;
    reset_colors(geometry, stream);
    EXPECT_EQ(colors_of(scene, geometry), plain) << flat;
  }
}

TEST_P(Colors, AreSetAllTogether) {
  const Scene scene = Colors::scene();
  const Stream stream(device());
  GpuGeometry flat = upload_as(scene, true);
  std::vector<std::uint32_t> wanted(scene.expanded_triangles());
  for (std::size_t i = 0; i != wanted.size(); ++i) wanted[i] = static_cast<std::uint32_t>(i * 2654435761U);
  set_colors(flat, wanted, stream);
  EXPECT_EQ(colors_of(scene, flat), wanted);

  GpuGeometry two_level = upload_as(scene, false);
  std::vector<std::uint32_t> by_solid(scene.instances.size(), kMaterialColor);
  by_solid[5] = 7;
  set_colors(two_level, by_solid, stream);
  const std::vector<std::uint32_t> got = colors_of(scene, two_level);
  const std::vector<std::uint32_t> plain = flatten(scene).colors;
  const std::vector<SceneTriangle> triangles = triangles_of(scene);
  for (std::size_t i = 0; i != got.size(); ++i) EXPECT_EQ(got[i], triangles[i].solid == 5 ? 7 : plain[i]);
}

TEST_P(Colors, RefuseWhatIsNotThere) {
  const Scene scene = Colors::scene();
  const Stream stream(device());
  for (const bool flat : {false, true}) {
    GpuGeometry geometry = upload_as(scene, flat);
    const std::vector<std::uint32_t> none{kNone}, beyond{3, 100}, few(3);
    (void)test::expect_error(ErrorKind::usage, [&] { color_solids(geometry, none, 1, stream); });
    (void)test::expect_error(ErrorKind::usage, [&] { color_solids(geometry, beyond, 1, stream); });
    (void)test::expect_error(ErrorKind::usage, [&] { set_colors(geometry, few, stream); });
  }
  GpuGeometry alone = upload(flatten(scene), {}, device());
  color_solids(alone, std::vector<std::uint32_t>{99}, 1, stream);
  (void)test::expect_error(ErrorKind::usage, [&] { reset_colors(alone, stream); });
}

}  // namespace
}  // namespace raylift
