// SPDX-License-Identifier: Apache-2.0
// What the headers for kernels use of the standard library. NVRTC has no standard library; where the include path gives
// it none either, this page stands in for the few names that are needed, in namespace std, as kernels write them.
#pragma once

#if !defined(__CUDACC_RTC__) || (__has_include(<type_traits>) && __has_include(<cstdint>))

#include <bit>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#else

#ifndef UINT32_MAX
#define UINT8_MAX 0xFF
#define UINT16_MAX 0xFFFF
#define UINT32_MAX 0xFFFFFFFFU
#define UINT64_MAX 0xFFFFFFFFFFFFFFFFUL
#endif

namespace std {

using int8_t = signed char;
using int16_t = short;
using int32_t = int;
using int64_t = long;
using uint8_t = unsigned char;
using uint16_t = unsigned short;
using uint32_t = unsigned int;
using uint64_t = unsigned long;
using uintptr_t = unsigned long;
using size_t = decltype(sizeof(0));
using ptrdiff_t = long;
using nullptr_t = decltype(nullptr);

template <class T, T Value>
struct integral_constant {
  static constexpr T value = Value;
};
using true_type = integral_constant<bool, true>;
using false_type = integral_constant<bool, false>;
template <class A, class B>
struct is_same : false_type {};
template <class A>
struct is_same<A, A> : true_type {};
template <class A, class B>
inline constexpr bool is_same_v = is_same<A, B>::value;
template <class T>
inline constexpr bool is_trivially_copyable_v = __is_trivially_copyable(T);
template <class T>
inline constexpr bool is_standard_layout_v = __is_standard_layout(T);
template <class T>
inline constexpr bool is_enum_v = __is_enum(T);
template <class T>
struct remove_reference {
  using type = T;
};
template <class T>
struct remove_reference<T&> {
  using type = T;
};
template <class T>
struct remove_reference<T&&> {
  using type = T;
};
template <class T>
using remove_reference_t = typename remove_reference<T>::type;
template <class T>
struct remove_cv {
  using type = T;
};
template <class T>
struct remove_cv<const T> {
  using type = T;
};
template <class T>
struct remove_cv<volatile T> {
  using type = T;
};
template <class T>
struct remove_cv<const volatile T> {
  using type = T;
};
template <class T>
using remove_cv_t = typename remove_cv<T>::type;
template <class T>
using remove_cvref_t = remove_cv_t<remove_reference_t<T> >;
template <bool Condition, class A, class B>
struct conditional {
  using type = A;
};
template <class A, class B>
struct conditional<false, A, B> {
  using type = B;
};
template <bool Condition, class A, class B>
using conditional_t = typename conditional<Condition, A, B>::type;
template <class T>
inline constexpr bool is_floating_point_v = is_same_v<remove_cv_t<T>, float> || is_same_v<remove_cv_t<T>, double>;

template <class A, class B>
concept same_as = is_same_v<A, B> && is_same_v<B, A>;
template <class T>
concept floating_point = is_floating_point_v<T>;
template <class From, class To>
concept convertible_to = requires(From (&from)(), void (&take)(To)) {
  take(from());
};
template <class F, class... Arguments>
concept predicate = requires(F function, Arguments... arguments) {
  { function(arguments...) } -> convertible_to<bool>;
};

template <class T>
struct numeric_limits;
template <>
struct numeric_limits<float> {
  static constexpr __host__ __device__ float infinity() { return __builtin_bit_cast(float, 0x7F800000u); }
  static constexpr __host__ __device__ float max() { return 0x1.fffffep127F; }
  static constexpr __host__ __device__ float epsilon() { return 0x1p-23F; }
};
template <>
struct numeric_limits<double> {
  static constexpr __host__ __device__ double infinity() { return __builtin_bit_cast(double, 0x7FF0000000000000ull); }
};

using ::memcpy;

}  // namespace std

#endif
