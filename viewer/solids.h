// SPDX-License-Identifier: Apache-2.0
// The tree of solids as a person works with it: who is below whom, finding by name, and what is visible. No GL.
#pragma once

#include <raylift/geometry/scene/scene.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace raylift::viewer {

/// A scene's nodes and solids as a tree, with a visibility for each solid. The scene must outlive it.
class Solids {
 public:
  explicit Solids(const Scene& scene);

  [[nodiscard]] const Scene& scene() const { return *scene_; }
  /// Nodes below a node; kNone: those at the top.
  [[nodiscard]] std::span<const std::uint32_t> children(std::uint32_t node) const;
  /// Solids that hang on a node itself; kNone: those without one.
  [[nodiscard]] std::span<const std::uint32_t> instances(std::uint32_t node) const;
  /// Solids on a node and on all nodes below it.
  [[nodiscard]] std::vector<std::uint32_t> below(std::uint32_t node) const;

  /// Nodes whose name contains the text, whatever the case, in the order of the file; at most `most`.
  [[nodiscard]] std::vector<std::uint32_t> search(std::string_view text, std::size_t most) const;
  /// The solids of all nodes that search() finds: their own, or those below where a node has none itself.
  [[nodiscard]] std::vector<std::uint32_t> found(std::string_view text) const;
  /// Solids whose name, or whole path where the pattern has a '/', matches a shell's pattern: "pmt_*".
  [[nodiscard]] std::vector<std::uint32_t> match(const std::string& pattern) const;

  /// One value per solid: 1 where it is to be drawn.
  [[nodiscard]] const std::vector<std::uint8_t>& visible() const { return visible_; }
  /// Changes with each change of visibility.
  [[nodiscard]] std::uint64_t version() const { return version_; }
  void set_visible(std::span<const std::uint32_t> instances, bool visible);
  void show_all();
  void show_only(std::span<const std::uint32_t> instances);
  /// Of the solids on a node and below: 0 none, 1 some, 2 all are visible; for those without any, 2.
  [[nodiscard]] int shown(std::uint32_t node) const;

  /// The box of a solid in the world, by its mesh's box: may be somewhat larger than the solid.
  [[nodiscard]] Bounds bounds(std::uint32_t instance) const;
  [[nodiscard]] Bounds bounds(std::span<const std::uint32_t> instances) const;
  /// Of those with a value that is not 0, one per solid.
  [[nodiscard]] Bounds bounds_of(std::span<const std::uint8_t> visible) const;

 private:
  const Scene* scene_;
  std::vector<std::uint32_t> child_begin_, child_;        // of node + 1; 0 is the top
  std::vector<std::uint32_t> instance_begin_, instance_;  // likewise
  std::vector<Bounds> mesh_bounds_;
  std::vector<std::uint8_t> visible_;
  std::uint64_t version_ = 0;
  mutable std::uint64_t shown_version_ = ~std::uint64_t{0};
  mutable std::vector<std::uint8_t> shown_;
};

}  // namespace raylift::viewer
