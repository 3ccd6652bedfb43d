// SPDX-License-Identifier: Apache-2.0
#include "light/chroma_photons.h"

#include <raylift/geometry/error.h>
#include <raylift/photon/npy.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "photon/src/chroma_flags.h"

namespace raylift::viewer {
namespace {

namespace fs = std::filesystem;
namespace flags = photon::opticks;
using photon::NpyReader;
using photon::NpyType;
using photon::PhotonRow;

/// The end by Chroma's flags; truncated, where they have none.
std::uint32_t end_of(std::uint32_t chroma) {
  for (const std::uint32_t end :
       {flags::kSurfaceDetect, flags::kSurfaceAbsorb, flags::kBulkAbsorb, flags::kMiss, flags::kNanAbort})
    if ((chroma & photon::chroma_flags(end)) != 0) return end;
  return flags::kEfficiencyCull;
}

/// The first rows of an array with as many rows as the others.
template <class T>
std::vector<T> read_array(const fs::path& file, NpyType type, std::span<const std::uint64_t> row, std::uint64_t there,
                          std::uint64_t count) {
  const NpyReader reader(file);
  reader.expect(type, row);
  if (reader.rows() != there)
    throw Error(ErrorKind::malformed,
                "has " + std::to_string(reader.rows()) + " rows, and pos.npy has " + std::to_string(there),
                {file.string(), {}});
  std::vector<T> values(static_cast<std::size_t>(count));
  reader.read(std::as_writable_bytes(std::span(values)), 0);
  return values;
}

}  // namespace

bool has_chroma_photons(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_regular_file(folder / "pos.npy", ignored);
}

std::pair<std::vector<PhotonRow>, std::uint64_t> read_chroma_photons(const fs::path& folder, std::uint64_t most) {
  constexpr std::array<std::uint64_t, 1> kVector{3};
  const std::uint64_t there = NpyReader(folder / "pos.npy").rows(), count = std::min(there, most);
  std::vector<PhotonRow> rows(static_cast<std::size_t>(count));
  const auto set = [&]<class T>(const char* name, NpyType type, std::span<const std::uint64_t> row, bool needed,
                                const auto& take) {
    std::error_code ignored;
    const fs::path file = folder / name;
    if (!needed && !fs::exists(file, ignored)) return;
    const std::vector<T> values = read_array<T>(file, type, row, there, count);
    for (std::size_t i = 0; i != rows.size(); ++i) take(rows[i], values[i]);
  };
  for (std::size_t i = 0; i != rows.size(); ++i) {
    rows[i] = PhotonRow{};
    rows[i].surface = kNoSurface;
    rows[i].solid = kNoSolid;
    rows[i].number = static_cast<std::uint32_t>(i);
  }
  using F = float;
  using U = std::uint32_t;
  set.operator()<Float3>("pos.npy", NpyType::float32, kVector, true,
                         [](PhotonRow& row, Float3 p) { row.position = p; });
  set.operator()<F>("t.npy", NpyType::float32, {}, true, [](PhotonRow& row, F t) { row.time = t; });
  set.operator()<F>("wavelengths.npy", NpyType::float32, {}, true, [](PhotonRow& row, F nm) { row.wavelength = nm; });
  set.operator()<U>("flags.npy", NpyType::uint32, {}, true, [](PhotonRow& row, U chroma) {
    row.flag = static_cast<std::uint16_t>(end_of(chroma));
    row.flags = row.flag;
  });
  set.operator()<std::int32_t>("channel.npy", NpyType::int32, {}, false, [](PhotonRow& row, std::int32_t channel) {
    row.sensor = channel < 0 ? 0 : static_cast<U>(channel) + 1;
  });
  set.operator()<U>("solid.npy", NpyType::uint32, {}, false, [](PhotonRow& row, U solid) { row.solid = solid; });
  set.operator()<U>("number.npy", NpyType::uint32, {}, false, [](PhotonRow& row, U number) { row.number = number; });
  return {std::move(rows), there};
}

}  // namespace raylift::viewer
