// SPDX-License-Identifier: Apache-2.0
// Uses raylift::geometry alone: reads a scene and counts its meshes.
#include <raylift/geometry/import/load.h>

#include <cstdio>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::printf("%zu mesh(es)\n", raylift::load(argv[1]).meshes.size());
}
