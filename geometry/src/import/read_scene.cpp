// SPDX-License-Identifier: Apache-2.0
#include "read_scene.h"

#include <assimp/BaseImporter.h>
#include <assimp/commonMetaData.h>
#include <assimp/importerdesc.h>
#include <assimp/metadata.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>

#include <raylift/geometry/error.h>
#include <raylift/geometry/scene/eigen.h>

#include <algorithm>
#include <assimp/Importer.hpp>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>

#include "convert_mesh.h"
#include "formats/gltf_preflight.h"
#include "formats/stated_frame.h"
#include "own_importer.h"
#include "run_importer.h"
#include "scene_files.h"

namespace raylift {
namespace {

std::string text_of(const aiString& text) {
  return {text.data, text.length};
}

EigenTransform transform_of(const aiMatrix4x4& m) {
  EigenTransform result;
  result.matrix() << m.a1, m.a2, m.a3, m.a4, m.b1, m.b2, m.b3, m.b4, m.c1, m.c2, m.c3, m.c4;
  return result;
}

void read_materials(const aiScene& imported, Scene& scene) {
  for (unsigned i = 0; i != imported.mNumMaterials; ++i) {
    Material material;
    aiString name;
    if (imported.mMaterials[i]->Get(AI_MATKEY_NAME, name) == aiReturn_SUCCESS) material.name = text_of(name);
    if (material.name.empty()) material.name = "material " + std::to_string(i);
    aiColor4D color;
    if (imported.mMaterials[i]->Get(AI_MATKEY_COLOR_DIFFUSE, color) == aiReturn_SUCCESS)
      material.color = {color.r, color.g, color.b, color.a};
    for (float& channel : material.color) channel = std::isfinite(channel) ? std::clamp(channel, 0.0F, 1.0F) : 1.0F;
    scene.materials.push_back(std::move(material));
  }
}

std::uint64_t stored_bytes(const std::string& file) {
  std::error_code error;
  return std::filesystem::file_size(file, error);  // as large as can be where that is not known
}

/// The node tree of an imported file. All meshes of a node together are one solid; nodes with the same list of meshes
/// are instances of one mesh.
class TreeReader {
 public:
  TreeReader(const aiScene& imported, const std::string& file, const LoadOptions& options, Scene& scene)
      : imported_(imported), file_(file), options_(options), scene_(scene) {}

  void read() {
    struct Step {
      const aiNode* node;
      std::uint32_t parent;
      std::uint32_t depth;
      EigenTransform transform;
    };
    EigenTransform unit = EigenTransform::Identity();
    unit.scale(scene_.unit_mm);
    std::vector<Step> stack{{imported_.mRootNode, kNone, 1, unit}};
    while (!stack.empty()) {
      const Step step = stack.back();
      stack.pop_back();
      const aiNode& node = *step.node;
      check(step.depth, options_.limits.node_depth, "levels of nodes", "LoadLimits::node_depth");
      check(scene_.nodes.size() + 1, options_.limits.nodes, "nodes", "LoadLimits::nodes");
      const EigenTransform transform = step.transform * transform_of(node.mTransformation);
      const auto here = static_cast<std::uint32_t>(scene_.nodes.size());
      scene_.nodes.push_back({text_of(node.mName), step.parent, std::nullopt, kNone});
      names_.add(scene_.nodes.back().name);
      if (node.mNumMeshes != 0) place(node, here, transform);
      for (unsigned i = node.mNumChildren; i != 0; --i)
        stack.push_back({node.mChildren[i - 1], here, step.depth + 1, transform});
    }
  }

  /// For each mesh of the scene, the meshes of Assimp that it is made of.
  [[nodiscard]] const std::vector<std::vector<unsigned>>& lists() const { return lists_; }

 private:
  void check(std::uint64_t value, std::uint64_t limit, const std::string& what, const char* option) const {
    if (value > limit)
      throw Error(ErrorKind::limit, "the scene has more than " + std::to_string(limit) + " " + what, {file_, ""},
                  std::string("raise the limit with ") + option);
  }

  void place(const aiNode& node, std::uint32_t here, const EigenTransform& transform) {
    if (!transform.matrix().allFinite())
      throw Error(ErrorKind::malformed, "the transform of a node is not finite",
                  {file_, "node '" + text_of(node.mName) + "'"});
    std::vector<unsigned> list(node.mMeshes, node.mMeshes + node.mNumMeshes);
    for (const unsigned mesh : list)
      if (mesh >= imported_.mNumMeshes)
        throw Error(ErrorKind::malformed, "a node refers to a mesh that is not there",
                    {file_, "node '" + text_of(node.mName) + "'"});
    // A mesh that a node names twice would be taken apart twice.
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    const auto [entry, inserted] = numbers_.try_emplace(list, static_cast<std::uint32_t>(lists_.size()));
    if (inserted) {
      std::vector<std::uint32_t> binding;
      for (const unsigned mesh : list) {
        const unsigned material = imported_.mMeshes[mesh]->mMaterialIndex;
        binding.push_back(material < imported_.mNumMaterials ? material : kNone);
      }
      const std::string own = text_of(imported_.mMeshes[list.front()]->mName);
      Mesh& mesh = scene_.meshes.emplace_back();
      mesh.name = own.empty() ? text_of(node.mName) : own;
      if (mesh.name.empty()) mesh.name = std::filesystem::path(file_).stem().string();  // as in a binary STL
      lists_.push_back(std::move(list));
      scene_.bindings.push_back(std::move(binding));
    }
    check(scene_.instances.size() + 1, options_.limits.instances, "solids", "LoadLimits::instances");
    scene_.instances.push_back({entry->second, here, entry->second, kNone, transform});
  }

  const aiScene& imported_;
  const std::string& file_;
  const LoadOptions& options_;
  Scene& scene_;
  NodeNames names_{file_, stored_bytes(file_), options_.limits};
  std::map<std::vector<unsigned>, std::uint32_t> numbers_;
  std::vector<std::vector<unsigned>> lists_;
};

/// A copy of the mesh for a second list that names it: rare, and only the shape matters.
std::unique_ptr<aiMesh> copy_of(const aiMesh& mesh) {
  auto copy = std::make_unique<aiMesh>();
  copy->mNumVertices = mesh.mNumVertices;
  if (mesh.mVertices != nullptr) {
    copy->mVertices = new aiVector3D[mesh.mNumVertices];
    std::copy_n(mesh.mVertices, mesh.mNumVertices, copy->mVertices);
  }
  copy->mNumFaces = mesh.mNumFaces;
  copy->mFaces = new aiFace[mesh.mNumFaces];
  for (unsigned i = 0; i != mesh.mNumFaces; ++i) copy->mFaces[i] = mesh.mFaces[i];
  return copy;
}

/// A scene that Assimp's own importers have read. Throws Error: malformed, limit.
void convert_scene(const aiScene& imported, const InputFile& input, const LoadOptions& options,
                   const Progress& progress, Scene& scene) {
  const std::string file = input.path().string();
  if (imported.mRootNode == nullptr) throw Error(ErrorKind::malformed, "the file holds no scene", {file, ""});
  aiString generator;
  if (imported.mMetaData != nullptr && imported.mMetaData->Get(AI_METADATA_SOURCE_GENERATOR, generator))
    scene.generator = text_of(generator);
  imported::set_frame(scene, imported::stated_frame(imported, input), options);
  read_materials(imported, scene);
  TreeReader tree(imported, file, options, scene);
  tree.read();

  const Stage stage(progress, "convert", scene.meshes.size());
  std::vector<unsigned> uses(imported.mNumMeshes, 0);
  for (const auto& list : tree.lists())
    for (const unsigned mesh : list) ++uses[mesh];
  for (std::size_t i = 0; i != scene.meshes.size(); ++i) {
    std::vector<aiMesh*> parts;
    std::vector<std::unique_ptr<aiMesh>> copies;
    for (const unsigned mesh : tree.lists()[i]) {
      if (uses[mesh]-- > 1) {
        parts.push_back(copies.emplace_back(copy_of(*imported.mMeshes[mesh])).get());
      } else {
        parts.push_back(imported.mMeshes[mesh]);
      }
    }
    scene.meshes[i] = convert_mesh(parts, std::move(scene.meshes[i].name), file, options, scene.report);
    stage.advance(i + 1);
  }
}

/// Throws Error(malformed) where the importer has not read as many triangles as the file states; with
/// LoadOptions::repair, those that are missing count as dropped.
void check_count(const aiScene& imported, std::uint64_t stated, const std::string& file, const LoadOptions& options,
                 LoadReport& report) {
  std::uint64_t count = 0;
  for (unsigned i = 0; i != imported.mNumMeshes; ++i) {
    const aiMesh& mesh = *imported.mMeshes[i];
    count += static_cast<std::uint64_t>(std::count_if(mesh.mFaces, mesh.mFaces + mesh.mNumFaces,
                                                      [](const aiFace& face) { return face.mNumIndices == 3; }));
  }
  if (count < stated && options.repair)
    report.dropped_triangles += stated - count;
  else if (count != stated)
    throw Error(
        ErrorKind::malformed,
        "the file states " + std::to_string(stated) + " triangles, and the importer has read " + std::to_string(count),
        {file, ""}, "correct the file, or go without the others with LoadOptions::repair");
}

/// Registers raylift's importer in place of those that Assimp has for files of this ending.
OwnImporter& register_own(Assimp::Importer& importer, const InputFile& input, const LoadOptions& options,
                          const Progress& progress) {
  const std::string last = input.extension().substr(input.extension().rfind('.') + 1);
  while (Assimp::BaseImporter* const other = importer.GetImporter(last.c_str())) {
    importer.UnregisterLoader(other);
    delete other;
  }
  auto own = std::make_unique<OwnImporter>(input, options, progress);
  importer.RegisterLoader(own.get());
  return *own.release();
}

}  // namespace

Scene read_scene(const InputFile& input, const LoadOptions& options, const Progress& progress) {
  const std::string file = input.path().string();
  Scene scene;
  scene.source = file;
  Assimp::Importer importer;
  importer.SetIOHandler(new SceneFiles(input, scene.files));
  const auto read = [&] { return importer.ReadFile(file, aiProcess_Triangulate); };
  if (reads_itself(input.extension())) {
    OwnImporter& own = register_own(importer, input, options, progress);
    try {
      (void)run_importer(importer, file, read);
    } catch (const Error&) {
      own.rethrow_failure();
      throw;
    }
    Scene result = own.take_scene();
    result.files.insert(result.files.end(), scene.files.begin(), scene.files.end());
    return result;
  }
  std::unique_ptr<aiScene> imported;
  std::optional<std::uint64_t> stated;
  {
    const Stage stage(progress, "import");
    if (is_gltf(input.extension())) stated = check_gltf(input);
    if (const aiImporterDesc* description = aiGetImporterDesc(input.extension().c_str()))
      scene.format = description->mName;
    imported = run_importer(importer, file, read);
  }
  if (stated) check_count(*imported, *stated, file, options, scene.report);
  scene.report.faces_checked = stated.has_value();
  convert_scene(*imported, input, options, progress, scene);
  return scene;
}

std::vector<std::string> assimp_extensions() {
  aiString list;
  const Assimp::Importer importer;
  importer.GetExtensionList(list);  // "*.3ds;*.obj;..."
  std::vector<std::string> result;
  std::string text = text_of(list);
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find(';', start), text.size());
    if (end > start + 2) result.push_back(text.substr(start + 2, end - start - 2));
    start = end + 1;
  }
  return result;
}

}  // namespace raylift
