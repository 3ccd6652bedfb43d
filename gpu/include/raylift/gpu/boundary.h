// SPDX-License-Identifier: Apache-2.0
// Boundaries between media, for kernels and host code: which solids a photon is in, and where it changes them.
//
//   raylift::Containment in = raylift::locate(geometry, start);            // once, where the photon is born
//   while (...) {
//     const raylift::Boundary next = raylift::next_boundary(geometry, {position, 0, direction, free_path}, in);
//     if (!next.crosses()) { position = position + free_path * direction; ...; continue; }   // absorbed or scattered
//     position = next.point;
//     if (transmitted) in = next.after;                                     // reflected: `in` stays as it is
//     ...                                                                   // a new direction
//   }
//
// The state of a photon is the set of solids that it is in, not its position: a position that was rounded onto the
// wrong side of a face does no harm. docs/boundaries.md has the rule and what it rests on.
//
// The geometry must have been uploaded with UploadOptions::bvh. Meshes are closed, with normals outward (raylift
// check). Points and lengths are in millimetres from the view's origin.
#pragma once

#include <raylift/gpu/query.h>

namespace raylift {

/// No solid: outside of all.
inline constexpr std::uint32_t kNoSolid = 0xFFFFFFFFu;

/// The set of solids that contain a point: a solid and its mothers, up to the top. Where solids overlap although they
/// should not, up to two exceptions make it any other set: a solid among the mothers that does not contain the point,
/// or one not among them that does.
struct Containment {
  std::uint32_t solid = kNoSolid;  ///< the innermost one: an index in GeometryView::solids
  std::uint32_t exceptions[2] = {kNoSolid, kNoSolid};

  /// Exactly a solid and its mothers.
  [[nodiscard]] RAYLIFT_HD bool consistent() const { return exceptions[0] == kNoSolid && exceptions[1] == kNoSolid; }
};

/// Where a ray changes the solid that it is in.
struct Boundary {
  float t;                 ///< of the ray; its tmax where it meets no boundary before. May be less than 0 by rounding
  float end;               ///< where the ray goes straight on, its next tmin: all faces at this place lie before it
  float3 point;            ///< origin + t * direction
  float3 normal;           ///< of the face, of unit length, outward
  std::uint32_t from;      ///< the solid before
  std::uint32_t to;        ///< the solid behind, kNoSolid outside of all
  std::uint32_t instance;  ///< of the face: that of `from` where it leaves it, else that of the solid entered
  std::uint32_t triangle;  ///< of the face; kNoTriangle: no boundary
  std::uint16_t material_from, material_to;  ///< indices in Scene::materials, or MaterialCode::none
  bool from_inside;                          ///< the ray runs along the face's normal: it leaves the face's solid
  bool inconsistent;  ///< the scene contradicts itself on the way here: overlaps, or a mesh that is not closed
  Containment after;  ///< behind the boundary

  [[nodiscard]] RAYLIFT_HD bool crosses() const { return triangle != kNoTriangle; }
};

/// The next place at which a ray, being in the solids `in`, changes the innermost one: it leaves a solid that it is in,
/// or enters one that it is not in. All faces at one place, within rounding, are one boundary. Faces that the ray
/// crosses otherwise contradict `in` and are passed over; away from rounding they set `inconsistent`.
///
/// ray.tmin is 0 where the origin is a new point, at which the photon was born, reflected, refracted or scattered: it
/// may be off by rounding, and faces that the ray should have crossed before it still count. Straight on, with the
/// origin of the ray before, tmin is the last Boundary's `end`.
[[nodiscard]] RAYLIFT_HD inline Boundary next_boundary(const GeometryView& geometry, const Ray& ray,
                                                       const Containment& in);

/// The solids that contain a point. Within rounding of a face, either side of it.
[[nodiscard]] RAYLIFT_HD inline Containment locate(const GeometryView& geometry, float3 point);

}  // namespace raylift
