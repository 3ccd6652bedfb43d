// SPDX-License-Identifier: Apache-2.0
// Photons as they are drawn: the steps of their paths, and points where they ended. Read from what `raylift photons`
// writes, or from other simulators' arrays in Opticks's layout. docs/photons.md describes the files. No GL.
#pragma once

#include <raylift/geometry/progress.h>
#include <raylift/geometry/scene/scene.h>
#include <raylift/photon/results.h>

#include <cstdint>
#include <filesystem>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "photon/src/histories.h"

namespace raylift::viewer {

/// Values from `low` to `high`; empty where low > high.
struct ValueRange {
  float low = std::numeric_limits<float>::infinity();
  float high = -std::numeric_limits<float>::infinity();
  void add(float value);
  [[nodiscard]] bool empty() const { return !(low <= high); }
};

struct PhotonSet {
  /// Events of all paths, one path after the other: what light was after each event. Rows with the flag 0 may follow a
  /// path's end, as in record.npy.
  std::vector<photon::PhotonRow> rows;
  /// OpenGL's buffer of these rows; 0: it has none yet.
  std::uint32_t rows_buffer = 0;
  /// The first row of each path, and after the last the number of rows.
  std::vector<std::uint32_t> first{0};
  /// The solid that light goes on in after each row, kNone where that is unknown.
  std::vector<std::uint32_t> media;
  /// The ends of photons, or hits alone.
  std::vector<photon::PhotonRow> points;
  /// The history of each point; empty: unknown.
  std::vector<photon::History> histories;
  ValueRange times, wavelengths;   ///< of rows and points; ns, nm
  std::vector<std::string> notes;  ///< warnings for the user: photons left out, unknown solids
  /// The names of the events in their order, and the one whose photons these are, in a folder with a run for each.
  std::vector<std::string> events;
  std::size_t event = 0;

  [[nodiscard]] std::size_t paths() const { return first.size() - 1; }
  [[nodiscard]] bool empty() const { return rows.empty() && points.empty(); }
  /// The rows of a path, without those after its end.
  [[nodiscard]] std::span<const photon::PhotonRow> path(std::size_t i) const;
  /// The path that has this row.
  [[nodiscard]] std::size_t path_of(std::uint32_t row) const;
};

/// Adds the steps of photons as record.npy has them: `events` rows for each, those after its end with the flag 0.
/// `name` and `number`, that of the first of them in the file, are for errors. Throws Error: malformed for a row that
/// is no photon's; limit for more than 2^32 - 1 rows. `padded`: the set has the rows after the ends too, for a buffer
/// that has them.
void add_paths(PhotonSet& set, std::span<const photon::PhotonRow> rows, std::size_t events, const std::string& name,
               std::uint64_t number, bool padded = false);
/// Adds points, likewise.
void add_points(PhotonSet& set, std::span<const photon::PhotonRow> rows, const std::string& name, std::uint64_t number);

/// The history of a path: its first 32 events.
[[nodiscard]] photon::History history_of(std::span<const photon::PhotonRow> path);

/// The names of the runs that a folder has, one for each event, in the order of the numbers in them; none where the
/// folder is a run itself, or no folder. Runs are folders and arrays that load_photons() reads.
[[nodiscard]] std::vector<std::string> photon_events(const std::filesystem::path& folder);
/// The place of an event by its name, or by the number at the name's end; empty: the first. Throws Error(usage).
[[nodiscard]] std::size_t find_event(const std::vector<std::string>& events, const std::string& text);

/// The photons of a folder of `raylift photons` (record.npy, final.npy or else hits.npy, seq.npy; Chroma's arrays), or
/// of one array: (N, M, 4, 4) of float32, whose rows are the events of each photon, or (N, 4, 4), photons. At most so
/// many of either are kept, the first. Throws Error: io, malformed, unsupported, limit, cancelled.
[[nodiscard]] PhotonSet load_photons(const std::filesystem::path& path, const Scene& scene, std::uint64_t most,
                                     const Progress& progress);

}  // namespace raylift::viewer
