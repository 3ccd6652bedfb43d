// SPDX-License-Identifier: Apache-2.0
// The module's parts, one file each, in the order in which they are added.
#pragma once

#include <pybind11/pybind11.h>

namespace raylift::python {

namespace py = pybind11;

void add_errors(py::module_& m);
void add_devices(py::module_& m);
void add_arrays(py::module_& m);
void add_scenes(py::module_& m);
void add_scene_edits(py::module_& m);
void add_optics(py::module_& m);
void add_checks(py::module_& m);
void add_geometry(py::module_& m);
void add_tracing(py::module_& m);
void add_photons(py::module_& m);
void add_modules(py::module_& m);
void add_client(py::module_& m);

}  // namespace raylift::python
