// SPDX-License-Identifier: Apache-2.0
// What the completions of all shells share.
#pragma once

#include <string>
#include <vector>

#include "describe_options.h"

namespace raylift::cli {

/// Whether the option's value is a file or a folder, as its type says.
[[nodiscard]] bool takes_path(const DescribedOption& option);

/// What a shell calls the function: no hyphens.
[[nodiscard]] std::string identifier(std::string name);

/// Separated by blanks.
[[nodiscard]] std::string joined(const std::vector<std::string>& words);

/// The last words of the commands.
[[nodiscard]] std::string joined_words(const std::vector<const DescribedCommand*>& commands);

}  // namespace raylift::cli
