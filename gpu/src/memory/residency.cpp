// SPDX-License-Identifier: Apache-2.0
#include <raylift/gpu/memory/residency.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <numeric>

namespace raylift {
namespace {

constexpr std::array<const char*, 4> kRanks{"nodes", "triangles", "vertices", "attributes"};

template <class Member>
std::uint64_t sum(const std::vector<ArrayResidency>& arrays, Member member) {
  return std::accumulate(arrays.begin(), arrays.end(), std::uint64_t{0},
                         [member](std::uint64_t total, const ArrayResidency& array) { return total + array.*member; });
}

std::string percent(std::uint64_t part, std::uint64_t whole) {
  char text[16];
  std::snprintf(text, sizeof text, "%.0f %%",
                whole == 0 ? 100.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole));
  return text;
}

/// Rows of cells as text; the first column is aligned to the left, and so is the last.
std::string layout(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const auto& row : rows)
    for (std::size_t i = 0; i != row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i != row.size(); ++i) {
      const std::string padding(widths[i] - row[i].size(), ' ');
      const bool left = i == 0 || i + 1 == row.size() || i == 2;
      line += (i == 0 ? "" : "  ") + (left ? row[i] + padding : padding + row[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

}  // namespace

std::string human_bytes(std::uint64_t bytes) {
  constexpr std::array<const char*, 7> units{"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  // 999.5 would print as 1000 of three digits.
  while (value >= 999.5 && unit + 1 < units.size()) {
    value /= 1000;
    ++unit;
  }
  char text[32];
  const int decimals = unit == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  std::snprintf(text, sizeof text, "%.*f %s", decimals, value, units[unit]);
  return text;
}

std::uint64_t ResidencyReport::bytes() const {
  return sum(arrays, &ArrayResidency::bytes);
}
std::uint64_t ResidencyReport::device_bytes() const {
  return sum(arrays, &ArrayResidency::device_bytes);
}
std::uint64_t ResidencyReport::host_bytes() const {
  return sum(arrays, &ArrayResidency::host_bytes);
}

std::string ResidencyReport::table() const {
  std::vector<std::vector<std::string>> rows{
      {"array", "bytes", "where", "on device", "in host memory", "share", "why"}};
  for (const ArrayResidency& array : arrays)
    rows.push_back({array.name, human_bytes(array.bytes),
                    std::string(to_string(array.where)) + (array.fell_back ? " (fallback)" : ""),
                    human_bytes(array.device_bytes), human_bytes(array.host_bytes),
                    percent(array.device_bytes, array.bytes), array.why});
  rows.push_back({"total", human_bytes(bytes()), "", human_bytes(device_bytes()), human_bytes(host_bytes()),
                  percent(device_bytes(), bytes()), ""});
  std::string text = "device " + device_id + " (" + device_name + "), policy " + std::string(to_string(policy)) +
                     ", reserve " + human_bytes(reserve);
  if (budget != UINT64_MAX) text += ", budget " + human_bytes(budget);
  text += "\nfree before " + human_bytes(free_before) + ", after " + human_bytes(free_after) + " of " +
          human_bytes(total) + "\n\n";
  text += layout(rows);
  char times[160];
  std::snprintf(times, sizeof times, "\nplacement %.6f s, allocation %.6f s, upload %.6f s", placement_seconds,
                allocation_seconds, upload_seconds);
  text += times;
  if (upload_seconds > 0) {
    std::snprintf(times, sizeof times, " (%.2f GB/s)", static_cast<double>(bytes()) / upload_seconds / 1e9);
    text += times;
  }
  return text + '\n';
}

std::string ResidencyReport::json() const {
  nlohmann::ordered_json out;
  out["device"] = device_id;
  out["device_name"] = device_name;
  out["policy"] = to_string(policy);
  out["reserve_bytes"] = reserve;
  out["budget_bytes"] = budget == UINT64_MAX ? nlohmann::ordered_json() : nlohmann::ordered_json(budget);
  out["free_bytes_before"] = free_before;
  out["free_bytes_after"] = free_after;
  out["total_bytes"] = total;
  out["placement_seconds"] = placement_seconds;
  out["allocation_seconds"] = allocation_seconds;
  out["upload_seconds"] = upload_seconds;
  out["bytes"] = bytes();
  out["device_bytes"] = device_bytes();
  out["host_bytes"] = host_bytes();
  out["arrays"] = nlohmann::ordered_json::array();
  for (const ArrayResidency& array : arrays)
    out["arrays"].push_back({{"name", array.name},
                             {"rank", kRanks[static_cast<std::size_t>(array.rank)]},
                             {"bytes", array.bytes},
                             {"where", to_string(array.where)},
                             {"device_bytes", array.device_bytes},
                             {"host_bytes", array.host_bytes},
                             {"why", array.why},
                             {"fallback", array.fell_back}});
  return out.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace raylift
