// SPDX-License-Identifier: Apache-2.0
// Any bytes as a sidecar, or as GDML where they begin with '<', over a small scene: what is taken passes the checks or
// ends in an Error, and what is exported of it reads back the same.
#include <raylift/geometry/error.h>
#include <raylift/geometry/optics/properties.h>
#include <raylift/geometry/optics/sidecar.h>
#include <raylift/geometry/optics/surface_between.h>

#include <cstdint>
#include <cstdlib>

#include "optics/gdml.h"
#include "optics/sidecar.h"
#include "support/tank_scene.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace raylift;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto columns = [](const std::string&) { return std::string("a,b\n300,0.5\n400,0.25\n"); };
  Scene scene = test::tank_scene();
  try {
    if (text.starts_with('<'))
      detail::read_gdml(scene, text, "fuzz.gdml");
    else
      detail::read_sidecar(scene, text, "fuzz.json", columns);
    check_optical_properties(scene);
    const std::string written = optics_json(scene);
    Scene again = test::tank_scene();
    detail::read_sidecar(again, written, "again.json", columns);
    if (!(again.optics == scene.optics) && optics_json(again) != written) std::abort();
    resolve_optics(scene);
  } catch (const Error&) {
  }
  return 0;
}
