// SPDX-License-Identifier: Apache-2.0
#include "model/solids/solid_facts.h"

#include <fmt/format.h>
#include <raylift/geometry/scene/eigen.h>
#include <raylift/geometry/scene/solids.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>

#include <algorithm>
#include <cmath>

#include "model/solids/solids.h"

namespace raylift::viewer {
namespace {

/// Elements between two looks at whether the work is cancelled: some milliseconds.
constexpr std::size_t kPiece = std::size_t{1} << 19;
constexpr std::size_t kPieceGrain = std::size_t{1} << 13;

Eigen::Vector3d corner(const Mesh& mesh, std::uint32_t vertex) {
  const Float3& v = mesh.vertices[vertex];
  return {static_cast<double>(v.x), static_cast<double>(v.y), static_cast<double>(v.z)};
}

/// Twice the area of a triangle after a linear map, as a vector along its normal.
Eigen::Vector3d twice_area(const Mesh& mesh, const UInt3& t, const Eigen::Matrix3d& map) {
  const Eigen::Vector3d a = corner(mesh, t.x);
  return (map * (corner(mesh, t.y) - a)).cross(map * (corner(mesh, t.z) - a));
}

/// The sum of `add(i, sum)` over 0 to count - 1, which may be cancelled. The same for any number of threads.
template <class Sum, class Add>
Sum summed(std::size_t count, const Progress& progress, const Add& add) {
  Sum all{};
  for (std::size_t begin = 0; begin < count; begin += kPiece) {
    progress.report("measure", begin, count);
    all += tbb::parallel_deterministic_reduce(
        tbb::blocked_range<std::size_t>(begin, std::min(count, begin + kPiece), kPieceGrain), Sum(),
        [&](const tbb::blocked_range<std::size_t>& range, Sum sum) {
          for (std::size_t i = range.begin(); i != range.end(); ++i) add(i, sum);
          return sum;
        },
        [](Sum a, const Sum& b) { return a += b; });
  }
  return all;
}

struct AreaSum {
  double area = 0;
  Eigen::Matrix3d by_normal = Eigen::Matrix3d::Zero();
  Eigen::Vector3d along_normals = Eigen::Vector3d::Zero();  // area times normal: 0 of a closed surface
  Eigen::Vector3d area_moment = Eigen::Vector3d::Zero();    // area times place
  double volume = 0;                                        // six times that of the tetrahedra to the origin
  Eigen::Vector3d volume_moment = Eigen::Vector3d::Zero();  // that times their places
  AreaSum& operator+=(const AreaSum& more) {
    area += more.area;
    by_normal += more.by_normal;
    along_normals += more.along_normals;
    area_moment += more.area_moment;
    volume += more.volume;
    volume_moment += more.volume_moment;
    return *this;
  }
  /// The centroid of the volume that a surface of this size encloses, by the divergence theorem, or of the surface.
  [[nodiscard]] Eigen::Vector3d centroid(double size) const {
    constexpr double kRounding = 1e-5;
    const bool encloses = along_normals.norm() <= kRounding * area && std::abs(volume) > kRounding * size * area;
    if (encloses) return volume_moment / volume;
    return area > 0 ? Eigen::Vector3d(area_moment / area) : Eigen::Vector3d::Zero();
  }
};

struct BoxSum {
  Bounds box;
  BoxSum& operator+=(const BoxSum& more) {
    box.add(more.box);
    return *this;
  }
};

/// Whether a map takes boxes along the axes to such boxes: each axis to one of them, maybe turned round or scaled.
bool keeps_axes(const Eigen::Matrix3d& map) {
  return ((map.array() != 0).cast<int>().colwise().sum() <= 1).all();
}

std::string number_text(double value) {
  return fmt::format("{:.9g}", value);
}

std::string point_text(const Double3& p) {
  return number_text(p.x) + "  " + number_text(p.y) + "  " + number_text(p.z) + " mm";
}

/// ": 3 of 12 solids"; of a single solid nothing.
std::string of_all(std::uint64_t count, std::uint64_t all) {
  return all == 1 ? "" : fmt::format(": {} of {} solids", count, all);
}

std::string volume_value(const SolidFacts& facts, const std::optional<double>& volume) {
  if (!facts.checked) return "checking whether it is closed ...";
  if (!volume) return "not closed" + of_all(facts.not_closed, facts.solids);
  return number_text(*volume) + " mm^3";
}

}  // namespace

FactLines fact_lines(const SolidFacts& facts) {
  FactLines lines{{"solids", std::to_string(facts.solids)}, {"triangles", std::to_string(facts.triangles)}};
  if (!facts.box.empty()) {
    lines.emplace_back("box", point_text(facts.box.size()));
    lines.emplace_back("box from", point_text(facts.box.min));
    lines.emplace_back("box to", point_text(facts.box.max));
  }
  if (facts.centre)
    lines.emplace_back("centre", point_text(Double3{facts.centre->x(), facts.centre->y(), facts.centre->z()}));
  lines.emplace_back("area", number_text(facts.area) + " mm^2");
  lines.emplace_back("volume", volume_value(facts, facts.volume));
  if (facts.outer_volume && facts.outer_volume != facts.volume)
    lines.emplace_back("outer volume", volume_value(facts, facts.outer_volume));
  if (facts.inward != 0) lines.emplace_back("normals", "inward" + of_all(facts.inward, facts.solids));
  return lines;
}

std::string facts_text(const std::string& name, const std::string& path, const SolidFacts& facts) {
  return name + '\n' + path + '\n' + lines_text(fact_lines(facts));
}

SolidMeasurer::SolidMeasurer(std::shared_ptr<const Scene> scene)
    : scene_(std::move(scene)), surfaces_(scene_->meshes.size()) {}

const SolidMeasurer::Surface& SolidMeasurer::surface(std::uint32_t mesh, const Progress& progress) {
  {
    const std::lock_guard lock(mutex_);
    if (surfaces_[mesh]) return *surfaces_[mesh];
  }
  const Mesh& of = scene_->meshes[mesh];
  const auto box = summed<BoxSum>(of.vertices.size(), progress, [&](std::size_t i, BoxSum& so_far) {
    so_far.box.add(corner(of, static_cast<std::uint32_t>(i)));
  });
  // About the middle of the box: a mesh may be far from its origin.
  const Eigen::Vector3d middle = box.box.empty() ? Eigen::Vector3d(0, 0, 0) : to_eigen(box.box.center());
  const auto sum = summed<AreaSum>(of.triangles.size(), progress, [&](std::size_t i, AreaSum& so_far) {
    const UInt3& t = of.triangles[i];
    const Eigen::Vector3d twice = twice_area(of, t, Eigen::Matrix3d::Identity());
    const double length = twice.norm();
    so_far.area += 0.5 * length;
    if (length > 0) so_far.by_normal += (0.5 / length) * twice * twice.transpose();
    const Eigen::Vector3d a = corner(of, t.x) - middle, b = corner(of, t.y) - middle, c = corner(of, t.z) - middle;
    const double volume = a.dot(b.cross(c));
    so_far.along_normals += 0.5 * twice;
    so_far.area_moment += length / 6 * (a + b + c);
    so_far.volume += volume;
    so_far.volume_moment += volume / 4 * (a + b + c);
  });
  const double size = box.box.empty() ? 0 : to_eigen(box.box.size()).norm();
  // Without the error of rounding, which would be read as a number: a sphere about 0 has its centre at 0.
  const double grid = std::exp2(std::ceil(std::log2(std::max(size, 1e-30))) - 40);
  const Eigen::Vector3d centre = ((middle + sum.centroid(size)) / grid).array().round() * grid;
  const std::lock_guard lock(mutex_);
  if (!surfaces_[mesh]) surfaces_[mesh] = std::make_unique<Surface>(Surface{box.box, sum.area, sum.by_normal, centre});
  return *surfaces_[mesh];
}

Eigen::Vector3d SolidMeasurer::centre(std::uint32_t solid, const Progress& progress) {
  const Instance& placed = scene_->instances[solid];
  return to_eigen(placed.transform) * surface(placed.mesh, progress).centre;
}

/// A map M changes a triangle's area by the root of n^T cof(G) n, where G = M^T M. For G = s^2 (I + E) with a trace of
/// E of 0 that is s^2 (1 - n^T E n / 2) up to E^2. So meshes that are turned, mirrored and scaled evenly, also by
/// matrices with a few digits, need no look at their triangles; the error is below 1e-10.
double SolidMeasurer::area(const Instance& solid, const Progress& progress) {
  constexpr double kMinStretch = 1e-5;
  const Surface& own = surface(solid.mesh, progress);
  const EigenTransform to_world = to_eigen(solid.transform);
  const Eigen::Matrix3d gram = to_world.linear().transpose() * to_world.linear();
  const double scale = gram.trace() / 3;
  const Eigen::Matrix3d stretch = gram / scale - Eigen::Matrix3d::Identity();
  if (stretch.norm() <= kMinStretch) return scale * (own.area - 0.5 * (stretch * own.by_normal).trace());
  return stretched_area(solid, gram, progress);
}

double SolidMeasurer::stretched_area(const Instance& solid, const Eigen::Matrix3d& gram, const Progress& progress) {
  const std::pair key{solid.mesh, std::array{gram(0, 0), gram(1, 1), gram(2, 2), gram(0, 1), gram(0, 2), gram(1, 2)}};
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = stretched_.find(key); known != stretched_.end()) return known->second;
  }
  const Mesh& mesh = scene_->meshes[solid.mesh];
  const Eigen::Matrix3d map = to_eigen(solid.transform).linear();
  const double area = summed<double>(mesh.triangles.size(), progress, [&](std::size_t i, double& sum) {
    sum += 0.5 * twice_area(mesh, mesh.triangles[i], map).norm();
  });
  const std::lock_guard lock(mutex_);
  stretched_.emplace(key, area);
  return area;
}

/// As world_bounds(): only solids whose turned box reaches beyond what is known are looked at vertex by vertex. Those
/// that may reach farthest come first.
Bounds SolidMeasurer::box(std::span<const std::uint32_t> solids, const Progress& progress) {
  std::vector<Bounds> outer;
  outer.reserve(solids.size());
  for (const std::uint32_t i : solids)
    outer.push_back(moved_box(surface(scene_->instances[i].mesh, progress).box, scene_->instances[i].transform));
  Bounds exact;
  const auto look_at = [&](std::size_t k) {
    if (outer[k].empty() || exact.contains(outer[k])) return;
    const Instance& solid = scene_->instances[solids[k]];
    const EigenTransform to_world = to_eigen(solid.transform);
    if (keeps_axes(to_world.linear())) return exact.add(outer[k]);
    const Mesh& mesh = scene_->meshes[solid.mesh];
    exact.add(summed<BoxSum>(mesh.vertices.size(), progress, [&](std::size_t v, BoxSum& sum) {
                sum.box.add(Eigen::Vector3d(to_world * corner(mesh, static_cast<std::uint32_t>(v))));
              }).box);
  };
  for (int axis = 0; axis != 3 && !outer.empty(); ++axis) {
    const auto by = [axis](Double3 Bounds::*end) {
      return [axis, end](const Bounds& a, const Bounds& b) { return (a.*end)[axis] < (b.*end)[axis]; };
    };
    look_at(static_cast<std::size_t>(std::min_element(outer.begin(), outer.end(), by(&Bounds::min)) - outer.begin()));
    look_at(static_cast<std::size_t>(std::max_element(outer.begin(), outer.end(), by(&Bounds::max)) - outer.begin()));
  }
  for (std::size_t k = 0; k != outer.size(); ++k) look_at(k);
  return exact;
}

/// A mesh's volume comes from the divergence theorem, about the middle of its box, in double; a map multiplies it by
/// its determinant. A mirrored solid keeps the sign: its triangles run the other way round in the world, and its
/// normals point where the mesh's do.
void SolidMeasurer::add_volumes(std::span<const std::uint32_t> solids, const SceneCheck& check,
                                SolidFacts& facts) const {
  facts.checked = true;
  double sum = 0, outer = 0;
  std::vector<std::uint8_t> chosen(solids.size() > 1 ? scene_->instances.size() : 0);
  for (const std::uint32_t i : solids)
    if (!chosen.empty()) chosen[i] = 1;
  const auto tree = chosen.empty() ? raylift::SolidTree() : solid_tree(*scene_);
  const auto lies_in_another = [&](std::uint32_t i) {
    if (chosen.empty()) return false;
    std::uint32_t mother = tree.mother[i];
    while (mother != kNone && chosen[mother] == 0) mother = tree.mother[mother];
    return mother != kNone;
  };
  for (const std::uint32_t i : solids) {
    const Instance& solid = scene_->instances[i];
    const MeshCheck& mesh = check.meshes[solid.mesh];
    if (!mesh.closed()) {
      ++facts.not_closed;
      continue;
    }
    if (mesh.inverted()) ++facts.inward;
    const double volume = std::abs(to_eigen(solid.transform).linear().determinant() * mesh.volume);
    sum += volume;
    if (!lies_in_another(i)) outer += volume;
  }
  if (facts.not_closed != 0 || facts.solids == 0) return;
  facts.volume = sum;
  facts.outer_volume = outer;
}

SolidFacts SolidMeasurer::facts(std::span<const std::uint32_t> solids, const SceneCheck* check,
                                const Progress& progress) {
  SolidFacts facts;
  facts.solids = solids.size();
  facts.box = box(solids, progress);
  for (std::size_t k = 0; k != solids.size(); ++k) {
    if (k % 4096 == 0) progress.report("measure", k, solids.size());
    const Instance& solid = scene_->instances[solids[k]];
    facts.triangles += scene_->meshes[solid.mesh].triangles.size();
    facts.area += area(solid, progress);
  }
  if (solids.size() == 1 && !facts.box.empty()) facts.centre = centre(solids.front(), progress);
  if (check != nullptr) add_volumes(solids, *check, facts);
  return facts;
}

}  // namespace raylift::viewer
