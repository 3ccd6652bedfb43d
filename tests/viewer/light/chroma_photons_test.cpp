// SPDX-License-Identifier: Apache-2.0
// Photons in Chroma's arrays.
#include "light/chroma_photons.h"

#include <gtest/gtest.h>
#include <raylift/geometry/error.h>
#include <raylift/geometry/import/load.h>
#include <raylift/photon/npy.h>

#include "light/photon_set.h"
#include "support/paths.h"

namespace raylift::viewer {
namespace {

namespace ends = photon::opticks;
using photon::NpyType;

template <class T>
void write_array(const std::filesystem::path& file, NpyType type, std::vector<std::uint64_t> row,
                 const std::vector<T>& values) {
  photon::NpyWriter writer(file, type, std::move(row));
  writer.append(std::span<const T>(values));
  writer.finish();
}

TEST(ChromaPhotons, AreDrawnAsPointsOfTheirEnds) {
  const test::TemporaryFolder folder;
  const auto at = [&](const char* name) { return folder.path() / "hits" / name; };
  std::filesystem::create_directory(folder.path() / "hits");
  EXPECT_FALSE(has_chroma_photons(folder.path() / "hits"));
  write_array<Float3>(at("pos.npy"), NpyType::float32, {3}, {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {0, 0, 0}});
  EXPECT_TRUE(has_chroma_photons(folder.path() / "hits"));
  EXPECT_THROW((void)read_chroma_photons(folder.path() / "hits", 10), Error) << "the others are missing";
  write_array<float>(at("t.npy"), NpyType::float32, {}, {1, 2, 3, 4});
  write_array<float>(at("wavelengths.npy"), NpyType::float32, {}, {400, 410, 420, 430});
  // Detected after a reflection; absorbed on a surface; in the bulk after Rayleigh scattering; nothing of an end.
  write_array<std::uint32_t>(at("flags.npy"), NpyType::uint32, {},
                             {1U << 2 | 1U << 6, 1U << 3, 1U << 1 | 1U << 4, 1U << 5});
  const auto [rows, there] = read_chroma_photons(folder.path() / "hits", 10);
  EXPECT_EQ(there, 4U);
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[1].position.y, 5);
  EXPECT_EQ(rows[2].time, 3);
  EXPECT_EQ(rows[3].wavelength, 430);
  EXPECT_EQ(rows[0].flag, ends::kSurfaceDetect);
  EXPECT_EQ(rows[1].flag, ends::kSurfaceAbsorb);
  EXPECT_EQ(rows[2].flag, ends::kBulkAbsorb);
  EXPECT_EQ(rows[3].flag, ends::kEfficiencyCull);
  EXPECT_EQ(rows[2].number, 2U);
  EXPECT_EQ(rows[0].solid, kNoSolid);
  write_array<std::int32_t>(at("channel.npy"), NpyType::int32, {}, {17, -1, -1, -1});
  write_array<std::uint32_t>(at("solid.npy"), NpyType::uint32, {}, {0, 0, 0, 0});

  const Scene scene = load(test::data("cube.dae"));
  const PhotonSet set = load_photons(folder.path(), scene, 3, {});
  EXPECT_EQ(set.points.size(), 3U);
  EXPECT_EQ(set.points[0].sensor, 18U);
  EXPECT_EQ(set.points[1].sensor, 0U);
  EXPECT_EQ(set.notes.size(), 1U) << "one was left out";
  EXPECT_EQ(load_photons(folder.path() / "hits", scene, 10, {}).points.size(), 4U) << "the arrays' own folder";
  write_array<float>(at("t.npy"), NpyType::float32, {}, {1, 2, 3});
  EXPECT_THROW((void)load_photons(folder.path(), scene, 3, {}), Error);
}

}  // namespace
}  // namespace raylift::viewer
