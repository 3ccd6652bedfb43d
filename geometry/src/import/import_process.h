// SPDX-License-Identifier: Apache-2.0
// raylift-import, the program in which isolated imports run: its entry point, and what confines it.
#pragma once

namespace raylift {

/// Serves one request of `load` with LoadOptions::isolate, from descriptors that the parent has opened, and returns the
/// process's exit code. Started in any other way, it returns that of ErrorKind::usage.
int import_process();

/// What confines import processes on this machine. Neither holds in a build with sanitizers.
struct ImportSandbox {
  bool landlock = false;  ///< a process reads its input and what lies with it, and no other file
  bool seccomp = false;   ///< it makes no connection, process or file, sends no signal, and runs no other code
};
[[nodiscard]] ImportSandbox import_sandbox() noexcept;

}  // namespace raylift
