// SPDX-License-Identifier: Apache-2.0
// What trees, float arithmetic and the order of visits may not change: the nearest hit, bit for bit, against all
// triangles one by one through the exact test (bvh_detail::cross), whose answers exact_test.cpp holds to an oracle.
// Rays and triangles are such that little margin is left: ties, rays in the planes of boxes, rays that start on what
// they hit, far cameras, the smallest triangles.
#include <gtest/gtest.h>
#include <raylift/geometry/bvh/bvh.h>

#include <Eigen/Geometry>
#include <array>
#include <cmath>
#include <vector>

#include "all_triangles.h"
#include "support/triangles_and_rays.h"

namespace raylift {
namespace {

using bvh_detail::Site;
using Eigen::Vector3d;
using test::above;
using test::add_triangle;
using test::AllTriangles;
using test::bumpy_sphere;
using test::expect_nearest;
using test::Random;
using test::to_double;
using test::to_float;
using test::Triangles;
using test::turned;

// The ray seen from far: hits at the same float t are ordered all the same.
TEST(BvhRays, TellLayersApartThatAreCloserThanAFloatsStep) {
  for (const float spacing : {0.0f, 1e-6f, 1e-3f}) {
    SCOPED_TRACE(spacing);
    Random random(41);
    Triangles mesh;
    for (int i = 0; i < 300; ++i) {
      const auto z = static_cast<float>(random.between(-20, 20)) * spacing;
      const auto corner = [&](double x, double y) {
        return Float3{static_cast<float>(x + 0.3 * random.unit()), static_cast<float>(y + 0.3 * random.unit()), z};
      };
      if (random.coin())
        add_triangle(mesh, corner(-1, -1), corner(1, -1), corner(0, 1));
      else
        add_triangle(mesh, corner(-1, 1), corner(0, -1), corner(1, 1));
    }
    std::vector<Ray> rays;
    for (int i = 0; i < 300; ++i) {
      const double away = i % 3 == 0 ? 1e4 : i % 3 == 1 ? -300 : 1.5;
      const Vector3d to(random.unit(), random.unit(), 0);
      const Vector3d from = to + away * (Vector3d(0, 0, 1) + 0.3 * (i % 2) * random.vector());
      rays.push_back({LocalPoint(to_float(from)), 0, to_float((to - from).normalized())});
    }
    expect_nearest(mesh, rays, 100);
  }
}

TEST(BvhRays, TakeTheFirstOfLayersThatAreCloserThanAFloatsStep) {
  Random random(57);
  Triangles mesh;
  std::array<int, 41> order{};
  for (int i = 0; i < 41; ++i) order[static_cast<std::size_t>(i)] = i - 20;
  for (std::size_t i = order.size() - 1; i > 0; --i) std::swap(order[i], order[random.below(i + 1)]);
  for (const int k : order) {
    const float z = 1e-6f * static_cast<float>(k);
    add_triangle(mesh, {-2, -2, z}, {2, -2, z}, {0, 2, z});
  }
  const Bvh bvh = build_bvh(mesh.vertices, mesh.triangles);
  for (int i = 0; i < 100; ++i) {
    const float side = i % 2 == 0 ? 1.0f : -1.0f;
    const Vector3d at = 0.4 * random.vector();
    const Ray ray{
        LocalPoint(static_cast<float>(at.x()), static_cast<float>(at.y()), 1e4f * side), 0, {1e-6f, 0, -side}};
    const Hit hit = closest_hit(bvh.view(), ray);
    ASSERT_TRUE(hit.valid());
    EXPECT_EQ(mesh.vertices[3 * hit.triangle].z, 1e-6f * 20 * side);
  }
}

// Ties where a ray starts: the best hit so far is no farther than where any box is entered.
TEST(BvhRays, CountWhatTheyStartOn) {
  Random random(42);
  Triangles mesh;
  for (int i = 0; i < 400; ++i) {
    const auto corner = [&] {
      return Float3{static_cast<float>(random.between(-64, 64)) / 64, static_cast<float>(random.between(-64, 64)) / 64,
                    0.25f};
    };
    const Float3 a = corner(), b = corner(), c = corner();
    add_triangle(mesh, a, b, c);
    add_triangle(mesh, b, a, c);
  }
  std::vector<Ray> rays;
  for (int i = 0; i < 400; ++i) {
    const double z = i % 2 == 0 ? 1 : -1, x = 0.125 * random.between(-4, 4), y = 0.125 * random.between(-4, 4);
    const Float3 d{i % 4 < 2 ? 0.0f : static_cast<float>(x), i % 8 < 4 ? 0.0f : static_cast<float>(y),
                   static_cast<float>(z)};
    Ray ray{LocalPoint(static_cast<float>(random.between(-32, 32)) / 64,
                       static_cast<float>(random.between(-32, 32)) / 64, 0.25f),
            0, d};
    ray.tmin = i % 3 == 0 ? 0.0f : i % 3 == 1 ? -0.0f : -1.0f;
    if (i % 5 == 0) {  // on the near end of the ray's stretch, which is not its origin
      const float t = static_cast<float>(random.between(-8, 8)) / 4;
      ray.origin = LocalPoint(ray.origin.x - t * d.x, ray.origin.y - t * d.y, ray.origin.z - t * d.z);
      ray.tmin = t;
    }
    rays.push_back(ray);
  }
  expect_nearest(mesh, rays, 200);
}

// Rays in the common plane of boxes above and below: what they meet there is in one of them.
TEST(BvhRays, StayInThePlanesOfBoxes) {
  for (const float height : {1.0f, 1e-6f, 1e-13f, 1e-16f, 1e-20f})
    for (const float level : {0.0f, 0.3f, -700.0f})
      for (int turn = 0; turn < 3; ++turn) {
        SCOPED_TRACE(::testing::Message() << height << " about " << level << ", turn " << turn);
        // Bicones whose equators lie at the level, of many sizes.
        Random random(43);
        Triangles mesh;
        const float step = std::max(height, 4 * (above(std::abs(level)) - std::abs(level)));
        for (int cone = 0; cone < 12; ++cone) {
          const auto base = static_cast<std::uint32_t>(mesh.vertices.size());
          const int sides = 5 + cone;
          const Vector3d middle(3 * random.unit(), 3 * random.unit(), 0);
          for (int i = 0; i < sides; ++i)
            mesh.vertices.push_back({static_cast<float>(middle.x() + std::cos(6.283185307 * i / sides)),
                                     static_cast<float>(middle.y() + std::sin(6.283185307 * i / sides)), level});
          for (const float z : {level + step, level - step})
            mesh.vertices.push_back({static_cast<float>(middle.x()), static_cast<float>(middle.y()), z});
          const auto n = static_cast<std::uint32_t>(sides);
          for (std::uint32_t i = 0; i < n; ++i) {
            const std::uint32_t j = (i + 1) % n;
            mesh.triangles.push_back({base + i, base + j, base + n});
            mesh.triangles.push_back({base + j, base + i, base + n + 1});
          }
        }
        for (Float3& v : mesh.vertices) v = turned(v, turn);
        std::vector<Ray> rays;
        for (int i = 0; i < 150; ++i) {
          const float angle = 0.7f * static_cast<float>(i);
          Float3 d{std::cos(angle), std::sin(angle), i % 2 == 0 ? 0.0f : -0.0f};
          if (i % 4 == 1) (i % 8 == 1 ? d.x : d.y) = 0;
          if (i % 5 == 1) d.z = random.power(-45, -25);
          const Vector3d o = 3 * random.vector();
          rays.push_back({LocalPoint(turned({static_cast<float>(o.x()), static_cast<float>(o.y()), level}, turn)), 0,
                          turned(d, turn)});
        }
        expect_nearest(mesh, rays, 30);
      }
}

// Directions near an axis or a coordinate plane to any degree, and of any length that is allowed.
TEST(BvhRays, TakeDirectionsOfAnyShapeAndLength) {
  const Triangles mesh = bumpy_sphere(14, 10, 0.2);
  Random random(44);
  std::vector<Ray> rays;
  for (int i = 0; i < 1500; ++i) {
    Float3 d = turned({random.power(-1, 0), random.power(-45, 0), random.power(-45, 0)}, random.between(0, 2));
    if (i % 3 == 0) {
      const auto length = static_cast<float>(std::pow(10.0, random.between(-12, 11)));
      d = {d.x * length, d.y * length, d.z * length};
    }
    Vector3d o = (i % 2 == 0 ? 6 : 100) * random.vector();
    if (i % 2 == 1) {  // towards the mesh
      for (int a = 0; a < 3; ++a)
        if (std::abs((&d.x)[a]) < 0.01f * std::max({std::abs(d.x), std::abs(d.y), std::abs(d.z)})) o[a] /= 15;
    }
    Ray ray{LocalPoint(to_float(o)), 0, d};
    if (i % 5 == 0) ray.tmin = -50;
    if (i % 7 == 0) ray.tmin = -1e30f;
    rays.push_back(ray);
  }
  expect_nearest(mesh, rays, 700);
}

// Triangles of a few steps of their coordinates: as float arithmetic has it, vertices are where rounding puts them.
TEST(BvhRays, MeetTrianglesOfAFewSteps) {
  for (const double size : {1.0, 1e3, 1e-3}) {
    SCOPED_TRACE(size);
    Random random(45);
    const Float3 middle = to_float(size * Vector3d(1.0, 0.83, -0.91));
    const float step = above(middle.x) - middle.x;
    const auto near = [&](int steps) {
      const auto offset = [&] { return step * static_cast<float>(random.between(-steps, steps)); };
      const float x = offset(), y = offset(), z = offset();
      return Float3{middle.x + x, middle.y + y, middle.z + z};
    };
    Triangles mesh;
    for (int i = 0; i < 400; ++i) {
      const Float3 a = near(6), b = near(6), c = near(6);
      add_triangle(mesh, a, b, c);
    }
    std::vector<Ray> rays;
    for (int i = 0; i < 400; ++i) {
      const Float3 from = i % 2 == 0 ? Float3{0, 0, 0} : to_float(size * random.vector());
      rays.push_back({LocalPoint(from), 0, to_float(to_double(near(6)) - to_double(from))});
    }
    expect_nearest(mesh, rays, 100);
  }
}

// Products of coordinates underflow in the smallest meshes that there are.
TEST(BvhRays, MeetTheSmallestTriangles) {
  for (const int least : {44, 62, 68, 73}) {
    SCOPED_TRACE(least);
    Random random(46);
    Triangles mesh;
    add_triangle(mesh, {0x1p-44f, 0, 0}, {0x1p-44f, 0x1p-46f, 0}, {0x1p-44f, 0, 0x1p-46f});  // all are one of 2^-44
    for (int i = 0; i < 250; ++i) {
      const double size = std::ldexp(1.0, -random.between(least, least + 4));
      const auto corner = [&] { return to_float(size * random.vector()); };
      const Float3 a = corner(), b = corner(), c = corner();
      add_triangle(mesh, a, b, c);
    }
    std::vector<Ray> rays;
    for (int i = 0; i < 500; ++i) {
      const Vector3d from = std::ldexp(1.0, -random.between(least, least + 4)) * random.vector();
      const UInt3 t = mesh.triangles[1 + random.below(250)];
      const Vector3d a = to_double(mesh.vertices[t.x]), b = to_double(mesh.vertices[t.y]);
      const Vector3d to = i % 4 == 0 ? a : a + (0.5 + 0.5 * random.unit()) * (b - a);
      rays.push_back({LocalPoint(to_float(from)), 0, to_float((to - from).normalized())});
    }
    expect_nearest(mesh, rays, 100);
  }
}

// The second triangle of a pair reaches much farther than the first one; rays aim at its edges.
TEST(BvhRays, MeetLongTrianglesBesideShortOnes) {
  Random random(55);
  Triangles mesh;
  for (int i = 0; i < 200; ++i) {
    const Vector3d middle = random.vector();
    const auto corner = [&](double size) { return to_float(middle + size * random.vector()); };
    const auto k = static_cast<std::uint32_t>(mesh.vertices.size());
    mesh.vertices.insert(mesh.vertices.end(), {corner(1e-4), corner(1e-4), corner(1e-4), corner(3)});
    mesh.triangles.push_back({k, k + 1, k + 2});
    mesh.triangles.push_back({k + 2, k + 1, k + 3});
  }
  std::vector<Ray> rays;
  for (int i = 0; i < 1000; ++i) {
    const std::uint32_t k = 4 * random.below(200);
    const Vector3d a = to_double(mesh.vertices[k + 1 + random.below(2)]), b = to_double(mesh.vertices[k + 3]);
    const Vector3d to = a + 1e-3 * (0.5 + 0.5 * random.unit()) * (b - a);
    const Vector3d from = to + (i % 2 == 0 ? 0.3 : 5) * random.vector();
    rays.push_back({LocalPoint(to_float(from)), 0, to_float((to - from).normalized())});
  }
  expect_nearest(mesh, rays, 300);
}

// Triangles seen nearly edge-on, whose t is uncertain in float arithmetic, among others that face the ray.
TEST(BvhRays, OrderWhatIsSeenEdgeOn) {
  Random random(56);
  for (const double away : {30.0, 1000.0}) {
    SCOPED_TRACE(away);
    const Vector3d along = Vector3d(0.3, -0.5, 0.8).normalized(), x = along.cross(Vector3d::UnitX()).normalized(),
                   y = along.cross(x);
    const double size = 2e-5 * away;
    Triangles mesh;
    for (int i = 0; i < 500; ++i) {
      const Vector3d middle = 8 * size * (random.unit() * x + random.unit() * y);
      const double z = i % 2 == 0 ? 0 : 5 * random.unit();
      const auto corner = [&] {
        const double u = random.unit(), v = random.unit(), w = random.unit();
        return to_float(middle + size * (u * x + v * y) + (i % 2 == 0 ? 5 * w : z) * along);
      };
      const Float3 a = corner(), b = corner(), c = corner();
      add_triangle(mesh, a, b, c);
    }
    std::vector<Ray> rays;
    for (int i = 0; i < 1000; ++i) {
      const Vector3d to = 6 * size * (random.unit() * x + random.unit() * y);
      const Vector3d from = to - away * (along + 1e-2 * size * random.vector());
      rays.push_back({LocalPoint(to_float(from)), 0, to_float(along)});
    }
    expect_nearest(mesh, rays, 200);
  }
}

TEST(BvhRays, MeetHugeTriangles) {
  Random random(47);
  Triangles mesh;
  for (int i = 0; i < 300; ++i) {
    const double size = std::pow(10.0, random.between(0, 17));
    const auto corner = [&] { return to_float(size * random.vector()); };
    const Float3 a = corner(), b = corner(), c = corner();
    add_triangle(mesh, a, b, c);
  }
  std::vector<Ray> rays;
  for (int i = 0; i < 600; ++i) {
    const double size = std::pow(10.0, random.between(0, 17));
    rays.push_back({LocalPoint(to_float(size * random.vector())), 0, to_float(random.vector().normalized())});
  }
  expect_nearest(mesh, rays, 100);
}

// Edges and vertices ------------------------------------------------------------------------------------------------

// A height field in lattice points with some noise, and rays through its vertices, along its edges' planes and through
// their middles, exactly. No ray here meets it twice, so each meets one triangle.
TEST(BvhRays, MeetOneTriangleAtAnyVertexOrEdge) {
  constexpr int kCells = 8;
  for (int turn = 0; turn < 3; ++turn)
    for (const bool noise : {false, true}) {
      SCOPED_TRACE(::testing::Message() << "turn " << turn << (noise ? ", with noise" : ""));
      Random random(54);
      Triangles mesh;
      const auto offset = [&] { return noise ? static_cast<float>(random.between(-128, 128)) / 1024 : 0.0f; };
      for (int y = 0; y <= kCells; ++y)
        for (int x = 0; x <= kCells; ++x)
          mesh.vertices.push_back({static_cast<float>(x) + offset(), static_cast<float>(y) + offset(),
                                   noise ? static_cast<float>(random.between(0, 512)) / 1024 : 0.0f});
      for (std::uint32_t y = 0; y < kCells; ++y)
        for (std::uint32_t x = 0; x < kCells; ++x) {
          const std::uint32_t a = y * (kCells + 1) + x, b = a + 1, c = a + kCells + 1, d = c + 1;
          if (random.coin())
            mesh.triangles.insert(mesh.triangles.end(), {{a, b, d}, {a, d, c}});
          else
            mesh.triangles.insert(mesh.triangles.end(), {{a, b, c}, {b, d, c}});
        }
      std::vector<Ray> rays;
      for (int i = 0; i < 1000; ++i) {
        const auto inner = [&] { return 2 + random.below(kCells - 3); };
        const std::uint32_t at = inner() * (kCells + 1) + inner();
        const Float3 p = mesh.vertices[at];
        const Float3 q = mesh.vertices[i % 3 == 0 ? at : i % 3 == 1 ? at + 1 : at + kCells + 1];
        // Steeper than any face.
        const Float3 d{i % 5 == 0 ? 0.0f : static_cast<float>(random.between(-32, 32)) / 256,
                       i % 4 == 0 ? 0.0f : static_cast<float>(random.between(-32, 32)) / 256,
                       i % 2 == 0 ? 1.0f : -1.0f};
        const auto k = static_cast<float>(random.between(2, 8));
        rays.push_back(
            {LocalPoint(0.5f * (p.x + q.x) - k * d.x, 0.5f * (p.y + q.y) - k * d.y, 0.5f * (p.z + q.z) - k * d.z), 0,
             d});
      }
      for (Float3& v : mesh.vertices) v = turned(v, turn);
      for (Ray& ray : rays) {
        ray.origin = LocalPoint(turned(ray.origin, turn));
        ray.direction = turned(ray.direction, turn);
      }
      const Bvh bvh = build_bvh(mesh.vertices, mesh.triangles);
      const AllTriangles all(bvh.view(), BvhLevels::mesh);
      for (const Ray& ray : rays) {
        int met = 0;
        for (const Site site : all.sites()) met += all.crossing(ray, site).hit ? 1 : 0;
        ASSERT_EQ(met, 1);
      }
      expect_nearest(mesh, rays, rays.size());
    }
}

TEST(BvhRays, SignOfAnEdgeIsExactAndOpposedFromTheOtherSide) {
  using Vertex = bvh_detail::ScaledVertex<double>;
  const auto sign = [](const Vertex& a, const Vertex& b) {
    const int forward = bvh_detail::edge_sign(a, b, bvh_detail::edge(a, b));
    EXPECT_EQ(forward, -bvh_detail::edge_sign(b, a, bvh_detail::edge(b, a)));
    return forward;
  };
  constexpr double e = 0x1p-27;
  EXPECT_EQ(bvh_detail::edge(Vertex{1 + e, 1, 0}, Vertex{1, 1 - e, 0}), 0);
  EXPECT_EQ(sign({1 + e, 1, 0}, {1, 1 - e, 0}), -1);  // by 2^-54, which double does not see
  EXPECT_EQ(sign({1, 1 - e, 0}, {1 + e, 1, 0}), 1);
  EXPECT_EQ(sign({1, 1 + e, 0}, {1 - e, 1, 0}), 1);
  EXPECT_EQ(sign({1, 2, 0}, {-3, -6, 1}), 1);  // on the ray: as for a ray moved towards x
  EXPECT_EQ(sign({2, 0, 0}, {-3, 0, 1}), -1);  // or y, where that says nothing
  EXPECT_EQ(sign({2, 4, 0}, {2, 4, 1}), 0);
}

}  // namespace
}  // namespace raylift
