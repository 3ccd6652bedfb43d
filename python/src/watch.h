// SPDX-License-Identifier: Apache-2.0
// Long calls: without the GIL, stopped by Ctrl-C, with progress reports to Python.
#pragma once

#include <pybind11/pybind11.h>
#include <raylift/geometry/error.h>
#include <raylift/geometry/progress.h>

#include <chrono>
#include <optional>
#include <string_view>
#include <utility>

namespace raylift::python {

namespace py = pybind11;

/// One long call. Made, used and destroyed with the GIL held; run() releases it.
class Watch {
 public:
  /// `progress` is an argument of raylift.progress.listener().
  explicit Watch(const py::object& progress);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// Runs work(progress) without the GIL. Throws KeyboardInterrupt, or the exception of the Python function.
  template <class Work>
  auto run(const Work& work) {
    const Progress progress(
        [this](std::string_view stage, std::uint64_t done, std::uint64_t total) { return hear(stage, done, total); });
    try {
      const py::gil_scoped_release release;
      return work(progress);
    } catch (const Error& error) {
      if (raised_ && error.kind() == ErrorKind::cancelled) throw py::error_already_set(*raised_);
      throw;
    }
  }

  /// Throws Error(cancelled) if the call shall end. Called without the GIL.
  void check(std::string_view stage, std::uint64_t done, std::uint64_t total);

 private:
  bool hear(std::string_view stage, std::uint64_t done, std::uint64_t total);

  py::object listener_;
  std::optional<py::error_already_set> raised_;
  std::chrono::steady_clock::time_point next_{};
};

/// Runs work without progress reports, without the GIL.
template <class Work>
auto without_gil(const Work& work) {
  const py::gil_scoped_release release;
  return work();
}

}  // namespace raylift::python
