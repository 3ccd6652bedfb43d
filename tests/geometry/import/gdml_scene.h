// SPDX-License-Identifier: Apache-2.0
// Small GDML documents for tests, and what a loaded scene has at a path.
#pragma once

#include <gtest/gtest.h>
#include <raylift/geometry/import/load.h>
#include <raylift/geometry/scene/eigen.h>

#include <string>
#include <vector>

#include "support/paths.h"

namespace raylift::test {

/// A GDML document of parts. The materials Air, Water and Glass, and boxes "w" of 10 m, "b" of 2 x 4 x 6 mm and "c" of
/// 1 mm are always there.
struct GdmlParts {
  std::string define, solids, structure;
  std::string setup = R"(<setup name="Default" version="1.0"><world ref="World"/></setup>)";
  std::string materials;
  std::string head;
};

inline std::string gdml_document(const GdmlParts& parts) {
  const auto material = [](const std::string& name) {
    return "<material name=\"" + name + "\" Z=\"8\"><D value=\"1\"/><atom value=\"16\"/></material>";
  };
  return parts.head + "<gdml><define>" + parts.define + "</define><materials>" + material("Air") + material("Water") +
         material("Glass") + parts.materials + "</materials><solids>" +
         R"(<box name="w" x="10" y="10" z="10" lunit="m"/><box name="b" x="2" y="4" z="6"/>
            <box name="c" x="1" y="1" z="1"/>)" +
         parts.solids + "</solids><structure>" + parts.structure + "</structure>" + parts.setup + "</gdml>";
}

/// A volume of a material and a solid, with what it holds.
inline std::string gdml_volume(const std::string& name, const std::string& material, const std::string& solid,
                               const std::string& content = "") {
  return "<volume name=\"" + name + "\"><materialref ref=\"" + material + "\"/><solidref ref=\"" + solid + "\"/>" +
         content + "</volume>";
}
/// A physical volume; `rest` are further attributes, and elements where it begins with '>'.
inline std::string gdml_physvol(const std::string& name, const std::string& volume, const std::string& content = "") {
  return "<physvol" + (name.empty() ? "" : " name=\"" + name + "\"") + "><volumeref ref=\"" + volume + "\"/>" +
         content + "</physvol>";
}
inline std::string gdml_position(double x, double y, double z) {
  return "<position x=\"" + std::to_string(x) + "\" y=\"" + std::to_string(y) + "\" z=\"" + std::to_string(z) + "\"/>";
}

inline Scene load_gdml(const GdmlParts& parts, const LoadOptions& options = {}) {
  const TemporaryFolder folder;
  return load(folder.write("scene.gdml", gdml_document(parts)), options);
}

/// The solids of a path, in order.
inline std::vector<const Instance*> at_path(const Scene& scene, const std::string& path) {
  std::vector<const Instance*> found;
  for (const Instance& instance : scene.instances)
    if (scene.path(instance) == path) found.push_back(&instance);
  return found;
}
/// The one solid of a path, and where it has a point of its own frame.
inline const Instance& only_at(const Scene& scene, const std::string& path) {
  const std::vector<const Instance*> found = at_path(scene, path);
  EXPECT_EQ(found.size(), 1U) << path;
  if (found.empty()) throw std::out_of_range(path);
  return *found.front();
}
inline Double3 world_point(const Scene& scene, const std::string& path, const Double3& local = {}) {
  return only_at(scene, path).transform.point(local);
}

}  // namespace raylift::test
