// SPDX-License-Identifier: Apache-2.0
// Pairs of solids are tested in parallel, in slices; each by itself, so that the result does not depend on threads.
#include <raylift/geometry/checks/overlaps.h>
#include <raylift/geometry/error.h>
#include <raylift/geometry/scene/eigen.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <new>
#include <string>
#include <tuple>

#include "overlap_pair.h"
#include "overlap_solids.h"
#include "stage.h"

namespace raylift {
namespace {

using overlap::MeshTree;
using overlap::PairResult;
using overlap::PlacedMesh;
using overlap::Test;

using Trees = std::vector<std::unique_ptr<MeshTree>>;

void validate(const Scene& scene, const SceneCheck& check, const Overlap::Options& options) {
  if (!(options.tolerance >= 0) || !std::isfinite(options.tolerance))
    throw Error(ErrorKind::usage, "the tolerance for overlaps is negative or not finite");
  if (check.meshes.size() != scene.meshes.size())
    throw Error(ErrorKind::usage, "the check is of another scene", {scene.source, ""});
}

void validate_meshes(const Scene& scene) {
  for (std::size_t i = 0; i != scene.instances.size(); ++i)
    if (scene.instances[i].mesh >= scene.meshes.size())
      throw Error(ErrorKind::usage, "an instance refers to a mesh that the scene does not have",
                  {scene.source, "instance " + std::to_string(i)});
}

/// Calls `work` for all numbers below `count`, in parallel, and updates the stage after every few.
template <class Work>
void in_slices(const Stage& stage, std::size_t count, const Work& work) {
  constexpr std::size_t kSlice = 256;
  for (std::size_t begin = 0; begin < count; begin += kSlice) {
    const std::size_t end = std::min(count, begin + kSlice);
    tbb::parallel_for(begin, end, work);
    stage.advance(end);
  }
}

/// The meshes that a test needs.
Trees make_trees(const Scene& scene, const std::vector<Test>& tests, const Progress& progress) {
  std::vector<bool> needed(scene.meshes.size());
  for (const Test& test : tests)
    needed[scene.instances[test.first].mesh] = needed[scene.instances[test.second].mesh] = true;
  std::vector<std::size_t> meshes;
  for (std::size_t i = 0; i != needed.size(); ++i)
    if (needed[i]) meshes.push_back(i);
  Trees trees(scene.meshes.size());
  const Stage stage(progress, "overlap trees", meshes.size());
  in_slices(stage, meshes.size(), [&](std::size_t i) {
    const Mesh& mesh = scene.meshes[meshes[i]];
    try {
      trees[meshes[i]] = std::make_unique<MeshTree>(mesh);
    } catch (const Error& error) {
      throw Error(error.kind(), error.problem(), {scene.source, "mesh '" + mesh.name + "'"}, error.advice());
    }
  });
  return trees;
}

/// Both solids of a test in a frame of the world's directions, with its origin in the middle of the first one.
class PlacedPair {
 public:
  PlacedPair(const Scene& scene, const Trees& trees, const std::vector<overlap::Solid>& solids, const Test& test)
      : origin_(to_eigen(solids[test.first].box.center())),
        first_(place(scene.instances[test.first], trees)),
        second_(place(scene.instances[test.second], trees)) {}

  [[nodiscard]] const PlacedMesh& first() const { return first_; }
  [[nodiscard]] const PlacedMesh& second() const { return second_; }
  [[nodiscard]] const Eigen::Vector3d& origin() const { return origin_; }

 private:
  [[nodiscard]] PlacedMesh place(const Instance& instance, const Trees& trees) const {
    EigenTransform transform = to_eigen(instance.transform);
    transform.translation() -= origin_;
    return {*trees[instance.mesh], transform};
  }

  Eigen::Vector3d origin_;
  PlacedMesh first_;
  PlacedMesh second_;
};

Overlap finding(const Test& test, const PairResult& result) {
  Overlap found;
  found.kind = result.kind;
  found.first = result.swapped ? test.second : test.first;
  found.second = result.swapped ? test.first : test.second;
  found.depth = result.depth;
  found.facets = test.facets;
  found.pairs = test.pairs;
  return found;
}

void measure(const Scene& scene, const Trees& trees, const std::vector<overlap::Solid>& solids,
             const std::vector<Test>& tests, std::vector<PairResult>& results, const Progress& progress,
             OverlapReport& report) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i != results.size(); ++i)
    if (results[i].overlaps) found.push_back(i);
  // So that a scene that is wrong everywhere takes seconds too.
  const std::size_t evaluations =
      std::clamp<std::size_t>(2'000'000 / std::max<std::size_t>(found.size(), 1), 64, 40'000);
  std::vector<Overlap> overlaps(found.size());
  const Stage stage(progress, "overlap depths", found.size());
  in_slices(stage, found.size(), [&](std::size_t i) {
    const Test& test = tests[found[i]];
    PairResult& result = results[found[i]];
    const PlacedPair pair(scene, trees, solids, test);
    const double at_most = measure_depth(pair.first(), pair.second(), test.relation, evaluations, result);
    Overlap& overlap = overlaps[i] = finding(test, result);
    overlap.place = Eigen::Vector3d(result.place + pair.origin());
    overlap.depth_at_most = std::max(at_most, result.depth);
  });
  for (std::size_t i = 0; i != found.size(); ++i) {
    const Test& test = tests[found[i]];
    const bool by_facets =
        test.facets > 0 && overlaps[i].depth <= test.facets + test.tolerance && !results[found[i]].coincide;
    (by_facets ? report.by_tessellation : report.overlaps).push_back(overlaps[i]);
    (by_facets ? report.tessellation_pairs : report.overlapping_pairs) += test.pairs;
  }
  for (std::vector<Overlap>* list : {&report.overlaps, &report.by_tessellation})
    std::sort(list->begin(), list->end(), [](const Overlap& a, const Overlap& b) {
      return std::tuple(-a.depth, a.first, a.second) < std::tuple(-b.depth, b.first, b.second);
    });
}

OverlapReport find(const Scene& scene, const SceneCheck& check, const Overlap::Options& options,
                   const Progress& progress) {
  const std::vector<overlap::Solid> solids = overlap::look_at_solids(scene, check);
  OverlapReport report;
  for (std::size_t i = 0; i != solids.size(); ++i) {
    if (scene.meshes[scene.instances[i].mesh].triangles.empty()) continue;
    ++report.solids;
    report.untested_solids += solids[i].has_inside ? 0 : 1;
  }
  const overlap::Tests tests = overlap::make_tests(scene, check, solids, options.tolerance);
  report.pairs = tests.pairs;
  report.tests = tests.tests.size();
  const Trees trees = make_trees(scene, tests.tests, progress);
  std::vector<PairResult> results(tests.tests.size());
  {
    const Stage stage(progress, "overlaps", results.size());
    in_slices(stage, results.size(), [&](std::size_t i) {
      const Test& test = tests.tests[i];
      const PlacedPair pair(scene, trees, solids, test);
      results[i] = overlap::test_pair(pair.first(), pair.second(), test.relation, test.tolerance);
    });
  }
  for (std::size_t i = 0; i != results.size(); ++i) {
    const Test& test = tests.tests[i];
    report.undecided_pairs += results[i].undecided ? test.pairs : 0;
    if (!results[i].touches) continue;
    report.touching_pairs += test.pairs;
    if (report.touching.size() < options.touching_examples) report.touching.emplace_back(test.first, test.second);
  }
  measure(scene, trees, solids, tests.tests, results, progress, report);
  return report;
}

}  // namespace

std::string_view to_string(Overlap::Kind kind) noexcept {
  switch (kind) {
    case Overlap::Kind::crosses_mother:
      return "crosses_mother";
    case Overlap::Kind::outside_mother:
      return "outside_mother";
    case Overlap::Kind::siblings_cross:
      return "siblings_cross";
    case Overlap::Kind::contains_sibling:
      return "contains_sibling";
    case Overlap::Kind::siblings_coincide:
      return "siblings_coincide";
  }
  return "unknown";
}

OverlapReport find_overlaps(const Scene& scene, const SceneCheck& check, const Overlap::Options& options,
                            const Progress& progress) {
  validate(scene, check, options);
  validate_meshes(scene);
  try {
    return find(scene, check, options, progress);
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::out_of_host_memory, "no memory to look for overlaps", {scene.source, ""},
                "leave it out, or check the scene in parts");
  }
}

OverlapReport find_overlaps(const Scene& scene, const Overlap::Options& options, const Progress& progress) {
  validate_meshes(scene);
  return find_overlaps(scene, check(scene, progress), options, progress);
}

}  // namespace raylift
