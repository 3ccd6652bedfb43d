// SPDX-License-Identifier: Apache-2.0
#include "run_importer.h"

#include <assimp/config.h>
#include <raylift/geometry/error.h>

#include <exception>
#include <new>

namespace raylift {

std::unique_ptr<aiScene> run_importer(Assimp::Importer& importer, const std::string& file,
                                      const std::function<const aiScene*()>& read) {
  // Otherwise a file without meshes comes back with an invented one that shows its nodes.
  importer.SetPropertyBool(AI_CONFIG_IMPORT_NO_SKELETON_MESHES, true);
  const aiScene* scene = nullptr;
  try {
    scene = read();
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::out_of_host_memory, "no memory left to import the file", {file, ""});
  } catch (const std::exception& error) {
    throw Error(ErrorKind::malformed, std::string("the importer failed: ") + error.what(), {file, ""});
  }
  if (scene == nullptr) {
    const std::string text = importer.GetErrorString();
    if (text.find("bad_alloc") != std::string::npos)
      throw Error(ErrorKind::out_of_host_memory, "no memory left to import the file", {file, ""},
                  "the file may ask for more than it holds");
    throw Error(ErrorKind::malformed, "the importer refused the file: " + (text.empty() ? "no reason given" : text),
                {file, ""});
  }
  return std::unique_ptr<aiScene>(importer.GetOrphanedScene());
}

}  // namespace raylift
