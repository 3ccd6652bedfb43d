// SPDX-License-Identifier: Apache-2.0
#include "batch_summary.h"

#include <fmt/format.h>
#include <raylift/geometry/error.h>
#include <raylift/gpu/memory/residency.h>

#include <algorithm>

#include "cli/session.h"
#include "cli/table.h"
#include "cli/text.h"

namespace raylift::batch {
using namespace cli;

void Summary::add(std::size_t scene, const Json& row, bool earlier) {
  std::string result = row.value("status", "failed");
  int code = result == "ok" ? 0 : result == "negative" ? kNegative : 70;
  if (result == "failed") {
    try {
      result = row.at("error").at("kind").get<std::string>();
      code = raylift::exit_code(error_kind(result));
    } catch (const std::exception&) {
      result = "failed";  // a report that was edited by hand
    }
  }
  codes_[scene] = code;
  ++done_;
  if (earlier) ++earlier_;
  Count& count = counts_[result];
  ++count.scenes;
  if (row.contains("bytes") && row["bytes"].is_number_unsigned()) count.bytes += row["bytes"].get<std::uint64_t>();
}

int Summary::exit_code() const {
  const auto failed = std::find_if(codes_.begin(), codes_.end(), [](int code) { return code > kNegative; });
  if (failed != codes_.end()) return *failed;
  return std::find(codes_.begin(), codes_.end(), kNegative) != codes_.end() ? kNegative : 0;
}

std::string Summary::progress(std::chrono::duration<double> time) const {
  const auto failed = std::count_if(codes_.begin(), codes_.end(), [](int code) { return code > kNegative; });
  return fmt::format("{} done, {} failed, {} remaining, {}", counted(done_, "scene", "scenes"),
                     grouped(static_cast<std::uint64_t>(failed)), grouped(codes_.size() - done_),
                     human_rate(static_cast<double>(done_ - earlier_) / time.count(), "scenes"));
}

std::string Summary::table() const {
  Table table({{"result", Align::left}, {"scenes"}, {"size"}});
  const auto add = [&](const std::string& shown, const Count& count) {
    table.add({shown, grouped(count.scenes), human_bytes(count.bytes)});
  };
  // Good news first, then the answers that are no errors, then errors by name.
  Count all;
  for (const char* first : {"ok", "negative"})
    if (const auto found = counts_.find(first); found != counts_.end())
      add(found->first == "negative" ? "leaks, overlaps or too thin" : "ok", found->second);
  for (const auto& [result, count] : counts_) {
    all.scenes += count.scenes;
    all.bytes += count.bytes;
    if (result != "ok" && result != "negative") add(result, count);
  }
  add("total", all);
  if (done_ != codes_.size()) table.add({"not done", grouped(codes_.size() - done_), ""});
  return table.text();
}

std::string Summary::text(std::chrono::duration<double> time) const {
  const auto now = static_cast<double>(done_ - earlier_);
  std::string text = table();
  text += fmt::format("\n{} in {}", counted(done_ - earlier_, "scene", "scenes"), human_seconds(time.count()));
  if (time.count() > 0 && now > 0) text += ", " + human_rate(now / time.count(), "scenes");
  if (earlier_ != 0) text += fmt::format("; {} done before", grouped(earlier_));
  return text + '\n';
}

Json Summary::json(std::chrono::duration<double> time) const {
  Json results = Json::object();
  for (const auto& [result, count] : counts_) results[result] = count.scenes;
  return {{"scenes", codes_.size()},
          {"done", done_},
          {"done_before", earlier_},
          {"results", std::move(results)},
          {"seconds", time.count()}};
}

}  // namespace raylift::batch
