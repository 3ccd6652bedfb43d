// SPDX-License-Identifier: Apache-2.0
// raylift-import: reads one scene for another process, so that an importer's crash is not that process's end.
#include "geometry/src/import/import_process.h"

#include <cstdio>
#include <cstring>

int main(int argc, char** argv) {
  if (argc > 1) {
    const bool help = std::strcmp(argv[1], "--help") == 0 || std::strcmp(argv[1], "-h") == 0;
    std::fputs("raylift-import reads scenes for raylift's programs, in a process of its own. It is not run by hand.\n",
               help ? stdout : stderr);
    return help ? 0 : 2;
  }
  return raylift::import_process();
}
