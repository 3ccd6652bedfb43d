// SPDX-License-Identifier: Apache-2.0
// trace() where a part of the BVH lies in host memory, which is copied, or waited for: rays hit what they hit anyway.
#include <gtest/gtest.h>
#include <raylift/geometry/bvh/bvh.h>

#include <algorithm>
#include <array>
#include <bit>
#include <initializer_list>
#include <limits>

#include "geometry/src/bvh/bvh_batch.h"
#include "image_rays.h"
#include "rays.h"
#include "rays/image_rows.h"
#include "support/devices.h"

namespace raylift {
namespace {

class PartsTrace : public test::OnDevice {
 protected:
  /// So many that a GPU copies for them; not a whole number of groups. The host device traces all rays alike.
  [[nodiscard]] std::size_t many() const { return device().info().is_host ? 20'003 : rows::kFewestRays + 7'007; }
  /// So few that it does not look for rows.
  [[nodiscard]] std::size_t fewer() const { return device().info().is_host ? 20'003 : 500'007; }
  /// An image in rows, so large that a GPU looks for them, with its last row in part.
  [[nodiscard]] std::vector<Ray> image() const;
};
RAYLIFT_ON_BOTH_DEVICES(PartsTrace);

using HitBits = std::array<std::uint32_t, sizeof(Hit) / 4>;

/// How many hits are not the same, bit for bit.
std::size_t differences(const std::vector<Hit>& hits, const std::vector<Hit>& wanted) {
  std::size_t count = 0;
  for (std::size_t i = 0; i != wanted.size(); ++i)
    count += std::bit_cast<HitBits>(hits[i]) == std::bit_cast<HitBits>(wanted[i]) ? 0 : 1;
  return count;
}

/// Every second thousand through a camera's pixels, so that packets are made, the others in all directions; some that
/// are no rays, or end early.
std::vector<Ray> mixed_rays(double radius, std::size_t count) {
  test::RandomRays random(radius, 7);
  std::vector<Ray> rays(count);
  for (std::size_t i = 0; i != count; ++i) {
    Ray& ray = rays[i];
    ray = random();
    if (i / 1024 % 2 == 1) {
      const auto column = static_cast<float>(i % 256), row = static_cast<float>(i / 256);
      ray.origin = LocalPoint(0.1F, 0.2F, 0.3F);
      ray.direction = {1, 0.7F * (column / 256 - 0.5F), 1.3F * (row * 256 / static_cast<float>(count) - 0.5F)};
    }
    if (i % 997 == 5) ray.direction.x = std::numeric_limits<float>::quiet_NaN();
    if (i % 499 == 7) ray.tmax = static_cast<float>(0.5 * radius);
  }
  return rays;
}

std::vector<Ray> PartsTrace::image() const {
  const std::size_t width = 1003, height = device().info().is_host ? 20 : rows::kFewestRays / width + 2;
  std::vector<Ray> rays = test::image_of(width, height, test::Lens::unit, 1.5);
  for (Ray& ray : rays) ray.origin = LocalPoint(0.1F, 0.2F, 0.3F);
  rays.resize(rays.size() - 77);
  return rays;
}

/// The same image with groups that part: at its start, where kernels keep what they tell each other, and in bands of
/// rays that go anywhere.
std::vector<Ray> torn(std::vector<Ray> rays) {
  test::RandomRays random(800, 11);
  for (std::size_t i = 0; i != rays.size(); ++i)
    if (i < 40 || i / 8192 % 3 == 1) rays[i] = random();
  return rays;
}

/// What lies where is a hint to trace(): all of it is in device memory here, which is read in the same way.
class HintedView {
 public:
  HintedView(const Device& device, std::uint32_t n)
      : device_(device),
        stream_(device),
        mesh_(test::bumpy_sphere(n)),
        bvh_(build_bvh(mesh_.vertices, mesh_.triangles)),
        nodes_(test::copied_to(device, stream_, bvh_.nodes)),
        pairs_(test::copied_to(device, stream_, bvh_.pairs)),
        ids_(test::copied_to(device, stream_, bvh_.ids)) {}

  /// As the host's code finds them.
  [[nodiscard]] std::vector<Hit> hits_of(const std::vector<Ray>& rays) const {
    std::vector<Hit> hits(rays.size());
    closest_hits(bvh_.view(), BvhLevels::mesh, rays, hits);
    return hits;
  }
  void expect_for_any_share(const std::vector<Ray>& rays, const std::vector<Hit>& wanted) const {
    const auto device_rays = test::copied_to(device_, stream_, rays);
    BvhView view = bvh_.view();
    view.nodes = nodes_.device();
    view.pairs = pairs_.device();
    view.ids = ids_.device();
    const std::vector<Hit> nothing(rays.size(), std::bit_cast<Hit>(HitBits{7, 7, 7, 7, 7, 7, 7, 7}));
    const std::uint32_t n = view.node_count, p = view.pair_count;
    // nodes, pairs, ids
    for (const auto& share : std::initializer_list<std::array<std::uint32_t, 3>>{{0, 0, p},
                                                                                 {0, 0, p / 3},
                                                                                 {0, p, 0},
                                                                                 {0, p, p},
                                                                                 {0, p / 2, p},
                                                                                 {0, p / 2 + 1, p / 4},
                                                                                 {0, 1, 1},
                                                                                 {n, p, p},
                                                                                 {n, 0, 0},
                                                                                 {n / 2 + 1, p / 5, p},
                                                                                 {1, 0, 1}}) {
      view.host_nodes = share[0];
      view.host_pairs = share[1];
      view.host_ids = share[2];
      DeviceBuffer<Hit> device_hits(device_, rays.size());
      // Not the hits of the run before.
      device_hits.copy_from(std::span<const Hit>(nothing), stream_);
      trace(device_, view, device_rays.device(), device_hits.device(), rays.size(), stream_);
      std::vector<Hit> hits(rays.size());
      device_hits.copy_to(std::span(hits), stream_);
      stream_.synchronize();
      EXPECT_EQ(differences(hits, wanted), 0U) << share[0] << ", " << share[1] << ", " << share[2];
    }
  }

 private:
  Device device_;
  Stream stream_;
  test::Triangles mesh_;
  Bvh bvh_;
  DeviceBuffer<bvh_detail::BvhNode> nodes_;
  DeviceBuffer<bvh_detail::TrianglePair> pairs_;
  DeviceBuffer<bvh_detail::PairIds> ids_;
};

TEST_P(PartsTrace, HitsTheSameWhateverLiesInHostMemory) {
  // On a GPU three windows of pairs, where all of them are the host's, and pages for each where half of them are.
  const HintedView view(device(), device().info().is_host ? 60 : 1250);
  const std::vector<Ray> mixed = mixed_rays(800, many());
  const std::vector<Hit> wanted = view.hits_of(mixed);
  view.expect_for_any_share(mixed, wanted);
  // No group of these rays is tried as a packet.
  test::RandomRays random(800, 13);
  std::vector<Ray> scattered(many());
  for (Ray& ray : scattered) ray = random();
  view.expect_for_any_share(scattered, view.hits_of(scattered));
  const auto valid =
      static_cast<std::size_t>(std::count_if(wanted.begin(), wanted.end(), [](const Hit& hit) { return hit.valid(); }));
  EXPECT_GT(valid, mixed.size() / 2);
  EXPECT_LT(valid, mixed.size());
}

// In tiles each ray is traced as well.
TEST_P(PartsTrace, HitsTheSameThroughPixelsInRows) {
  const HintedView view(device(), device().info().is_host ? 60 : 1250);
  for (const std::vector<Ray>& rays : {image(), torn(image())}) view.expect_for_any_share(rays, view.hits_of(rays));
}

// The same of uploads, in one level and two, whose budget leaves some arrays or all of them in host memory.
TEST_P(PartsTrace, HitsTheSameForAnyBudget) {
  const Scene scene = test::closed_scene(device().info().is_host ? 16 : 160, 30);
  const std::array<std::vector<Ray>, 2> rays{mixed_rays(1500, fewer()), torn(image())};
  for (const bool flat : {false, true}) {
    UploadOptions options = test::with_bvh(flat);
    const GpuGeometry alone = upload(scene, Device::host(), options);
    const std::array<std::vector<Hit>, 2> wanted{test::trace_all(alone, rays[0]), test::trace_all(alone, rays[1])};
    std::uint64_t nodes = 0, bytes = 0;
    {
      const GpuGeometry whole = upload(scene, device(), options);
      nodes = whole.report().arrays[0].bytes;
      bytes = whole.report().bytes();
      EXPECT_EQ(whole.view().bvh.host_nodes + whole.view().bvh.host_pairs + whole.view().bvh.host_ids, 0U);
    }
    for (const std::uint64_t budget : {std::uint64_t{0}, nodes / 2, nodes + 1, nodes + bytes / 8, bytes / 2}) {
      options.budget = budget;
      const GpuGeometry geometry = upload(scene, device(), options);
      const BvhView& bvh = geometry.view().bvh;
      if (budget == 0) {
        EXPECT_EQ(bvh.host_nodes, bvh.node_count);
      }
      for (const std::size_t i : {0, 1})
        EXPECT_EQ(differences(test::trace_all(geometry, rays[i]), wanted[i]), 0U)
            << "budget " << budget << ", flat " << flat << ", rays " << i;
    }
  }
}

TEST_P(PartsTrace, ViewsTellWhatLiesInHostMemory) {
  const Scene scene = test::closed_scene(200, 3);
  UploadOptions options = test::with_bvh(true);
  for (const std::uint64_t budget : {std::uint64_t{0}, std::uint64_t{3} << 20, std::uint64_t{9} << 20, UINT64_MAX}) {
    options.budget = budget;
    const GpuGeometry geometry = upload(scene, device(), options);
    const BvhView& bvh = geometry.view().bvh;
    const auto on_host = [&](std::size_t i, std::size_t element) {
      return (geometry.report().arrays[i].host_bytes + element - 1) / element;
    };
    EXPECT_EQ(bvh.host_nodes, on_host(0, sizeof(bvh_detail::BvhNode)));
    EXPECT_EQ(bvh.host_pairs, on_host(1, sizeof(bvh_detail::TrianglePair)));
    EXPECT_EQ(bvh.host_ids, on_host(2, sizeof(bvh_detail::PairIds)));
    if (budget == 0 || budget == UINT64_MAX) {
      EXPECT_EQ(bvh.host_pairs, budget == 0 ? bvh.pair_count : 0) << budget;
    }
  }
}

}  // namespace
}  // namespace raylift
