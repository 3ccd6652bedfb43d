// SPDX-License-Identifier: Apache-2.0
#include "assimp_import.h"

#include <assimp/commonMetaData.h>
#include <assimp/config.h>
#include <assimp/importerdesc.h>
#include <assimp/metadata.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>

#include <assimp/DefaultIOSystem.h>
#include <raylift/geometry/error.h>
#include <raylift/geometry/scene/detail/source_files.h>

#include <algorithm>
#include <assimp/Importer.hpp>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>

#include "convert_mesh.h"
#include "each_mesh.h"
#include "for_each_mesh.h"
#include "polygon_loader.h"
#include "source_file.h"

namespace raylift {
namespace {

/// Runs an import and owns its result. Errors of Assimp, as text or as exception, become Error(malformed).
template <class Read>
std::unique_ptr<aiScene> run(Assimp::Importer& importer, const std::string& file, const Read& read) {
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

/// Opens files for Assimp, and lists those that lie with the scene's own.
class ListingFiles : public Assimp::DefaultIOSystem {
 public:
  ListingFiles(const std::filesystem::path& scene, std::vector<SourceFile>& files)
      : scene_(std::filesystem::absolute(scene).lexically_normal()), files_(files) {}

  Assimp::IOStream* Open(const char* name, const char* mode) override {
    const std::filesystem::path path = std::filesystem::absolute(name).lexically_normal();
    const std::filesystem::path place = path.lexically_relative(scene_.parent_path());
    SourceFile file = detail::source_file(path, place);
    Assimp::IOStream* stream = DefaultIOSystem::Open(name, mode);
    if (stream != nullptr && path != scene_ && *place.begin() != "..") files_.push_back(std::move(file));
    return stream;
  }

 private:
  std::filesystem::path scene_;
  std::vector<SourceFile>& files_;
};

std::string text_of(const aiString& text) {
  return {text.data, text.length};
}

Transform transform_of(const aiMatrix4x4& m) {
  Transform result;
  result.matrix() << m.a1, m.a2, m.a3, m.a4, m.b1, m.b2, m.b3, m.b4, m.c1, m.c2, m.c3, m.c4;
  return result;
}

/// What the formats say, or imply, of units and axes.
void set_unit_and_axis(const aiScene& imported, const std::string& extension, const LoadOptions& options,
                       Scene& scene) {
  scene.up_axis = UpAxis::y;
  scene.unit_mm = 1;
  if (extension == "gltf" || extension == "glb" || extension == "vrm") {
    scene.unit_mm = 1000;
    scene.unit_from = scene.up_from = Provenance::convention;
  } else if (extension == "stl") {
    scene.up_axis = UpAxis::z;  // what printers and CAD programs write
  } else if (extension == "fbx" && imported.mMetaData != nullptr) {
    float centimetres = 0;
    int axis = -1;
    if (imported.mMetaData->Get("UnitScaleFactor", centimetres) && std::isfinite(centimetres) && centimetres > 0) {
      scene.unit_mm = 10.0 * double{centimetres};
      scene.unit_from = Provenance::file;
    }
    if (imported.mMetaData->Get("UpAxis", axis) && axis >= 0 && axis <= 2) {
      scene.up_axis = static_cast<UpAxis>(axis);
      scene.up_from = Provenance::file;
    }
  }
  if (options.unit_mm) {
    scene.unit_mm = *options.unit_mm;
    scene.unit_from = Provenance::option;
  }
  if (options.up_axis) {
    scene.up_axis = *options.up_axis;
    scene.up_from = Provenance::option;
  }
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
      Transform transform;
    };
    Transform unit = Transform::Identity();
    unit.scale(scene_.unit_mm);
    std::vector<Step> stack{{imported_.mRootNode, kNone, 1, unit}};
    while (!stack.empty()) {
      const Step step = stack.back();
      stack.pop_back();
      const aiNode& node = *step.node;
      check(step.depth, options_.limits.node_depth, "levels of nodes", "LoadLimits::node_depth");
      check(scene_.nodes.size() + 1, options_.limits.nodes, "nodes", "LoadLimits::nodes");
      const Transform transform = step.transform * transform_of(node.mTransformation);
      const auto here = static_cast<std::uint32_t>(scene_.nodes.size());
      scene_.nodes.push_back({text_of(node.mName), step.parent, std::nullopt, kNone});
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

  void place(const aiNode& node, std::uint32_t here, const Transform& transform) {
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

/// Polygons of a document that Assimp has cut into triangles.
struct CutPolygons {
  std::vector<std::unique_ptr<aiScene>> scenes;
  std::vector<std::vector<aiMesh*>> meshes;  // by geometry and primitive; null where all were triangles
};

CutPolygons cut_polygons(const std::vector<collada::Geometry>& geometries, const std::string& file) {
  // An importer takes as many primitives as make up for its start.
  constexpr std::size_t kCorners = 1U << 18;
  std::vector<std::vector<Polygons>> groups;
  std::vector<std::vector<aiMesh**>> places;
  CutPolygons cut;
  cut.meshes.resize(geometries.size());
  std::size_t corners = kCorners;
  for (std::size_t i = 0; i != geometries.size(); ++i) {
    cut.meshes[i].resize(geometries[i].primitives.size());
    for (std::size_t part = 0; part != geometries[i].primitives.size(); ++part) {
      const collada::Primitive& primitive = geometries[i].primitives[part];
      if (primitive.sizes.empty()) continue;
      if (corners >= kCorners) {
        groups.emplace_back();
        places.emplace_back();
        corners = 0;
      }
      groups.back().push_back({&geometries[i].positions, &primitive});
      places.back().push_back(&cut.meshes[i][part]);
      corners += primitive.corners.size();
    }
  }
  cut.scenes.resize(groups.size());
  detail::for_each_mesh(0, groups.size(), [&](std::size_t i) {
    Assimp::Importer importer;
    importer.RegisterLoader(new PolygonLoader(groups[i]));
    constexpr char kNothing = 0;
    cut.scenes[i] = run(importer, file, [&] {
      return importer.ReadFileFromMemory(&kNothing, 1, aiProcess_Triangulate, PolygonLoader::kExtension);
    });
    for (std::size_t k = 0; k != places[i].size(); ++k) *places[i][k] = cut.scenes[i]->mMeshes[k];
  });
  return cut;
}

}  // namespace

void import_geometries(collada::Document& document, const std::string& file, const LoadOptions& options,
                       const Progress& progress) {
  Scene& scene = document.scene;
  CutPolygons cut;
  {
    const Stage stage(progress, "import");
    cut = cut_polygons(document.geometries, file);
  }
  const Stage stage(progress, "convert", scene.meshes.size());
  for_each_mesh(scene.meshes.size(), stage, scene.report, [&](std::size_t i, LoadReport& report) {
    if (document.geometries[i].primitives.empty()) return;
    scene.meshes[i] =
        convert_geometry(document.geometries[i], cut.meshes[i], std::move(scene.meshes[i].name), file, options, report);
    document.geometries[i] = {};
  });
}

Scene import_file(const std::filesystem::path& path, const LoadOptions& options, const Progress& progress) {
  const std::string file = path.string();
  const std::string extension = extension_of(path);
  Scene scene;
  scene.source = file;
  std::unique_ptr<aiScene> imported;
  {
    const Stage stage(progress, "import");
    Assimp::Importer importer;
    importer.SetIOHandler(new ListingFiles(path, scene.files));
    if (const aiImporterDesc* description = aiGetImporterDesc(extension.c_str())) scene.format = description->mName;
    imported = run(importer, file, [&] { return importer.ReadFile(file, aiProcess_Triangulate); });
  }
  if (imported->mRootNode == nullptr) throw Error(ErrorKind::malformed, "the file holds no scene", {file, ""});
  aiString generator;
  if (imported->mMetaData != nullptr && imported->mMetaData->Get(AI_METADATA_SOURCE_GENERATOR, generator))
    scene.generator = text_of(generator);
  set_unit_and_axis(*imported, extension, options, scene);
  read_materials(*imported, scene);
  TreeReader tree(*imported, file, options, scene);
  tree.read();

  const Stage stage(progress, "convert", scene.meshes.size());
  std::vector<unsigned> uses(imported->mNumMeshes, 0);
  for (const auto& list : tree.lists())
    for (const unsigned mesh : list) ++uses[mesh];
  for (std::size_t i = 0; i != scene.meshes.size(); ++i) {
    std::vector<aiMesh*> parts;
    std::vector<std::unique_ptr<aiMesh>> copies;
    for (const unsigned mesh : tree.lists()[i]) {
      if (uses[mesh]-- > 1) {
        parts.push_back(copies.emplace_back(copy_of(*imported->mMeshes[mesh])).get());
      } else {
        parts.push_back(imported->mMeshes[mesh]);
      }
    }
    scene.meshes[i] = convert_mesh(parts, std::move(scene.meshes[i].name), file, options, scene.report);
    stage.advance(i + 1);
  }
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
