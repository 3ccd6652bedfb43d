// SPDX-License-Identifier: Apache-2.0
// Edges are gathered by their smaller vertex and sorted there: linear in the triangles but for the sorting of each
// vertex's few, and the same for any number of threads.
#include <raylift/geometry/checks/check.h>
#include <raylift/geometry/error.h>
#include <raylift/geometry/scene/eigen.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <new>
#include <numeric>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>

#include "disjoint_sets.h"
#include "for_each_mesh.h"
#include "scene/weld.h"
#include "stage.h"

namespace raylift {
namespace {

using Index = std::uint32_t;
using Range = tbb::blocked_range<std::size_t>;
constexpr std::size_t kGrain = 1U << 13;
constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();

/// One triangle's use of the edge between a vertex and the larger vertex `other`.
struct EdgeUse {
  Index other;
  Index opposite;
  Index triangle_and_direction;  // twice the triangle, plus 1 where it runs towards the smaller vertex

  [[nodiscard]] Index triangle() const { return triangle_and_direction >> 1; }
  [[nodiscard]] bool backward() const { return (triangle_and_direction & 1U) != 0; }
  bool operator<(const EdgeUse& b) const {
    return std::tie(other, opposite, triangle_and_direction) < std::tie(b.other, b.opposite, b.triangle_and_direction);
  }
};

bool equal_corners(const UInt3& t) {
  return t.x == t.y || t.y == t.z || t.z == t.x;
}

/// Counts of flaws and the first examples of each. Adding the tally of what comes later keeps them the first.
struct Tally {
  std::array<std::uint64_t, MeshCheck::kFlaws> counts{};
  std::array<std::vector<MeshCheck::Example>, MeshCheck::kFlaws> examples;

  template <class Example>
  void add(MeshCheck::Flaw flaw, std::size_t most, const Example& example) {
    const auto i = static_cast<std::size_t>(flaw);
    ++counts[i];
    if (examples[i].size() < most) examples[i].push_back(example());
  }
  void add(const Tally& later, std::size_t most) {
    for (std::size_t i = 0; i != MeshCheck::kFlaws; ++i) {
      counts[i] += later.counts[i];
      const std::size_t room = std::min(most - std::min(most, examples[i].size()), later.examples[i].size());
      examples[i].insert(examples[i].end(), later.examples[i].begin(),
                         later.examples[i].begin() + static_cast<std::ptrdiff_t>(room));
    }
  }
};

struct Size {
  double area = 0;
  double volume = 0;
};

class MeshChecker {
 public:
  MeshChecker(const Mesh& mesh, std::size_t examples) : original_(mesh), most_(examples) {}

  MeshCheck run() {
    validate();
    result_.triangles = original_.triangles.size();
    result_.bounds = mesh_bounds(original_);
    center_ = to_eigen(result_.bounds.center());
    mesh_.vertices = original_.vertices;
    mesh_.triangles = original_.triangles;
    weld(mesh_);
    Tally tally = look_at_vertices();
    tally.add(look_at_triangles(), most_);
    gather_edges();
    DisjointSets shells(mesh_.triangles.size());
    tally.add(look_at_edges(shells), most_);
    result_.counts = tally.counts;
    for (const std::vector<MeshCheck::Example>& examples : tally.examples)
      result_.examples.insert(result_.examples.end(), examples.begin(), examples.end());
    measure();
    look_at_shells(shells);
    return std::move(result_);
  }

 private:
  void validate() const {
    if (original_.triangles.size() >= std::size_t{1} << 31 || original_.vertices.size() >= kNone)
      throw Error(ErrorKind::limit, "too many triangles or vertices to check in one mesh",
                  {"", "mesh '" + original_.name + "'"}, "split the mesh");
    const auto first = [](std::size_t count, const auto& bad) {
      return tbb::parallel_reduce(
          Range(0, count, kGrain), kNowhere,
          [&](const Range& range, std::size_t found) {
            for (std::size_t i = range.begin(); i != range.end() && found == kNowhere; ++i)
              if (bad(i)) found = i;
            return found;
          },
          [](std::size_t a, std::size_t b) { return std::min(a, b); });
    };
    const std::size_t vertex = first(original_.vertices.size(), [&](std::size_t i) {
      const Float3& v = original_.vertices[i];
      return !(std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z));
    });
    if (vertex != kNowhere) fail("a coordinate is NaN or infinite", "vertex " + std::to_string(vertex));
    const std::size_t count = original_.vertices.size();
    const std::size_t triangle = first(original_.triangles.size(), [&](std::size_t i) {
      const UInt3& t = original_.triangles[i];
      return t.x >= count || t.y >= count || t.z >= count;
    });
    if (triangle != kNowhere)
      fail("a vertex index is out of range: the mesh has " + std::to_string(count) + " vertices",
           "triangle " + std::to_string(triangle));
  }

  [[noreturn]] void fail(const std::string& problem, const std::string& element) const {
    throw Error(ErrorKind::malformed, problem, {"", "mesh '" + original_.name + "', " + element});
  }

  [[nodiscard]] static Eigen::Vector3d vector(const Float3& v) { return {v.x, v.y, v.z}; }
  [[nodiscard]] Eigen::Vector3d vertex(Index i) const { return vector(mesh_.vertices[i]); }

  template <class Look>
  Tally tally(std::size_t count, const Look& look) const {
    return tbb::parallel_reduce(
        Range(0, count, kGrain), Tally{},
        [&](const Range& range, Tally sum) {
          for (std::size_t i = range.begin(); i != range.end(); ++i) look(i, sum);
          return sum;
        },
        [this](Tally a, const Tally& b) {
          a.add(b, most_);
          return a;
        });
  }

  Tally look_at_vertices() const {
    std::vector<std::uint8_t> used(original_.vertices.size());
    tbb::parallel_for(Range(0, original_.triangles.size(), kGrain), [&](const Range& range) {
      const auto use = [&](Index i) { std::atomic_ref(used[i]).store(1, std::memory_order_relaxed); };
      for (std::size_t i = range.begin(); i != range.end(); ++i) {
        use(original_.triangles[i].x);
        use(original_.triangles[i].y);
        use(original_.triangles[i].z);
      }
    });
    return tally(used.size(), [&](std::size_t i, Tally& sum) {
      if (used[i] == 0)
        sum.add(MeshCheck::Flaw::unreferenced_vertex, most_, [&] {
          const Eigen::Vector3d at = vector(original_.vertices[i]);
          return MeshCheck::Example{MeshCheck::Flaw::unreferenced_vertex, kNone, {at, at}};
        });
    });
  }

  MeshCheck::Example example(MeshCheck::Flaw flaw, Index triangle) const {
    const UInt3& t = mesh_.triangles[triangle];
    Bounds box;
    for (const Index i : {t.x, t.y, t.z}) box.add(vertex(i));
    return {flaw, triangle, {box.min, box.max}};
  }

  Tally look_at_triangles() const {
    return tally(mesh_.triangles.size(), [&](std::size_t i, Tally& sum) {
      const UInt3& t = mesh_.triangles[i];
      const Eigen::Vector3d a = vertex(t.x);
      if (equal_corners(t) || (vertex(t.y) - a).cross(vertex(t.z) - a).isZero(0))
        sum.add(MeshCheck::Flaw::degenerate_triangle, most_,
                [&] { return example(MeshCheck::Flaw::degenerate_triangle, static_cast<Index>(i)); });
    });
  }

  /// Calls `function(smaller, use)` for the edges of triangle i.
  template <class Function>
  void for_each_edge(std::size_t i, const Function& function) const {
    const UInt3& t = mesh_.triangles[i];
    if (equal_corners(t)) return;
    const auto edge = [&](Index from, Index to, Index opposite) {
      const Index direction = from < to ? 0 : 1;
      function(std::min(from, to), EdgeUse{std::max(from, to), opposite, 2 * static_cast<Index>(i) + direction});
    };
    edge(t.x, t.y, t.z);
    edge(t.y, t.z, t.x);
    edge(t.z, t.x, t.y);
  }

  /// A counting sort of all uses of edges by the smaller vertex.
  void gather_edges() {
    const std::size_t vertices = mesh_.vertices.size();
    const std::size_t triangles = mesh_.triangles.size();
    ends_.assign(vertices, 0);
    tbb::parallel_for(Range(0, triangles, kGrain), [&](const Range& range) {
      for (std::size_t i = range.begin(); i != range.end(); ++i)
        for_each_edge(i, [&](Index smaller, const EdgeUse&) {
          std::atomic_ref(ends_[smaller]).fetch_add(1, std::memory_order_relaxed);
        });
    });
    std::exclusive_scan(ends_.begin(), ends_.end(), ends_.begin(), std::size_t{0});
    uses_ = std::make_unique_for_overwrite<EdgeUse[]>(3 * triangles);
    // Each start moves on to its end.
    tbb::parallel_for(Range(0, triangles, kGrain), [&](const Range& range) {
      for (std::size_t i = range.begin(); i != range.end(); ++i)
        for_each_edge(i, [&](Index smaller, const EdgeUse& use) {
          uses_[std::atomic_ref(ends_[smaller]).fetch_add(1, std::memory_order_relaxed)] = use;
        });
    });
  }

  Tally look_at_edges(DisjointSets& shells) {
    return tally(ends_.size(), [&](std::size_t i, Tally& sum) {
      const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
      const std::span<EdgeUse> uses(uses_.get() + begin, ends_[i] - begin);
      std::sort(uses.begin(), uses.end());
      for (auto first = uses.begin(); first != uses.end();) {
        const auto last =
            std::find_if(first, uses.end(), [&](const EdgeUse& use) { return use.other != first->other; });
        look_at_edge(static_cast<Index>(i), {first, last}, sum);
        for (auto use = first + 1; use != last; ++use) shells.join(first->triangle(), use->triangle());
        first = last;
      }
    });
  }

  void look_at_edge(Index smaller, std::span<const EdgeUse> uses, Tally& sum) const {
    const auto add = [&](MeshCheck::Flaw flaw) {
      sum.add(flaw, most_, [&] {
        Index triangle = uses.front().triangle();
        for (const EdgeUse& use : uses) triangle = std::min(triangle, use.triangle());
        return MeshCheck::Example{flaw, triangle, {vertex(smaller), vertex(uses.front().other)}};
      });
    };
    if (uses.size() == 1) add(MeshCheck::Flaw::open_edge);
    if (uses.size() > 2) add(MeshCheck::Flaw::nonmanifold_edge);
    if (uses.size() == 2 && uses[0].backward() == uses[1].backward()) add(MeshCheck::Flaw::inconsistent_edge);
    // Triangles with the same corners share all three edges; they are counted at the one opposite their largest vertex.
    for (std::size_t k = 1; k < uses.size(); ++k)
      if (uses[k].opposite == uses[k - 1].opposite && uses[k].opposite > uses[k].other)
        sum.add(MeshCheck::Flaw::duplicate_triangle, most_,
                [&] { return example(MeshCheck::Flaw::duplicate_triangle, uses[k].triangle()); });
  }

  /// A triangle's area, and the signed volume between it and the mesh's centre: close by, so that little cancels.
  [[nodiscard]] Size size_of(std::size_t i) const {
    const UInt3& t = mesh_.triangles[i];
    const Eigen::Vector3d a = vertex(t.x) - center_;
    const Eigen::Vector3d b = vertex(t.y) - center_;
    const Eigen::Vector3d c = vertex(t.z) - center_;
    const Eigen::Vector3d normal = (b - a).cross(c - a);
    return {normal.norm() / 2, a.dot(normal) / 6};
  }

  void measure() {
    // Deterministic: sums of doubles depend on how the range is split.
    const Size size = tbb::parallel_deterministic_reduce(
        Range(0, mesh_.triangles.size(), kGrain), Size{},
        [&](const Range& range, Size sum) {
          for (std::size_t i = range.begin(); i != range.end(); ++i) {
            const Size one = size_of(i);
            sum.area += one.area;
            sum.volume += one.volume;
          }
          return sum;
        },
        [](const Size& a, const Size& b) {
          return Size{a.area + b.area, a.volume + b.volume};
        });
    result_.area = size.area;
    result_.volume = size.volume;
  }

  void look_at_shells(DisjointSets& shells) {
    const auto is_shell = [&](std::size_t i) {
      return shells.find(static_cast<Index>(i)) == i && !equal_corners(mesh_.triangles[i]);
    };
    for (std::size_t i = 0; i != mesh_.triangles.size(); ++i) result_.shells += is_shell(i) ? 1 : 0;
    if (!result_.closed()) return;
    if (result_.shells < 2) {
      result_.inward_shells = result_.volume < 0 ? 1 : 0;
      return;
    }
    std::unordered_map<Index, double> volumes;
    double* volume = nullptr;
    Index last = kNone;
    for (std::size_t i = 0; i != mesh_.triangles.size(); ++i) {
      const Index root = shells.find(static_cast<Index>(i));
      if (root != last) volume = &volumes[root];
      last = root;
      *volume += size_of(i).volume;
    }
    result_.inward_shells = static_cast<std::uint64_t>(
        std::count_if(volumes.begin(), volumes.end(), [](const auto& shell) { return shell.second < 0; }));
  }

  const Mesh& original_;
  std::size_t most_;
  Mesh mesh_;  // welded
  Eigen::Vector3d center_;
  std::vector<std::size_t> ends_;  // of each vertex's run in uses_
  std::unique_ptr<EdgeUse[]> uses_;
  MeshCheck result_;
};

/// Volumes smaller than this are rounding: a sheet with two sides, for instance.
double least_volume(const MeshCheck& check) {
  return 1e-12 * check.area * to_eigen(check.bounds.size()).norm();
}

}  // namespace

std::string_view to_string(MeshCheck::Flaw flaw) noexcept {
  switch (flaw) {
    case MeshCheck::Flaw::open_edge:
      return "open_edge";
    case MeshCheck::Flaw::nonmanifold_edge:
      return "nonmanifold_edge";
    case MeshCheck::Flaw::inconsistent_edge:
      return "inconsistent_edge";
    case MeshCheck::Flaw::degenerate_triangle:
      return "degenerate_triangle";
    case MeshCheck::Flaw::duplicate_triangle:
      return "duplicate_triangle";
    case MeshCheck::Flaw::unreferenced_vertex:
      return "unreferenced_vertex";
  }
  return "unknown";
}

bool MeshCheck::closed() const {
  return triangles != 0 && count(MeshCheck::Flaw::open_edge) == 0 && count(MeshCheck::Flaw::nonmanifold_edge) == 0 &&
         count(MeshCheck::Flaw::inconsistent_edge) == 0;
}
bool MeshCheck::inverted() const {
  return closed() && volume < -least_volume(*this);
}
bool MeshCheck::watertight() const {
  return closed() && volume > least_volume(*this);
}

MeshCheck check(const Mesh& mesh, std::size_t examples) {
  try {
    return MeshChecker(mesh, examples).run();
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::out_of_host_memory,
                "no memory to check " + std::to_string(mesh.triangles.size()) + " triangles",
                {"", "mesh '" + mesh.name + "'"});
  }
}

SceneCheck check(const Scene& scene, const Progress& progress, std::size_t examples) {
  const Stage stage(progress, "check", scene.unique_triangles());
  SceneCheck result;
  result.meshes.resize(scene.meshes.size());
  // In slices of about this many triangles: small meshes side by side, large ones on their own.
  constexpr std::size_t kSlice = 1U << 18;
  std::uint64_t done = 0;
  for (std::size_t begin = 0; begin != scene.meshes.size();) {
    std::size_t end = begin;
    std::size_t triangles = 0;
    while (end != scene.meshes.size() && (end == begin || triangles + scene.meshes[end].triangles.size() <= kSlice))
      triangles += scene.meshes[end++].triangles.size();
    try {
      detail::for_each_mesh(begin, end, [&](std::size_t i) { result.meshes[i] = check(scene.meshes[i], examples); });
    } catch (const Error& error) {
      throw Error(error.kind(), error.problem(), {scene.source, error.element()}, error.advice());
    }
    stage.advance(done += triangles);
    begin = end;
  }
  for (std::uint32_t i = 0; i != scene.instances.size(); ++i) {
    MeshCheck& mesh = result.meshes[scene.instances[i].mesh];
    if (mesh.instances++ == 0) mesh.first_instance = i;
  }
  for (const MeshCheck& mesh : result.meshes) {
    for (std::size_t flaw = 0; flaw != MeshCheck::kFlaws; ++flaw) result.counts[flaw] += mesh.counts[flaw];
    if (mesh.instances == 0 || mesh.triangles == 0 || mesh.watertight()) continue;
    ++result.leaking_meshes;
    result.leaking_instances += mesh.instances;
  }
  return result;
}

}  // namespace raylift
