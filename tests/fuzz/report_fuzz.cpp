// SPDX-License-Identifier: Apache-2.0
// Reports with anything in them: what `raylift batch --resume` and `--merge` read is resumed or merged, or refused by
// an Error. The first byte says what the rest is: a whole report, rows behind this batch's head, or reports to be
// merged, between lines of "---". A report that was taken is taken again, and says the same.
#include <raylift/geometry/error.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "batch/run/batch_summary.h"
#include "batch/run/earlier_rows.h"
#include "batch/run/merge.h"
#include "batch/run/report.h"
#include "batch/run/report_head.h"

namespace {

using namespace raylift;
using cli::Json;
namespace fs = std::filesystem;

/// In memory, not on a disk: reports are synchronised. Holds three scenes, of which one has another file beside it.
class Scratch {
 public:
  Scratch() {
    std::string folder = "/dev/shm/raylift-fuzz-XXXXXX";
    if (::mkdtemp(folder.data()) == nullptr) std::abort();
    path = folder;
    for (const char* name : {"a.dae", "b.dae", "c.obj", "c.mtl"}) std::ofstream(path / name) << name;
    options.actions = {};
    options.resume = true;
    options.retry = {"io", "changed"};
    inputs = batch::expand_inputs({(path / "a.dae").string(), (path / "b.dae").string(), (path / "c.obj").string()});
    head = batch::make_head(options);
    batch::set_file(head, path.string(), "folder");
  }
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  fs::path path;
  batch::BatchOptions options;
  std::vector<batch::Input> inputs;
  Json head;
};

Scratch& scratch() {
  static Scratch made;
  return made;
}

std::string write(const std::string& name, std::string_view text) {
  const fs::path file = scratch().path / name;
  std::ofstream(file, std::ios::binary | std::ios::trunc) << text;
  return file.string();
}

/// What --resume does before the batch starts. Returns what it made of the rows.
std::string resume(const std::string& file) {
  const Scratch& with = scratch();
  batch::EarlierRows earlier(with.inputs, with.options, with.inputs.size());
  batch::Report report(file, batch::Report::Mode::resume, with.head,
                       [&](const Json& theirs, const Json& row) { earlier.add(theirs, row); });
  earlier.check_sources({});
  if (earlier.any_again())
    report.rewrite([&](const Json& row) { return earlier.again(row) ? std::nullopt : std::optional<std::size_t>(0); });
  batch::Summary summary(with.inputs.size());
  for (const auto& [scene, row] : earlier.done()) {
    if (scene >= with.inputs.size()) std::abort();
    summary.add(scene, row, true);
  }
  return std::to_string(summary.exit_code()) + summary.table();
}

void use_report(const std::string& file) {
  const std::string once = resume(file);
  if (resume(file) != once) std::abort();
}

void merge(std::string_view text) {
  constexpr std::string_view kBetween = "---\n";
  std::vector<std::string> reports;
  while (reports.size() != 4) {
    const std::size_t end = text.find(kBetween);
    reports.push_back(write("shard" + std::to_string(reports.size()), text.substr(0, end)));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + kBetween.size());
  }
  cli::Session session(cli::GeneralOptions{});
  const fs::path merged = scratch().path / "merged";
  fs::remove(merged);
  (void)batch::merge_reports(session, reports, merged.string());
  // It is a report as batches write it.
  std::ifstream lines(merged);
  bool first = true;
  for (std::string line; std::getline(lines, line); first = false) {
    const Json json = Json::parse(line, nullptr, false);
    if (first ? !batch::is_head(json) : !batch::is_row(json)) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  // The tables of merged reports.
  return std::freopen("/dev/null", "w", stdout) == nullptr ? 1 : 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    if (*data == 'm')
      merge(text);
    else if (*data == 'r')
      use_report(write("report", text));
    else
      use_report(write("report", scratch().head.dump() + '\n' + std::string(text)));
  } catch (const Error&) {
  }
  return 0;
}
