// SPDX-License-Identifier: Apache-2.0
#include <assimp/ColladaMetaData.h>
#include <assimp/material.h>
#include <assimp/metadata.h>
#include <assimp/scene.h>
#include <raylift/geometry/error.h>
#include <raylift/geometry/export/export_scene.h>
#include <raylift/geometry/scene/eigen.h>

#include <algorithm>
#include <array>
#include <assimp/Exporter.hpp>
#include <assimp/IOStream.hpp>
#include <assimp/IOSystem.hpp>
#include <cmath>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <pugixml.hpp>
#include <stdexcept>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "process.h"

namespace raylift {
namespace {

/// How a format has lengths and axes.
enum class Convention : std::uint8_t { stated, metres_y_up, none };
struct Format {
  const char* extension;
  const char* exporter;  // Assimp's id
  Convention convention;
};
constexpr std::array kFormats{
    Format{"dae", "collada", Convention::stated},     Format{"glb", "glb2", Convention::metres_y_up},
    Format{"gltf", "gltf2", Convention::metres_y_up}, Format{"obj", "obj", Convention::none},
    Format{"stl", "stlb", Convention::none},          Format{"ply", "plyb", Convention::none}};

const Format& format_of(const std::string& name) {
  const std::size_t dot = name.find_last_of('.');
  const std::string_view ending = dot == std::string::npos ? "" : std::string_view(name).substr(dot + 1);
  const auto found =
      std::find_if(kFormats.begin(), kFormats.end(), [&](const Format& format) { return ending == format.extension; });
  if (found != kFormats.end()) return *found;
  std::string list;
  for (const Format& format : kFormats) list += std::string(list.empty() ? "." : ", .") + format.extension;
  throw Error(ErrorKind::usage, "scenes are not written to files ending in '." + std::string(ending) + "'", {name, ""},
              "give it one of the endings " + list);
}

// Files in memory ----------------------------------------------------------------------------------------------------

class MemoryStream : public Assimp::IOStream {
 public:
  explicit MemoryStream(std::string& bytes) : bytes_(bytes) {}

  size_t Read(void*, size_t, size_t) override { return 0; }
  size_t Write(const void* from, size_t size, size_t count) override {
    const std::size_t length = size * count;
    if (bytes_.size() < at_ + length) bytes_.resize(at_ + length);
    std::copy_n(static_cast<const char*>(from), length, bytes_.begin() + static_cast<std::ptrdiff_t>(at_));
    at_ += length;
    return count;
  }
  aiReturn Seek(size_t offset, aiOrigin origin) override {
    const std::size_t from = origin == aiOrigin_SET ? 0 : origin == aiOrigin_CUR ? at_ : bytes_.size();
    at_ = from + offset;
    return AI_SUCCESS;
  }
  [[nodiscard]] size_t Tell() const override { return at_; }
  [[nodiscard]] size_t FileSize() const override { return bytes_.size(); }
  void Flush() override {}

 private:
  std::string& bytes_;
  std::size_t at_ = 0;
};

/// Takes what an exporter writes.
class MemoryFiles : public Assimp::IOSystem {
 public:
  /// The files are for who outlives the exporter.
  explicit MemoryFiles(std::map<std::string, std::string>& files) : files_(files) {}

  bool Exists(const char*) const override { return false; }
  char getOsSeparator() const override { return '/'; }
  Assimp::IOStream* Open(const char* name, const char* mode) override {
    if (*mode != 'w') return nullptr;
    std::string& bytes = files_[name];
    bytes.clear();
    return new MemoryStream(bytes);
  }
  void Close(Assimp::IOStream* stream) override { delete stream; }

 private:
  std::map<std::string, std::string>& files_;
};

// The scene as Assimp has it -----------------------------------------------------------------------------------------

aiMatrix4x4 matrix_of(const EigenTransform& transform) {
  aiMatrix4x4 matrix;
  for (unsigned row = 0; row != 3; ++row)
    for (unsigned column = 0; column != 4; ++column)
      matrix[row][column] = static_cast<ai_real>(transform(static_cast<int>(row), static_cast<int>(column)));
  return matrix;
}

/// Gives an array of pointers to Assimp, which deletes it.
template <class T>
void give(std::vector<std::unique_ptr<T>>& from, T**& to, unsigned& count) {
  count = static_cast<unsigned>(from.size());
  if (from.empty()) return;
  to = new T* [from.size()] {};
  for (std::size_t i = 0; i != from.size(); ++i) to[i] = from[i].release();
}

bool can_be_inverted(const EigenTransform& transform) {
  const double determinant = transform.linear().determinant();
  return std::isfinite(1 / determinant);
}

/// Assimp makes a name unique by trying one number after another, from 1 on for each node: for a hundred thousand
/// nodes of one name that takes minutes. So they come to it unique.
class UniqueNames {
 public:
  /// The name itself the first time, and then with a number.
  std::string next(const std::string& name) {
    const std::uint64_t before = uses_[name]++;
    return before == 0 ? name : name + "-" + std::to_string(before);
  }

 private:
  std::unordered_map<std::string, std::uint64_t> uses_;
};

class Converter {
 public:
  Converter(const Scene& scene, Convention convention) : scene_(scene), convention_(convention) {}

  std::unique_ptr<aiScene> convert() {
    auto result = std::make_unique<aiScene>();
    auto root = std::make_unique<aiNode>("scene");
    root->mTransformation = root_matrix();
    add_nodes(*root);
    result->mRootNode = root.release();
    add_materials();
    note_copy_numbers(*result->mRootNode);
    give(meshes_, result->mMeshes, result->mNumMeshes);
    give(materials_, result->mMaterials, result->mNumMaterials);
    return result;
  }

  /// One for each node below the root, each before its children.
  [[nodiscard]] const std::vector<std::optional<std::int64_t>>& copy_numbers() const { return copy_numbers_; }

 private:
  void note_copy_numbers(const aiNode& root) {
    std::vector<const aiNode*> open{&root};
    while (!open.empty()) {
      const aiNode& node = *open.back();
      open.pop_back();
      if (const auto found = numbers_.find(&node); found != numbers_.end())
        copy_numbers_.push_back(scene_.nodes[found->second].copy_number);
      else if (&node != &root)
        copy_numbers_.emplace_back();  // of a solid beside another one
      for (unsigned i = node.mNumChildren; i-- != 0;) open.push_back(node.mChildren[i]);
    }
  }

  /// From the scene's frame to what the format has. Assimp's exporter of COLLADA takes the unit and the up axis from
  /// the scale and the rotation of the root.
  [[nodiscard]] aiMatrix4x4 root_matrix() const {
    if (convention_ == Convention::none) return {};
    Eigen::Matrix3d to_y_up = Eigen::Matrix3d::Identity();
    if (scene_.up_axis == UpAxis::z) to_y_up << 1, 0, 0, 0, 0, 1, 0, -1, 0;
    if (scene_.up_axis == UpAxis::x) to_y_up << 0, -1, 0, 1, 0, 0, 0, 0, 1;
    EigenTransform transform = EigenTransform::Identity();
    transform.linear() = 1e-3 * to_y_up;
    return matrix_of(transform);
  }

  void add_materials() {
    const auto add = [&](const std::string& name, const std::array<float, 4>& color) {
      auto material = std::make_unique<aiMaterial>();
      const aiString text(name);
      const aiColor4D diffuse(color[0], color[1], color[2], color[3]);
      material->AddProperty(&text, AI_MATKEY_NAME);
      material->AddProperty(&diffuse, 1, AI_MATKEY_COLOR_DIFFUSE);
      material->AddProperty(&color[3], 1, AI_MATKEY_OPACITY);
      materials_.push_back(std::move(material));
    };
    for (const Material& material : scene_.materials) add(material.name, material.color);
    if (without_material_) add("none", Material().color);
  }

  /// The numbers of Assimp's meshes of a mesh with its materials: one for each part.
  const std::vector<unsigned>& meshes_of(const Instance& instance) {
    const auto [found, fresh] = known_.try_emplace({instance.mesh, instance.binding});
    if (!fresh) return found->second;
    const Mesh& mesh = scene_.meshes[instance.mesh];
    for (std::size_t part = 0; part != mesh.parts.size(); ++part) {
      if (mesh.parts[part].triangle_count == 0) continue;
      found->second.push_back(static_cast<unsigned>(meshes_.size()));
      meshes_.push_back(mesh_of(mesh, mesh.parts[part], scene_.material(instance, part)));
    }
    return found->second;
  }

  std::unique_ptr<aiMesh> mesh_of(const Mesh& mesh, const Mesh::Part& part, std::uint32_t material) {
    auto result = std::make_unique<aiMesh>();
    result->mName = mesh.name;
    result->mPrimitiveTypes = aiPrimitiveType_TRIANGLE;
    if (material == kNone) {
      without_material_ = true;
      material = static_cast<std::uint32_t>(scene_.materials.size());
    }
    result->mMaterialIndex = material;
    std::vector<std::uint32_t> moved(mesh.vertices.size(), kNone), used;
    const auto corner_of = [&](std::uint32_t vertex) {
      if (moved[vertex] == kNone) {
        moved[vertex] = static_cast<std::uint32_t>(used.size());
        used.push_back(vertex);
      }
      return moved[vertex];
    };
    result->mNumFaces = part.triangle_count;
    result->mFaces = new aiFace[part.triangle_count];
    for (std::uint32_t i = 0; i != part.triangle_count; ++i) {
      const UInt3& t = mesh.triangles[part.first_triangle + i];
      result->mFaces[i].mNumIndices = 3;
      result->mFaces[i].mIndices = new unsigned[3]{corner_of(t.x), corner_of(t.y), corner_of(t.z)};
    }
    result->mNumVertices = static_cast<unsigned>(used.size());
    result->mVertices = new aiVector3D[used.size()];
    for (std::size_t i = 0; i != used.size(); ++i) {
      const Float3& v = mesh.vertices[used[i]];
      result->mVertices[i] = {v.x, v.y, v.z};
    }
    return result;
  }

  static void show(aiNode& node, const std::vector<unsigned>& meshes) {
    node.mNumMeshes = static_cast<unsigned>(meshes.size());
    node.mMeshes = new unsigned[meshes.size()];
    std::copy(meshes.begin(), meshes.end(), node.mMeshes);
  }

  /// Scene::nodes have no transforms: a node's frame is that of its first solid that can be inverted, or of the node
  /// above. Other solids of the node are in nodes of their own below it.
  void add_nodes(aiNode& root) {
    const std::size_t count = scene_.nodes.size();
    std::vector<std::unique_ptr<aiNode>> nodes(count);
    std::vector<std::vector<std::unique_ptr<aiNode>>> children(count);
    std::vector<std::unique_ptr<aiNode>> top;  // the root's
    const auto below = [&](std::uint32_t node) -> std::vector<std::unique_ptr<aiNode>>& {
      return node == kNone ? top : children[node];
    };
    std::vector<std::optional<EigenTransform>> frames(count);
    for (const Instance& instance : scene_.instances)
      if (instance.node != kNone && !frames[instance.node] && can_be_inverted(to_eigen(instance.transform)))
        frames[instance.node] = to_eigen(instance.transform);
    const auto frame_above = [&](std::size_t i) {
      const std::uint32_t parent = scene_.nodes[i].parent;
      return parent == kNone ? EigenTransform(EigenTransform::Identity()) : *frames[parent];
    };
    for (std::size_t i = 0; i != count; ++i) {
      const EigenTransform above = frame_above(i);
      if (!frames[i]) frames[i] = above;
      nodes[i] = node_of(scene_.nodes[i].name);
      nodes[i]->mTransformation = matrix_of(above.inverse() * *frames[i]);
      numbers_.emplace(nodes[i].get(), i);
    }
    for (const Instance& instance : scene_.instances) {
      const std::uint32_t at = instance.node;
      const EigenTransform frame = at == kNone ? EigenTransform(EigenTransform::Identity()) : *frames[at];
      const EigenTransform world = to_eigen(instance.transform);
      if (at != kNone && nodes[at]->mNumMeshes == 0 && world.matrix() == frame.matrix()) {
        show(*nodes[at], meshes_of(instance));
        continue;
      }
      std::unique_ptr<aiNode> own = node_of(scene_.meshes[instance.mesh].name);
      own->mTransformation = matrix_of(frame.inverse() * world);
      show(*own, meshes_of(instance));
      below(at).push_back(std::move(own));
    }
    // Parents stand before their children: from the last one on, each has all of its own.
    for (std::size_t i = count; i-- != 0;) {
      adopt(*nodes[i], children[i]);
      below(scene_.nodes[i].parent).push_back(std::move(nodes[i]));
    }
    adopt(root, top);
  }

  /// COLLADA has names and ids, which come from metadata here; glTF's names are to be unique.
  std::unique_ptr<aiNode> node_of(const std::string& name) {
    const std::string unique = names_.next(name);
    if (convention_ != Convention::stated || unique == name) return std::make_unique<aiNode>(unique);
    auto node = std::make_unique<aiNode>(name);
    node->mMetaData = aiMetadata::Alloc(1);
    node->mMetaData->Set(0, AI_METADATA_COLLADA_ID, aiString(unique));
    return node;
  }

  static void adopt(aiNode& node, std::vector<std::unique_ptr<aiNode>>& children) {
    std::reverse(children.begin(), children.end());
    for (const auto& child : children) child->mParent = &node;
    give(children, node.mChildren, node.mNumChildren);
  }

  const Scene& scene_;
  Convention convention_;
  UniqueNames names_;
  std::vector<std::unique_ptr<aiMesh>> meshes_;
  std::vector<std::unique_ptr<aiMaterial>> materials_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<unsigned>> known_;  // by mesh and binding
  bool without_material_ = false;
  std::unordered_map<const aiNode*, std::size_t> numbers_;  // in Scene::nodes
  std::vector<std::optional<std::int64_t>> copy_numbers_;
};

/// COLLADA with copy numbers as G4DAE states them, which Assimp does not write.
std::string with_copy_numbers(const std::string& text, const std::vector<std::optional<std::int64_t>>& numbers) {
  if (std::none_of(numbers.begin(), numbers.end(), [](const auto& number) { return number.has_value(); })) return text;
  pugi::xml_document xml;
  if (!xml.load_buffer(text.data(), text.size(), pugi::parse_default | pugi::parse_declaration)) return text;
  const pugi::xml_node scene = xml.document_element().child("library_visual_scenes").child("visual_scene");
  std::size_t next = 0;
  for (pugi::xml_node node = scene.child("node"); node;) {
    if (next == numbers.size()) throw std::logic_error("the exporter wrote more nodes than it was given");
    const std::optional<std::int64_t>& number = numbers[next++];
    // Nodes in the order of the document: the first child, or the next one of this or of a node above.
    pugi::xml_node following = node.child("node");
    for (pugi::xml_node above = node; !following && above != scene; above = above.parent())
      following = above.next_sibling("node");
    if (number)
      node.append_child("extra").append_child("meta").append_child("copyNo").text().set(
          static_cast<long long>(*number));
    node = following;
  }
  if (next != numbers.size()) throw std::logic_error("the exporter wrote fewer nodes than it was given");
  struct Writer : pugi::xml_writer {
    std::string text;
    void write(const void* data, std::size_t size) override { text.append(static_cast<const char*>(data), size); }
  } writer;
  xml.save(writer, "  ");
  return std::move(writer.text);
}

/// Throws Error(out_of_host_memory) for a scene that the machine can't hold as Assimp has it: it would be killed on the
/// way. Assimp copies the scene; each node takes over a kilobyte for its name alone, and so does its id in COLLADA.
void check_memory(const Format& format, const Scene& scene, const std::string& name) {
  constexpr std::uint64_t kNode = sizeof(aiNode) + 100, kId = sizeof(aiString) + 200, kText = 1500;
  constexpr std::uint64_t kTriangle = 200, kWrittenTriangle = 100;
  const bool copies = format.convention == Convention::none;  // of meshes
  const std::uint64_t nodes = scene.nodes.size() + scene.instances.size() / 8;
  const std::uint64_t bytes = nodes * (2 * (kNode + (format.convention == Convention::stated ? kId : 0)) + kText) +
                              scene.unique_triangles() * kTriangle +
                              (copies ? scene.expanded_triangles() : scene.unique_triangles()) * kWrittenTriangle;
  const std::uint64_t memory = detail::usable_memory();
  if (bytes <= memory) return;
  const auto gigabytes = [](std::uint64_t count) {
    return std::to_string((count + 500'000'000) / 1'000'000'000) + " GB";
  };
  throw Error(ErrorKind::out_of_host_memory,
              "writing " + std::to_string(scene.nodes.size()) + " nodes takes about " + gigabytes(bytes) +
                  ", and the machine has " + gigabytes(memory),
              {name, ""}, copies ? "write .glb, which keeps instances" : "write a part of the scene");
}

std::vector<ExportedFile> export_by(const Format& format, const Scene& scene, const std::string& name) {
  check_memory(format, scene, name);
  Converter converter(scene, format.convention);
  const std::unique_ptr<aiScene> converted = converter.convert();
  std::map<std::string, std::string> files;
  Assimp::Exporter exporter;
  exporter.SetIOHandler(new MemoryFiles(files));  // which it deletes
  if (exporter.Export(converted.get(), format.exporter, name) != aiReturn_SUCCESS || !files.contains(name))
    throw Error(ErrorKind::unsupported, std::string("Assimp can't write it: ") + exporter.GetErrorString(), {name, ""},
                "choose another format");
  std::vector<ExportedFile> result;
  result.push_back({name, std::move(files[name])});
  if (format.convention == Convention::stated)
    result.back().bytes = with_copy_numbers(result.back().bytes, converter.copy_numbers());
  files.erase(name);
  for (auto& [other, bytes] : files) result.push_back({other, std::move(bytes)});
  return result;
}

}  // namespace

std::vector<ExportedFile> export_scene(const Scene& scene, const std::string& name) {
  const Format& format = format_of(name);
  try {
    return export_by(format, scene, name);
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::out_of_host_memory, "no memory to write the scene", {name, ""});
  }
}

const std::vector<std::string>& export_extensions() {
  static const std::vector<std::string> extensions = [] {
    std::vector<std::string> all;
    for (const Format& format : kFormats) all.emplace_back(format.extension);
    return all;
  }();
  return extensions;
}

}  // namespace raylift
