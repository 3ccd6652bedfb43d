// SPDX-License-Identifier: Apache-2.0
// Errors of Open CASCADE as those of the modules. Only for their sources.
#pragma once

#include <Standard_Failure.hxx>

#include "import/gdml/booleans/occt/operation.h"

namespace raylift::gdml::occt {

/// The result of run(). What the library throws becomes a Failure.
template <class Run>
auto guarded(const Run& run) {
  try {
    return run();
  } catch (const Standard_Failure& failure) {
    const char* const text = failure.GetMessageString();
    throw Failure(text != nullptr && *text != '\0' ? text : "Open CASCADE failed without a reason");
  }
}

}  // namespace raylift::gdml::occt
