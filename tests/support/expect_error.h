// SPDX-License-Identifier: Apache-2.0
// Tests of errors look at the kind and at the words that help the user: what, where, what to do.
#pragma once

#include <gmock/gmock.h>
#include <raylift/geometry/error.h>

namespace raylift::test {

/// Runs `function`, expects an Error of that kind, and returns it for further looks.
template <class Function>
Error expect_error(ErrorKind kind, const Function& function) {
  try {
    function();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error;
  } catch (const std::exception& other) {
    ADD_FAILURE() << "not an Error, but: " << other.what();
    return Error(kind, "");
  }
  ADD_FAILURE() << "no error";
  return Error(kind, "");
}

}  // namespace raylift::test
