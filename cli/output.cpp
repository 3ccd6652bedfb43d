// SPDX-License-Identifier: Apache-2.0
#include "output.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "base/descriptor.h"

namespace raylift::cli {
OutputError::OutputError(int code)
    : Error(ErrorKind::io, code == EPIPE ? "" : std::string("can't write to standard output: ") + std::strerror(code)) {
}

void write_output(std::string_view text) {
  if (const int code = base::write_all(STDOUT_FILENO, text); code != 0) throw OutputError(code);
}

void finish_output() {
  // Network file systems report a full disk on close. A copy is closed, so that no other file takes the descriptor.
  const int copy = ::dup(STDOUT_FILENO);
  if (copy >= 0 && ::close(copy) != 0 && errno != EINTR) throw OutputError(errno);
}

void guard_standard_descriptors() noexcept {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF) continue;
    // open() takes the lowest free number: this one.
    [[maybe_unused]] const int opened = ::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

}  // namespace raylift::cli
