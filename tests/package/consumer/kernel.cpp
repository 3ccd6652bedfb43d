// SPDX-License-Identifier: Apache-2.0
// Uses raylift::module: the host device has no kernels that are compiled at run time, and the error says so.
#include <raylift/geometry/error.h>
#include <raylift/module/module.h>

#include <cstdio>

int main() {
  try {
    (void)raylift::Module::compile(raylift::Device::host(), "__global__ void nothing() {}");
  } catch (const raylift::Error& error) {
    std::printf("%s\n", error.what());
  }
}
