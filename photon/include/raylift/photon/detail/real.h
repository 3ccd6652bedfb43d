// SPDX-License-Identifier: Apache-2.0
// A float whose operations are each rounded on their own, so that a formula gives the same bits on the host and on the
// device, whatever the compiler would like to fuse.
#pragma once

#include <raylift/geometry/detail/arithmetic.h>
#include <raylift/geometry/detail/standard.h>

namespace raylift::photon {

/// Products, quotients and roots are rounded to nearest on their own: a sum can then not be fused with a product.
/// Converts from and to float implicitly.
class Real {
 public:
  Real() = default;
  RAYLIFT_HD constexpr Real(float value) : value_(value) {}
  [[nodiscard]] RAYLIFT_HD constexpr operator float() const { return value_; }

 private:
  float value_;
};

/// A Real and a Real or a float, in either order.
template <class A, class B>
concept Reals = (std::same_as<A, Real> && (std::same_as<B, Real> || std::same_as<B, float>)) ||
                (std::same_as<A, float> && std::same_as<B, Real>);

template <class A, class B>
requires Reals<A, B> RAYLIFT_HD_INLINE Real operator+(A a, B b) {
  return static_cast<float>(a) + static_cast<float>(b);
}
template <class A, class B>
requires Reals<A, B> RAYLIFT_HD_INLINE Real operator-(A a, B b) {
  return static_cast<float>(a) - static_cast<float>(b);
}
RAYLIFT_HD_INLINE Real operator-(Real a) {
  return -static_cast<float>(a);
}
template <class A, class B>
requires Reals<A, B> RAYLIFT_HD_INLINE Real operator*(A a, B b) {
  return arithmetic_detail::product(static_cast<float>(a), static_cast<float>(b));
}
template <class A, class B>
requires Reals<A, B> RAYLIFT_HD_INLINE Real operator/(A a, B b) {
#if defined(__CUDA_ARCH__)
  return __fdiv_rn(static_cast<float>(a), static_cast<float>(b));
#else
  return static_cast<float>(a) / static_cast<float>(b);
#endif
}
template <class A, class B>
requires Reals<A, B> RAYLIFT_HD_INLINE bool operator<(A a, B b) {
  return static_cast<float>(a) < static_cast<float>(b);
}
template <class A, class B>
requires Reals<A, B> RAYLIFT_HD_INLINE bool operator>(A a, B b) {
  return static_cast<float>(a) > static_cast<float>(b);
}
template <class A, class B>
requires Reals<A, B> RAYLIFT_HD_INLINE bool operator<=(A a, B b) {
  return static_cast<float>(a) <= static_cast<float>(b);
}
template <class A, class B>
requires Reals<A, B> RAYLIFT_HD_INLINE bool operator>=(A a, B b) {
  return static_cast<float>(a) >= static_cast<float>(b);
}
template <class A, class B>
requires Reals<A, B> RAYLIFT_HD_INLINE bool operator==(A a, B b) {
  return static_cast<float>(a) == static_cast<float>(b);
}

RAYLIFT_HD_INLINE Real square_root(Real x) {
#if defined(__CUDA_ARCH__)
  return __fsqrt_rn(x);
#else
  return std::sqrt(static_cast<float>(x));
#endif
}
RAYLIFT_HD_INLINE Real smaller(Real a, Real b) {
  return a < b ? a : b;
}
RAYLIFT_HD_INLINE Real larger(Real a, Real b) {
  return a > b ? a : b;
}
RAYLIFT_HD_INLINE Real magnitude(Real a) {
  return a < Real(0) ? -a : a;
}

/// A vector of Reals.
struct Vector {
  Real x, y, z;

  RAYLIFT_HD Vector(Real x_, Real y_, Real z_) : x(x_), y(y_), z(z_) {}
  RAYLIFT_HD Vector(Float3 v) : x(v.x), y(v.y), z(v.z) {}
  [[nodiscard]] RAYLIFT_HD operator Float3() const { return {x, y, z}; }

  friend RAYLIFT_HD Vector operator+(Vector a, Vector b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
  friend RAYLIFT_HD Vector operator-(Vector a, Vector b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
  friend RAYLIFT_HD Vector operator-(Vector a) { return {-a.x, -a.y, -a.z}; }
  friend RAYLIFT_HD Vector operator*(Real s, Vector a) { return {s * a.x, s * a.y, s * a.z}; }
};

RAYLIFT_HD_INLINE Real dot(Vector a, Vector b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
RAYLIFT_HD_INLINE Vector cross(Vector a, Vector b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
/// The vector scaled to length 1. Precondition: its length is not 0.
RAYLIFT_HD_INLINE Vector unit(Vector a) {
  return (Real(1) / square_root(dot(a, a))) * a;
}
/// Some unit vector perpendicular to a unit vector (T. Duff et al., "Building an Orthonormal Basis, Revisited", JCGT
/// 6(1), 2017).
RAYLIFT_HD_INLINE Vector perpendicular(Vector n) {
  const Real sign = n.z < Real(0) ? Real(-1) : Real(1);
  const Real a = Real(-1) / (sign + n.z);
  return {Real(1) + sign * n.x * n.x * a, sign * n.x * n.y * a, -sign * n.x};
}

}  // namespace raylift::photon
