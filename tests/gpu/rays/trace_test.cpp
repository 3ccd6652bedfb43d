// SPDX-License-Identifier: Apache-2.0
// Batch ray queries on each device: the same hits as on the host, none lost.
#include <gtest/gtest.h>
#include <raylift/geometry/bvh/bvh.h>
#include <raylift/gpu/memory/buffer.h>
#include <raylift/gpu/rays/trace.h>

#include "rays.h"
#include "support/devices.h"

namespace raylift {
namespace {

class Trace : public test::OnDevice {};

TEST_P(Trace, GivesTheHitsOfTheHostAndLosesNone) {
  const test::Triangles mesh = test::bumpy_sphere(300);
  const Bvh bvh = build_bvh(mesh.vertices, mesh.triangles);
  test::RandomRays random(800, 3);
  std::vector<Ray> rays(300'001);
  for (Ray& ray : rays) ray = random();

  const Stream stream(device());
  const auto nodes = test::copied_to(device(), stream, bvh.nodes);
  const auto pairs = test::copied_to(device(), stream, bvh.pairs);
  const auto ids = test::copied_to(device(), stream, bvh.ids);
  const auto device_rays = test::copied_to(device(), stream, rays);
  const DeviceBuffer<Hit> device_hits(device(), rays.size());
  BvhView view = bvh.view();
  view.nodes = nodes.device();
  view.pairs = pairs.device();
  view.ids = ids.device();
  trace(device(), view, device_rays.device(), device_hits.device(), rays.size(), stream);
  std::vector<Hit> hits(rays.size());
  device().backend()->copy_to_host(hits.data(), device_hits.device(), hits.size() * sizeof(Hit), stream.handle());
  device().backend()->synchronize(stream.handle());

  for (std::size_t i = 0; i < rays.size(); ++i) {
    ASSERT_TRUE(hits[i].valid()) << "ray " << i << " got out";
    const Hit expected = closest_hit(bvh.view(), rays[i]);
    ASSERT_EQ(hits[i].triangle, expected.triangle) << "ray " << i;
    ASSERT_EQ(hits[i].t, expected.t);
    ASSERT_EQ(hits[i].u, expected.u);
    ASSERT_EQ(hits[i].v, expected.v);
    ASSERT_EQ(hits[i].normal, expected.normal);
    ASSERT_EQ(hits[i].from_inside, expected.from_inside);
  }
}

RAYLIFT_ON_BOTH_DEVICES(Trace);

}  // namespace
}  // namespace raylift
