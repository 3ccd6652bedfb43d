// SPDX-License-Identifier: Apache-2.0
// What a full disk does to a writer.
#pragma once

#include <sys/resource.h>

#include <csignal>

namespace raylift::test {

/// Limits the size of files that this process and its children write, as a full disk does: writes end short.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &limit);
    action_ = ::signal(SIGXFSZ, SIG_IGN);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, action_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
  sighandler_t action_ = SIG_DFL;
};

}  // namespace raylift::test
