// SPDX-License-Identifier: Apache-2.0
#include <raylift/geometry/error.h>
#include <raylift/geometry/scene/solids.h>

#include <numeric>
#include <string>

namespace raylift {

SolidTree solid_tree(const Scene& scene) {
  const std::size_t count = scene.instances.size();
  std::vector<std::uint32_t> first_solid(scene.nodes.size(), kNone);  // of each node
  for (std::uint32_t i = 0; i != count; ++i) {
    const std::uint32_t node = scene.instances[i].node;
    if (node == kNone) continue;
    if (node >= scene.nodes.size())
      throw Error(ErrorKind::usage, "an instance refers to a node that the scene does not have",
                  {scene.source, "instance " + std::to_string(i)});
    if (first_solid[node] == kNone) first_solid[node] = i;
  }
  // For each node, the solid of the nearest node above it. Parents stand before their children.
  std::vector<std::uint32_t> around(scene.nodes.size(), kNone);
  for (std::uint32_t node = 0; node != scene.nodes.size(); ++node) {
    const std::uint32_t parent = scene.nodes[node].parent;
    if (parent == kNone) continue;
    if (parent >= node)
      throw Error(ErrorKind::usage, "a node stands before its parent",
                  {scene.source, "node '" + scene.nodes[node].name + "'"});
    around[node] = first_solid[parent] != kNone ? first_solid[parent] : around[parent];
  }

  SolidTree tree;
  tree.mother.resize(count);
  tree.depth.resize(count, kNone);
  tree.daughter_begin.assign(count + 1, 0);
  for (std::size_t i = 0; i != count; ++i) {
    const std::uint32_t node = scene.instances[i].node;
    tree.mother[i] = node == kNone ? kNone : around[node];
    if (tree.mother[i] != kNone) ++tree.daughter_begin[tree.mother[i] + 1];
  }
  std::partial_sum(tree.daughter_begin.begin(), tree.daughter_begin.end(), tree.daughter_begin.begin());
  tree.daughters.resize(tree.daughter_begin.back());
  std::vector<std::uint32_t> next(tree.daughter_begin.begin(), tree.daughter_begin.end() - 1);
  std::vector<std::uint32_t> above;  // solids whose depth is not known yet, from the innermost outward
  for (std::uint32_t i = 0; i != count; ++i) {
    if (tree.mother[i] != kNone) tree.daughters[next[tree.mother[i]]++] = i;
    std::uint32_t solid = i;
    for (; solid != kNone && tree.depth[solid] == kNone; solid = tree.mother[solid]) above.push_back(solid);
    std::uint32_t depth = solid == kNone ? 0 : tree.depth[solid] + 1;
    for (; !above.empty(); above.pop_back()) tree.depth[above.back()] = depth++;
  }
  return tree;
}

}  // namespace raylift
