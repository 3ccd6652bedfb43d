// SPDX-License-Identifier: Apache-2.0
#include "gdml.h"

#include <raylift/geometry/error.h>

#include <optional>
#include <utility>
#include <vector>

#include "import/each_mesh.h"
#include "import/formats/polygon_reader.h"
#include "import/gdml/structure/structure.h"
#include "import/gdml/structure/structure_expand.h"
#include "optics/gdml.h"
#include "stage.h"
#include "surfaces.h"

namespace raylift::gdml {
namespace {

/// The meshes of the solids that are in the world, in the order of the file.
class Meshes {
 public:
  Meshes(const Detector& detector, const std::string& file, const LoadOptions& options)
      : detector_(detector), file_(file), options_(options), numbers_(detector.solids.size(), kNone) {}

  void make(const std::vector<bool>& in_world, const Progress& progress, imported::Document& document) {
    std::vector<bool> wanted(detector_.solids.size(), false);
    for (std::size_t i = 0; i != in_world.size(); ++i)
      if (in_world[i] && !detector_.volumes[i].assembly) wanted[detector_.volumes[i].solid] = true;
    std::vector<std::uint32_t> solids;
    for (std::uint32_t i = 0; i != wanted.size(); ++i)
      if (wanted[i]) solids.push_back(i);
    std::vector<std::optional<Error>> failures(solids.size());
    std::vector<imported::Geometry> geometries(solids.size());
    {
      const Stage stage(progress, "tessellate", solids.size());
      for_each_mesh(solids.size(), stage, document.scene.report, [&](std::size_t i, LoadReport&) {
        try {
          geometries[i] = geometry(solids[i]);
        } catch (const Error& error) {
          if (!options_.skip_failed_solids || error.kind() == ErrorKind::cancelled) throw;
          failures[i] = error;
        }
      });
    }
    for (std::size_t i = 0; i != solids.size(); ++i) {
      if (failures[i]) {
        document.scene.report.warnings.push_back("left out, with its volumes: " + std::string(failures[i]->what()));
        continue;
      }
      numbers_[solids[i]] = static_cast<std::uint32_t>(document.geometries.size());
      document.scene.meshes.emplace_back().name = geometries[i].id;
      document.geometries.push_back(std::move(geometries[i]));
    }
  }

  /// By solid.
  [[nodiscard]] const std::vector<std::uint32_t>& numbers() const { return numbers_; }

 private:
  [[nodiscard]] imported::Geometry geometry(std::uint32_t index) const {
    const Solid& solid = detector_.solids[index];
    try {
      if (detector_.failures[index]) throw Error(*detector_.failures[index]);
      // So that one solid does not take the time of all.
      const double seconds = options_.limits.isolate_seconds / 4;
      return geometry_of(surface_of(detector_.solids, index, options_.fineness, file_, seconds), solid.name,
                         options_.rests);
    } catch (const Error& error) {
      const bool named = !error.element().empty();
      std::string advice = error.advice();
      if (!options_.skip_failed_solids)
        advice += std::string(advice.empty() ? "" : ", ") + "or go without it: LoadOptions::skip_failed_solids";
      throw Error(
          error.kind(), error.problem(),
          {error.file().empty() ? file_ : error.file(), named ? error.element() : solid.kind + " '" + solid.name + "'"},
          advice);
    }
  }

  const Detector& detector_;
  const std::string& file_;
  const LoadOptions& options_;
  std::vector<std::uint32_t> numbers_;
};

}  // namespace

imported::Document read_gdml_scene(const InputFile& input, std::string text, const LoadOptions& options,
                                   const Progress& progress, const OpenFile& open) {
  const std::string file = input.path().string();
  Documents documents(file, input.size(), options.limits, open);
  Detector detector = [&] {
    const Stage stage(progress, "read");
    return read_detector(std::move(text), documents, options);
  }();
  imported::Document document;
  Scene& scene = document.scene;
  scene.format = "GDML";
  scene.source = file;
  imported::set_frame(scene, {1, Scene::Provenance::convention, UpAxis::z, Scene::Provenance::convention}, options);
  Meshes meshes(detector, file, options);
  meshes.make(volumes_in_world(detector, options.limits, file), progress, document);
  const Stage stage(progress, "expand");
  expand_structure(detector, meshes.numbers(), options.limits, documents.bytes(), scene);
  scene.report.warnings.insert(scene.report.warnings.begin(), detector.warnings.begin(), detector.warnings.end());
  scene.report.sensitive_volumes.assign(detector.sensitive_volumes.begin(), detector.sensitive_volumes.end());
  detail::GdmlTaken taken;
  for (const Detector::Source& source : detector.sources)
    detail::read_own_gdml(scene, source.xml->document_element(), detector.names, taken, source.file);
  return document;
}

}  // namespace raylift::gdml
