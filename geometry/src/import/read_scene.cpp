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
#include <string_view>

#include "archive.h"
#include "convert_mesh.h"
#include "formats/gltf_preflight.h"
#include "formats/stated_frame.h"
#include "own_importer.h"
#include "run_importer.h"
#include "scene_files.h"
#include "stage.h"
#include "step/step_module.h"

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

/// A scene that Assimp's own importers have read, in the frame that its file states. Throws Error: malformed, limit.
void convert_scene(const aiScene& imported, const imported::Frame& frame, const InputFile& input,
                   const LoadOptions& options, const Progress& progress, Scene& scene) {
  const std::string file = input.path().string();
  aiString generator;
  if (imported.mMetaData != nullptr && imported.mMetaData->Get(AI_METADATA_SOURCE_GENERATOR, generator))
    scene.generator = text_of(generator);
  imported::set_frame(scene, frame, options);
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

/// Throws Error(limit) for a polygon with more corners than the limit: its triangulation takes quadratic time.
void check_polygons(const aiScene& imported, const std::string& file, const LoadLimits& limits) {
  for (unsigned i = 0; i != imported.mNumMeshes; ++i) {
    const aiMesh& mesh = *imported.mMeshes[i];
    for (unsigned face = 0; face != mesh.mNumFaces; ++face)
      if (const unsigned size = mesh.mFaces[face].mNumIndices; size > limits.polygon_vertices)
        throw Error(ErrorKind::limit,
                    "a polygon of " + std::to_string(size) + " vertices is beyond the limit of " +
                        std::to_string(limits.polygon_vertices),
                    {file, "mesh '" + text_of(mesh.mName) + "'"},
                    "triangulate it before exporting, or raise the limit with LoadLimits::polygon_vertices");
  }
}

/// What our readers take from a COLLADA document below <extra>, and Assimp's doesn't.
void warn_of_extra(std::string_view text, LoadReport& report) {
  std::string found;
  for (const char* const element : {"copyNo", "property", "opticalsurface", "skinsurface", "bordersurface"})
    if (text.find("<" + std::string(element)) != std::string_view::npos)
      found += (found.empty() ? "<" : ", <") + std::string(element) + '>';
  if (!found.empty())
    report.warnings.push_back("Assimp's importer leaves out what " + found +
                              " state; leave out LoadOptions::reader to read it");
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

Scene read_by_raylift(const InputFile& input, const LoadOptions& options, const Progress& progress) {
  const std::string file = input.path().string();
  std::vector<Scene::SourceFile> others;
  Assimp::Importer importer;
  importer.SetIOHandler(new SceneFiles(input, others));
  OwnImporter& own = register_own(importer, input, options, progress);
  try {
    (void)run_importer(importer, file, [&] { return importer.ReadFile(file, aiProcess_Triangulate); });
  } catch (const Error&) {
    own.rethrow_failure();
    throw;
  }
  Scene scene = own.take_scene();
  scene.files.insert(scene.files.end(), others.begin(), others.end());
  return scene;
}

Scene read_by_assimp(const InputFile& input, const LoadOptions& options, const Progress& progress) {
  const std::string file = input.path().string();
  const bool collada = is_collada(input.extension());
  Scene scene;
  scene.source = file;
  Assimp::Importer importer;
  importer.SetIOHandler(new SceneFiles(input, scene.files));
  std::string document;  // of COLLADA: unpacked here, where the limits on that hold
  if (collada) {
    const Stage stage(progress, "read");
    document = read_collada(input, options.limits).text;
  }
  std::unique_ptr<aiScene> imported;
  std::optional<std::uint64_t> stated;
  {
    const Stage stage(progress, "import");
    if (is_gltf(input.extension())) stated = check_gltf(input);
    const std::string ending = collada ? "dae" : input.extension();
    if (const aiImporterDesc* description = aiGetImporterDesc(ending.c_str())) scene.format = description->mName;
    imported = run_importer(importer, file, [&] {
      const aiScene* const polygons = collada ? importer.ReadFileFromMemory(document.data(), document.size(), 0, "dae")
                                              : importer.ReadFile(file, 0);
      if (polygons == nullptr) return polygons;
      check_polygons(*polygons, file, options.limits);
      return importer.ApplyPostProcessing(aiProcess_Triangulate);
    });
  }
  if (stated) check_count(*imported, *stated, file, options, scene.report);
  scene.report.faces_checked = stated.has_value();
  if (imported->mRootNode == nullptr) throw Error(ErrorKind::malformed, "the file holds no scene", {file, ""});
  if (collada) warn_of_extra(document, scene.report);
  const imported::Frame frame = collada ? imported::take_collada_frame(*imported->mRootNode, document, input)
                                        : imported::stated_frame(*imported, input, options);
  document = {};
  convert_scene(*imported, frame, input, options, progress, scene);
  return scene;
}

}  // namespace

Scene read_scene(const InputFile& input, const LoadOptions& options, const Progress& progress) {
  const bool own = reads_itself(input.extension());
  // Which Assimp does not read.
  const bool ours = input.extension() == "gdml" || step::is_step(input.extension());
  if (ours || (own && options.reader == LoadOptions::Reader::raylift)) return read_by_raylift(input, options, progress);
  try {
    return read_by_assimp(input, options, progress);
  } catch (const Error& error) {
    if (!own || error.kind() != ErrorKind::malformed || !error.advice().empty()) throw;
    throw Error(error.kind(), error.problem(), {error.file(), error.element()},
                "leave out LoadOptions::reader to read it by raylift's importer");
  }
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
