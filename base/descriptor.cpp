// SPDX-License-Identifier: Apache-2.0
#include "descriptor.h"

#include <unistd.h>

#include <cerrno>

namespace raylift::base {

int Descriptor::close() noexcept {
  // After an interruption the descriptor is closed too.
  return value_ < 0 || ::close(std::exchange(value_, -1)) == 0 || errno == EINTR ? 0 : errno;
}

int write_all(int descriptor, std::string_view bytes, std::int64_t at) noexcept {
  while (!bytes.empty()) {
    const ssize_t written =
        at < 0 ? ::write(descriptor, bytes.data(), bytes.size()) : ::pwrite(descriptor, bytes.data(), bytes.size(), at);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(written));
    if (at >= 0) at += written;
  }
  return 0;
}

int read_all(int descriptor, std::span<std::byte> bytes, std::uint64_t at, std::size_t& done) noexcept {
  for (done = 0; done != bytes.size();) {
    const ssize_t got =
        ::pread(descriptor, bytes.data() + done, bytes.size() - done, static_cast<std::int64_t>(at + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno;
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return 0;
}

}  // namespace raylift::base
