// SPDX-License-Identifier: Apache-2.0
// raylift-occt.so: the only part of raylift that is linked with Open CASCADE, loaded where a file has booleans.
#pragma once

#include <memory>
#include <string>

#include "import/gdml/booleans/occt/operation.h"

namespace raylift::gdml {

/// Opens the module: $RAYLIFT_OCCT, beside the program, or where it was installed. The second call does nothing. A
/// process that gives up the right to open files calls it before.
void open_occt() noexcept;

/// Why the module can't be used; empty where it can.
[[nodiscard]] const std::string& why_no_occt();

/// Throws occt::Failure. The module must be there.
[[nodiscard]] std::unique_ptr<occt::Operation> make_operation(const Csg& csg, const occt::Options& options);

}  // namespace raylift::gdml
