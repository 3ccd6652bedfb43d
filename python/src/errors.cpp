// SPDX-License-Identifier: Apache-2.0
// raylift::Error as Python's raylift.Error, with kind and place.
#include <raylift/geometry/error.h>

#include "parts.h"

namespace raylift::python {
namespace {

/// Exceptions are Python classes, of raylift/errors.py.
void raise(const Error& error) {
  const py::object exception = py::module_::import("raylift.errors")
                                   .attr("make")(error.what(), to_string(error.kind()), error.file(), error.element(),
                                                 error.problem(), error.advice(), exit_code(error.kind()));
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
}

}  // namespace

void add_errors(py::module_&) {
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const Error& error) {
      raise(error);
    }
  });
}

}  // namespace raylift::python
