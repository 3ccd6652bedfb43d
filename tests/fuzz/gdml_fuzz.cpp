// SPDX-License-Identifier: Apache-2.0
// Any text as GDML: a document whose parts fit together and whose solids are closed, or an Error. Lines "=== NAME" in
// the text begin the files beside it, which entities and modules refer to.
#include <raylift/geometry/error.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/descriptor.h"
#include "import/gdml/gdml.h"

namespace {

using namespace raylift;

/// The scene's own text under "", and the others by name.
std::map<std::string, std::string> files_of(std::string_view text) {
  std::map<std::string, std::string> files;
  std::string name;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.starts_with("=== "))
      name = line.substr(4);
    else
      files[name] += std::string(line) + '\n';
  }
  return files;
}

InputFile input_of(const std::string& text) {
  base::Descriptor file(::memfd_create("fuzz", MFD_CLOEXEC));
  if (file.get() < 0 || base::write_all(file.get(), text) != 0) throw std::runtime_error("no memory for a file");
  return {"fuzz.gdml", file.release()};
}

/// Each edge is used as often in one direction as in the other.
bool is_closed(const imported::Geometry& geometry) {
  std::unordered_map<std::uint64_t, int> uses;
  for (const imported::Primitive& primitive : geometry.primitives)
    for (std::size_t i = 0; i != primitive.corners.size(); ++i) {
      const std::uint64_t a = primitive.corners[i], b = primitive.corners[i / 3 * 3 + (i + 1) % 3];
      uses[std::min(a, b) << 32 | std::max(a, b)] += a < b ? 1 : -1;
    }
  for (const auto& [edge, sum] : uses)
    if (sum != 0) return false;
  return true;
}

void check(const imported::Document& document) {
  const Scene& scene = document.scene;
  const auto demand = [](bool sound) {
    if (!sound) std::abort();
  };
  demand(scene.meshes.size() == document.geometries.size());
  demand(scene.optics.materials.empty() || scene.optics.materials.size() == scene.materials.size());
  for (std::size_t i = 0; i != scene.nodes.size(); ++i) {
    demand(scene.nodes[i].parent == kNone || scene.nodes[i].parent < i);
    demand(scene.nodes[i].volume == kNone || scene.nodes[i].volume < scene.volumes.size());
  }
  for (const Instance& instance : scene.instances) {
    demand(instance.mesh < scene.meshes.size() && instance.node < scene.nodes.size());
    demand(scene.bindings.at(instance.binding).size() == document.geometries[instance.mesh].primitives.size());
    demand(instance.outside == kNone || instance.outside < scene.materials.size());
  }
  for (const imported::Geometry& geometry : document.geometries) {
    for (const imported::Primitive& primitive : geometry.primitives)
      for (const std::uint32_t corner : primitive.corners) demand(corner < geometry.positions.count);
    demand(is_closed(geometry));
    demand(geometry.deviation.outward >= 0 && geometry.deviation.inward >= 0);
    demand(std::isfinite(geometry.deviation.outward + geometry.deviation.inward));
  }
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* /*count*/, char*** /*arguments*/) {
  ::setenv("RAYLIFT_OCCT", "/absent", 1);  // booleans of boxes are the project's own
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  LoadOptions options;
  options.limits.instances = 5'000;
  options.limits.nodes = 10'000;
  options.limits.polygon_vertices = 200;
  options.fineness.steps = data[0] % 2 == 0 ? 8 : 3;
  options.fineness.fit = static_cast<Fineness::Fit>(data[0] / 2 % 3);
  options.skip_failed_solids = data[0] / 6 % 2 != 0;
  options.rests = data[0] / 12 % 2 != 0;
  const std::map<std::string, std::string> files = files_of({reinterpret_cast<const char*>(data) + 1, size - 1});
  const auto own = files.find("");
  if (own == files.end()) return 0;
  try {
    check(gdml::read_gdml_scene(input_of(own->second), own->second, options, {},
                                [&](const std::string& name) -> std::optional<std::string> {
                                  const auto found = files.find(name);
                                  return found == files.end() ? std::nullopt : std::optional(found->second);
                                }));
  } catch (const Error&) {
  }
  return 0;
}
