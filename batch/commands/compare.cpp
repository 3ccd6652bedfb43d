// SPDX-License-Identifier: Apache-2.0
// raylift compare: whether photons have the same histories in two runs, or in another simulator.
#include <fmt/format.h>
#include <raylift/geometry/error.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

#include "base/json.h"
#include "cli/options.h"
#include "cli/output_file.h"
#include "cli/quantity.h"
#include "cli/table.h"
#include "cli/text.h"
#include "commands.h"
#include "photon/src/compare_histories.h"

namespace raylift::batch {
using namespace cli;
using photon::Comparison;
using photon::HistoryCount;
namespace {

constexpr std::size_t kMaxRows = 10;
constexpr std::uint64_t kSavedOfEach = 100;

struct CompareOptions {
  std::vector<std::string> runs;
  std::string save;
};

/// A folder of `raylift photons`, or the array itself.
std::string sequences_of(const std::string& run) {
  return std::filesystem::is_directory(run) ? run + "/seq.npy" : run;
}

/// The number of a run's first photon.
std::uint64_t first_photon(const std::string& run) {
  std::ifstream file(run + "/summary.json", std::ios::binary);
  const Json json = base::parse_json<Json>(std::string{std::istreambuf_iterator<char>(file), {}});
  return json.is_object() && json.contains("first") && json["first"].is_number_unsigned()
             ? json["first"].get<std::uint64_t>()
             : 0;
}

Json json_of(const CompareOptions& options, const Comparison& result) {
  Json deviating = Json::array();
  for (const HistoryCount& one : result.histories)
    if (one.deviates())
      deviating.push_back({{"history", photon::history_text(one.history)},
                           {"a", one.a},
                           {"b", one.b},
                           {"chi_square", one.chi_square()}});
  return {{"a", options.runs[0]},
          {"b", options.runs[1]},
          {"photons", result.photons},
          {"identical", result.identical},
          {"histories", result.histories.size()},
          {"terms", result.terms},
          {"chi_square", result.chi_square},
          {"probability", result.probability},
          {"missing", result.missing},
          {"passes", result.passes()},
          {"deviating", std::move(deviating)}};
}

std::string text_of(const Comparison& result) {
  Table table({{"history", Align::left}, {"A"}, {"B"}, {"chi-square"}, {"", Align::left}});
  for (std::size_t i = 0; i != std::min(kMaxRows, result.histories.size()); ++i) {
    const HistoryCount& one = result.histories[i];
    table.add({photon::history_text(one.history), grouped(one.a), grouped(one.b),
               one.counts() ? fmt::format("{:.2f}", one.chi_square()) : "too few",
               one.missing()    ? "in one alone"
               : one.deviates() ? "deviates"
                                : ""});
  }
  std::string text = fmt::format("{} each, {} with the same history under the same number\n",
                                 counted(result.photons, "photon", "photons"), grouped(result.identical));
  text += fmt::format("chi-square {:.2f} over {}: probability {:.4f}\n", result.chi_square,
                      counted(result.terms, "history", "histories"), result.probability);
  if (result.missing != 0)
    text += fmt::format("{} more than 10 times in one, and not in the other\n",
                        counted(result.missing, "history is", "histories are"));
  const bool identical = result.identical == result.photons && result.photons != 0;
  const char* const outcome = identical
                                  ? "identical, photon by photon, which proves nothing about the physics: compare "
                                    "runs of different seeds\n"
                              : result.passes() ? "the same\n"
                                                : "different\n";
  return text + outcome + (table.empty() ? "" : '\n' + table.text(2));
}

int compare(Session& session, const CompareOptions& options) {
  if (options.runs.size() != 2)
    throw Error(ErrorKind::usage, fmt::format("{} runs were given, and two are compared", options.runs.size()));
  if (!options.save.empty()) {
    protect_inputs(std::vector<std::filesystem::path>{sequences_of(options.runs[0]), sequences_of(options.runs[1])});
    refuse_input(options.save);
  }
  const Comparison result = photon::compare_histories(sequences_of(options.runs[0]), sequences_of(options.runs[1]));
  if (!options.save.empty()) {
    std::vector<std::uint64_t> numbers = photon::deviating_photons(result, sequences_of(options.runs[0]), kSavedOfEach);
    const std::uint64_t first = first_photon(options.runs[0]);
    for (std::uint64_t& number : numbers) number += first;
    photon::NpyWriter file(options.save, photon::NpyType::uint64, {});
    file.append(std::span<const std::uint64_t>(numbers));
    file.finish();
  }
  if (session.options().json)
    session.write(base::json_text(json_of(options, result), 1) + '\n');
  else
    session.write(text_of(result));
  return result.passes() ? 0 : kNegative;
}

}  // namespace

void add_compare(CLI::App& program, GeneralOptions& general, CommandRun& run) {
  auto options = std::make_shared<CompareOptions>();
  CLI::App* app = add_command(program, "compare", "Compare the histories of photons in two runs");
  add_words(*app, "RUN", options->runs,
            "Two runs A and B: folders of 'raylift photons --seq', or arrays such as Opticks's seq.npy", true);
  add_parsed(*app, "--save", "FILE", "",
             "Write the numbers of photons of A whose histories deviate, up to 100 of each history, as a .npy file",
             [options](const std::string& text) { options->save = parse_file_name(text); });
  add_general_options(*app, general, true);
  finish_command(*app, R"(
The count a of each history in A is compared with its count b in B: chi-square is the sum of (a-b)^2/(a+b) over the
histories with a+b above 30. The exit code is 0 if its probability is above 0.05 and each history that occurs more than
10 times in one run occurs in the other; otherwise 1.

Examples:
  raylift compare run opticks/seq.npy
  raylift compare a b --save look.npy; raylift photons scene.dae --record look.npy --output again)",
                 [options, &run] { run = [options](Session& session) { return compare(session, *options); }; });
}

}  // namespace raylift::batch
