// SPDX-License-Identifier: Apache-2.0
#include "parts.h"

PYBIND11_MODULE(_raylift, m) {
  using namespace raylift::python;
  m.doc() = "raylift's compiled part; import raylift.";
  m.attr("__version__") = RAYLIFT_VERSION;
  m.attr("data_folder") = py::module_::import("pathlib").attr("Path")(RAYLIFT_DATA_FOLDER);
  add_errors(m);
  add_devices(m);
  add_arrays(m);
  add_scenes(m);
  add_scene_edits(m);
  add_optics(m);
  add_checks(m);
  add_geometry(m);
  add_tracing(m);
  add_photons(m);
  add_modules(m);
  add_client(m);
}
