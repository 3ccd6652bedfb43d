// SPDX-License-Identifier: Apache-2.0
// Compares scenes that were loaded in two ways.
#pragma once

#include <gtest/gtest.h>
#include <raylift/geometry/scene/scene.h>

namespace raylift::test {

/// All that a load gives, but for how long it took.
inline void expect_same(const Scene& a, const Scene& b) {
  EXPECT_EQ(a.source, b.source);
  EXPECT_EQ(a.format, b.format);
  EXPECT_EQ(a.generator, b.generator);
  EXPECT_EQ(a.unit_mm, b.unit_mm);
  EXPECT_EQ(a.unit_from, b.unit_from);
  EXPECT_EQ(a.up_axis, b.up_axis);
  EXPECT_EQ(a.up_from, b.up_from);
  ASSERT_EQ(a.meshes.size(), b.meshes.size());
  for (std::size_t i = 0; i != a.meshes.size(); ++i) {
    EXPECT_EQ(a.meshes[i].name, b.meshes[i].name);
    EXPECT_EQ(a.meshes[i].vertices, b.meshes[i].vertices);
    EXPECT_EQ(a.meshes[i].rests, b.meshes[i].rests);
    EXPECT_EQ(a.meshes[i].deviation, b.meshes[i].deviation);
    EXPECT_EQ(a.meshes[i].triangles, b.meshes[i].triangles);
    ASSERT_EQ(a.meshes[i].parts.size(), b.meshes[i].parts.size());
    for (std::size_t part = 0; part != a.meshes[i].parts.size(); ++part) {
      EXPECT_EQ(a.meshes[i].parts[part].first_triangle, b.meshes[i].parts[part].first_triangle);
      EXPECT_EQ(a.meshes[i].parts[part].triangle_count, b.meshes[i].parts[part].triangle_count);
    }
  }
  ASSERT_EQ(a.materials.size(), b.materials.size());
  for (std::size_t i = 0; i != a.materials.size(); ++i) {
    EXPECT_EQ(a.materials[i].name, b.materials[i].name);
    EXPECT_EQ(a.materials[i].color, b.materials[i].color);
  }
  EXPECT_EQ(a.bindings, b.bindings);
  ASSERT_EQ(a.nodes.size(), b.nodes.size());
  for (std::size_t i = 0; i != a.nodes.size(); ++i) {
    EXPECT_EQ(a.nodes[i].name, b.nodes[i].name);
    EXPECT_EQ(a.nodes[i].parent, b.nodes[i].parent);
    EXPECT_EQ(a.nodes[i].copy_number, b.nodes[i].copy_number);
  }
  ASSERT_EQ(a.instances.size(), b.instances.size());
  for (std::size_t i = 0; i != a.instances.size(); ++i) {
    EXPECT_EQ(a.instances[i].mesh, b.instances[i].mesh);
    EXPECT_EQ(a.instances[i].node, b.instances[i].node);
    EXPECT_EQ(a.instances[i].binding, b.instances[i].binding);
    EXPECT_EQ(a.instances[i].outside, b.instances[i].outside);
    EXPECT_EQ(a.instances[i].transform, b.instances[i].transform);
  }
  EXPECT_EQ(a.bounds.min, b.bounds.min);
  EXPECT_EQ(a.bounds.max, b.bounds.max);
  EXPECT_EQ(a.report.degenerate_triangles, b.report.degenerate_triangles);
  EXPECT_EQ(a.report.dropped_triangles, b.report.dropped_triangles);
  EXPECT_EQ(a.report.repaired_vertices, b.report.repaired_vertices);
  EXPECT_EQ(a.report.ignored_primitives, b.report.ignored_primitives);
  EXPECT_EQ(a.report.faces_checked, b.report.faces_checked);
  EXPECT_EQ(a.report.vertices_before_weld, b.report.vertices_before_weld);
  EXPECT_EQ(a.report.warnings, b.report.warnings);
}

}  // namespace raylift::test
