// SPDX-License-Identifier: Apache-2.0
// Any bytes into the COLLADA preflight: it returns a document whose parts fit together, or throws an Error.
#include <raylift/geometry/error.h>

#include <cstdint>
#include <cstdlib>

#include "import/collada/collada.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace raylift;
  LoadOptions options;
  options.limits.instances = 10'000;
  options.limits.nodes = 20'000;
  try {
    const collada::Document document =
        collada::preflight(std::string(reinterpret_cast<const char*>(data), size), "fuzz.dae", options, {});
    const Scene& scene = document.scene;
    if (scene.instances.empty() || scene.meshes.size() != document.geometries.size()) std::abort();
    for (const Instance& instance : scene.instances) {
      if (instance.mesh >= scene.meshes.size() || instance.node >= scene.nodes.size()) std::abort();
      if (scene.bindings.at(instance.binding).size() != document.geometries[instance.mesh].primitives.size())
        std::abort();
    }
    for (std::size_t i = 0; i != scene.nodes.size(); ++i)
      if (scene.nodes[i].parent != kNone && scene.nodes[i].parent >= i) std::abort();
  } catch (const Error&) {
  }
  return 0;
}
