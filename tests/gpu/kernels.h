// SPDX-License-Identifier: Apache-2.0
// Kernels for kernels_test.cpp, and their launches. No Eigen here: nvcc stumbles over it.
#pragma once

#include <raylift/gpu/optics.h>
#include <raylift/gpu/rays/boundary.h>
#include <raylift/gpu/rays/query.h>
#include <raylift/gpu/view.h>

#include <cstddef>
#include <cstdint>

namespace raylift::test {

/// What all triangles of all instances say, added up: their corners in the world, their materials, their solids.
struct SceneSums {
  double corners[3];
  unsigned long long inside;
  unsigned long long outside;
  unsigned long long solids;
};

RAYLIFT_HD inline void add_triangle(const GeometryView& view, std::uint32_t i, std::uint32_t t, SceneSums& sums) {
  const InstanceView& instance = view.instances[i];
  const std::uint32_t triangle = view.meshes[instance.mesh].first_triangle + t;
  const UInt3 corners = view.triangles[triangle];
  const Float3 a = instance.to_world.point(view.vertices[corners.x]);
  const Float3 b = instance.to_world.point(view.vertices[corners.y]);
  const Float3 c = instance.to_world.point(view.vertices[corners.z]);
  sums.corners[0] += double(a.x) + double(b.x) + double(c.x);
  sums.corners[1] += double(a.y) + double(b.y) + double(c.y);
  sums.corners[2] += double(a.z) + double(b.z) + double(c.z);
  const MaterialCode code = view.material_code(i, triangle);
  sums.inside += code.inside;
  sums.outside += code.outside;
  sums.solids += view.solid_id(i, triangle);
}

/// All that the optics give for a wavelength, a random number and an angle, as bits: of one material, surface and type
/// of channel each, which the query names.
struct OpticsQuery {
  float wavelength, random, angle;
  std::uint32_t material, surface, type;
};
struct OpticsAnswer {
  Medium medium;
  MaterialOptics::Losses losses;
  SurfaceOptics::Reflection reflection;
  SurfaceOptics::Chances chances;
  SurfaceOptics::Lobes lobes;
  SurfaceOptics::Indices indices;
  SurfaceOptics::Dichroic dichroic;
  float emitted[6];
  float efficiency, time, charge;
};
static_assert(sizeof(OpticsAnswer) == 33 * sizeof(float));

RAYLIFT_HD inline OpticsAnswer ask(const OpticsView& view, const OpticsQuery& query) {
  const MaterialOptics& material = view.materials[query.material];
  const SurfaceOptics& surface = view.surfaces[query.surface];
  OpticsAnswer answer;
  const TableLookup in = look_up(view, query.material, query.wavelength);
  const TableLookup on = look_up(view, surface, query.wavelength);
  const TableLookup::Place at = on.place;
  answer.medium = medium(in);
  answer.losses = losses(view, material, in.place);
  answer.reflection = reflection(on);
  answer.chances = surface_chances(on);
  answer.lobes = surface_lobes(view, surface, at);
  answer.indices = surface_indices(view, surface, at);
  answer.dichroic = dichroic(view, surface, query.angle, at);
  for (int i = 0; i != 3; ++i) answer.emitted[i] = sample_emission(view, material.scintillation[i], query.random);
  for (int i = 0; i != 2; ++i) answer.emitted[3 + i] = sample_emission(view, material.shifting[i], query.random);
  answer.emitted[5] = sample_emission(view, surface.reemission, query.random);
  answer.efficiency = channel_efficiency(view, query.type, query.wavelength, query.angle);
  answer.time = sample_time(view, query.type, query.random);
  answer.charge = sample_charge(view, query.type, query.random);
  return answer;
}

/// How many triangles a ray meets, and of those with an even number how many, and which first.
struct HitsSeen {
  static constexpr std::uint32_t kListed = 40;
  std::uint32_t all, even;
  std::uint32_t first_even, instance;
  std::uint32_t listed, even_listed;  ///< of all_hits()
  Hit list[kListed];
  std::uint32_t visited;  ///< by for_each_hit(), until it has seen as many as are listed
  bool visits_as_listed, few_are_first;
};
struct IsEven {
  RAYLIFT_HD bool operator()(std::uint32_t, std::uint32_t triangle) const { return triangle % 2 == 0; }
};
RAYLIFT_HD inline HitsSeen ask(const GeometryView& view, const Ray& ray) {
  const Hit first = closest_hit(view, ray, IsEven());
  HitsSeen seen{};
  seen.all = count_hits(view, ray);
  seen.even = count_hits(view, ray, IsEven());
  seen.first_even = first.triangle;
  seen.instance = first.instance;
  const auto same = [](const Hit& a, const Hit& b) {
    return a.t == b.t && a.triangle == b.triangle && a.instance == b.instance && a.u == b.u && a.v == b.v &&
           a.from_inside == b.from_inside && a.normal.x == b.normal.x;
  };
  Hit few[3];
  seen.even_listed = all_hits(view, ray, few, 3, IsEven());
  seen.few_are_first = first.valid() ? same(first, few[0]) : seen.even_listed == 0;
  seen.listed = all_hits(view, ray, few, 3);
  const std::uint32_t in_few = seen.listed < 3 ? seen.listed : 3;
  seen.listed = all_hits(view, ray, seen.list, HitsSeen::kListed);
  for (std::uint32_t i = 0; i < in_few; ++i) seen.few_are_first = seen.few_are_first && same(few[i], seen.list[i]);
  seen.visits_as_listed = true;
  for_each_hit(view, ray, [&](const Hit& hit) {
    if (seen.visited == HitsSeen::kListed) return false;
    seen.visits_as_listed = seen.visits_as_listed && same(hit, seen.list[seen.visited]);
    ++seen.visited;
    return true;
  });
  return seen;
}

/// A way between two solids, or through a triangle.
struct SurfaceQuery {
  std::uint32_t from, to;  ///< solids
  std::uint32_t instance, triangle;
  bool from_inside;
};
struct SurfaceAnswer {
  std::uint16_t between;
  Side side;
  OpticsView::Channel channel;  ///< of `to`
  std::uint32_t color;          ///< of the triangle
};

RAYLIFT_HD inline SurfaceAnswer ask(const GeometryView& view, const SurfaceQuery& query) {
  return {surface_between(view, query.from, query.to), side(view, query.instance, query.triangle, query.from_inside),
          channel(view.optics, query.to), view.color(query.instance, query.triangle)};
}

/// A node that a ray may meet boxes of: the answer has four bits for each slot that it meets.
struct OneNode {};
struct BoxQuery {
  bvh_detail::BvhNode node;
  Ray ray;
};
RAYLIFT_HD inline std::uint32_t ask(const OneNode&, const BoxQuery& query) {
  const bvh_detail::PreparedRay ray(query.ray);
  return bvh_detail::met_slots(bvh_detail::load_node(&query.node), ray, query.ray.tmin, query.ray.tmax);
}

// Each returns a cudaError_t, as int.
/// answers[i] = ask(view, queries[i]); the arrays are the device's.
int ask_on_gpu(const OpticsView& view, const OpticsQuery* queries, OpticsAnswer* answers, std::size_t count);
int ask_on_gpu(const GeometryView& view, const SurfaceQuery* queries, SurfaceAnswer* answers, std::size_t count);
int ask_on_gpu(const OneNode& view, const BoxQuery* queries, std::uint32_t* slots, std::size_t count);
int ask_on_gpu(const GeometryView& view, const Ray* rays, HitsSeen* seen, std::size_t count);
int sum_scene_on_gpu(const GeometryView& view, SceneSums* sums);
int sum_words_on_gpu(const std::uint32_t* words, std::size_t count, unsigned long long* sum);
/// boundaries[i] = next_boundary(view, rays[i], in[i]); all but the view are the device's addresses.
int find_boundaries_on_gpu(const GeometryView& view, const FineRay* rays, const Containment* in, Boundary* boundaries,
                           std::size_t count);
/// in[i] = locate(view, points[i], directions[i]), or without directions where these are null.
int locate_on_gpu(const GeometryView& view, const Float3* points, const Float3* directions, Containment* in,
                  std::size_t count);
/// A kernel that uses shared memory, for occupancy.
const void* hungry_kernel();
int last_cuda_error();
int current_cuda_device();

}  // namespace raylift::test
