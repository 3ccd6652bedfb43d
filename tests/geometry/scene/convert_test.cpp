// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <raylift/geometry/scene/convert.h>
#include <tbb/global_control.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "support/expect_error.h"

namespace raylift {
namespace {

using test::expect_error;
using testing::HasSubstr;

/// Elements between guards, so that a write beyond either end is seen; `shift` elements off a cache line's start.
template <class T>
class Guarded {
 public:
  Guarded(std::size_t count, std::size_t shift) : shift_(shift), all_(count + 2 * shift + 64, guard()) {
    const auto address = reinterpret_cast<std::uintptr_t>(all_.data());
    while ((address + shift_ * sizeof(T)) % 64 != (4 * shift) % 64 && shift_ < shift + 32) ++shift_;
    count_ = count;
  }
  std::span<T> span() { return std::span(all_).subspan(shift_, count_); }
  bool untouched_outside() const {
    for (std::size_t i = 0; i != all_.size(); ++i)
      if ((i < shift_ || i >= shift_ + count_) && !(all_[i] == guard())) return false;
    return true;
  }

 private:
  static T guard() {
    T value;
    std::memset(&value, 0x5A, sizeof value);
    return value;
  }
  std::size_t shift_;
  std::size_t count_;
  std::vector<T> all_;
};

template <class T>
class ToFloat3 : public testing::Test {};
using Numbers = testing::Types<float, double, std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t,
                               std::uint32_t, std::int64_t, std::uint64_t, long long, unsigned long>;
TYPED_TEST_SUITE(ToFloat3, Numbers);

template <class T>
std::vector<T> random_numbers(std::size_t count, bool indices) {
  std::mt19937_64 random(count);
  std::vector<T> values(count);
  for (T& value : values) {
    if constexpr (std::is_integral_v<T>) {
      value = static_cast<T>(random());
      if (indices && value < T{0}) value = static_cast<T>(-(value + T{1}));
      if (indices && sizeof(T) == 8) value = static_cast<T>(static_cast<std::uint64_t>(value) >> 32);
    } else {
      value =
          static_cast<T>(indices ? static_cast<double>(random() >> 42) : std::normal_distribution<>(0, 1e5)(random));
    }
  }
  return values;
}

TYPED_TEST(ToFloat3, GivesTheNearestFloatForEveryLayoutLengthAndStore) {
  using T = TypeParam;
  for (const std::size_t count : {0, 1, 15, 16, 17, 767, 768, 769, 1600, 70001}) {
    const std::vector<T> numbers = random_numbers<T>(3 * count + 7, false);
    const auto n = static_cast<std::ptrdiff_t>(count);
    const Rows layouts[] = {Rows(numbers.data(), count), Rows(numbers.data(), count, 1, n),
                            Rows(numbers.data(), count, 1, 2), Rows(numbers.data() + 3 * count, count, -3, 1),
                            Rows(numbers.data(), count, 0, 1)};
    for (const Rows& rows : layouts)
      for (const StoreMode mode : {StoreMode::cached, StoreMode::write_combined})
        for (const std::size_t shift : {0, 1, 5}) {
          if (rows.data == numbers.data() + 3 * count && count == 0) continue;
          Guarded<Float3> out(count, shift);
          to_float3(rows, out.span(), mode);
          const T* const data = static_cast<const T*>(rows.data);
          for (std::ptrdiff_t i = 0; i != n; ++i) {
            const Float3 expected{static_cast<float>(data[i * rows.row_stride]),
                                  static_cast<float>(data[i * rows.row_stride + rows.column_stride]),
                                  static_cast<float>(data[i * rows.row_stride + 2 * rows.column_stride])};
            ASSERT_EQ(out.span()[static_cast<std::size_t>(i)], expected) << "row " << i << " of " << count;
          }
          ASSERT_TRUE(out.untouched_outside());
        }
  }
}

template <class T>
class ToUint3 : public testing::Test {};
TYPED_TEST_SUITE(ToUint3, Numbers);

TYPED_TEST(ToUint3, KeepsEveryIndexForEveryLayoutLengthAndStore) {
  using T = TypeParam;
  for (const std::size_t count : {1, 16, 33, 769, 70001}) {
    const std::vector<T> numbers = random_numbers<T>(3 * count, true);
    const auto n = static_cast<std::ptrdiff_t>(count);
    for (const Rows& rows : {Rows(numbers.data(), count), Rows(numbers.data(), count, 1, n)})
      for (const StoreMode mode : {StoreMode::cached, StoreMode::write_combined}) {
        Guarded<UInt3> out(count, 3);
        to_uint3(rows, out.span(), mode);
        for (std::size_t i = 0; i != count; ++i) {
          const auto at = [&](std::ptrdiff_t column) {
            return static_cast<std::uint32_t>(numbers[static_cast<std::size_t>(
                static_cast<std::ptrdiff_t>(i) * rows.row_stride + column * rows.column_stride)]);
          };
          ASSERT_EQ(out.span()[i], (UInt3{at(0), at(1), at(2)})) << "row " << i << " of " << count;
        }
        ASSERT_TRUE(out.untouched_outside());
      }
  }
}

TEST(Convert, TakesEigensMatricesMapsBlocksTransposesAndExpressions) {
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor>;
  const Eigen::MatrixX3d columns = Eigen::MatrixX3d::Random(100, 3);
  const RowMajor rows = columns;
  const Eigen::MatrixXd wide = [&] {
    Eigen::MatrixXd m = Eigen::MatrixXd::Random(120, 7);
    m.block(10, 2, 100, 3) = columns;
    return m;
  }();
  const Eigen::Matrix3Xd transposed = columns.transpose();
  const Eigen::Map<const Eigen::MatrixX3d, 0, Eigen::OuterStride<>> map(wide.data() + 2 * 120 + 10, 100, 3,
                                                                        Eigen::OuterStride<>(120));
  const Eigen::Ref<const Eigen::MatrixX3d> ref = columns;

  const auto converted = [](const auto& matrix) {
    std::vector<Float3> out(static_cast<std::size_t>(matrix.rows()));
    to_float3(matrix, out);
    return out;
  };
  const std::vector<Float3> expected = converted(columns);
  EXPECT_EQ(expected[7].y, static_cast<float>(columns(7, 1)));
  EXPECT_EQ(converted(rows), expected);
  EXPECT_EQ(converted(wide.block(10, 2, 100, 3)), expected);
  EXPECT_EQ(converted(map), expected);
  EXPECT_EQ(converted(ref), expected);
  EXPECT_EQ(converted(transposed.transpose()), expected);
  EXPECT_EQ(converted(0.5 * (columns + columns)), expected);
  EXPECT_EQ(converted(columns.array()), expected);
  EXPECT_EQ(converted(columns.colwise().reverse())[0], expected[99]);

  Eigen::MatrixX3i indices(2, 3);
  indices << 1, 2, 3, 4, 5, 6;
  std::vector<UInt3> triangles(2);
  to_uint3(indices, triangles);
  EXPECT_EQ(triangles[1], (UInt3{4, 5, 6}));
}

TEST(Convert, RefusesWrongSizes) {
  std::vector<Float3> out(4);
  const std::vector<double> in(15);
  expect_error(ErrorKind::usage, [&] { to_float3(Rows(in.data(), 5), out); });
  expect_error(ErrorKind::usage, [&] { to_float3(Rows(static_cast<const float*>(nullptr), 4), out); });
  expect_error(ErrorKind::usage, [&] { convert_rows(Rows(in.data(), 5), 2, out, StoreMode::cached); });
  expect_error(ErrorKind::usage, [&] { to_float3(Eigen::MatrixXd(4, 2), out); });
  EXPECT_NO_THROW(to_float3(Rows(static_cast<const float*>(nullptr), 0), {}));
}

TEST(Convert, NamesTheFirstRowThatHasNoFloat) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  std::vector<Float3> out(100000);
  for (const double bad : {nan, infinity, -infinity, 3.5e38, -1e300})
    for (const std::size_t row : {0, 700, 99999})
      for (const std::ptrdiff_t stride : {3, 4}) {
        std::vector<double> in(400000, 1.0);
        for (std::size_t i = row; i < 100000; i += 1234) in[i * static_cast<std::size_t>(stride) + 2] = bad;
        for (const std::size_t threads : {1, 2, 8}) {
          const tbb::global_control control(tbb::global_control::max_allowed_parallelism, threads);
          const Error error =
              expect_error(ErrorKind::malformed, [&] { to_float3(Rows(in.data(), out.size(), stride), out); });
          ASSERT_EQ(error.element(), "row " + std::to_string(row));
        }
      }
  const float in[] = {1, 2, std::numeric_limits<float>::infinity()};
  const Error error = expect_error(ErrorKind::malformed, [&] { to_float3(Rows(in, 1), std::span(out).first(1)); });
  EXPECT_THAT(error.what(), HasSubstr("(1, 2, inf)"));
}

TEST(Convert, AcceptsTheLargestAndSmallestFloats) {
  const double largest = std::numeric_limits<float>::max();
  const double in[] = {largest, -largest, 1e-300};
  Float3 out;
  to_float3(Rows(in, 1), {&out, 1});
  EXPECT_EQ(out, (Float3{std::numeric_limits<float>::max(), -std::numeric_limits<float>::max(), 0}));
}

TEST(Convert, RefusesWhatIsNoIndexAndNamesItsRow) {
  const auto refused = [](auto bad) {
    std::vector<decltype(bad)> in(300, decltype(bad){1});
    in[3 * 77 + 1] = bad;
    std::vector<UInt3> out(100);
    const Error error = expect_error(ErrorKind::malformed, [&] { to_uint3(Rows(in.data(), 100), out); });
    EXPECT_EQ(error.element(), "row 77");
  };
  refused(-1.0);
  refused(0.5);
  refused(4294967296.0);
  refused(1e300);
  refused(std::numeric_limits<double>::quiet_NaN());
  refused(-0.25F);
  refused(5e9F);
  refused(std::int8_t{-1});
  refused(std::int16_t{-300});
  refused(-7);
  refused(std::int64_t{-1});
  refused(std::int64_t{1} << 32);
  refused(std::uint64_t{1} << 63);
}

TEST(Convert, AcceptsTheLargestIndex) {
  const double numbers[] = {4294967295.0, -0.0, 1};
  const std::int64_t integers[] = {4294967295, 0, 1};
  UInt3 out[2];
  to_uint3(Rows(numbers, 1), {&out[0], 1});
  to_uint3(Rows(integers, 1), {&out[1], 1});
  EXPECT_EQ(out[0], (UInt3{4294967295U, 0, 1}));
  EXPECT_EQ(out[1], out[0]);
}

TEST(Convert, ConvertsChunksAsItConvertsTheWhole) {
  const std::vector<double> in = random_numbers<double>(3 * 5000, false);
  std::vector<Float3> whole(5000);
  to_float3(Rows(in.data(), 5000), whole);
  std::vector<Float3> chunked(5000);
  for (std::size_t first = 0, length = 1; first != 5000;
       first += length, length = std::min(2 * length + 1, 5000 - first))
    convert_rows(Rows(in.data(), 5000), first, std::span(chunked).subspan(first, length), StoreMode::write_combined);
  EXPECT_EQ(chunked, whole);
}

TEST(Convert, AddsAnOffsetToIndices) {
  std::vector<std::uint32_t> in(3000);
  for (std::uint32_t i = 0; i != 3000; ++i) in[i] = i;
  std::vector<UInt3> out(990);
  for (const StoreMode mode : {StoreMode::cached, StoreMode::write_combined}) {
    convert_rows(Rows(in.data(), 1000), 10, out, mode, 0xFFFFFFFFU - 2999);
    EXPECT_EQ(out[0], (UInt3{0xFFFFFFFFU - 2969, 0xFFFFFFFFU - 2968, 0xFFFFFFFFU - 2967}));
    EXPECT_EQ(out[989].z, 0xFFFFFFFFU);
    const Error error = expect_error(ErrorKind::malformed,
                                     [&] { convert_rows(Rows(in.data(), 1000), 10, out, mode, 0xFFFFFFFFU - 2500); });
    EXPECT_EQ(error.element(), "row 833") << "2499 is its first number, 2501 does not fit";
  }
}

/// Where a row lies after all: stored around the middle, in double.
Eigen::Vector3d placed_at(const Double3& middle, const Float3& stored) {
  return {middle.x + double{stored.x}, middle.y + double{stored.y}, middle.z + double{stored.z}};
}

TEST(Convert, StoresRowsFarFromTheOriginAroundTheirMiddle) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> near(-20, 20);
  const Eigen::RowVector3d far(1e6 + 0.3, -3e7, 12.5);
  Eigen::Matrix<double, Eigen::Dynamic, 3> rows(70'000, 3);  // several chunks, column-major
  for (Eigen::Index i = 0; i != rows.rows(); ++i)
    rows.row(i) = far + Eigen::RowVector3d(near(random), near(random), near(random));
  std::vector<Float3> stored(static_cast<std::size_t>(rows.rows()));
  const Double3 middle = to_centered_float3(rows, stored);
  EXPECT_EQ(middle, (Double3{std::round(middle.x), std::round(middle.y), std::round(middle.z)}));
  double worst = 0;
  for (Eigen::Index i = 0; i != rows.rows(); ++i)
    worst = std::max(worst, (placed_at(middle, stored[static_cast<std::size_t>(i)]) - rows.row(i).transpose()).norm());
  EXPECT_LT(worst, 3e-6);  // floats at 30 mm; at 3e7 mm they are 2 mm apart
  // Integers that no float has.
  const std::vector<std::int64_t> exact{(1LL << 40) + 1, 5, 7, (1LL << 40) + 4, 6, 9};
  std::vector<Float3> two(2);
  const Double3 of_integers = to_centered_float3(Rows(exact.data(), 2), two);
  EXPECT_EQ(placed_at(of_integers, two[0]), Eigen::Vector3d(0x1p40 + 1, 5, 7));
  EXPECT_EQ(placed_at(of_integers, two[1]), Eigen::Vector3d(0x1p40 + 4, 6, 9));
}

TEST(Convert, LeavesRowsNearTheOriginAsTheyAre) {
  const std::vector<double> rows{100.5, 0, 0, 140, 10, 3};  // the middle is three boxes away
  std::vector<Float3> stored(2), plain(2);
  EXPECT_EQ(to_centered_float3(Rows(rows.data(), 2), stored), (Double3{}));
  to_float3(Rows(rows.data(), 2), plain);
  EXPECT_EQ(stored, plain);
  EXPECT_EQ(to_centered_float3(Rows(rows.data(), 0), {}), (Double3{}));
}

TEST(Convert, RefusesRowsThatNoMiddleHelps) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinite = std::numeric_limits<double>::infinity();
  std::vector<Float3> stored(2);
  for (const double bad : {nan, infinite, -infinite, 1e300})
    for (const std::size_t at : {0U, 1U, 5U}) {
      std::vector<double> rows{1e7, 1e7, 1e7, 1e7 + 1, 1e7, 1e7};
      rows[at] = bad;
      EXPECT_THAT(
          expect_error(ErrorKind::malformed, [&] { (void)to_centered_float3(Rows(rows.data(), 2), stored); }).problem(),
          HasSubstr("NaN, infinite, or too large"));
    }
  EXPECT_THAT(
      expect_error(ErrorKind::usage, [&] { (void)to_centered_float3(Rows(stored), std::span(stored).first(1)); })
          .problem(),
      HasSubstr("do not fill"));
}

TEST(Convert, CopiesBytesOfAnyLengthBetweenAnyAddresses) {
  std::vector<unsigned char> from(700);
  for (std::size_t i = 0; i != from.size(); ++i) from[i] = static_cast<unsigned char>(i * 7 + 1);
  for (std::size_t length = 0; length < 300; length += length < 40 ? 1 : 13)
    for (std::size_t start = 0; start != 66; start += 3) {
      const StoreMode mode = start % 2 == 0 ? StoreMode::write_combined : StoreMode::cached;
      std::vector<unsigned char> to(700, 0);
      copy_bytes(from.data() + start / 2, to.data() + start, length, mode);
      std::vector<unsigned char> expected(700, 0);
      std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(start / 2), length,
                  expected.begin() + static_cast<std::ptrdiff_t>(start));
      ASSERT_EQ(to, expected);
    }
}

}  // namespace
}  // namespace raylift
