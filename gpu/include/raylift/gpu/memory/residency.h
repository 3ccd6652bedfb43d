// SPDX-License-Identifier: Apache-2.0
// The report of an upload: every array's residency, the reasons, and the times.
#pragma once

#include <raylift/gpu/memory/placement.h>

#include <cstdint>
#include <string>
#include <vector>

namespace raylift {

struct ResidencyReport {
  struct Array {
    std::string name;
    ArrayRank rank = ArrayRank::attributes;
    std::uint64_t bytes = 0;
    Residency where = Residency::device;
    std::uint64_t device_bytes = 0;
    std::uint64_t host_bytes = 0;
    std::string why;
    bool fell_back = false;  ///< the planned allocation failed
    bool in_place = false;   ///< the device computed it there
  };

  std::string device_id;
  std::string device_name;
  PlacementPolicy policy = PlacementPolicy::automatic;
  std::uint64_t reserve = 0;
  std::uint64_t budget = UINT64_MAX;  ///< UINT64_MAX: none was set
  std::uint64_t free_before = 0;
  std::uint64_t free_after = 0;
  std::uint64_t total = 0;
  double placement_seconds = 0;   ///< planning
  double allocation_seconds = 0;  ///< of all memory, the ring included
  double upload_seconds = 0;      ///< converting and copying, to the last byte's arrival
  std::vector<Array> arrays;

  [[nodiscard]] std::uint64_t bytes() const;
  [[nodiscard]] std::uint64_t device_bytes() const;
  [[nodiscard]] std::uint64_t host_bytes() const;
  /// The bytes of all arrays but those that were computed in place.
  [[nodiscard]] std::uint64_t uploaded_bytes() const;

  /// For people: aligned columns, decimal units, a line of totals, ending in a newline.
  [[nodiscard]] std::string table() const;
  /// For programs: one JSON object; all sizes in bytes, times in seconds.
  [[nodiscard]] std::string json() const;
};

/// "1.23 MB": decimal, three significant digits, as Chroma prints memory.
[[nodiscard]] std::string human_bytes(std::uint64_t bytes);

/// "478 us", "10.4 ms", "73.2 s", "12.5 min", "3.00 h": three digits.
[[nodiscard]] std::string human_seconds(double seconds);

/// "19.3M rays/s", "0.25 scenes/s": three digits, with decimal k, M, G or T.
[[nodiscard]] std::string human_rate(double per_second, std::string_view what);

}  // namespace raylift
