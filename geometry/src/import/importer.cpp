// SPDX-License-Identifier: Apache-2.0
#include "import/importer.h"

#include <assimp/version.h>

namespace raylift {

std::string importer_version() {
  // raylift's own readers count from 1: raised where one of them reads another scene from the same file.
  return "raylift 2, assimp " + std::to_string(aiGetVersionMajor()) + '.' + std::to_string(aiGetVersionMinor()) + '.' +
         std::to_string(aiGetVersionPatch());
}

}  // namespace raylift
