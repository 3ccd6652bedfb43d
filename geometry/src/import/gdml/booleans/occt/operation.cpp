// SPDX-License-Identifier: Apache-2.0
#include "operation.h"

#include <BRepAlgoAPI_BooleanOperation.hxx>
#include <BRepGProp.hxx>
#include <BRepMesh_IncrementalMesh.hxx>
#include <BRepTools.hxx>
#include <GProp_GProps.hxx>
#include <IMeshTools_Parameters.hxx>
#include <Message_ProgressIndicator.hxx>
#include <TopTools_ListOfShape.hxx>
#include <TopoDS_Shape.hxx>
#include <chrono>
#include <cmath>
#include <map>
#include <numbers>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>

#include "brep.h"
#include "guarded.h"
#include "triangles.h"

namespace raylift::gdml::occt {
namespace {

/// Whether a turn about z changes nothing but the place of the seam, where the surface meets itself.
bool whole_about_z(const Shape& shape) {
  return std::visit(
      [](const auto& s) {
        using S = std::decay_t<decltype(s)>;
        if constexpr (std::is_same_v<S, Orb> || std::is_same_v<S, Paraboloid> || std::is_same_v<S, Hype>) {
          return true;
        } else if constexpr (
            requires { s.phi.delta; } && !requires { s.sides; }) {
          return s.phi.delta >= 2 * std::numbers::pi;
        } else {
          return false;
        }
      },
      shape);
}

Transform about_z(double angle) {
  Transform t;
  t(0, 0) = t(1, 1) = std::cos(angle);
  t(1, 0) = std::sin(angle);
  t(0, 1) = -t(1, 0);
  return t;
}

/// About the middle of the bounds, whose corners move by `by`.
Transform grown(const Bounds& box, double by) {
  const double factor = 1 + 2 * by / diagonal(box);
  Transform t;
  for (int axis = 0; axis < 3; ++axis) {
    t(axis, axis) = factor;
    t(axis, 3) = (1 - factor) * (box.min[axis] + box.max[axis]) / 2;
  }
  return t;
}

/// Ends an operation that takes too long. The library asks every few seconds at least.
class Deadline : public Message_ProgressIndicator {
 public:
  explicit Deadline(std::chrono::steady_clock::time_point end) : end_(end) {}
  Standard_Boolean UserBreak() override { return passed(); }
  [[nodiscard]] bool passed() const { return std::chrono::steady_clock::now() >= end_; }

 private:
  void Show(const Message_ProgressScope&, const Standard_Boolean) override {}

  std::chrono::steady_clock::time_point end_;
};

class Evaluation {
 public:
  Evaluation(const Csg& csg, const Options& options, Facets facets) : csg_(csg), options_(options), facets_(facets) {}

  // flatten() limits the depth of trees.
  TopoDS_Shape of(std::uint32_t index, bool first = true) {  // NOLINT(misc-no-recursion)
    const CsgNode& node = csg_.nodes[index];
    if (node.kind == CsgKind::primitive) {
      TopoDS_Shape& own = primitives_[node.shape];
      if (own.IsNull()) own = brep(*node.shape, options_.chord, facets_);
      Transform placement = node.placed;
      if (options_.seam != 0 && whole_about_z(*node.shape)) placement = placement * about_z(options_.seam);
      if (options_.grow != 0 && !first) placement = placement * grown(node.own, options_.grow);
      return placed(own, placement);
    }
    TopoDS_Shape result = of(node.children[0], first);
    if (node.children.size() == 1) return result;
    TopTools_ListOfShape tools;
    for (const std::uint32_t child : std::span(node.children).subspan(1)) {
      tools.Append(of(child, false));
      // Common parts of several tools would be those with any of them.
      if (node.kind != CsgKind::intersect && !options_.one_by_one) continue;
      result = run(node.kind, result, tools);
      tools.Clear();
    }
    return tools.IsEmpty() ? result : run(node.kind, result, tools);
  }

 private:
  TopoDS_Shape run(CsgKind kind, const TopoDS_Shape& first, const TopTools_ListOfShape& tools) const {
    BRepAlgoAPI_BooleanOperation algorithm;
    algorithm.SetOperation(kind == CsgKind::add        ? BOPAlgo_FUSE
                           : kind == CsgKind::subtract ? BOPAlgo_CUT
                                                       : BOPAlgo_COMMON);
    TopTools_ListOfShape arguments;
    arguments.Append(first);
    algorithm.SetArguments(arguments);
    algorithm.SetTools(tools);
    algorithm.SetFuzzyValue(options_.fuzzy);
    algorithm.SetNonDestructive(true);
    algorithm.SetRunParallel(false);
    const Handle(Deadline) deadline = new Deadline(options_.end);
    algorithm.Build(deadline->Start());
    if (deadline->passed()) throw OutOfTime("Open CASCADE takes too long for it");
    if (algorithm.HasErrors() || algorithm.Shape().IsNull()) throw Failure("Open CASCADE reports an error");
    return algorithm.Shape();
  }

  const Csg& csg_;
  Options options_;
  Facets facets_;
  std::map<const Shape*, TopoDS_Shape> primitives_;
};

class ShapeOperation : public Operation {
 public:
  explicit ShapeOperation(TopoDS_Shape shape) : shape_(std::move(shape)) {}

  [[nodiscard]] double volume() const override {
    return guarded([&] {
      GProp_GProps properties;
      BRepGProp::VolumeProperties(shape_, properties, 1e-5, true);
      return properties.Mass();
    });
  }

  [[nodiscard]] double area() const override {
    return guarded([&] {
      GProp_GProps properties;
      BRepGProp::SurfaceProperties(shape_, properties, 1e-5);
      return properties.Mass();
    });
  }

  [[nodiscard]] Surface mesh(const Meshing& meshing) override {
    return guarded([&] {
      BRepTools::Clean(shape_);
      IMeshTools_Parameters parameters;
      parameters.Deflection = meshing.deflection;
      parameters.Angle = meshing.angle;
      parameters.MinSize = 1e-6;  // by default a tenth of the deflection, which makes thin wires square
      parameters.InParallel = false;
      const BRepMesh_IncrementalMesh mesher(shape_, parameters);
      return triangles(shape_);
    });
  }

 private:
  TopoDS_Shape shape_;
};

}  // namespace

Operation* make_operation(const Csg& csg, const Options& options, Facets facets) {
  return new ShapeOperation(guarded([&] { return Evaluation(csg, options, facets).of(csg.root); }));
}

}  // namespace raylift::gdml::occt

extern "C" __attribute__((visibility("default"))) raylift::gdml::occt::Operation* raylift_occt_3(
    const raylift::gdml::Csg& csg, const raylift::gdml::occt::Options& options, raylift::gdml::occt::Facets facets) {
  return raylift::gdml::occt::make_operation(csg, options, facets);
}
