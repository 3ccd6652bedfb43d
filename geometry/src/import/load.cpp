// SPDX-License-Identifier: Apache-2.0
// load: which reader a file gets, and what happens to every scene after it is read.
#include <pthread.h>
#include <raylift/geometry/error.h>
#include <raylift/geometry/import/load.h>
#include <raylift/geometry/scene/eigen.h>
#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "base/units.h"
#include "convert_mesh.h"
#include "each_mesh.h"
#include "input_file.h"
#include "isolate.h"
#include "load_optics.h"
#include "read_scene.h"
#include "scene/thin_layers.h"
#include "stage.h"
#include "step/step_module.h"

namespace raylift {
namespace {

/// A mesh without a triangle is no solid: its instances go, and the numbers of the meshes after it move up.
void remove_empty_meshes(Scene& scene) {
  std::vector<std::uint32_t> moved(scene.meshes.size(), kNone);
  std::uint32_t kept = 0;
  for (std::size_t i = 0; i != scene.meshes.size(); ++i) {
    if (scene.meshes[i].triangles.empty()) {
      scene.report.warnings.push_back("mesh '" + scene.meshes[i].name + "' has no triangles and is left out");
      continue;
    }
    moved[i] = kept;
    if (kept != i) scene.meshes[kept] = std::move(scene.meshes[i]);
    ++kept;
  }
  if (kept == scene.meshes.size()) return;
  scene.meshes.resize(kept);
  std::erase_if(scene.instances, [&](const Instance& instance) { return moved[instance.mesh] == kNone; });
  for (Instance& instance : scene.instances) instance.mesh = moved[instance.mesh];
}

/// Whether a transform squashes volumes flat. Scaled first: the determinant of a tiny scale underflows.
bool singular(const Transform& transform) {
  const Eigen::Matrix3d linear = to_eigen(transform).linear();
  const double largest = linear.cwiseAbs().maxCoeff();
  return largest == 0 || (linear / largest).determinant() == 0;
}

using base::kFarthestMm;
constexpr double kSmallestScale = 1 / kFarthestMm;  // lengths below are squared to 0

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

/// Throws Error(malformed) where the solid's transform brings its vertices out of the range of floats.
void check_range(const Scene& scene, const Instance& instance) {
  const auto fail = [&](const std::string& problem) {
    throw Error(ErrorKind::malformed, problem, {scene.source, "solid '" + scene.path(instance) + "'"},
                "correct the unit and the transforms, or state the unit with LoadOptions::unit_mm");
  };
  const EigenTransform transform = to_eigen(instance.transform);
  if (!transform.matrix().allFinite()) fail("the transforms above a solid multiply to infinity");
  const double scale = transform.linear().cwiseAbs().maxCoeff();
  if (scale > kFarthestMm || (scale != 0 && scale < kSmallestScale))
    fail("the transforms above a solid scale it by " + number(scale) + ", out of the range of floats");
}

void finish(Scene& scene, const LoadOptions& options, const Progress& progress) {
  {
    const Stage stage(progress, "weld", scene.meshes.size());
    for_each_mesh(scene.meshes.size(), stage, scene.report,
                  [&](std::size_t i, LoadReport& report) { finish_mesh(scene.meshes[i], options, report); });
  }
  std::sort(scene.files.begin(), scene.files.end(),
            [](const Scene::SourceFile& a, const Scene::SourceFile& b) { return a.path < b.path; });
  scene.files.erase(
      std::unique(scene.files.begin(), scene.files.end(),
                  [](const Scene::SourceFile& a, const Scene::SourceFile& b) { return a.path == b.path; }),
      scene.files.end());
  remove_empty_meshes(scene);
  if (scene.instances.empty())
    throw Error(ErrorKind::malformed, "the scene is empty: no triangle is placed anywhere", {scene.source, ""});
  if (scene.unique_triangles() > options.limits.triangles)
    throw Error(ErrorKind::limit, "more than " + std::to_string(options.limits.triangles) + " triangles",
                {scene.source, ""}, "raise the limit with LoadLimits::triangles");
  std::size_t flat = 0;
  for (const Instance& instance : scene.instances) {
    check_range(scene, instance);
    flat += singular(instance.transform) ? 1 : 0;
  }
  if (flat != 0)
    scene.report.warnings.push_back(std::to_string(flat) + " solids are squashed flat by a singular transform");
  scene.bounds = world_bounds(scene);
  const double farthest = scene.bounds.reach();
  if (!(farthest <= kFarthestMm))
    throw Error(ErrorKind::malformed, "the scene reaches to " + number(farthest) + " mm, beyond the range of floats",
                {scene.source, ""}, "correct its unit, or state it with LoadOptions::unit_mm");
}

/// A warning for each option that was stated and means nothing to this format: a batch may have files of several.
void warn_of_idle_options(const InputFile& input, const LoadOptions& options, LoadReport& report) {
  const bool is_gdml = input.extension() == "gdml", is_step = step::is_step(input.extension());
  const Fineness& fineness = options.fineness;
  struct Stated {
    bool stated, has_effect;
    const char *option, *formats;
  };
  for (const Stated& one : {
           Stated{!options.setup.empty(), is_gdml, "LoadOptions::setup", "GDML"},
           Stated{fineness.chord != 0, is_gdml || is_step, "LoadOptions::fineness.chord", "GDML and STEP"},
           Stated{fineness.steps != 0, is_gdml || is_step, "LoadOptions::fineness.steps", "GDML and STEP"},
           Stated{fineness.fit != Fineness{}.fit, is_gdml, "LoadOptions::fineness.fit", "GDML"},
           Stated{options.skip_failed_solids, is_gdml || is_step, "LoadOptions::skip_failed_solids", "GDML and STEP"},
           Stated{options.external, is_collada(input.extension()), "LoadOptions::external", "COLLADA"},
           Stated{options.reader != LoadOptions::Reader::raylift, !is_gdml && !is_step, "LoadOptions::reader",
                  "formats that Assimp reads"},
       })
    if (one.stated && !one.has_effect)
      report.warnings.push_back(std::string(one.option) + " has no effect on a ." + input.extension() +
                                " file, only on " + one.formats);
}

/// Warnings are read by people: no file makes more than these.
void limit_warnings(LoadReport& report) {
  constexpr std::size_t kMax = 1000;
  if (report.warnings.size() <= kMax) return;
  const std::size_t others = report.warnings.size() - kMax;
  report.warnings.resize(kMax);
  report.warnings.push_back(std::to_string(others) + " more warnings are left out");
}

void check_unit(const LoadOptions& options) {
  if (options.unit_mm && !(std::isfinite(*options.unit_mm) && *options.unit_mm > 0))
    throw Error(ErrorKind::usage, "the unit must be a positive, finite length");
}

void check_fineness(const Fineness& fineness) {
  constexpr std::uint32_t kMaxSteps = 100'000;
  if (!(std::isfinite(fineness.chord) && fineness.chord >= 0))
    throw Error(ErrorKind::usage, "the chord must be a finite length of at least 0");
  if (fineness.steps != 0 && (fineness.steps < 3 || fineness.steps > kMaxSteps))
    throw Error(ErrorKind::usage, "a turn has from 3 to " + std::to_string(kMaxSteps) + " facets");
}

void check_reader(const LoadOptions& options) {
  if (options.reader == LoadOptions::Reader::raylift) return;
  const auto refuse = [](const char* problem, const char* option) {
    throw Error(ErrorKind::usage, problem, {}, "leave out LoadOptions::reader or " + std::string(option));
  };
  if (options.external)
    refuse("Assimp's importers do not follow references to other documents", "LoadOptions::external");
  if (options.strict_optics)
    refuse("Assimp's importers leave out a file's optics, so that it is unknown whether all are honoured",
           "LoadOptions::strict_optics");
}

void check_extension(const InputFile& input) {
  const std::vector<std::string> known = supported_extensions();
  if (std::find(known.begin(), known.end(), input.extension()) != known.end()) return;
  std::string list;
  for (const std::string& one : known) list += (list.empty() ? "" : " ") + one;
  throw Error(ErrorKind::unsupported, "files ending in '." + input.extension() + "' are not read",
              {input.path().string(), ""}, "raylift reads: " + list);
}

/// Whether a thread's stack can't be allocated: pthread_create() returns EAGAIN then, as it does at a limit on threads.
bool no_memory_for_stack() {
  pthread_attr_t attributes;
  std::size_t bytes = 0;
  if (::pthread_attr_init(&attributes) != 0) return true;
  ::pthread_attr_getstacksize(&attributes, &bytes);
  ::pthread_attr_destroy(&attributes);
  void* const stack = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (stack == MAP_FAILED) return true;
  ::munmap(stack, bytes);
  return false;
}

/// The error of starting a thread now, if there is one.
std::error_code thread_error() {
  try {
    std::thread([] {}).join();
    return {};
  } catch (const std::system_error& error) {
    return error.code();
  }
}

/// Calls work(). TBB reports that it can't start a thread by a std::runtime_error without a code: whether that was the
/// reason is found out by starting one.
template <class Work>
Scene name_thread_failures(const std::string& file, const Work& work) {
  try {
    return work();
  } catch (const Error&) {
    throw;
  } catch (const std::runtime_error&) {
    const std::error_code code = thread_error();
    if (!code) throw;
    if (no_memory_for_stack())
      throw Error(ErrorKind::out_of_host_memory, "no memory left to start a thread", {file, ""});
    throw Error(ErrorKind::system, "no thread can be started: " + code.message(), {file, ""});
  }
}

}  // namespace

Scene import_scene(const SceneInputs& inputs, const LoadOptions& options, const Progress& progress) {
  return name_thread_failures(inputs.scene.path().string(), [&] {
    Scene scene = read_scene(inputs.scene, options, progress);
    finish(scene, options, progress);
    finish_optics(scene, inputs.optics, options);
    warn_of_idle_options(inputs.scene, options, scene.report);
    limit_warnings(scene.report);
    // Thin layers want more of the file's numbers than floats keep: rare, so the file is read again then.
    if (options.rests || options.reader != LoadOptions::Reader::raylift || scene.optics.empty() ||
        !has_thin_layers(scene))
      return scene;
    LoadOptions again = options;
    again.rests = true;
    scene = {};
    return import_scene(inputs, again, progress);
  });
}

Scene load(const std::filesystem::path& path, const LoadOptions& options, const Progress& progress) {
  check_unit(options);
  check_fineness(options.fineness);
  check_reader(options);
  const InputFile input(path, options.limits);
  check_extension(input);
  const std::optional<InputFile> optics = open_optics(path, options);
  const SceneInputs inputs{input, optics ? &*optics : nullptr};
  try {
    if (!options.isolate) return import_scene(inputs, options, progress);
    return name_thread_failures(path.string(), [&] { return load_isolated(inputs, options, progress); });
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::out_of_host_memory, "no memory left to load the file", {path.string(), ""});
  } catch (const std::length_error&) {
    throw Error(ErrorKind::out_of_host_memory, "the file asks for more memory than there can be", {path.string(), ""});
  }
}

std::vector<std::string> supported_extensions() {
  std::vector<std::string> result = assimp_extensions();
  for (const char* own : {"dae", "zae", "dae.gz", "gdml"}) result.emplace_back(own);
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

}  // namespace raylift
