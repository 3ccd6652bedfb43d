// SPDX-License-Identifier: Apache-2.0
// The contract of uploads, on every device: what arrives, and where it goes.
#include <raylift/geometry/scene/eigen.h>
#include <raylift/geometry/scene/flatten.h>
#include <raylift/gpu/device/pool.h>
#include <raylift/gpu/memory/buffer.h>
#include <raylift/gpu/upload/gpu_geometry.h>

#include "gpu/test_backend.h"
#include "support/devices.h"
#include "support/random_scenes.h"
#include "uploads.h"

namespace raylift {
namespace {

using test::as_float3;
using test::random_doubles;
using test::random_scene;
using test::read;
using test::same_bytes;

class Uploads : public test::UploadsOnDevice {};

RAYLIFT_ON_BOTH_DEVICES(Uploads);

TEST_P(Uploads, ConvertDoublesOnTheWay) {
  const std::vector<double> in = random_doubles(1'000'003);
  const ArraySource source = float3_source("vertices", ArrayRank::vertices, Rows(in.data(), in.size() / 3));
  const ResidentArrays resident = upload({&source, 1}, device(), options());
  EXPECT_EQ(resident.arrays[0].where(), Residency::device);
  EXPECT_TRUE(same_bytes(read<Float3>(resident.arrays[0], device()), as_float3(in)));
}

TEST_P(Uploads, BringTheSameBytesWhereverTheyPutThem) {
  const std::vector<double> in = random_doubles(1'000'003);
  const std::vector<Float3> expected = as_float3(in);
  const std::uint64_t bytes = expected.size() * sizeof(Float3);
  const ArraySource source = float3_source("vertices", ArrayRank::vertices, Rows(in.data(), in.size() / 3));
  for (const std::uint64_t percent : {0, 25, 50, 75, 90, 100}) {
    const ResidentArrays resident = upload({&source, 1}, device(), options(bytes * percent / 100));
    EXPECT_LE(resident.report.device_bytes(), bytes * percent / 100);
    EXPECT_TRUE(same_bytes(read<Float3>(resident.arrays[0], device()), expected)) << percent << " %";
    if (percent != 0 && device().info().splits_arrays) {
      EXPECT_EQ(resident.arrays[0].where(), Residency::split);
      EXPECT_GT(resident.report.device_bytes() + device().info().page_bytes, bytes * percent / 100 - 1)
          << percent << " %";
    }
  }
  for (const bool write_combined : {false, true}) {
    UploadOptions mapped = options();
    mapped.policy = PlacementPolicy::mapped;
    mapped.mapped_flags.write_combined = write_combined;
    EXPECT_TRUE(same_bytes(read<Float3>(upload({&source, 1}, device(), mapped).arrays[0], device()), expected));
  }
}

TEST_P(Uploads, TakeManyArraysOfAnySizeInOnePipeline) {
  std::vector<std::vector<std::uint16_t>> values;
  std::vector<ArraySource> sources;
  for (const std::size_t count : {0, 1, 7, 1000, 65536, 300'000, 2'000'001, 3, 0, 17}) {
    values.emplace_back(count);
    for (std::size_t k = 0; k != count; ++k) values.back()[k] = static_cast<std::uint16_t>(k * 2654435761U >> 7);
  }
  for (const auto& one : values)
    sources.push_back(
        array_source("a" + std::to_string(sources.size()), ArrayRank::attributes, std::span<const std::uint16_t>(one)));
  const ResidentArrays resident = upload(sources, device(), options());
  for (std::size_t i = 0; i != values.size(); ++i)
    EXPECT_EQ(read<std::uint16_t>(resident.arrays[i], device()), values[i]);
}

TEST_P(Uploads, PassOnWhatIsWrongWithARow) {
  std::vector<double> in = random_doubles(600'000);
  in[3 * 512'345 + 1] = std::numeric_limits<double>::quiet_NaN();
  const ArraySource source = float3_source("vertices", ArrayRank::vertices, Rows(in.data(), in.size() / 3));
  const std::uint64_t before = device().memory_info().free_bytes;
  try {
    (void)upload({&source, 1}, device(), options());
    FAIL() << "a NaN was uploaded";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::malformed);
    EXPECT_EQ(error.element(), "row 512345");
  }
  EXPECT_EQ(device().memory_info().free_bytes, before);
}

TEST_P(Uploads, GiveEverythingBackWhenCancelled) {
  const std::vector<double> in = random_doubles(2'000'000);
  const ArraySource source = float3_source("vertices", ArrayRank::vertices, Rows(in.data(), in.size() / 3));
  const std::uint64_t before = device().memory_info().free_bytes;
  for (const std::uint64_t budget : {UINT64_MAX, std::uint64_t{8} << 20, std::uint64_t{0}}) {
    const Progress cancel([&](std::string_view stage, std::uint64_t done, std::uint64_t) {
      return stage != "upload" || done < (10U << 20);
    });
    try {
      (void)upload({&source, 1}, device(), options(budget), cancel);
      FAIL() << "not cancelled";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::cancelled);
    }
    EXPECT_EQ(device().memory_info().free_bytes, before);
    EXPECT_EQ(device().pinned_pool().active_blocks(), 0U);
  }
}

TEST_P(Uploads, TellTheirProgressToTheLastByte) {
  const std::vector<double> in = random_doubles(700'000);
  const ArraySource source = float3_source("vertices", ArrayRank::vertices, Rows(in.data(), in.size() / 3));
  std::uint64_t last = 0;
  std::uint64_t total = 0;
  const Progress progress([&](std::string_view stage, std::uint64_t done, std::uint64_t of) {
    if (stage == "upload") {
      EXPECT_GE(done, last);
      last = done;
      total = of;
    }
    return true;
  });
  (void)upload({&source, 1}, device(), options(3U << 20), progress);
  EXPECT_EQ(total, 700'000U * 12);
  EXPECT_EQ(last, total);
}

TEST_P(Uploads, TakeNoMorePinnedMemoryThanTheRing) {
  const std::vector<double> in = random_doubles(4'000'000);
  const ArraySource source = float3_source("vertices", ArrayRank::vertices, Rows(in.data(), in.size() / 3));
  (void)upload({&source, 1}, device(), options());
  EXPECT_LE(device().pinned_pool().managed_bytes(), 3U * (1U << 20) * 17 / 16);
  EXPECT_EQ(device().pinned_pool().active_blocks(), 0U);
}

TEST_P(Uploads, LeaveNoMemoryBehind) {
  const std::vector<double> in = random_doubles(100'000);
  const ArraySource source = float3_source("vertices", ArrayRank::vertices, Rows(in.data(), in.size() / 3));
  (void)upload({&source, 1}, device(), options());
  const std::uint64_t before = device().memory_info().free_bytes;
  for (int round = 0; round != 100; ++round)
    (void)upload({&source, 1}, device(), options(round % 2 == 0 ? UINT64_MAX : 0));
  EXPECT_EQ(device().memory_info().free_bytes, before);
}

TEST_P(Uploads, PutAnArrayIntoMemoryOfOthers) {
  const Scene scene = random_scene(21, 3, 500);
  const std::uint64_t bytes = scene.unique_vertices() * sizeof(Float3);
  const DeviceBuffer<std::byte> own(device(), bytes);
  UploadOptions with = options(bytes + scene.unique_triangles() * sizeof(UInt3));
  with.external = [&](const std::string& name, std::size_t size) {
    if (name != "vertices") return UploadOptions::ExternalMemory{};
    EXPECT_EQ(size, bytes);
    return UploadOptions::ExternalMemory{own.device(), "lent by a test"};
  };
  const GpuGeometry lent = upload(scene, device(), with);
  const GpuGeometry plain = upload(scene, device(), options());
  EXPECT_EQ(static_cast<const void*>(lent.view().vertices), own.device());
  EXPECT_EQ(lent.array(ViewArray::vertices).where(), Residency::device);
  EXPECT_TRUE(same_bytes(read<Float3>(lent.array(ViewArray::vertices), device()),
                         read<Float3>(plain.array(ViewArray::vertices), device())));
  EXPECT_TRUE(same_bytes(read<UInt3>(lent.array(ViewArray::triangles), device()),
                         read<UInt3>(plain.array(ViewArray::triangles), device())));
  for (const ResidencyReport::Array& row : lent.report().arrays)
    if (row.name == "vertices") {
      EXPECT_EQ(row.why, "lent by a test");
      EXPECT_EQ(row.device_bytes, bytes);
    }
  // It counts in the budget: what is left is less than all the rest.
  EXPECT_LE(lent.report().device_bytes(), with.budget);
  EXPECT_GT(lent.report().host_bytes(), 0U);
}

TEST_P(Uploads, PutASceneInTwoLevels) {
  const Scene scene = random_scene(3);
  const GpuGeometry geometry = upload(scene, device(), options());
  const GeometryView& view = geometry.view();
  EXPECT_EQ(view.vertex_count, scene.unique_vertices());
  EXPECT_EQ(view.triangle_count, scene.unique_triangles());
  EXPECT_EQ(view.mesh_count, scene.meshes.size());
  EXPECT_EQ(view.instance_count, scene.instances.size());
  EXPECT_EQ(view.material_codes, nullptr);

  const auto vertices = read<Float3>(geometry.array(ViewArray::vertices), device());
  const auto triangles = read<UInt3>(geometry.array(ViewArray::triangles), device());
  const auto meshes = read<MeshView>(geometry.array(ViewArray::meshes), device());
  const auto instances = read<InstanceView>(geometry.array(ViewArray::instances), device());
  const auto parts = read<std::uint16_t>(geometry.array(ViewArray::triangle_parts), device());
  const auto materials = read<std::uint16_t>(geometry.array(ViewArray::part_materials), device());
  for (std::size_t i = 0; i != scene.instances.size(); ++i) {
    const Instance& wanted = scene.instances[i];
    const InstanceView& got = instances[i];
    const MeshView& mesh = meshes[got.mesh];
    EXPECT_EQ(got.solid_id, i);
    EXPECT_EQ(got.mirrored, to_eigen(wanted.transform).linear().determinant() < 0 ? 1 : 0);
    EXPECT_EQ(got.outside, MaterialCode::pack(wanted.outside));
    for (std::uint32_t t = 0; t != mesh.triangle_count; ++t) {
      const UInt3 triangle = triangles[mesh.first_triangle + t];
      const UInt3 original = scene.meshes[wanted.mesh].triangles[t];
      ASSERT_EQ(triangle.x, original.x + mesh.first_vertex);
      ASSERT_EQ(vertices[triangle.y], scene.meshes[wanted.mesh].vertices[original.y]);
      const std::size_t part = parts[mesh.first_triangle + t];
      ASSERT_LT(t - scene.meshes[wanted.mesh].parts[part].first_triangle,
                scene.meshes[wanted.mesh].parts[part].triangle_count);
      ASSERT_EQ(materials[got.first_material + part], MaterialCode::pack(scene.material(wanted, part)));
    }
    // to_world and back.
    const Float3 p = vertices[mesh.first_vertex];
    const Float3 world = got.to_world.point(p);
    const Eigen::Vector3d exact = to_eigen(wanted.transform) * Eigen::Vector3d(p.x, p.y, p.z);
    EXPECT_NEAR(world.x, exact.x(), 1e-3);
    EXPECT_NEAR(world.y, exact.y(), 1e-3);
    EXPECT_NEAR(world.z, exact.z(), 1e-3);
    const Float3 back = got.to_mesh.point(world);
    EXPECT_NEAR(back.x, p.x, 2e-3);
    EXPECT_NEAR(back.y, p.y, 2e-3);
    EXPECT_NEAR(back.z, p.z, 2e-3);
  }
}

TEST_P(Uploads, PutAFlattenedSceneAsOneInstance) {
  const Scene scene = random_scene(4);
  UploadOptions flat = options();
  flat.flatten = true;
  const GpuGeometry geometry = upload(scene, device(), flat);
  const FlatScene expected = flatten(scene);
  EXPECT_EQ(geometry.view().instance_count, 1U);
  EXPECT_EQ(geometry.view().triangle_count, scene.expanded_triangles());
  EXPECT_TRUE(same_bytes(read<Float3>(geometry.array(ViewArray::vertices), device()), expected.vertices));
  EXPECT_TRUE(same_bytes(read<UInt3>(geometry.array(ViewArray::triangles), device()), expected.triangles));
  EXPECT_TRUE(same_bytes(read<std::uint32_t>(geometry.array(ViewArray::solid_ids), device()), expected.solid_ids));
  EXPECT_TRUE(
      same_bytes(read<MaterialCode>(geometry.array(ViewArray::material_codes), device()), expected.material_codes));
  EXPECT_TRUE(same_bytes(read<std::uint32_t>(geometry.array(ViewArray::colors), device()), expected.colors));
  EXPECT_THROW((void)geometry.array(ViewArray::triangle_parts), Error);
}

TEST_P(Uploads, SubtractTheOriginInDouble) {
  Scene scene = random_scene(5, 1, 50);
  const Eigen::Vector3d far(-16520e3, -802110e3, 2.4e9);
  for (Instance& instance : scene.instances) instance.transform = to_eigen(instance.transform).pretranslate(far);
  scene.bounds = world_bounds(scene);
  const GpuGeometry geometry = upload(scene, device(), options());
  const auto instances = read<InstanceView>(geometry.array(ViewArray::instances), device());
  const Eigen::Vector3d origin(geometry.view().origin[0], geometry.view().origin[1], geometry.view().origin[2]);
  EXPECT_NE(origin, Eigen::Vector3d::Zero()) << "floats can't resolve millimetres so far out";
  const Eigen::Vector3d exact = to_eigen(scene.instances[1].transform).translation() - origin;
  EXPECT_FLOAT_EQ(instances[1].to_world.m[3], static_cast<float>(exact.x()));
  EXPECT_FLOAT_EQ(instances[1].to_world.m[7], static_cast<float>(exact.y()));
}

TEST_P(Uploads, ReachAsFarAsTheFarthestCoordinate) {
  Scene scene = random_scene(5, 1, 50);
  scene.bounds = world_bounds(scene);
  for (const bool flat : {false, true}) {
    UploadOptions upload_options = options();
    upload_options.flatten = flat;
    const Eigen::Vector3d origin = to_eigen(scene.bounds.min) + Eigen::Vector3d(1, 2, 3);
    upload_options.origin = origin;
    const GpuGeometry geometry = upload(scene, device(), upload_options);
    double farthest = 0;
    for (const Instance& instance : scene.instances)
      for (const Float3& v : scene.meshes[instance.mesh].vertices) {
        const Eigen::Vector3d world = to_eigen(instance.transform) * Eigen::Vector3d(v.x, v.y, v.z) - origin;
        farthest = std::max(farthest, world.cwiseAbs().maxCoeff());
      }
    EXPECT_GE(geometry.view().reach, farthest);
    EXPECT_LE(geometry.view().reach, farthest * (1 + 1e-6));
  }
}

TEST_P(Uploads, RefuseAnInstanceThatRefersToNothing) {
  Scene scene = random_scene(6);
  scene.instances[2].binding = 99;
  EXPECT_THROW((void)upload(scene, device(), options()), Error);
}

}  // namespace
}  // namespace raylift
