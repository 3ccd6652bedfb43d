// SPDX-License-Identifier: Apache-2.0
// Ray casting for one pixel, as one function for host threads and CUDA.
#pragma once

#include <raylift/gpu/rays/query.h>

#include <cmath>
#include <cstdint>

#include "model/colors/color_scale.h"
#include "model/settings/modes.h"
#include "rays/ray_math.h"

namespace raylift::viewer {

/// A colour with its coverage, linear light, summed over samples.
struct alignas(16) Light {
  float r, g, b, a;
};

/// A solid that rays hit; with kClosed also where a clipping plane cuts it.
inline constexpr std::uint8_t kSeen = 1, kClosed = 2;

/// A ball that contains a solid, from the geometry's origin.
struct RayBall {
  Float3 center;
  float radius;
};

inline constexpr std::uint32_t kRayScaleSteps = 256;

/// The parameters of an image. Addresses are the device's; the lowest row comes first, as in OpenGL.
struct RayFrame {
  GeometryView geometry;
  const std::uint8_t* visible;   ///< per solid: hidden, kSeen or kClosed; null: all are kClosed
  const RayBall* balls;          ///< around each solid; needed for caps
  const std::uint32_t* colors;   ///< sRGB 0xAABBGGRR, laid out as ColorTable
  const std::uint32_t* own;      ///< the solids' own, sRGB 0xAABBGGRR, 0: none; null: no solid has one
  const std::uint32_t* scale;    ///< likewise: kRayScaleSteps of depths and crossings, from low to high
  const std::uint32_t* normals;  ///< per vertex, octahedral; null: flat
  const std::uint32_t* smooth;   ///< a bit per triangle
  Light* sums;                   ///< width x height
  std::uint32_t* pixels;         ///< the sums' means as sRGB 0xAABBGGRR, alpha not multiplied in
  std::uint32_t* solids;         ///< solid + 1 at the pixel's centre
  std::uint32_t width, height;
  std::uint32_t material_entries, distinct_entries;
  Float3 eye;                    ///< from the geometry's origin
  Float3 forward, right, above;  ///< as of ImageRays
  Float3 up, key_light;          ///< of unit length
  std::uint32_t clip_count;      ///< of planes
  Float3 clip_normals[6];
  float clip_offsets[6];    ///< points with dot(normal, p) > offset are clipped
  bool cut_away;            ///< those are clipped that no plane clips
  float first;              ///< depth at which rays begin
  float nearest, farthest;  ///< the range of the depth image
  float reach;              ///< length of ambient-occlusion rays
  bool orthographic;
  bool back_faces;  ///< in red
  bool caps;        ///< close solids where planes cut them
  ColorBy color;
  RayMode mode;
  std::uint32_t device_triangles;
};

/// A pass covers the pixels of a grid with this stride. A refining pass leaves out those of the grid of twice the
/// stride. Each pixel fills its block, so that a coarse image has no holes.
struct RayPass {
  std::uint32_t stride;
  bool refines;
  std::uint32_t sample;  ///< 0 goes through the pixel's centre and overwrites the sums; others add to them
};

/// Cells of a pass; each casts one pixel, or none.
RAYLIFT_HD inline std::uint32_t cells(const RayFrame& frame, const RayPass& pass) {
  return ((frame.width + pass.stride - 1) / pass.stride) * ((frame.height + pass.stride - 1) / pass.stride);
}

namespace ray_detail {

using color_scale::clamp01, color_scale::color, color_scale::to_linear, color_scale::to_srgb;

constexpr std::uint32_t kNoPlane = 0xFFFFFFFFu;

/// Clips the ray's interval at the clipping planes. False where nothing is left. `entered` and `left_by` are the planes
/// at which what is left begins and ends.
RAYLIFT_HD inline bool clip(const RayFrame& p, Ray& ray, std::uint32_t& entered, std::uint32_t& left_by) {
  entered = left_by = kNoPlane;
  for (std::uint32_t i = 0; i < p.clip_count; ++i) {
    const float along = dot(p.clip_normals[i], ray.direction);
    const float left = p.clip_offsets[i] - dot(p.clip_normals[i], Float3(ray.origin));
    if (along == 0) {
      if (left < 0) return false;
      continue;
    }
    const float t = left / along;
    if (along > 0) {
      if (t < ray.tmax) {
        ray.tmax = t;
        left_by = i;
      }
    } else if (t > ray.tmin) {
      ray.tmin = t;
      entered = i;
    }
  }
  return ray.tmin < ray.tmax;
}

/// What clipping leaves of a ray: one part of it, or where a box is cut away one before it and one behind.
struct Parts {
  Ray rays[2];
  std::uint32_t planes[2];  ///< at which they begin, or kNoPlane
  int count = 0;

  RAYLIFT_HD void add(const Ray& ray, std::uint32_t plane) {
    rays[count] = ray;
    planes[count++] = plane;
  }
};

RAYLIFT_HD inline Parts parts_of(const RayFrame& p, const Ray& ray) {
  Parts parts;
  Ray inside = ray;
  std::uint32_t entered, left_by;
  const bool meets = clip(p, inside, entered, left_by);
  if (!p.cut_away || !meets) {
    if (meets || p.cut_away) parts.add(p.cut_away ? ray : inside, p.cut_away ? kNoPlane : entered);
    return parts;
  }
  Ray part = ray;
  part.tmax = inside.tmin;
  if (part.tmin < part.tmax) parts.add(part, kNoPlane);
  part = ray;
  part.tmin = inside.tmax;
  if (part.tmin < part.tmax) parts.add(part, left_by);
  return parts;
}

/// The ray through a point of the image; x and y run from 0 to 1.
RAYLIFT_HD inline Ray view_ray(const RayFrame& p, float x, float y) {
  Ray ray;
  const Float3 aside = (2 * x - 1) * p.right + (2 * y - 1) * p.above;
  if (p.orthographic) {
    ray.origin = LocalPoint(p.eye + aside + p.first * p.forward);
    ray.direction = p.forward;
    ray.tmin = 0;
  } else {
    ray.origin = LocalPoint(p.eye);
    ray.direction = p.forward + aside;
    ray.tmin = p.first;
  }
  return ray;
}

/// Which triangles are those of visible solids.
struct Visible {
  const RayFrame& frame;
  RAYLIFT_HD bool operator()(std::uint32_t instance, std::uint32_t triangle) const {
    return frame.visible[frame.geometry.solid_id(instance, triangle)] != 0;
  }
};

/// The nearest hit on a visible solid.
RAYLIFT_HD inline Hit visible_hit(const RayFrame& p, const Ray& ray) {
  return p.visible == nullptr ? closest_hit(p.geometry, ray) : closest_hit(p.geometry, ray, Visible{p});
}

RAYLIFT_HD inline Float3 unpack_octahedral(std::uint32_t packed) {
  const auto number = [](std::uint32_t bits) {
    return static_cast<float>(static_cast<std::int16_t>(static_cast<std::uint16_t>(bits & 0xFFFFu))) / 32767.0f;
  };
  const float x = number(packed), y = number(packed >> 16);
  const float z = 1 - fabsf(x) - fabsf(y);
  if (z >= 0) return {x, y, z};
  return {(1 - fabsf(y)) * (x >= 0 ? 1.0f : -1.0f), (1 - fabsf(x)) * (y >= 0 ? 1.0f : -1.0f), z};
}

/// The outward normal, of unit length; interpolated where the triangle is smooth.
RAYLIFT_HD inline Float3 outward(const RayFrame& p, const Hit& hit) {
  if (p.normals == nullptr || (p.smooth[hit.triangle >> 5] >> (hit.triangle & 31u) & 1u) == 0) return unit(hit.normal);
  const UInt3 t = p.geometry.triangles[hit.triangle];
  const Float3 n = (1 - hit.u - hit.v) * unpack_octahedral(p.normals[t.x]) + hit.u * unpack_octahedral(p.normals[t.y]) +
                   hit.v * unpack_octahedral(p.normals[t.z]);
  const float* m = p.geometry.instances[hit.instance].to_mesh.m;
  return unit({m[0] * n.x + m[4] * n.y + m[8] * n.z, m[1] * n.x + m[5] * n.y + m[9] * n.z,
               m[2] * n.x + m[6] * n.y + m[10] * n.z});
}

RAYLIFT_HD inline Float3 scale_color(const RayFrame& p, float place) {
  return color(p.scale[static_cast<std::uint32_t>(clamp01(place) * (kRayScaleSteps - 1) + 0.5f)]);
}

/// `inside`: of the inner side of the face.
RAYLIFT_HD inline Float3 base_color(const RayFrame& p, const Hit& hit, bool inside) {
  const std::uint32_t solid = p.geometry.solid_id(hit.instance, hit.triangle);
  if (p.own != nullptr && p.own[solid] != 0 && p.color != ColorBy::residency) return color(p.own[solid]);
  if (p.mode == RayMode::solid || p.color == ColorBy::solid)
    return color(p.colors[p.material_entries + solid % p.distinct_entries]);
  if (p.color == ColorBy::mesh)
    return color(p.colors[p.material_entries + p.geometry.instances[hit.instance].mesh % p.distinct_entries]);
  if (p.color == ColorBy::surface) {
    const SolidView& of = p.geometry.solids[solid];
    const std::uint16_t here = inside ? of.surface_out : of.surface_in, there = inside ? of.surface_in : of.surface_out;
    const std::uint16_t surface = here != kNoSurface ? here : there;
    return color(
        p.colors[surface == kNoSurface ? p.material_entries - 1 : p.material_entries + surface % p.distinct_entries]);
  }
  if (p.color == ColorBy::residency)
    return color(p.colors[p.material_entries + p.distinct_entries + (hit.triangle < p.device_triangles ? 0u : 1u)]);
  const std::uint32_t material = p.geometry.material_code(hit.instance, hit.triangle).inside;
  return color(p.colors[material < p.material_entries ? material : p.material_entries - 1]);
}

/// The renderer's shading; `open` is the unoccluded share of ambient light.
RAYLIFT_HD inline Float3 shade(const RayFrame& p, Float3 base, Float3 n, Float3 towards, float open) {
  const float sky = 0.5f + 0.5f * dot(n, p.up);
  const float key = fmaxf(dot(n, p.key_light), 0);
  const float head = fmaxf(dot(n, towards), 0);
  const float dim = 0.35f + 0.65f * open;
  const Float3 light{open * (0.13f + 0.15f * sky) + dim * (0.62f * key + 0.26f * head),
                     open * (0.12f + 0.18f * sky) + dim * (0.60f * key + 0.26f * head),
                     open * (0.12f + 0.22f * sky) + dim * (0.57f * key + 0.26f * head)};
  const float shine = 0.10f * powf(fmaxf(dot(n, unit(p.key_light + towards)), 0), 40);
  const float grazing = (1 - head) * (1 - head);
  const float add = open * (shine + 0.05f * grazing * grazing * (0.4f + 0.6f * sky));
  return {base.x * light.x + add, base.y * light.y + add, base.z * light.z + add};
}

/// Ambient occlusion by one cosine-weighted ray: 1 where it hits nothing within `reach`, less for nearer hits.
RAYLIFT_HD inline float openness(const RayFrame& p, const Hit& hit, Float3 point, Float3 n, std::uint32_t pixel,
                                 std::uint32_t sample) {
  const float a = 6.2831853f * random(pixel, sample, 0);
  const float r2 = random(pixel, sample, 1);
  const float r = sqrtf(r2);
  const Float3 side = unit(fabsf(n.z) < 0.9f ? cross(n, Float3{0, 0, 1}) : cross(n, Float3{1, 0, 0}));
  const Float3 direction = (r * cosf(a)) * side + (r * sinf(a)) * cross(n, side) + sqrtf(1 - r2) * n;
  // Moves the origin off the surface by more than its rounding error.
  const float largest = fmaxf(fabsf(point.x), fmaxf(fabsf(point.y), fabsf(point.z)));
  Float3 face = unit(hit.normal);
  if (dot(face, n) < 0) face = -1.0f * face;
  Ray ray;
  ray.origin = LocalPoint(point) + (1e-3f * p.reach + 4e-6f * largest) * face;
  ray.direction = direction;
  ray.tmax = p.reach;
  const Parts parts = parts_of(p, ray);
  for (int i = 0; i < parts.count; ++i) {
    const Hit near = visible_hit(p, parts.rays[i]);
    if (!near.valid()) continue;
    const float distance = near.t / p.reach;
    return distance * distance;
  }
  return 1;
}

/// The surfaces of visible solids along the parts of a ray.
RAYLIFT_HD inline std::uint32_t crossings(const RayFrame& p, const Parts& parts) {
  std::uint32_t count = 0;
  for (int i = 0; i < parts.count; ++i)
    count += p.visible == nullptr ? count_hits(p.geometry, parts.rays[i])
                                  : count_hits(p.geometry, parts.rays[i], Visible{p});
  return count;
}

/// Solids that a ray enters, in so far as it looked at them.
struct Entered {
  static constexpr int kMax = 32;
  std::uint32_t solids[kMax];
  int count = 0;

  RAYLIFT_HD bool has(std::uint32_t solid) const {
    for (int i = 0; i < count; ++i)
      if (solids[i] == solid) return true;
    return false;
  }
};

/// Triangles of solids with caps that may be around a point, but for some. Without the balls a ray would look at each
/// of the thousands of solids that it enters on its way.
struct ClosedBut {
  const RayFrame& frame;
  const Entered& entered;
  Float3 point;
  RAYLIFT_HD bool operator()(std::uint32_t instance, std::uint32_t triangle) const {
    const std::uint32_t solid = frame.geometry.solid_id(instance, triangle);
    if (frame.visible != nullptr && frame.visible[solid] != kClosed) return false;
    const RayBall ball = frame.balls[solid];
    const Float3 d = point - ball.center;
    return dot(d, d) <= ball.radius * ball.radius && !entered.has(solid);
  }
};

/// A hit on the innermost of the solids with caps around the start of the ray: where the ray leaves it. A solid whose
/// first surface is met from outside is not around the start. Of the others the innermost one is left first.
RAYLIFT_HD inline Hit cap_hit(const RayFrame& p, Ray ray) {
  ray.tmax = Ray().tmax;  // beyond other planes too
  const Float3 start = ray.origin + ray.tmin * ray.direction;
  Entered entered;
  for (;;) {
    const Hit hit = closest_hit(p.geometry, ray, ClosedBut{p, entered, start});
    if (!hit.valid() || hit.from_inside != 0) return hit;
    if (entered.count == Entered::kMax) return Hit{};
    entered.solids[entered.count++] = p.geometry.solid_id(hit.instance, hit.triangle);
  }
}

/// The light of a surface with this outward normal, or of the cap of the solid that was hit.
RAYLIFT_HD inline Float3 surface_light(const RayFrame& p, const Ray& ray, const Hit& hit, Float3 normal, bool cap,
                                       std::uint32_t pixel, std::uint32_t sample) {
  const Float3 towards = unit(-1.0f * ray.direction);
  if (p.mode == RayMode::normal || (p.mode == RayMode::shaded && p.color == ColorBy::normal))
    return {to_linear(0.5f + 0.5f * normal.x), to_linear(0.5f + 0.5f * normal.y), to_linear(0.5f + 0.5f * normal.z)};
  const bool back = hit.from_inside != 0 && !cap;
  Float3 n = back ? -1.0f * normal : normal;
  const float away = dot(n, towards);
  if (away < 0) n = unit(n - away * towards);
  Float3 base = base_color(p, hit, back);
  if (p.back_faces && back) {
    // As drawn: striped.
    const std::uint32_t diagonal = pixel % p.width + pixel / p.width;
    base = (diagonal % 10 < 5 ? 1.0f : 0.3f) * color(p.colors[p.material_entries + p.distinct_entries + 2]);
  }
  if (p.mode == RayMode::solid) return (0.45f + 0.55f * fmaxf(dot(n, towards), 0)) * base;
  // Before a cap all is cut away.
  const Float3 point = ray.origin + hit.t * ray.direction;
  return shade(p, base, n, towards, cap ? 1 : openness(p, hit, point, n, pixel, sample));
}

/// What is seen first along a part of a ray: a surface, or the cap at the plane where the part begins.
struct Seen {
  Hit hit;
  bool cap = false;
};
RAYLIFT_HD inline Seen first_seen(const RayFrame& p, const Ray& ray, std::uint32_t plane) {
  Seen seen;
  if (p.caps && plane != kNoPlane && p.mode != RayMode::crossings) {
    seen.hit = cap_hit(p, ray);
    seen.cap = seen.hit.valid();
  }
  if (!seen.cap) seen.hit = visible_hit(p, ray);
  return seen;
}

/// The light along a ray, and solid + 1 of its first hit.
RAYLIFT_HD inline Light see(const RayFrame& p, const Ray& whole, std::uint32_t pixel, std::uint32_t sample,
                            std::uint32_t& solid) {
  solid = 0;
  const Parts parts = parts_of(p, whole);
  if (parts.count == 0) return {0, 0, 0, 0};
  int part = 0;
  Seen seen = first_seen(p, parts.rays[0], parts.planes[0]);
  if (!seen.hit.valid() && parts.count == 2) {
    part = 1;
    seen = first_seen(p, parts.rays[1], parts.planes[1]);
  }
  const Hit& hit = seen.hit;
  if (!hit.valid()) return {0, 0, 0, 0};
  const Ray& ray = parts.rays[part];
  solid = p.geometry.solid_id(hit.instance, hit.triangle) + 1;
  Float3 c{0, 0, 0};
  if (p.mode == RayMode::depth) {
    const float depth = (seen.cap ? ray.tmin : hit.t) + (p.orthographic ? p.first : 0.0f);
    c = scale_color(p, 1 - (depth - p.nearest) / (p.farthest - p.nearest));
  } else if (p.mode == RayMode::crossings) {
    // Logarithmic: 1, 2, 4, ... 64 surfaces are equal steps.
    c = scale_color(p, log2f(fmaxf(static_cast<float>(crossings(p, parts)), 1)) / 6);
  } else {
    // A cap's normal points out of what is left.
    const Float3 normal = seen.cap ? (p.cut_away ? -1.0f : 1.0f) * p.clip_normals[parts.planes[part]] : outward(p, hit);
    c = surface_light(p, ray, hit, normal, seen.cap, pixel, sample);
  }
  return {c.x, c.y, c.z, 1};
}

RAYLIFT_HD inline std::uint32_t as_pixel(const Light& sum, float samples) {
  if (!(sum.a > 0)) return 0;
  const auto byte = [](float value) { return static_cast<std::uint32_t>(value * 255.0f + 0.5f); };
  return byte(clamp01(sum.a / samples)) << 24 | byte(to_srgb(sum.b / sum.a)) << 16 | byte(to_srgb(sum.g / sum.a)) << 8 |
         byte(to_srgb(sum.r / sum.a));
}

}  // namespace ray_detail

/// Casts the pixel of a cell, adds it to the sums and fills its block of pixels.
RAYLIFT_HD inline void cast_cell(const RayFrame& frame, const RayPass& pass, std::uint32_t cell) {
  const std::uint32_t columns = (frame.width + pass.stride - 1) / pass.stride;
  const std::uint32_t column = cell % columns, row = cell / columns;
  if (pass.refines && column % 2 == 0 && row % 2 == 0) return;  // a coarser pass has cast it
  const std::uint32_t x = column * pass.stride, y = row * pass.stride;
  const std::uint32_t pixel = y * frame.width + x;
  // Later samples follow a low-discrepancy sequence (M. Roberts, "R2").
  const auto n = static_cast<float>(pass.sample);
  const float shift_x = 0.5f + n * 0.7548777f, shift_y = 0.5f + n * 0.5698403f;
  const float at_x = (static_cast<float>(x) + shift_x - floorf(shift_x)) / static_cast<float>(frame.width);
  const float at_y = (static_cast<float>(y) + shift_y - floorf(shift_y)) / static_cast<float>(frame.height);
  std::uint32_t solid = 0;
  const Light seen = ray_detail::see(frame, ray_detail::view_ray(frame, at_x, at_y), pixel, pass.sample, solid);
  Light sum = seen;
  if (pass.sample == 0) {
    frame.solids[pixel] = solid;
  } else {
    const Light& before = frame.sums[pixel];
    sum = {before.r + seen.r, before.g + seen.g, before.b + seen.b, before.a + seen.a};
  }
  frame.sums[pixel] = sum;
  const std::uint32_t shown = ray_detail::as_pixel(sum, n + 1);
  for (std::uint32_t j = y; j < y + pass.stride && j < frame.height; ++j)
    for (std::uint32_t i = x; i < x + pass.stride && i < frame.width; ++i) frame.pixels[j * frame.width + i] = shown;
}

}  // namespace raylift::viewer
