// SPDX-License-Identifier: Apache-2.0
// data/detector.dae as a file that says nothing of optics, for tests of optics that come from elsewhere.
#pragma once

#include <string>

#include "support/paths.h"

namespace raylift::test {

/// The document without what stands in the <extra> elements of its materials and behind its nodes. Copy numbers stay.
inline std::string detector_without_optics() {
  std::ifstream file(data("detector.dae"));
  std::string text;
  bool surfaces = false;
  for (std::string line; std::getline(file, line);) {
    surfaces = surfaces || line == "    <extra>";
    bool optical = surfaces;
    for (const char* element : {"<matrix coldim", "<property ", "<constant "})
      optical = optical || line.find(element) != std::string::npos;
    if (!optical) text += line + '\n';
    surfaces = surfaces && line != "    </extra>";
  }
  return text;
}

}  // namespace raylift::test
