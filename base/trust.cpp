// SPDX-License-Identifier: Apache-2.0
#include "trust.h"

#include <unistd.h>

namespace raylift::base {

std::string mistrust(const struct stat& status) {
  if (status.st_uid != ::geteuid() && status.st_uid != 0)
    return "belongs to another user (number " + std::to_string(status.st_uid) + ")";
  return (status.st_mode & (S_IWGRP | S_IWOTH)) != 0 ? "can be written by others" : "";
}

}  // namespace raylift::base
