// SPDX-License-Identifier: Apache-2.0
#include "load_optics.h"

#include <raylift/geometry/error.h>
#include <raylift/geometry/optics/surface_between.h>

#include <algorithm>

#include "input_file.h"
#include "optics/gdml.h"
#include "optics/property_table.h"
#include "optics/rayleigh.h"
#include "optics/sensors.h"
#include "optics/sidecar.h"

namespace raylift {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxBytes = std::uint64_t{256} << 20;  // of a sidecar, and of a file of columns

InputFile open_small(const fs::path& path, LoadLimits limits) {
  limits.file_bytes = std::min(limits.file_bytes, kMaxBytes);
  return {path, limits};
}

/// A file that a sidecar refers to: in the sidecar's folder or below it, wherever links lead.
fs::path below(const fs::path& sidecar, const std::string& name) {
  std::error_code error;
  const fs::path folder = fs::canonical(sidecar.parent_path().empty() ? "." : sidecar.parent_path(), error);
  const fs::path target = fs::weakly_canonical(folder / name, error);
  const auto [end, in_target] = std::mismatch(folder.begin(), folder.end(), target.begin(), target.end());
  if (error || name.empty() || fs::path(name).is_absolute() || end != folder.end() || in_target == target.end())
    throw Error(ErrorKind::malformed, "'" + name + "' is no file in the sidecar's folder or below it",
                {sidecar.string(), ""}, "give a relative path");
  return target;
}

bool is_gdml(const fs::path& path) {
  return extension_of(path) == "gdml";
}

void expect_known(const fs::path& path) {
  if (!is_gdml(path) && extension_of(path) != "json")
    throw Error(ErrorKind::unsupported, "optics are not read from such a file", {path.string(), ""},
                "give a sidecar (.json) or GDML (.gdml)");
}

void refuse_unhonoured(const Scene& scene) {
  const std::vector<UnhonouredProperty> all = unhonoured_properties(scene);
  if (all.empty()) return;
  std::string list;
  for (const UnhonouredProperty& one : all)
    list += (list.empty() ? "" : "; ") + property_owner(one.of, one.owner) + ": " + one.key + " (" + one.why + ")";
  throw Error(ErrorKind::unsupported,
              std::to_string(all.size()) + (all.size() == 1 ? " optical property is" : " optical properties are") +
                  " not honoured: " + list,
              {scene.source, ""}, "take them out, or leave out LoadOptions::strict_optics");
}

}  // namespace

fs::path own_optics_file(const fs::path& path) {
  return path.parent_path() / (path.filename().string() + ".optics.json");
}

fs::path optics_file(const fs::path& path, const LoadOptions& options) {
  if (!options.optics.empty() || !options.optics_beside) return options.optics;
  std::string name = path.filename().string();
  const auto there = [&path](const fs::path& beside) {
    std::error_code error;
    return fs::exists(beside, error) && beside != path;
  };
  // What 'raylift convert' writes holds for a file of that ending alone.
  if (const fs::path own = own_optics_file(path); there(own)) return own;
  const std::string ending = '.' + extension_of(path);
  if (ending.size() > 1 && ending.size() < name.size()) name.resize(name.size() - ending.size());
  const fs::path beside = path.parent_path() / (name + ".optics.json");
  return there(beside) ? beside : fs::path();
}

std::vector<fs::path> optics_files(const fs::path& path, const LoadOptions& options) {
  const fs::path file = optics_file(path, options);
  if (file.empty()) return {};
  expect_known(file);
  std::vector<fs::path> files{file};
  if (!is_gdml(file))
    for (const std::string& name : detail::files_of_sidecar(open_small(file, options.limits).text(), file.string()))
      files.push_back(below(file, name));
  return files;
}

std::optional<InputFile> open_optics(const fs::path& path, const LoadOptions& options) {
  const fs::path file = optics_file(path, options);
  if (file.empty()) return {};
  expect_known(file);
  return is_gdml(file) ? InputFile(file, options.limits) : open_small(file, options.limits);
}

bool has_files_below(const InputFile& optics) {
  return !is_gdml(optics.path());
}

void finish_optics(Scene& scene, const InputFile* optics, const LoadOptions& options) {
  if (optics != nullptr) {
    const fs::path& file = optics->path();
    if (is_gdml(file))
      detail::read_gdml(scene, optics->text(), file.string());
    else
      detail::read_sidecar(scene, optics->text(), file.string(), [&](const std::string& name) {
        return open_small(below(file, name), options.limits).text();
      });
  }
  if (scene.optics.empty()) return detail::compare_sensitive_volumes(scene);
  detail::add_sensors(scene, options.sensor_materials);
  check_optical_properties(scene);
  if (options.compute_rayleigh) detail::add_rayleigh(scene);
  resolve_optics(scene);
  detail::compare_sensitive_volumes(scene);
  if (options.strict_optics) refuse_unhonoured(scene);
}

}  // namespace raylift
