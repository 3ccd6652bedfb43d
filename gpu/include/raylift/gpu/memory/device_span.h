// SPDX-License-Identifier: Apache-2.0
// An array on a device, not owned.
#pragma once

#include <cstddef>

namespace raylift {

/// A device address and a number of elements. Not owning; a kernel may take it by value.
template <class T>
struct DeviceSpan {
  T* data = nullptr;
  std::size_t size = 0;
};

}  // namespace raylift
