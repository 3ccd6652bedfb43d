// SPDX-License-Identifier: Apache-2.0
#include "describe_shell.h"

#include <algorithm>

namespace raylift::cli {

bool takes_path(const DescribedOption& option) {
  for (const char* type : {"FILE", "FOLDER", "DIR", "PATH"})
    if (option.value == type) return true;
  return option.names.end() != std::find(option.names.begin(), option.names.end(), "--output");
}

std::string identifier(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return "_" + name;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::string joined_words(const std::vector<const DescribedCommand*>& commands) {
  std::vector<std::string> words;
  for (const DescribedCommand* command : commands) words.push_back(command->word);
  return joined(words);
}

}  // namespace raylift::cli
