// SPDX-License-Identifier: Apache-2.0
#include "window/controls/tree_rows.h"

#include "geometry/src/scene/names.h"

#include <string_view>
#include <unordered_map>

namespace raylift::viewer {
namespace {

/// As rows show it: names that differ by Geant4's pointer alone are equal.
std::string_view name_of(const Scene& scene, const TreeRow& row) {
  return base_name(row.node == kNone ? scene.solid_name(scene.instances[row.instance]) : scene.nodes[row.node].name);
}

/// Counts names, and marks those that come several times. `group(row)`: names count within it alone.
template <class Group>
void mark_equal_names(const Scene& scene, const Group& group, std::vector<TreeRow>& rows) {
  std::unordered_map<std::uint32_t, std::unordered_map<std::string_view, std::pair<int, int>>> counts;
  for (const TreeRow& row : rows) ++counts[group(row)][name_of(scene, row)].first;
  for (TreeRow& row : rows) {
    auto& [all, so_far] = counts[group(row)][name_of(scene, row)];
    if (row.node != kNone && scene.nodes[row.node].copy_number)
      row.mark = '#' + std::to_string(*scene.nodes[row.node].copy_number) + "  ";
    else if (all > 1)
      row.mark = '(' + std::to_string(++so_far) + ")  ";
  }
}

}  // namespace

std::vector<TreeRow> tree_rows(const Solids& solids, const std::unordered_set<std::uint32_t>& open) {
  struct Open {
    std::uint32_t node;
    int depth;
  };
  std::vector<TreeRow> rows;
  std::vector<Open> todo;
  const auto push_children = [&](std::uint32_t node, int depth) {
    const auto children = solids.children(node);
    for (std::size_t i = children.size(); i-- > 0;) todo.push_back({children[i], depth});
  };
  push_children(kNone, 0);
  while (!todo.empty()) {
    const Open next = todo.back();
    todo.pop_back();
    const bool has_children = !solids.children(next.node).empty();
    const bool is_open = has_children && open.count(next.node) != 0;
    const auto own = solids.instances(next.node);
    rows.push_back({next.node, own.empty() ? kNone : own[0], next.depth, is_open, has_children, {}});
    if (is_open) push_children(next.node, next.depth + 1);
  }
  for (const std::uint32_t instance : solids.instances(kNone)) rows.push_back({kNone, instance, 0, false, false, {}});
  const Scene& scene = solids.scene();
  mark_equal_names(
      scene, [&](const TreeRow& row) { return row.node == kNone ? kNone : scene.nodes[row.node].parent; }, rows);
  return rows;
}

std::vector<TreeRow> found_rows(const Solids& solids, std::span<const std::uint32_t> found, std::size_t most) {
  std::vector<TreeRow> rows;
  for (const std::uint32_t instance : found) {
    if (rows.size() == most) break;
    rows.push_back({solids.scene().instances[instance].node, instance, 0, false, false, {}});
  }
  mark_equal_names(
      solids.scene(), [](const TreeRow&) { return 0U; }, rows);
  return rows;
}

}  // namespace raylift::viewer
