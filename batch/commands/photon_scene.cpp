// SPDX-License-Identifier: Apache-2.0
#include "photon_scene.h"

#include <raylift/geometry/checks/thickness.h>
#include <raylift/geometry/error.h>
#include <raylift/geometry/import/load.h>
#include <raylift/gpu/upload/broadcast.h>
#include <raylift/photon/propagate.h>

#include "batch/actions/thickness_text.h"
#include "device_options.h"
#include "gpu/src/cache/cache_files.h"
#include "gpu/src/cache/hash.h"

namespace raylift::batch {
using namespace cli;
namespace {

constexpr std::uint64_t kThicknessRays = 50'000;  // that take a small part of the time of any run

/// Names the solids that are thinner than the geometry resolves, or refuses them.
void look_at_thickness(Session& session, const PhotonSceneOptions& options, const Scene& scene,
                       const GeometryView& geometry, const Progress& progress) {
  const ThicknessReport report =
      measure_thickness(scene, {kThicknessRays, geometry.is_fine() ? kPositionStep : kFloatPositionStep}, progress);
  if (options.strict) refuse_thin_solids(scene, report);
  warn_of_thin_solids(scene, report, [&session](const std::string& line) { session.warn(line); });
}

}  // namespace

std::vector<GpuGeometry> upload_scene(Session& session, const PhotonSceneOptions& options, const Progress& progress,
                                      Scene& scene) {
  std::vector<GpuGeometry> geometries;
  bool is_outline = false;
  if (options.device != "all" && options.device.find(',') == std::string::npos) {
    CachedUpload uploaded = upload(options.file, options.load, open_device(session, options.device), options.upload,
                                   options.cache.with(session), progress);
    scene = uploaded.outline();
    is_outline = !uploaded.scene;
    geometries.push_back(std::move(uploaded.geometry));
  } else {
    const std::vector<Device> devices = several_devices(options.device);
    warn_of_no_gpu(session, options.device, devices);
    scene = load(options.file, options.load, options.cache.with(session), progress);
    geometries = broadcast(scene, devices, options.upload, progress);
  }
  if (scene.optics.empty())
    throw Error(ErrorKind::malformed, "the scene has no optics: light would end at once", {options.file, ""},
                "give it optics by --optics FILE, a sidecar (.json) or GDML (.gdml); see docs/optics.md");
  photon::refuse_unsimulated(scene);
  report_loaded(session, options.file, scene);
  const GeometryView& view = geometries.front().view();
  if (is_outline)  // it has no triangles, but the cache has them
    look_at_thickness(session, options, load(options.file, options.load, options.cache.with(session), progress), view,
                      progress);
  else
    look_at_thickness(session, options, scene, view, progress);
  for (const GpuGeometry& geometry : geometries) warn_of_steps(session, options.file, geometry);
  return geometries;
}

std::array<std::uint8_t, 32> geometry_digest(const PhotonSceneOptions& options, const Scene& scene,
                                             const Progress& progress) {
  const CacheKey key = cache_key(options.file, options.load, options.upload, progress);
  std::string text = "raylift geometry 1\n" + key.source.hex() + '\n' + key.options.hex() + '\n';
  for (const Hash256& hash : file_hashes(options.file, scene.files, progress)) text += hash.hex() + '\n';
  return detail::sha256(text.data(), text.size()).bytes;
}

}  // namespace raylift::batch
