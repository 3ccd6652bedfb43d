// SPDX-License-Identifier: Apache-2.0
// CLI11's classes by name: whoever includes all of CLI11 compiles its command line parser once more.
#pragma once

namespace CLI {
class App;
class Option;
}  // namespace CLI
