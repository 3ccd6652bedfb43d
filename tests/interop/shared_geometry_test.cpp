// SPDX-License-Identifier: Apache-2.0
// Geometry in OpenGL buffers: the same bytes for kernels and for drawing, once.
#include <raylift/geometry/import/load.h>
#include <raylift/interop/shared_geometry.h>

#include <algorithm>
#include <thread>

#include "fixture.h"
#include "kernels.h"
#include "support/random_scenes.h"

namespace raylift {
namespace {

using test::error_of;
using test::read_gl;
using testing::HasSubstr;

class SharedGeometries : public test::Shared {
 protected:
  static UploadOptions upload_options() {
    UploadOptions result;
    result.reserve = 0;
    return result;
  }
  /// A square over the middle of the picture.
  static Scene square() {
    Scene scene;
    scene.source = "made in a test";
    scene.meshes.resize(1);
    Mesh& mesh = scene.meshes[0];
    mesh.name = "square";
    mesh.vertices = {{-0.5F, -0.5F, 0}, {0.5F, -0.5F, 0}, {0.5F, 0.5F, 0}, {-0.5F, 0.5F, 0}};
    mesh.triangles = {{0, 1, 2}, {0, 2, 3}};
    mesh.parts = {{0, 2}};
    scene.bindings = {{kNone}};
    scene.nodes.push_back({"world", kNone, std::nullopt});
    scene.instances.push_back({0, 0, 0, kNone, Transform::Identity()});
    scene.bounds = world_bounds(scene);
    return scene;
  }
};
RAYLIFT_IN_ALL_PLACES(SharedGeometries);

TEST_P(SharedGeometries, AreDrawnAndSeenByKernels) {
  constexpr int kSide = 32;
  const SharedGeometry geometry = upload_shared(square(), device(), upload_options(), {}, sharing());
  EXPECT_EQ(geometry.shares(), !copies());
  for (int frame = 0; frame != 3; ++frame) {
    {
      const auto mapping = geometry.map(stream());
      EXPECT_EQ(mapping.view().triangle_count, 2U);
      // First corners (-0.5 twice, in thousandths, times 31), then the others.
      EXPECT_EQ(test::digest_of(device(), stream(), mapping.view()),
                static_cast<unsigned long long>(-500LL * 31 * 2 + 7 * (1 + 2) + 2 + 3));
    }
    const std::vector<std::uint32_t> pixels =
        test::draw(geometry.vertex_buffer(), 4, geometry.triangle_buffer(), 2, kSide);
    for (int y = 0; y != kSide; ++y)
      for (int x = 0; x != kSide; ++x) {
        const bool inside = std::min(x, y) >= kSide / 4 && std::max(x, y) < kSide * 3 / 4;
        ASSERT_EQ(pixels[static_cast<std::size_t>(y * kSide + x)], inside ? 0xFFFFFFFFU : 0xFF000000U) << x << ' ' << y;
      }
  }
}

TEST_P(SharedGeometries, HoldTheSameAsAnyUpload) {
  const Scene scene = test::random_scene(31, 4, 20'000);
  for (const bool flat : {false, true}) {
    UploadOptions with = upload_options();
    with.flatten = flat;
    const GpuGeometry plain = upload(scene, device(), with);
    const SharedGeometry geometry = upload_shared(scene, device(), with, {}, sharing());
    std::vector<std::byte> vertices(plain.array(ViewArray::vertices).bytes());
    std::vector<std::byte> triangles(plain.array(ViewArray::triangles).bytes());
    plain.array(ViewArray::vertices).copy_to(vertices, stream());
    plain.array(ViewArray::triangles).copy_to(triangles, stream());
    stream().synchronize();
    EXPECT_TRUE(read_gl<std::byte>(geometry.vertex_buffer(), vertices.size()) == vertices);
    EXPECT_TRUE(read_gl<std::byte>(geometry.triangle_buffer(), triangles.size()) == triangles);
    EXPECT_EQ(geometry.vertex_count() * sizeof(Float3), vertices.size());
    EXPECT_EQ(geometry.triangle_count() * sizeof(UInt3), triangles.size());
    const auto mapping = geometry.map(stream());
    EXPECT_EQ(test::digest_of(device(), stream(), mapping.view()), test::digest_of(device(), stream(), plain.view()));
  }
}

// All device memory that the host device gives out is counted, and so is what OpenGL's buffers hold.
TEST_P(SharedGeometries, ExistOnce) {
  const Scene scene = test::random_scene(32, 3, device().info().is_host ? 50'000 : 1'000'000);
  const std::uint64_t shared_bytes =
      scene.unique_vertices() * sizeof(Float3) + scene.unique_triangles() * sizeof(UInt3);
  const std::uint64_t before = device().memory_info().free_bytes;
  const SharedGeometry geometry = upload_shared(scene, device(), upload_options(), {}, sharing());
  glFinish();
  const std::uint64_t after = device().memory_info().free_bytes;
  const std::uint64_t taken = before > after ? before - after : 0;

  EXPECT_EQ(static_cast<std::uint64_t>(test::size_of_gl_buffer(geometry.vertex_buffer()) +
                                       test::size_of_gl_buffer(geometry.triangle_buffer())),
            shared_bytes);
  const std::uint64_t all = geometry.report().bytes();
  EXPECT_EQ(geometry.report().device_bytes(), all);
  if (device().info().is_host) {
    EXPECT_EQ(taken, copies() ? all : all - shared_bytes);
  } else {
    // OpenGL's memory and the pool grow in steps of some megabytes, and the shared arrays are 108 MB.
    const std::uint64_t slack = 24'000'000;
    EXPECT_LT(taken, all + (copies() ? shared_bytes : 0) + slack);
    if (copies()) {
      EXPECT_GT(taken + slack, all + shared_bytes);
    }
  }
  for (const ResidencyReport::Array& row : geometry.report().arrays) {
    const bool theirs = row.name == "vertices" || row.name == "triangles";
    EXPECT_EQ(row.why.find(copies() ? "copied to OpenGL" : "in an OpenGL buffer, shared") != std::string::npos, theirs);
  }
}

TEST_P(SharedGeometries, AreLoadedOnAnotherThread) {
  const Scene scene = test::random_scene(33, 3, 5000);
  SharedUpload shared(scene, device(), upload_options(), sharing());
  std::optional<GpuGeometry> geometry;
  std::thread([&] { geometry.emplace(upload(scene, device(), shared.options())); }).join();
  const SharedGeometry result = shared.finish(std::move(*geometry));
  const auto mapping = result.map(stream());
  EXPECT_EQ(mapping.view().triangle_count, scene.unique_triangles());
  EXPECT_THAT(error_of(ErrorKind::usage, [&] { (void)shared.finish(upload(scene, device())); }),
              HasSubstr("finished already"));
}

TEST_P(SharedGeometries, GiveEverythingBackWhenTheUploadFails) {
  const Scene scene = test::random_scene(34, 3, 50'000);
  const std::uint64_t before = device().memory_info().free_bytes;
  const Progress cancelled([](std::string_view stage, std::uint64_t, std::uint64_t) { return stage != "upload"; });
  EXPECT_THAT(error_of(ErrorKind::cancelled,
                       [&] { (void)upload_shared(scene, device(), upload_options(), cancelled, sharing()); }),
              HasSubstr("cancel"));
  if (device().info().is_host) {
    EXPECT_EQ(device().memory_info().free_bytes, before);
  }
  (void)upload_shared(scene, device(), upload_options(), {}, sharing());
}

TEST_P(SharedGeometries, RefuseWhatIsNotTheirs) {
  const Scene scene = test::random_scene(35, 3, 500);
  const Scene other = test::random_scene(36, 4, 500);
  SharedUpload shared(scene, device(), upload_options(), sharing());
  EXPECT_THAT(error_of(ErrorKind::usage, [&] { (void)upload(other, device(), shared.options()); }),
              HasSubstr("was made for"));
  EXPECT_THAT(error_of(ErrorKind::usage, [&] { (void)shared.finish(upload(scene, device())); }),
              HasSubstr("not uploaded into these"));
  const SharedGeometry geometry = shared.finish(upload(scene, device(), shared.options()));
  EXPECT_NE(geometry.vertex_buffer(), 0U);
}

TEST_P(SharedGeometries, RefuseMoreThanPlacementMayUse) {
  const Scene scene = test::random_scene(37, 1, 1000);
  const std::uint64_t bytes = scene.unique_vertices() * sizeof(Float3) + scene.unique_triangles() * sizeof(UInt3);
  UploadOptions tight = upload_options();
  tight.budget = bytes;
  EXPECT_THAT(
      error_of(ErrorKind::out_of_device_memory, [&] { (void)upload_shared(scene, device(), tight, {}, sharing()); }),
      HasSubstr("lower the reserve"));
  tight.budget = bytes + 1;
  const SharedGeometry geometry = upload_shared(scene, device(), tight, {}, sharing());
  // All the rest is in host memory then.
  EXPECT_EQ(geometry.report().device_bytes(), bytes);
}

TEST_P(SharedGeometries, OutliveTheirContext) {
  const Scene scene = test::random_scene(38, 2, 1000);
  SharedGeometry geometry = upload_shared(scene, device(), upload_options(), {}, sharing());
  SharedUpload unfinished(scene, device(), upload_options(), sharing());
  auto mapping = geometry.map(stream());
  context_.reset();
  mapping.unmap();
  EXPECT_THAT(error_of(ErrorKind::usage, [&] { (void)geometry.map(stream()); }), HasSubstr("context has gone"));
  geometry.close();
  geometry.close();
  EXPECT_EQ(geometry.vertex_buffer(), 0U);
}

TEST_P(SharedGeometries, TakeAnEmptyScene) {
  Scene scene;
  scene.source = "made in a test";
  const SharedGeometry geometry = upload_shared(scene, device(), upload_options(), {}, sharing());
  const auto mapping = geometry.map(stream());
  EXPECT_EQ(mapping.view().triangle_count, 0U);
  EXPECT_EQ(mapping.view().vertices, nullptr);
}

TEST_P(SharedGeometries, ShowADetector) {
  const Scene scene = load(std::string(RAYLIFT_SOURCE_DIR) + "/data/detector.dae");
  const SharedGeometry geometry = upload_shared(scene, device(), upload_options(), {}, sharing());
  float largest = 0;
  for (const Mesh& mesh : scene.meshes)
    for (const Float3& v : mesh.vertices) largest = std::max({largest, std::abs(v.x), std::abs(v.y)});
  const std::vector<std::uint32_t> pixels =
      test::draw(geometry.vertex_buffer(), geometry.vertex_count(), geometry.triangle_buffer(),
                 geometry.triangle_count(), 64, 1 / largest);
  EXPECT_GT(std::count(pixels.begin(), pixels.end(), 0xFFFFFFFFU), 64 * 64 / 4);
}

template <class M>
concept GivesView = requires(M&& mapping) {
  std::forward<M>(mapping).view();
};
static_assert(GivesView<const SharedGeometry::Mapping&> && !GivesView<SharedGeometry::Mapping>);

}  // namespace
}  // namespace raylift
