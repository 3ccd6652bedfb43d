// SPDX-License-Identifier: Apache-2.0
// raylift: what a scene contains, whether it is watertight, and its upload onto a device. For machines without a
// display.
#include "batch/commands/program.h"

int main(int argc, char** argv) {
  return raylift::batch::run_raylift(argc, argv);
}
