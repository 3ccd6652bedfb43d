// SPDX-License-Identifier: Apache-2.0
#include "run_importer.h"

#include <assimp/config.h>
#include <raylift/geometry/error.h>

#include <exception>
#include <new>

namespace raylift {
namespace {

/// A message of Assimp, which may hold a part of the file.
std::string shortened(std::string text) {
  constexpr std::size_t kLength = 200;
  if (text.size() > kLength) text.replace(kLength, std::string::npos, "...");
  return text;
}

}  // namespace

std::unique_ptr<aiScene> run_importer(Assimp::Importer& importer, const std::string& file,
                                      const std::function<const aiScene*()>& read) {
  // Otherwise a file without meshes comes back with an invented one that shows its nodes.
  importer.SetPropertyBool(AI_CONFIG_IMPORT_NO_SKELETON_MESHES, true);
  const aiScene* scene = nullptr;
  try {
    scene = read();
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::out_of_host_memory, "no memory left to import the file", {file, ""});
  } catch (const std::exception& error) {
    throw Error(ErrorKind::malformed, "the importer failed: " + shortened(error.what()), {file, ""});
  }
  if (scene == nullptr) {
    const std::string text = importer.GetErrorString();
    if (text.find("bad_alloc") != std::string::npos)
      throw Error(ErrorKind::out_of_host_memory, "no memory left to import the file", {file, ""},
                  "the file may ask for more than it holds");
    throw Error(ErrorKind::malformed,
                "the importer refused the file: " + (text.empty() ? "no reason given" : shortened(text)), {file, ""});
  }
  return std::unique_ptr<aiScene>(importer.GetOrphanedScene());
}

}  // namespace raylift
