// SPDX-License-Identifier: Apache-2.0
#include "option_words.h"

#include <array>
#include <string_view>
#include <utility>

namespace raylift::cli {
namespace {

struct OptionWord {
  std::string_view library, program;
};
constexpr std::array kWords{
    OptionWord{"LoadLimits::file_bytes", "--max-file-size"},
    OptionWord{"LoadLimits::text_bytes", "--max-text-size"},
    OptionWord{"LoadLimits::expansion", "--max-expansion"},
    OptionWord{"LoadLimits::documents", "--max-documents"},
    OptionWord{"LoadLimits::node_depth", "--max-depth"},
    OptionWord{"LoadLimits::instances", "--max-instances"},
    OptionWord{"LoadLimits::nodes", "--max-nodes"},
    OptionWord{"LoadLimits::triangles", "--max-triangles"},
    OptionWord{"LoadLimits::polygon_vertices", "--max-polygon"},
    OptionWord{"LoadLimits::isolate_seconds", "--import-timeout"},
    OptionWord{"LoadLimits::isolate_bytes", "--import-memory"},
    OptionWord{"LoadOptions::reader", "--reader"},
    OptionWord{"LoadOptions::external", "--external"},
    OptionWord{"LoadOptions::optics", "--optics"},
    OptionWord{"LoadOptions::repair", "--repair"},
    OptionWord{"LoadOptions::unit_mm", "--unit"},
    OptionWord{"LoadOptions::up_axis", "--up"},
    OptionWord{"LoadOptions::fineness.chord", "--chord"},
    OptionWord{"LoadOptions::fineness.fit", "--fit"},
    OptionWord{"LoadOptions::fineness.steps", "--steps"},
    OptionWord{"LoadOptions::setup", "--setup"},
    OptionWord{"LoadOptions::skip_failed_solids", "--skip-failed"},
    OptionWord{"LoadOptions::strict_optics", "--strict-optics"},
    OptionWord{"NpyWriter::Resume", "--resume"},
    OptionWord{"SimulationOptions::batch", "--batch"},
    OptionWord{"UploadOptions::policy", "--policy"},
};

}  // namespace

std::string in_option_words(std::string text) {
  for (const OptionWord& word : kWords)
    for (std::size_t at = 0; (at = text.find(word.library, at)) != std::string::npos; at += word.program.size())
      text.replace(at, word.library.size(), word.program);
  return text;
}

std::vector<std::string> in_option_words(std::vector<std::string> texts) {
  for (std::string& text : texts) text = in_option_words(std::move(text));
  return texts;
}

}  // namespace raylift::cli
