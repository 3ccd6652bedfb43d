// SPDX-License-Identifier: Apache-2.0
// Scenes as bytes, for cache files and for the way from an import process: values one after the other, little-endian, a
// text or a list behind its 64-bit count. docs/cache_format.md has the order, which is a file format.
#pragma once

#include <raylift/geometry/scene/flatten.h>
#include <raylift/geometry/scene/scene.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "optics_bytes.h"

namespace raylift::detail {

/// Bytes, appended in order. Large arrays are kept by reference until write_to: they must live that long.
class ByteWriter {
 public:
  static constexpr bool kReads = false;

  template <class T>
  void value(const T& value) {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_same_v<T, bool>);
    own_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void text(std::string_view text) {
    value(std::uint64_t{text.size()});
    own_ += text;
  }
  /// Calls put(element) for each element.
  template <class List, class Put>
  void list(const List& list, std::size_t, const Put& put) {
    value(std::uint64_t{list.size()});
    for (const auto& element : list) put(element);
  }
  /// The elements alone, by reference.
  template <class T>
  void array(const std::vector<T>& values, std::size_t) {
    static_assert(std::is_trivially_copyable_v<T>);
    pieces_.push_back({own_.size(), {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)}});
  }

  /// What was copied here: all of it, where there was no array.
  [[nodiscard]] std::span<const std::byte> bytes() const { return std::as_bytes(std::span(own_)); }
  /// Calls use(bytes) for all of it, piece by piece.
  void for_each_piece(const std::function<void(std::string_view)>& use) const;
  /// Writes all to a file descriptor. Throws Error(io).
  void write_to(int descriptor) const;

 private:
  struct Piece {
    std::size_t own_before;  // bytes of own_ that come first
    std::string_view outside;
  };
  std::string own_;
  std::vector<Piece> pieces_;
};

/// Throws an Error about what is wrong with bytes.
using ByteFailure = std::function<void(const std::string& what)>;

/// Reads what ByteWriter wrote, and trusts nothing: what leaves the bytes, or counts more than they can hold, fails.
class ByteReader {
 public:
  static constexpr bool kReads = true;

  ByteReader(std::string_view bytes, ByteFailure failure) : bytes_(bytes), failure_(std::move(failure)) {}
  /// How much memory the elements and texts that are read may take; any, by default. Throws Error(limit) where it is
  /// more.
  void allow_memory(std::uint64_t bytes) { allowed_ = bytes; }

  template <class T>
  void value(T& value) {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_same_v<T, bool>);
    std::memcpy(&value, take(sizeof value), sizeof value);
  }
  template <class T>
  [[nodiscard]] T get() {
    T result;
    value(result);
    return result;
  }
  void text(std::string& text);
  [[nodiscard]] std::string get_text() {
    std::string result;
    text(result);
    return result;
  }
  /// Elements of at least `size` bytes each, so that a wrong count can't ask for more memory than there are bytes.
  template <class List, class Get>
  void list(List& list, std::size_t size, const Get& get) {
    const std::size_t elements = count(size);
    spend(elements * sizeof list[0]);
    list.resize(elements);
    for (auto& element : list) get(element);
  }
  template <class T>
  void array(std::vector<T>& values, std::size_t count) {
    copy(elements<T>(count), values);
  }
  /// Passes over the elements of an array, which the caller may copy later.
  template <class T>
  [[nodiscard]] std::string_view elements(std::size_t count) {
    if (count > bytes_.size() / sizeof(T)) fail("an array is longer than what follows");
    spend(count * sizeof(T));
    return {take(count * sizeof(T)), count * sizeof(T)};
  }
  template <class T>
  static void copy(std::string_view elements, std::vector<T>& values) {
    static_assert(std::is_trivially_copyable_v<T>);
    values.resize(elements.size() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), elements.data(), elements.size());
  }
  void expect_end() const {
    if (!bytes_.empty()) fail("something follows it");
  }
  [[noreturn]] void fail(const std::string& what) const;

 private:
  [[nodiscard]] std::size_t count(std::size_t size);
  [[nodiscard]] const char* take(std::size_t size);
  void spend(std::uint64_t bytes);
  std::string_view bytes_;
  ByteFailure failure_;
  std::uint64_t allowed_ = std::numeric_limits<std::uint64_t>::max();
};

/// Counts that a scene without vertices and triangles can't derive.
struct SceneCounts {
  std::uint64_t triangles = 0;
  std::uint64_t vertices = 0;
  std::uint64_t meshes = 0;
  std::uint64_t instances = 0;
};
struct MeshSizes {
  std::uint64_t vertices = 0;
  std::uint64_t triangles = 0;
};
[[nodiscard]] SceneCounts counts_of(const Scene& scene);
[[nodiscard]] std::vector<MeshSizes> sizes_of(const Scene& scene);

template <class Archive, class Vector>
void visit_vector(Archive& archive, Vector& vector) {
  for (int axis = 0; axis != 3; ++axis) archive.value(vector[axis]);
}

/// What is known about a scene as a whole; Archive is a ByteWriter or a ByteReader.
template <class Archive, class SceneOrConst>
void visit_facts(Archive& archive, SceneOrConst& scene, SceneCounts& counts) {
  for (auto* text : {&scene.source, &scene.format, &scene.generator}) archive.text(*text);
  archive.list(scene.files, 3 * sizeof(std::uint64_t), [&](auto& file) {
    archive.text(file.path);
    archive.value(file.bytes);
    archive.value(file.changed);
  });
  archive.value(scene.unit_mm);
  archive.value(scene.unit_from);
  archive.value(scene.up_from);
  archive.value(scene.up_axis);
  visit_vector(archive, scene.bounds.min);
  visit_vector(archive, scene.bounds.max);
  for (std::uint64_t* count : {&counts.triangles, &counts.vertices, &counts.meshes, &counts.instances})
    archive.value(*count);
  auto& report = scene.report;
  for (auto* count : {&report.degenerate_triangles, &report.dropped_triangles, &report.repaired_vertices,
                      &report.ignored_primitives, &report.vertices_before_weld})
    archive.value(*count);
  std::uint8_t checked = report.faces_checked ? 1 : 0;
  archive.value(checked);
  if constexpr (!std::is_const_v<SceneOrConst>) report.faces_checked = checked != 0;
  for (auto* texts : {&report.sensitive_volumes, &report.warnings})
    archive.list(*texts, sizeof(std::uint64_t), [&](auto& text) { archive.text(text); });
}

/// Its meshes' names, deviations, sizes and parts, materials, bindings, nodes, volumes, instances and optics. `sizes`
/// has one for each mesh.
template <class Archive, class SceneOrConst>
void visit_tree(Archive& archive, SceneOrConst& scene, std::vector<MeshSizes>& sizes) {
  std::size_t meshes = 0;
  archive.list(scene.meshes, 6 * sizeof(std::uint64_t), [&](auto& mesh) {
    sizes.resize(scene.meshes.size());
    archive.text(mesh.name);
    archive.value(mesh.deviation.outward);
    archive.value(mesh.deviation.inward);
    archive.value(sizes[meshes].vertices);
    archive.value(sizes[meshes].triangles);
    archive.list(mesh.parts, 2 * sizeof(std::uint32_t), [&](auto& part) {
      archive.value(part.first_triangle);
      archive.value(part.triangle_count);
    });
    ++meshes;
  });
  archive.list(scene.materials, sizeof(std::uint64_t) + 4 * sizeof(float), [&](auto& material) {
    archive.text(material.name);
    for (auto& channel : material.color) archive.value(channel);
  });
  archive.list(scene.bindings, sizeof(std::uint64_t), [&](auto& binding) {
    archive.list(binding, sizeof(std::uint32_t), [&](auto& material) { archive.value(material); });
  });
  archive.list(scene.nodes, sizeof(std::uint64_t) + 20, [&](auto& node) {
    archive.text(node.name);
    archive.value(node.parent);
    visit_optional(archive, node.copy_number);
    archive.value(node.volume);
  });
  archive.list(scene.volumes, sizeof(std::uint64_t), [&](auto& name) { archive.text(name); });
  archive.list(scene.instances, 4 * sizeof(std::uint32_t) + 12 * sizeof(double), [&](auto& instance) {
    for (auto* index : {&instance.mesh, &instance.node, &instance.binding, &instance.outside}) archive.value(*index);
    for (int k = 0; k != 12; ++k) archive.value(instance.transform(k / 4, k % 4));
  });
  visit_optics(archive, scene.optics);
}

/// Throws Error(usage): what validate() and pack() refuse a scene by.
[[noreturn]] void refuse_scene(const Scene& scene, const std::string& what, const std::string& element = {});
/// Calls `failure` where facts or tree of a scene make no sense: enumerations and indices out of range, numbers that
/// are not finite, parts that do not cover their mesh.
void check_scene(const Scene& scene, std::span<const MeshSizes> sizes, const ByteFailure& failure);
/// Calls `failure` for an index beyond the mesh's vertices, or a coordinate that is not finite. Parallel.
void check_mesh(const Mesh& mesh, const ByteFailure& failure);

/// The version of put_scene()'s bytes, and of what the import process exchanges beside them. It changes whenever their
/// layout does: by hand, or with the table of per-triangle attributes.
inline constexpr std::uint64_t kStreamVersion = [] {
  std::uint64_t version = 0x7261796C69667409ULL;
  for_each_triangle_attribute([&]<class T>(const TriangleAttribute<T>& attribute) {
    for (const char c : attribute.name) version = version * 31 + static_cast<unsigned char>(c);
    version = version * 31 + sizeof(T);
  });
  return version;
}();

/// References the scene's arrays: it must outlive the writer.
void put_scene(ByteWriter& writer, const Scene& scene);
/// Checks every index that the scene holds, and fails as the reader does.
[[nodiscard]] Scene get_scene(ByteReader& reader);

}  // namespace raylift::detail
