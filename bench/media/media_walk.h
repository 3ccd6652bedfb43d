// SPDX-License-Identifier: Apache-2.0
// Photons that walk through a scene by next_boundary, on any device, and the solid that each piece of their path lies
// in by an oracle that shares nothing with the traversal: inside tests in double of each box and each faceted sphere in
// its own frame, and the parity of crossings for other meshes.
#pragma once

#include <raylift/gpu/device/device.h>
#include <raylift/gpu/rays/boundary.h>

#include <cstddef>
#include <cstdint>

namespace raylift::bench {

/// A boundary at which photons end up where they were is passed that often before a photon counts as stuck.
inline constexpr std::uint32_t kStuckAfter = 64;
/// Steps of a photon from its birth to its end.
inline constexpr std::uint32_t kLife = 128;

enum class SolidShape : std::uint32_t { box, sphere, mesh };

/// A solid in its own frame, as the oracle describes it.
struct WalkSolid {
  double to_solid[12];  ///< world -> its frame, no scale; rows of a 3x4 matrix
  double size[3];       ///< box: half of its edges. Sphere: its radius, that of the vertices
  SolidShape shape;
  std::uint32_t segments;  ///< sphere: around its axis; half as many from pole to pole
  std::uint32_t mesh;      ///< mesh: index in WalkOracle::meshes
  std::uint32_t depth;     ///< how many mothers are above it
};

/// A closed mesh, no point of whose surface is nearer to the origin of its frame than `inner`, or farther than `outer`.
struct WalkMesh {
  std::uint32_t first_triangle, triangle_count;
  double inner, outer;
  std::uint32_t origin_inside;  ///< 1: the origin of its frame lies in it
};

/// Solids by cubes of space.
struct WalkGrid {
  double origin[3];
  double cell;
  std::uint32_t size[3];
  const std::uint32_t* begin;   ///< by cell, and one more: where its solids begin in `solids`
  const std::uint32_t* solids;  ///< those whose bounding ball meets the cell
};

/// Device addresses.
struct WalkOracle {
  const WalkSolid* solids;      ///< by solid id
  const std::uint32_t* always;  ///< solids that are tested for every point; all others stand in the grid
  std::uint32_t always_count;
  WalkGrid grid;  ///< begin null: none
  const WalkMesh* meshes;
  const Float3* vertices;  ///< in the meshes' frames
  const UInt3* triangles;
  double tolerance;  ///< millimetres: nearer to a surface than that, a point is not looked at
};

/// How photons find boundaries.
enum class Stepping : std::uint32_t {
  boundaries,  ///< next_boundary
  exclusion,   ///< closest_hit without the triangle that was hit last; materials are those that the hit says
};

struct WalkTask {
  GeometryView geometry;
  WalkOracle oracle;
  Float3 start_min, start_max;  ///< photons are born in that box
  std::uint32_t check_every;    ///< of so many steps, one is checked; 0: none
  Stepping stepping;
};

struct WalkCounts {
  unsigned long long steps;
  unsigned long long boundaries;    ///< steps that ended at one
  unsigned long long reflections;   ///< mirror, diffuse and total
  unsigned long long ended;         ///< photons that left the world or came to their end
  unsigned long long checked;       ///< steps and emissions whose medium the oracle determined
  unsigned long long skipped;       ///< the same where that lies too near to a surface
  unsigned long long wrong;         ///< checked ones in another solid than the oracle says
  unsigned long long inconsistent;  ///< boundaries with that flag
  unsigned long long mismatched;    ///< boundaries that contradict themselves: from, to, after, point, normal
  unsigned long long lost;          ///< rays without end that met no boundary
  unsigned long long stuck;
  unsigned long long first_bad;  ///< the lowest number of a photon with one of the last six, plus 1; 0: none
};

/// Adds to *counts, in the device's memory: `photons` series of `steps` steps each, numbered from `first` on. A series
/// is a photon after the other. In stream order. The same number gives the same series.
void walk_photons(const Device& device, const WalkTask& task, std::uint64_t first, std::size_t photons,
                  std::uint32_t steps, WalkCounts* counts, const Stream& stream);

/// Prints the steps of a series at which something is wrong, at most `most` of them, and the two before each; on the
/// host device.
void print_bad_steps(const WalkTask& task, std::uint64_t number, std::uint32_t steps, int most);

/// What a query says of a ray, small enough that writing it costs little.
struct RateResult {
  float t;
  std::uint32_t solid;
};

/// Rays from the task's start region, and the Containment of each start; rays that start outside of all are of no
/// length.
void make_rate_rays(const Device& device, const WalkTask& task, Ray* rays, Containment* in, std::size_t count,
                    const Stream& stream);
void rate_closest_hit(const Device& device, const GeometryView& geometry, const Ray* rays, RateResult* results,
                      std::size_t count, int resident, const Stream& stream);
void rate_next_boundary(const Device& device, const GeometryView& geometry, const Ray* rays, const Containment* in,
                        RateResult* results, std::size_t count, int resident, const Stream& stream);

}  // namespace raylift::bench
