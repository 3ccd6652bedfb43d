// SPDX-License-Identifier: Apache-2.0
// Photons for tests, made by hand.
#pragma once

#include <raylift/photon/npy.h>
#include <raylift/photon/results.h>

#include <filesystem>
#include <vector>

#include "light/photon_set.h"

namespace raylift::viewer::test_photons {

using photon::PhotonRow;
namespace flags = photon::opticks;

/// An event without a direction and a polarisation.
inline PhotonRow event(std::uint32_t flag, Float3 position, float time, std::uint32_t number = 0,
                       float wavelength = 420, std::uint32_t solid = 0) {
  PhotonRow row{};
  row.position = position;
  row.time = time;
  row.wavelength = wavelength;
  row.flag = static_cast<std::uint16_t>(flag);
  row.surface = kNoSurface;
  row.solid = solid;
  row.number = number;
  return row;
}

/// Paths in one array with so many events for each, as record.npy has them.
inline std::vector<PhotonRow> padded(const std::vector<std::vector<PhotonRow>>& paths, std::size_t events = 32) {
  std::vector<PhotonRow> rows;
  for (std::vector<PhotonRow> path : paths) {
    path.resize(events, PhotonRow{});
    rows.insert(rows.end(), path.begin(), path.end());
  }
  return rows;
}

inline PhotonSet set_of(const std::vector<std::vector<PhotonRow>>& paths, const std::vector<PhotonRow>& points = {}) {
  PhotonSet set;
  add_paths(set, padded(paths), 32, "paths", 0);
  add_points(set, points, "points", 0);
  return set;
}

inline void write(const std::filesystem::path& file, const std::vector<PhotonRow>& rows,
                  const std::vector<std::uint64_t>& shape) {
  photon::NpyWriter writer(file, photon::NpyType::float32, shape);
  writer.append(std::span<const PhotonRow>(rows));
  writer.finish();
}
inline void write_record(const std::filesystem::path& file, const std::vector<std::vector<PhotonRow>>& paths,
                         std::size_t events = 32) {
  write(file, padded(paths, events), {events, 4, 4});
}
inline void write_points(const std::filesystem::path& file, const std::vector<PhotonRow>& rows) {
  write(file, rows, {4, 4});
}

}  // namespace raylift::viewer::test_photons
