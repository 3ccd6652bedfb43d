// SPDX-License-Identifier: Apache-2.0
// Arguments of a kernel that was compiled at run time: In, Out and InOut for arrays
// of the host, as PyCUDA's driver.In, driver.Out and driver.InOut; and values.
#pragma once

#include <cstddef>
#include <memory>
#include <ranges>
#include <span>
#include <type_traits>

namespace raylift {

namespace detail {

/// An array of the host that stands for a pointer among a kernel's arguments.
struct HostArray {
  const void* from = nullptr;  ///< copied to the device before the kernel runs
  void* to = nullptr;          ///< copied back after
  std::size_t bytes = 0;
  void* device = nullptr;  ///< what the kernel gets
};

template <class Range>
concept Contiguous = std::ranges::contiguous_range<Range> && std::ranges::sized_range<Range> &&
    std::is_trivially_copyable_v<std::ranges::range_value_t<Range>>;
template <class Range>
concept Writable =
    Contiguous<Range> && !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<Range>>>;

template <class Range>
[[nodiscard]] std::size_t bytes_in(const Range& range) {
  return std::ranges::size(range) * sizeof(std::ranges::range_value_t<Range>);
}

}  // namespace detail

/// Copied to the device before the kernel runs: a vector, an array, a span of the host. It must stay until the call
/// returns.
class In {
 public:
  template <detail::Contiguous Range>
  explicit In(const Range& range) : array_{std::ranges::data(range), nullptr, detail::bytes_in(range), nullptr} {}
  [[nodiscard]] const detail::HostArray& array() const { return array_; }

 private:
  detail::HostArray array_;
};

/// Filled with what the kernel wrote. The kernel finds undefined values there.
class Out {
 public:
  template <detail::Writable Range>
  explicit Out(Range&& range) : array_{nullptr, std::ranges::data(range), detail::bytes_in(range), nullptr} {}
  [[nodiscard]] const detail::HostArray& array() const { return array_; }

 private:
  detail::HostArray array_;
};

/// Copied to the device before, and back after the kernel.
class InOut {
 public:
  template <detail::Writable Range>
  explicit InOut(Range&& range)
      : array_{std::ranges::data(range), std::ranges::data(range), detail::bytes_in(range), nullptr} {}
  [[nodiscard]] const detail::HostArray& array() const { return array_; }

 private:
  detail::HostArray array_;
};

namespace detail {

/// One argument of a launch: where its bytes are, and how many.
struct KernelArgument {
  void* value = nullptr;
  std::size_t bytes = 0;
  HostArray* array = nullptr;  ///< of In, Out and InOut; `value` is then its member `device`
};

/// The argument as it is kept for the time of the call.
template <class T>
[[nodiscard]] auto held_argument(const T& argument) {
  if constexpr (std::is_same_v<T, In> || std::is_same_v<T, Out> || std::is_same_v<T, InOut>) {
    return argument.array();
  } else if constexpr (requires { argument.device(); }) {  // DeviceBuffer, MappedBuffer, Memory and the like
    static_assert(std::is_pointer_v<decltype(argument.device())>);
    return argument.device();
  } else if constexpr (std::is_same_v<T, std::nullptr_t>) {
    return static_cast<void*>(nullptr);
  } else {
    static_assert(!std::is_array_v<T>, "an array of the host: write raylift::In(array)");
    static_assert(std::is_trivially_copyable_v<T>, "a kernel's arguments are copied byte by byte");
    return argument;
  }
}

template <class T>
[[nodiscard]] KernelArgument kernel_argument(T& held) {
  if constexpr (std::is_same_v<T, HostArray>)
    return {&held.device, sizeof held.device, &held};
  else
    return {const_cast<void*>(static_cast<const void*>(std::addressof(held))), sizeof(T), nullptr};
}

}  // namespace detail

}  // namespace raylift
