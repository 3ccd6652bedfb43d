// SPDX-License-Identifier: Apache-2.0
#include "watch.h"

#include <string>

namespace raylift::python {

Watch::Watch(const py::object& progress)
    : listener_(py::module_::import("raylift.progress").attr("listener")(progress)) {}

Watch::~Watch() {
  if (listener_.is_none() || !py::hasattr(listener_, "close")) return;
  try {
    // An exception that is already raised stays.
    const py::error_scope keep;
    listener_.attr("close")();
  } catch (py::error_already_set& error) {
    error.discard_as_unraisable("raylift.progress");
  }
}

bool Watch::hear(std::string_view stage, std::uint64_t done, std::uint64_t total) {
  using namespace std::chrono_literals;
  const auto now = std::chrono::steady_clock::now();
  if (now < next_ && done != 0 && done != total) return true;
  next_ = now + 50ms;
  const py::gil_scoped_acquire acquire;
  try {
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    if (listener_.is_none()) return true;
    const py::object answer = listener_(std::string(stage), done, total);
    return !answer.is(py::bool_(false));
  } catch (py::error_already_set& error) {
    raised_.emplace(error);
    return false;
  }
}

void Watch::check(std::string_view stage, std::uint64_t done, std::uint64_t total) {
  if (!hear(stage, done, total)) throw Error(ErrorKind::cancelled, "cancelled while " + std::string(stage));
}

}  // namespace raylift::python
