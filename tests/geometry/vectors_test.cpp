// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <raylift/geometry/bvh/ray.h>
#include <raylift/geometry/scene/eigen.h>
#include <raylift/geometry/vectors.h>

#include <optional>
#include <type_traits>

namespace raylift {
namespace {

TEST(Vectors, AddScaleAndNegate) {
  const Float3 a{1, 2, 3}, b{10, 20, 30};
  EXPECT_EQ(a + b, (Float3{11, 22, 33}));
  EXPECT_EQ(b - a, (Float3{9, 18, 27}));
  EXPECT_EQ(-a, (Float3{-1, -2, -3}));
  EXPECT_EQ(2 * a, (Float3{2, 4, 6}));
  EXPECT_EQ(a * 2, (Float3{2, 4, 6}));
  EXPECT_EQ(b / 10, a);
  Float3 sum = a;
  sum += b;
  sum -= a;
  sum *= 0.5F;
  EXPECT_EQ(sum, (Float3{5, 10, 15}));
}

TEST(Vectors, DotCrossAndLength) {
  EXPECT_EQ(dot(Float3{1, 2, 3}, Float3{4, -5, 6}), 12);
  EXPECT_EQ(cross(Float3{1, 0, 0}, Float3{0, 1, 0}), (Float3{0, 0, 1}));
  EXPECT_EQ(cross(Float3{1, 2, 3}, Float3{4, 5, 6}), (Float3{-3, 6, -3}));
  EXPECT_EQ(length(Float3{2, 3, 6}), 7);
  EXPECT_EQ(normalized(Float3{0, 0, -4}), (Float3{0, 0, -1}));
}

/// 1 + 2^-12 squared is 1 + 2^-11 + 2^-24, which a float rounds to 1 + 2^-11: a fused difference would see the rest.
TEST(Vectors, RoundEachProduct) {
  const float x = 1 + 0x1p-12F;
  EXPECT_EQ(dot(Float3{x, -(1 + 0x1p-11F), 0}, Float3{x, 1, 0}), 0);
  EXPECT_EQ(cross(Float3{x, 1, 0}, Float3{1 + 0x1p-11F, x, 0}).z, 0);
  const Ray ray{LocalPoint(-(1 + 0x1p-11F), 0, 0), 0, {x, 0, 0}};
  EXPECT_EQ((ray.origin + x * ray.direction).x, 0);
}

// A point of the scene is no point of a ray by itself, nor the other way round.
static_assert(!std::is_convertible_v<Float3, LocalPoint> && !std::is_convertible_v<Double3, LocalPoint>);
static_assert(!std::is_convertible_v<LocalPoint, Double3> && !std::is_constructible_v<Double3, LocalPoint>);
static_assert(!std::is_assignable_v<decltype((std::declval<Ray&>().origin)), Float3>);
template <class... Numbers>
concept Braced = requires(Ray ray, Numbers... numbers) {
  ray.origin = {numbers...};
};
static_assert(!Braced<float, float, float> && !Braced<Float3>);

TEST(Vectors, PointsAndVectors) {
  const LocalPoint a(1, 2, 3), b(11, 22, 33);
  const Float3 vector = b - a;
  const LocalPoint moved = a + vector, back = b - vector;
  EXPECT_EQ(vector, (Float3{10, 20, 30}));
  EXPECT_EQ(moved, b);
  EXPECT_EQ(back, a);
}

TEST(Vectors, DoublesComeFromAnyVector) {
  std::optional<Double3> point = Eigen::Vector3d(1, 2, 3);
  EXPECT_EQ(*point, Double3(1, 2, 3));
  point = Eigen::Vector3d::Zero();
  EXPECT_EQ(*point, Double3());
  point = 2 * Eigen::Vector3f(1, 2, 3);
  EXPECT_EQ(point->z, 6);
}

TEST(Vectors, DoublesHaveTheirAxesInOrder) {
  Double3 point(1, 2, 3);
  for (int axis = 0; axis != 3; ++axis) EXPECT_EQ(point[axis], axis + 1);
  point[1] = 5;
  EXPECT_EQ(point, Double3(1, 5, 3));
}

/// Numbers that differ in every bit that a wrong order or a rounding would show.
Transform some_transform() {
  Transform transform;
  for (int k = 0; k != 12; ++k) transform.m[k] = (k + 1) / 3.0;
  return transform;
}

TEST(Transforms, AreTheIdentityByDefault) {
  const Transform identity;
  EXPECT_EQ(identity, Transform::Identity());
  EXPECT_EQ(identity, Transform(EigenTransform::Identity()));
  EXPECT_EQ(identity.point({1, 2, 3}), Double3(1, 2, 3));
  const Transform moved = Transform::Translation({10, 20, 30});
  EXPECT_NE(moved, identity);
  EXPECT_EQ(moved.point({1, 2, 3}), Double3(11, 22, 33));
  EXPECT_EQ(moved.direction({1, 2, 3}), Double3(1, 2, 3));
}

TEST(Transforms, AreRowsOfAMatrix) {
  Transform transform = some_transform();
  EXPECT_EQ(transform(0, 3), 4 / 3.0);
  EXPECT_EQ(transform(2, 1), 10 / 3.0);
  transform(1, 0) = -7;
  EXPECT_EQ(transform.m[4], -7);
  EXPECT_EQ(transform.direction({1, 0, 0}), Double3(1 / 3.0, -7, 3));
  EXPECT_EQ(transform.point({0, 0, 0}), Double3(4 / 3.0, 8 / 3.0, 4));
}

TEST(Transforms, GoToEigenAndBackUnchanged) {
  const Transform transform = some_transform();
  const EigenTransform eigen = to_eigen(transform);
  for (int row = 0; row != 3; ++row)
    for (int column = 0; column != 4; ++column) EXPECT_EQ(eigen.matrix()(row, column), transform(row, column));
  EXPECT_EQ(Transform(eigen), transform);
  EXPECT_EQ(Transform(Eigen::Affine3d(eigen)), transform);
  const Eigen::Vector3d point = to_eigen(Double3(1 / 3.0, -2, 3e300));
  EXPECT_EQ(point, Eigen::Vector3d(1 / 3.0, -2, 3e300));
  EXPECT_EQ(Double3(point), Double3(1 / 3.0, -2, 3e300));
  static_assert(std::is_convertible_v<Eigen::Affine3d, Transform> && std::is_trivially_copyable_v<Transform>);
}

}  // namespace
}  // namespace raylift
