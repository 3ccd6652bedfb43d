// SPDX-License-Identifier: Apache-2.0
// The contract of optical tables and spectra on every device: their values against the model's in double and against
// closed forms, and the same bits as on the host for any wavelength, angle and random number.
#include <gmock/gmock.h>
#include <raylift/geometry/error.h>
#include <raylift/gpu/upload/broadcast.h>
#include <raylift/gpu/upload/optics_arrays.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "gpu/asking.h"
#include "gpu/src/cache/cache_files.h"
#include "support/devices.h"
#include "support/effort.h"
#include "support/paths.h"
#include "support/random_scenes.h"

namespace raylift {
namespace {

using test::arrays_of;
using test::OpticsAnswer;
using test::OpticsQuery;
using test::scene_of;

class DeviceOptics : public test::OnDevice {};
RAYLIFT_ON_BOTH_DEVICES(DeviceOptics);

TEST_P(DeviceOptics, HaveTheSameBitsAsTheHosts) {
  const Scene scene = test::random_scene(5, 5, 30);
  const Optics& optics = scene.optics;
  const GpuGeometry geometry = upload(scene, device());
  const OpticsArrays arrays = arrays_of(scene);
  std::vector<OpticsQuery> queries;
  std::mt19937 random(3);
  std::uniform_real_distribution<float> wavelength(40, 1015), unit(0, 1), angle(-0.1F, 1.7F);
  const auto add = [&](float w, float u, float a) {
    queries.push_back({w, u, a, static_cast<std::uint32_t>(random() % optics.materials.size()),
                       static_cast<std::uint32_t>(random() % optics.surfaces.size()),
                       random() % 3 == 2 ? kNone : static_cast<std::uint32_t>(random() % 2)});
  };
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::vector<float> edges{-kInfinity, -1e38F,   -1,  -0.0F,    0,    1e-40F, 59.999F,   60,           60.001F,
                                 62.5F,      994.999F, 995, 995.001F, 1000, 1e38F,  kInfinity, std::nanf("")};
  for (const float w : edges)
    for (int i = 0; i != 20; ++i) add(w, edges[random() % edges.size()], edges[random() % edges.size()]);
  for (int i = 0; i != 188; ++i) add(static_cast<float>(60 + 5 * i), static_cast<float>(i) / 187, 0.3F);
  for (const float u : {0.0F, std::nextafter(1.0F, 0.0F), 1.0F, 0x1p-149F, 0.5F})
    for (int i = 0; i != 30; ++i) add(400, u, 0.9F);
  while (queries.size() != test::effort(1'000'000U)) add(wavelength(random), unit(random), angle(random));

  const std::vector<OpticsAnswer> got = ask_all(geometry, queries);
  const OpticsView view = arrays.view();
  std::size_t differ = 0;
  for (std::size_t i = 0; i != queries.size(); ++i) {
    const OpticsAnswer wanted = ask(view, queries[i]);
    if (std::memcmp(&got[i], &wanted, sizeof wanted) != 0 && differ++ == 0)
      ADD_FAILURE() << "query " << i << ": " << queries[i].wavelength << " nm, " << queries[i].random;
  }
  EXPECT_EQ(differ, 0U);
}

TEST_P(DeviceOptics, HaveTheModelsValues) {
  const Scene scene = test::random_scene(6, 5, 30);
  const GpuGeometry geometry = upload(scene, device());
  std::vector<OpticsQuery> queries;
  for (std::uint32_t m = 0; m != scene.materials.size(); ++m)
    for (int i = 0; i != 188; ++i) queries.push_back({static_cast<float>(60 + 5 * i), 0, 0, m, m, 0});
  const std::vector<OpticsAnswer> answers = ask_all(geometry, queries);
  const auto expect = [](float got, const OpticalTable* table, double absent, double w) {
    const double wanted = table == nullptr ? absent : table->value(w);
    EXPECT_NEAR(got, wanted, 2e-5 * std::abs(wanted) + 1e-6) << (table == nullptr ? "absent" : table->key) << ' ' << w;
  };
  for (std::size_t i = 0; i != queries.size(); ++i) {
    const OpticalProperties& material = scene.optics.materials[queries[i].material];
    const OpticalSurface& surface = scene.optics.surfaces[queries[i].surface];
    const double w = queries[i].wavelength;
    expect(answers[i].medium.refractive_index, material.table("RINDEX"), 1, w);
    expect(answers[i].medium.absorption_length, material.table("ABSLENGTH"), 1e30, w);
    expect(answers[i].medium.rayleigh_length, material.table("RAYLEIGH"), 1e30, w);
    if (material.table("GROUPVEL") != nullptr)
      expect(answers[i].medium.group_velocity, material.table("GROUPVEL"), 0, w);
    expect(answers[i].losses.mie_length, material.table("MIEHG"), 1e30, w);
    expect(answers[i].losses.wls_length[0], material.table("WLSABSLENGTH"), 1e30, w);
    expect(answers[i].losses.wls_length[1], material.table("WLSABSLENGTH2"), 1e30, w);
    expect(answers[i].losses.reemission, material.table("REEMISSIONPROB"), 0, w);
    if (surface.model == SurfaceModel::simple) {
      expect(answers[i].chances.detect, surface.properties.table("DETECT"), 0, w);
      expect(answers[i].chances.reflect_specular, surface.properties.table("REFLECT_SPECULAR"), 0, w);
    } else {
      expect(answers[i].reflection.reflectivity, surface.properties.table("REFLECTIVITY"), 1, w);
      expect(answers[i].reflection.efficiency, surface.properties.table("EFFICIENCY"), 0, w);
      expect(answers[i].reflection.transmittance, surface.properties.table("TRANSMITTANCE"), 0, w);
      expect(answers[i].reflection.gap_index, surface.properties.table("RINDEX"), 0, w);
      expect(answers[i].lobes.specular_lobe, surface.properties.table("SPECULARLOBECONSTANT"), 0, w);
      expect(answers[i].lobes.backscatter, surface.properties.table("BACKSCATTERCONSTANT"), 0, w);
    }
    expect(answers[i].efficiency, &*scene.optics.channel_types[0].efficiency, 0, w);
  }
}

// A table that is linear in wavelength is itself when it is sampled.
TEST_P(DeviceOptics, AreLinearBetweenTheRastersWavelengths) {
  OpticalProperties material;
  material.tables = {{"RINDEX", OpticalTable::Axis::wavelength_nm, {100, 900}, {1.2, 2.0}}};
  UploadOptions options;
  options.raster = {100, 3.125F, 257};
  const GpuGeometry geometry =
      upload(scene_of(material, {test::surface_of("s", SurfaceModel::glisur)}), device(), options);
  EXPECT_EQ(geometry.view().optics.raster, options.raster);
  std::vector<OpticsQuery> queries;
  for (int i = 0; i != 9000; ++i) queries.push_back({50 + 0.1F * static_cast<float>(i), 0, 0, 0, 0, kNone});
  const std::vector<OpticsAnswer> answers = ask_all(geometry, queries);
  for (std::size_t i = 0; i != queries.size(); ++i)
    EXPECT_NEAR(answers[i].medium.refractive_index,
                1.2 + 0.001 * (std::clamp(double{queries[i].wavelength}, 100.0, 900.0) - 100), 3e-7);
}

TEST_P(DeviceOptics, ProbabilitiesThatSumToOneDoSoEverywhere) {
  std::mt19937 random(9);
  std::uniform_real_distribution<double> unit(0, 1);
  OpticalSurface surface = test::surface_of("s", SurfaceModel::simple);
  for (const char* key : {"DETECT", "ABSORB", "REFLECT_DIFFUSE", "REFLECT_SPECULAR"})
    surface.properties.tables.push_back({key, OpticalTable::Axis::wavelength_nm, {}, {}});
  for (double at = 70; at < 900; at += 20 * unit(random) + 1) {
    std::array<double, 4> parts{unit(random), unit(random), unit(random), unit(random)};
    const double sum = parts[0] + parts[1] + parts[2] + parts[3];
    for (std::size_t i = 0; i != 4; ++i) {
      surface.properties.tables[i].at.push_back(at);
      surface.properties.tables[i].values.push_back(parts[i] / sum);
    }
  }
  const GpuGeometry geometry = upload(scene_of({}, {surface}), device());
  std::vector<OpticsQuery> queries;
  for (int i = 0; i != 10000; ++i) queries.push_back({50 + 0.1F * static_cast<float>(i), 0, 0, 0, 0, kNone});
  for (const OpticsAnswer& answer : ask_all(geometry, queries)) {
    const SurfaceOptics::Chances& c = answer.chances;
    ASSERT_NEAR(double{c.detect} + c.absorb + c.reflect_diffuse + c.reflect_specular, 1, 4e-7);
  }
}

TEST_P(DeviceOptics, AreListedAndBroadcast) {
  const Scene scene = test::random_scene(8, 3, 30);
  const OpticsArrays arrays = arrays_of(scene);
  for (const bool flat : {false, true}) {
    UploadOptions options;
    options.flatten = flat;
    std::vector<Device> devices{device()};
    if (device().info().is_host) devices.push_back(Device::host());
    const std::vector<GpuGeometry> geometries = broadcast(scene, devices, options);
    const auto expect = [&]<class T>(ViewArray array, const std::vector<T>& wanted) {
      for (const GpuGeometry& geometry : geometries) {
        const Memory& memory = geometry.array(array);
        const Stream stream(geometry.device());
        std::vector<T> got(memory.bytes() / sizeof(T));
        memory.copy_to(std::as_writable_bytes(std::span(got)), stream);
        stream.synchronize();
        EXPECT_TRUE(got.size() == wanted.size() &&
                    std::memcmp(got.data(), wanted.data(), wanted.size() * sizeof(T)) == 0)
            << info(array).name;
        EXPECT_THAT(geometry.report().table(), testing::HasSubstr(std::string(info(array).name)));
      }
    };
    expect(ViewArray::optical_rows, arrays.rows);
    expect(ViewArray::optical_buckets, arrays.buckets);
    expect(ViewArray::optical_materials, arrays.materials);
    expect(ViewArray::optical_surfaces, arrays.surfaces);
    expect(ViewArray::optical_points, arrays.points);
    expect(ViewArray::border_surfaces, arrays.borders);
    expect(ViewArray::channels, arrays.channels);
    expect(ViewArray::channel_types, arrays.channel_types);
  }
}

TEST_P(DeviceOptics, ComeOutOfTheCacheAsTheyWentIn) {
  const Scene scene = test::random_scene(9, 3, 30);
  const test::TemporaryFolder root;
  for (const bool flat : {false, true}) {
    UploadOptions options;
    options.flatten = flat;
    options.raster = {100, 2.5F, 300};
    const auto path = root.path() / (flat ? "flat" : "two-level");
    write_cache_file(path, {}, scene, options);
    EXPECT_EQ(cache_summary(CacheFile(path)).raster, options.raster);
    const GpuGeometry geometry = upload_cached(CacheFile(path), device(), {});
    EXPECT_EQ(geometry.view().optics.raster, options.raster);
    const OpticsArrays arrays = arrays_of(scene, options.raster);
    std::vector<OpticsQuery> queries;
    for (std::uint32_t i = 0; i != 1000; ++i)
      queries.push_back({90 + 0.8F * static_cast<float>(i), 0.001F * static_cast<float>(i), 0.5F, i % 3, i % 6, i % 2});
    const std::vector<OpticsAnswer> answers = ask_all(geometry, queries);
    for (std::size_t i = 0; i != queries.size(); ++i) {
      const OpticsAnswer wanted = ask(arrays.view(), queries[i]);
      EXPECT_EQ(std::memcmp(&answers[i], &wanted, sizeof wanted), 0) << i;
    }
  }
}

TEST_P(DeviceOptics, AreNullInASceneWithoutOptics) {
  Scene scene = test::random_scene(8, 3, 30);
  scene.optics = {};
  const GpuGeometry geometry = upload(scene, device());
  const OpticsView& view = geometry.view().optics;
  EXPECT_EQ(view.rows, nullptr);
  EXPECT_EQ(view.surface_count, 0U);
  EXPECT_FALSE(geometry.has(ViewArray::optical_rows));
}

}  // namespace
}  // namespace raylift
