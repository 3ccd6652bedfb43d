// SPDX-License-Identifier: Apache-2.0
// Whether a scene is watertight, and which solids overlap.
#include <pybind11/stl.h>
#include <raylift/geometry/checks/check.h>
#include <raylift/geometry/checks/overlaps.h>

#include "parts.h"
#include "scene.h"
#include "watch.h"

namespace raylift::python {
namespace {

using namespace py::literals;

py::tuple point(const Double3& p) {
  return py::make_tuple(p.x, p.y, p.z);
}

py::dict counts(const std::array<std::uint64_t, MeshCheck::kFlaws>& of) {
  py::dict dict;
  for (std::size_t i = 0; i != MeshCheck::kFlaws; ++i)
    dict[py::str(std::string(to_string(static_cast<MeshCheck::Flaw>(i))))] = of[i];
  return dict;
}

py::dict of_mesh(const Mesh& mesh, const MeshCheck& check) {
  py::list examples;
  for (const MeshCheck::Example& example : check.examples)
    examples.append(py::dict("flaw"_a = to_string(example.flaw), "triangle"_a = or_none(example.triangle),
                             "place"_a = py::make_tuple(point(example.place[0]), point(example.place[1]))));
  return py::dict("name"_a = mesh.name, "triangles"_a = check.triangles, "instances"_a = check.instances,
                  "first_solid"_a = or_none(check.first_instance), "counts"_a = counts(check.counts),
                  "closed"_a = check.closed(), "inverted"_a = check.inverted(), "watertight"_a = check.watertight(),
                  "volume"_a = check.volume, "examples"_a = examples);
}

py::dict check_scene(const ScenePointer& box, std::size_t examples, const py::object& progress) {
  SceneCheck result;
  const SceneUse use(box);
  Watch watch(progress);
  watch.run([&](const Progress& to) {
    result = check(box->scene, to, examples);
    return 0;
  });
  py::list meshes;
  for (std::size_t i = 0; i != result.meshes.size(); ++i)
    meshes.append(of_mesh(box->scene.meshes[i], result.meshes[i]));
  return py::dict("watertight"_a = result.watertight(), "counts"_a = counts(result.counts),
                  "leaking_meshes"_a = result.leaking_meshes, "leaking_solids"_a = result.leaking_instances,
                  "meshes"_a = meshes);
}

py::dict overlaps(const ScenePointer& box, double tolerance, const py::object& progress) {
  OverlapReport report;
  Overlap::Options options;
  options.tolerance = tolerance;
  const SceneUse use(box);
  Watch watch(progress);
  watch.run([&](const Progress& to) {
    report = find_overlaps(box->scene, options, to);
    return 0;
  });
  const auto list = [](const std::vector<Overlap>& overlaps) {
    py::list list;
    for (const Overlap& overlap : overlaps)
      list.append(py::dict("kind"_a = to_string(overlap.kind), "first"_a = overlap.first, "second"_a = overlap.second,
                           "place"_a = point(overlap.place), "depth"_a = overlap.depth,
                           "depth_at_most"_a = overlap.depth_at_most, "facets"_a = overlap.facets,
                           "pairs"_a = overlap.pairs));
    return list;
  };
  return py::dict("overlaps"_a = list(report.overlaps), "by_tessellation"_a = list(report.by_tessellation),
                  "tessellation_pairs"_a = report.tessellation_pairs, "solids"_a = report.solids,
                  "untested_solids"_a = report.untested_solids, "pairs"_a = report.pairs, "tests"_a = report.tests,
                  "overlapping_pairs"_a = report.overlapping_pairs, "touching_pairs"_a = report.touching_pairs,
                  "undecided_pairs"_a = report.undecided_pairs);
}

}  // namespace

void add_checks(py::module_& m) {
  m.def("check", &check_scene, py::arg("scene"), py::kw_only(), py::arg("examples") = 4,
        py::arg("progress") = py::none(),
        R"(Whether a photon could leak through a mesh.

Returns a dict: watertight, counts of each flaw, leaking_meshes, leaking_solids, and meshes: a dict for each, with up to
``examples`` places of each flaw, in the mesh's own frame. Raises Error: malformed, limit, cancelled.)");
  m.def("find_overlaps", &overlaps, py::arg("scene"), py::kw_only(), py::arg("tolerance") = 0.0,
        py::arg("progress") = py::none(),
        R"(Which solids share space: daughters that leave their mother, and siblings that overlap.

tolerance: millimetres; what is no deeper is no overlap. Returns a dict: overlaps (dicts with kind, first, second, place,
depth in millimetres), the deepest first, by_tessellation (those that are no deeper than facets lie off the true
surfaces: facets), and counts. Raises Error: usage, malformed, limit, cancelled.)");
}

}  // namespace raylift::python
