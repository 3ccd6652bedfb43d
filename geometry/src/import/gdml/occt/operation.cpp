// SPDX-License-Identifier: Apache-2.0
#include "operation.h"

#include <BOPAlgo_Alerts.hxx>
#include <BRepAlgoAPI_BooleanOperation.hxx>
#include <BRepAlgoAPI_Common.hxx>
#include <BRepAlgoAPI_Cut.hxx>
#include <BRepAlgoAPI_Fuse.hxx>
#include <BRepGProp.hxx>
#include <BRepMesh_IncrementalMesh.hxx>
#include <BRepTools.hxx>
#include <GProp_GProps.hxx>
#include <IMeshTools_Parameters.hxx>
#include <Standard_Failure.hxx>
#include <TopTools_ListOfShape.hxx>
#include <TopoDS_Shape.hxx>
#include <cstddef>
#include <map>
#include <span>
#include <utility>

#include "brep.h"
#include "triangles.h"

namespace raylift::gdml::occt {
namespace {

/// What the library throws becomes a Failure.
template <class Run>
auto guarded(const Run& run) {
  try {
    return run();
  } catch (const Standard_Failure& failure) {
    const char* const text = failure.GetMessageString();
    throw Failure(text != nullptr && *text != '\0' ? text : "Open CASCADE failed without a reason");
  }
}

class Evaluation {
 public:
  Evaluation(const Csg& csg, double fuzzy) : csg_(csg), fuzzy_(fuzzy) {}

  // flatten() limits the depth of trees.
  TopoDS_Shape of(std::uint32_t index) {  // NOLINT(misc-no-recursion)
    const CsgNode& node = csg_.nodes[index];
    if (node.kind == CsgKind::primitive) {
      TopoDS_Shape& own = primitives_[node.shape];
      if (own.IsNull()) own = brep(*node.shape);
      return placed(own, node.placed);
    }
    TopoDS_Shape result = of(node.children[0]);
    if (node.children.size() == 1) return result;
    TopTools_ListOfShape tools;
    for (const std::uint32_t child : std::span(node.children).subspan(1)) {
      tools.Append(of(child));
      if (node.kind != CsgKind::intersect) continue;
      // Common parts of several tools would be those with any of them.
      result = run<BRepAlgoAPI_Common>(result, tools);
      tools.Clear();
    }
    if (node.kind == CsgKind::intersect) return result;
    return node.kind == CsgKind::add ? run<BRepAlgoAPI_Fuse>(result, tools) : run<BRepAlgoAPI_Cut>(result, tools);
  }

 private:
  template <class Algorithm>
  TopoDS_Shape run(const TopoDS_Shape& first, const TopTools_ListOfShape& tools) const {
    Algorithm algorithm;
    TopTools_ListOfShape arguments;
    arguments.Append(first);
    algorithm.SetArguments(arguments);
    algorithm.SetTools(tools);
    algorithm.SetFuzzyValue(fuzzy_);
    algorithm.SetNonDestructive(true);
    algorithm.SetRunParallel(false);
    algorithm.Build();
    if (algorithm.HasErrors() || algorithm.Shape().IsNull()) throw Failure("Open CASCADE reports an error");
    return algorithm.Shape();
  }

  const Csg& csg_;
  double fuzzy_;
  std::map<const Shape*, TopoDS_Shape> primitives_;
};

}  // namespace

struct Operation::State {
  TopoDS_Shape shape;
};

Operation::Operation(const Csg& csg, double fuzzy) : state_(std::make_unique<State>()) {
  state_->shape = guarded([&] { return Evaluation(csg, fuzzy).of(csg.root); });
}

Operation::~Operation() = default;

double Operation::volume() const {
  return guarded([&] {
    GProp_GProps properties;
    BRepGProp::VolumeProperties(state_->shape, properties, 1e-5, true);
    return properties.Mass();
  });
}

Surface Operation::mesh(const Meshing& meshing) {
  return guarded([&] {
    BRepTools::Clean(state_->shape);
    IMeshTools_Parameters parameters;
    parameters.Deflection = meshing.deflection;
    parameters.Angle = meshing.angle;
    parameters.MinSize = 1e-6;  // by default a tenth of the deflection, which makes thin wires square
    parameters.InParallel = false;
    const BRepMesh_IncrementalMesh mesher(state_->shape, parameters);
    return triangles(state_->shape);
  });
}

}  // namespace raylift::gdml::occt
