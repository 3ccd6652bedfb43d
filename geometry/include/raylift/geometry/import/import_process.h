// SPDX-License-Identifier: Apache-2.0
// The entry point of raylift-import, the program in which isolated imports run.
#pragma once

namespace raylift {

/// Serves one request of `load` with LoadOptions::isolate, from descriptors that the parent has opened, and returns the
/// process's exit code. Started in any other way, it returns that of ErrorKind::usage.
int import_process();

}  // namespace raylift
