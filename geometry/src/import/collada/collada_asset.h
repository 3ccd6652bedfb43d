// SPDX-License-Identifier: Apache-2.0
// Units and axes: the <asset>s of a COLLADA document, and the elements for which each holds.
#pragma once

#include <raylift/geometry/scene/eigen.h>

#include <optional>
#include <unordered_map>

#include "collada_detail.h"

namespace raylift::collada {

/// The unit and the upward axis that numbers are in.
struct AssetFrame {
  double unit_mm = 1;
  UpAxis up = UpAxis::y;
};

/// The unit and the axis that the <asset>s around an element state, below the document's own one: the innermost for
/// each of the two. Empty where an option overrides it.
struct StatedFrame {
  std::optional<double> unit_mm;
  std::optional<UpAxis> up;
};

/// A transform in the unit and axes of the element that it stands in.
struct Local {
  StatedFrame frame;
  EigenTransform transform = EigenTransform::Identity();
};

/// The placement of an element: a transform from its own numbers to the world, in millimetres.
struct DocumentPlace {
  AssetFrame frame;
  EigenTransform to_world = EigenTransform::Identity();
};

/// The place of an element inside `outer`. An element that states no unit or axis has those of the place where it
/// stands or is instanced, as in Khronos's conformance suite (visual_scene/asset/unit and others).
[[nodiscard]] DocumentPlace inside(const DocumentPlace& outer, const Local& local);

class Assets {
 public:
  /// Reads the document's own <asset> into `scene`, under the options.
  Assets(const Source& source, Scene& scene);

  /// The unit and axis of the numbers in `element`, from its own <asset> and those of the elements around it. Options
  /// that override the unit or the axis hold for the whole document.
  [[nodiscard]] StatedFrame stated(pugi::xml_node element);
  /// The unit and axis where an element of one document refers to one of another: the unit and the axis of the other
  /// document's own <asset>, or their defaults. Nothing within a document.
  [[nodiscard]] StatedFrame entered(pugi::xml_node from, pugi::xml_node to);

 private:
  void warn_if_other(const StatedFrame& frame, const std::string& what);
  void read(pugi::xml_node asset, StatedFrame& frame);

  const Source& source_;
  Scene& scene_;
  bool warned_ = false;
  std::unordered_map<const void*, StatedFrame> known_;
};

}  // namespace raylift::collada
