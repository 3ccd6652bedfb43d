// SPDX-License-Identifier: Apache-2.0
#include <raylift/geometry/detail/descriptor.h>
#include <raylift/geometry/error.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace raylift::detail {

Descriptor::Descriptor(int value, const char* what) : value_(value) {
  if (value < 0) throw Error(kind_of_errno(errno), std::string(what) + ": " + std::strerror(errno));
}

void Descriptor::close() {
  if (value_ >= 0) ::close(std::exchange(value_, -1));
}

}  // namespace raylift::detail
