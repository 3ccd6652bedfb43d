// SPDX-License-Identifier: Apache-2.0
#include <raylift/gpu/memory/residency.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <numeric>

namespace raylift {
namespace {

constexpr std::array<const char*, 4> kRanks{"nodes", "triangles", "vertices", "attributes"};

template <class Member>
std::uint64_t sum(const std::vector<ResidencyReport::Array>& arrays, Member member) {
  return std::accumulate(
      arrays.begin(), arrays.end(), std::uint64_t{0},
      [member](std::uint64_t total, const ResidencyReport::Array& array) { return total + array.*member; });
}

std::string percent(std::uint64_t part, std::uint64_t whole) {
  char text[16];
  std::snprintf(text, sizeof text, "%.0f %%",
                whole == 0 ? 100.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole));
  return text;
}

/// "478", "10.4", "2.00", "0.0123".
std::string three_digits(double value) {
  char text[32];
  if (value < 0.9995)
    std::snprintf(text, sizeof text, "%.3g", value);
  else
    std::snprintf(text, sizeof text, "%.*f", value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2, value);
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
  return (unit == 0 ? std::to_string(bytes) : three_digits(value)) + ' ' + units[unit];
}

std::string human_seconds(double seconds) {
  struct Unit {
    const char* name;
    double seconds;
    double end;  // where the next unit begins, and above three digits for the last
  };
  constexpr std::array<Unit, 5> units{
      {{"us", 1e-6, 999.5}, {"ms", 1e-3, 999.5}, {"s", 1, 119.5}, {"min", 60, 119.5}, {"h", 3600, HUGE_VAL}}};
  const auto unit =
      std::find_if(units.begin(), units.end(), [seconds](const Unit& one) { return seconds / one.seconds < one.end; });
  return unit == units.end() ? "?" : three_digits(seconds / unit->seconds) + ' ' + unit->name;
}

std::string human_rate(double per_second, std::string_view what) {
  constexpr std::array<const char*, 5> units{"", "k", "M", "G", "T"};
  std::size_t unit = 0;
  for (; per_second >= 999.5 && unit + 1 < units.size(); ++unit) per_second /= 1000;
  return three_digits(per_second) + units[unit] + ' ' + std::string(what) + "/s";
}

std::uint64_t ResidencyReport::bytes() const {
  return sum(arrays, &ResidencyReport::Array::bytes);
}
std::uint64_t ResidencyReport::device_bytes() const {
  return sum(arrays, &ResidencyReport::Array::device_bytes);
}
std::uint64_t ResidencyReport::host_bytes() const {
  return sum(arrays, &ResidencyReport::Array::host_bytes);
}

std::uint64_t ResidencyReport::uploaded_bytes() const {
  return std::accumulate(arrays.begin(), arrays.end(), std::uint64_t{0},
                         [](std::uint64_t so_far, const ResidencyReport::Array& array) {
                           return so_far + (array.in_place ? 0 : array.bytes);
                         });
}

std::string ResidencyReport::table() const {
  // What fits needs no explanation.
  const auto explained = [](const ResidencyReport::Array& array) {
    return array.where != Residency::device || array.fell_back;
  };
  const bool any = std::any_of(arrays.begin(), arrays.end(), explained);
  std::vector<std::vector<std::string>> rows{
      {"array", "bytes", "where", "on device", "in host memory", "share", any ? "why" : ""}};
  for (const ResidencyReport::Array& array : arrays)
    rows.push_back({array.name, human_bytes(array.bytes),
                    std::string(to_string(array.where)) + (array.fell_back ? " (fallback)" : ""),
                    human_bytes(array.device_bytes), human_bytes(array.host_bytes),
                    percent(array.device_bytes, array.bytes), explained(array) ? array.why : ""});
  rows.push_back({"total", human_bytes(bytes()), "", human_bytes(device_bytes()), human_bytes(host_bytes()),
                  percent(device_bytes(), bytes()), ""});
  std::string text = "device " + device_id + " (" + device_name + "), policy " + std::string(to_string(policy)) +
                     ", reserve " + human_bytes(reserve);
  if (budget != UINT64_MAX) text += ", budget " + human_bytes(budget);
  text += "\nfree before " + human_bytes(free_before) + ", after " + human_bytes(free_after) + " of " +
          human_bytes(total) + "\n\n";
  text += layout(rows);
  text += "\nplacement " + human_seconds(placement_seconds) + ", allocation " + human_seconds(allocation_seconds) +
          ", upload " + human_seconds(upload_seconds);
  if (upload_seconds > 0)
    text +=
        " (" + human_bytes(static_cast<std::uint64_t>(static_cast<double>(uploaded_bytes()) / upload_seconds)) + "/s)";
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
  for (const ResidencyReport::Array& array : arrays)
    out["arrays"].push_back({{"name", array.name},
                             {"rank", kRanks[static_cast<std::size_t>(array.rank)]},
                             {"bytes", array.bytes},
                             {"where", to_string(array.where)},
                             {"device_bytes", array.device_bytes},
                             {"host_bytes", array.host_bytes},
                             {"why", array.why},
                             {"fallback", array.fell_back},
                             {"in_place", array.in_place}});
  return out.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace raylift
