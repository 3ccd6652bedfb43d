// SPDX-License-Identifier: Apache-2.0
// Options as a shell gives them.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "state/options/view_options.h"

namespace raylift::viewer {

/// What raylift-view makes of these arguments, its name not among them. Throws as parse_view_options() does.
inline ViewOptions typed(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "raylift-view");
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  ViewOptions options;
  EXPECT_EQ(parse_view_options(static_cast<int>(pointers.size()), pointers.data(), options), "");
  return options;
}

}  // namespace raylift::viewer
