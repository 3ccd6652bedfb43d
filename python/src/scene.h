// SPDX-License-Identifier: Apache-2.0
// A scene as Python holds it.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <raylift/geometry/error.h>
#include <raylift/geometry/optics/properties.h>
#include <raylift/geometry/optics/surface_between.h>
#include <raylift/geometry/scene/scene.h>

#include <memory>
#include <string>
#include <utility>

namespace raylift::python {

namespace py = pybind11;

/// A scene that may change. Calls that read it use ready(), calls that change it use change(), and calls that read it
/// without the GIL use a SceneUse.
struct SceneBox {
  Scene scene;
  bool stale = false;  ///< bounds and resolved optics belong to an earlier state
  int uses = 0;

  /// The scene, to be changed before Python runs again. Throws Error(usage) while a call reads it without the GIL: then
  /// this is another thread, or that call's progress function.
  Scene& change() {
    if (uses != 0)
      throw Error(ErrorKind::usage, "the scene is read by a call that has not returned", {scene.source, ""},
                  "change it after raylift.upload(), check() or find_overlaps()");
    stale = true;
    return scene;
  }
  /// Checks the changes, and updates bounds and resolved optics. Throws what check_optical_properties() and
  /// resolve_optics() do.
  const Scene& ready() {
    if (stale) {
      scene.bounds = world_bounds(scene);
      check_optical_properties(scene);
      resolve_optics(scene);
      stale = false;
    }
    return scene;
  }
};
using ScenePointer = std::shared_ptr<SceneBox>;

/// Prevents changes of a scene. Made and destroyed with the GIL held.
class SceneUse {
 public:
  explicit SceneUse(ScenePointer box) : box_(std::move(box)) { ++box_->uses; }
  ~SceneUse() { --box_->uses; }
  SceneUse(const SceneUse&) = delete;
  SceneUse& operator=(const SceneUse&) = delete;

 private:
  ScenePointer box_;
};

/// Checks Python's index into a list of `count`. Throws IndexError.
[[nodiscard]] inline std::uint32_t index_in(std::size_t count, py::ssize_t index, const char* what) {
  const py::ssize_t at = index < 0 ? index + static_cast<py::ssize_t>(count) : index;
  if (at < 0 || static_cast<std::size_t>(at) >= count)
    throw py::index_error("there is no " + std::string(what) + " " + std::to_string(index));
  return static_cast<std::uint32_t>(at);
}
/// kNone as Python's None.
[[nodiscard]] inline py::object or_none(std::uint32_t index) {
  return index == kNone ? py::object(py::none()) : py::object(py::int_(index));
}
/// The array, read-only: writes into the scene's own memory must not happen, and writes into a copy would have no effect.
template <class NumpyArray>
[[nodiscard]] NumpyArray read_only(NumpyArray array) {
  py::detail::array_proxy(array.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  return array;
}
/// Numbers of the scene as a read-only NumPy array; `owner` keeps them allocated.
template <class T>
[[nodiscard]] py::array array_of(const T* data, std::vector<py::ssize_t> shape, const py::object& owner) {
  return read_only(py::array(py::dtype::of<T>(), std::move(shape), data, owner));
}

}  // namespace raylift::python
