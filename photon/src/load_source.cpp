// SPDX-License-Identifier: Apache-2.0
#include <raylift/geometry/error.h>
#include <raylift/photon/load_source.h>
#include <raylift/photon/npy.h>
#include <raylift/photon/parse_source.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "generate.h"
#include "import/archive.h"

namespace raylift::photon {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPhotons = "photons:", kGensteps = "gensteps:";
/// Chroma's arrays.
constexpr const char *kPosition = "pos.npy", *kDirection = "dir.npy", *kPolarization = "pol.npy",
                     *kWavelength = "wavelengths.npy", *kTime = "t.npy";

/// Chroma's arrays, in a folder or in an archive of NumPy's.
class Columns {
 public:
  Columns(const fs::path& path, const LoadLimits& limits)
      : path_(path), limits_(limits), is_folder_(fs::is_directory(path)) {}

  /// One of them, as long as pos.npy; empty where it may be missing and is.
  template <class T>
  std::vector<T> read(const char* name, bool needed) {
    constexpr std::array<std::uint64_t, 1> kThree{3};
    constexpr std::size_t kAxes = sizeof(T) == sizeof(Float3) ? 1 : 0;
    const std::optional<NpyReader> file = open(name);
    if (!file && needed)
      throw Error(is_folder_ ? ErrorKind::io : ErrorKind::malformed, "the array is not there",
                  {(path_ / name).string(), ""});
    if (!file) return {};
    std::vector<T> result = read_npy<T>(*file, NpyType::float32, std::span(kThree).first(kAxes));
    if (!rows_) rows_ = result.size();
    if (result.size() != *rows_)
      throw Error(ErrorKind::malformed,
                  "it has " + std::to_string(result.size()) + " rows, and pos.npy has " + std::to_string(*rows_),
                  {(path_ / name).string(), ""});
    return result;
  }

 private:
  [[nodiscard]] std::optional<NpyReader> open(const char* name) const {
    if (is_folder_) return fs::exists(path_ / name) ? std::optional<NpyReader>(path_ / name) : std::nullopt;
    std::optional<std::string> bytes = read_zip_entry(path_, name, limits_);
    if (!bytes) return std::nullopt;
    return NpyReader(std::move(*bytes), path_ / name);
  }

  const fs::path& path_;
  const LoadLimits& limits_;
  bool is_folder_;
  std::optional<std::size_t> rows_;
};

std::vector<StartPhoton> read_columns(const fs::path& path, const LoadLimits& limits) {
  Columns columns(path, limits);
  const auto position = columns.read<Float3>(kPosition, true);
  const std::size_t count = position.size();
  const auto direction = columns.read<Float3>(kDirection, true);
  const auto polarization = columns.read<Float3>(kPolarization, false);
  const auto wavelength = columns.read<float>(kWavelength, true);
  const auto time = columns.read<float>(kTime, false);
  std::vector<StartPhoton> photons(count);
  for (std::size_t i = 0; i != count; ++i) {
    photons[i] = {position[i],
                  time.empty() ? 0 : time[i],
                  direction[i],
                  0,
                  polarization.empty() ? Float3{0, 0, 0} : polarization[i],
                  wavelength[i],
                  {}};
  }
  return photons;
}

/// The path after a prefix; nothing where the text has another.
std::optional<fs::path> path_after(std::string_view prefix, std::string_view text) {
  if (!text.starts_with(prefix)) return std::nullopt;
  const std::string path(text.substr(prefix.size()));
  std::error_code ignored;
  if (!fs::exists(path, ignored))
    throw Error(ErrorKind::usage, "'" + std::string(text) + "' of the source names no file that is there");
  return path;
}

}  // namespace

std::vector<StartPhoton> read_photons(const fs::path& path, const LoadLimits& limits) {
  constexpr std::array<std::uint64_t, 2> kRow{4, 4};
  std::vector<StartPhoton> photons = fs::is_directory(path) || path.extension() == ".npz"
                                         ? read_columns(path, limits)
                                         : read_npy<StartPhoton>(path, NpyType::float32, kRow);
  check_photons(photons, path.string());
  return photons;
}

std::vector<Genstep> read_gensteps(const fs::path& path) {
  constexpr std::array<std::uint64_t, 2> kRow{6, 4};
  return read_npy<Genstep>(path, NpyType::float32, kRow);
}

void check_source_text(std::string_view text) {
  if (!path_after(kPhotons, text) && !path_after(kGensteps, text)) (void)parse_source(text);
}

std::vector<fs::path> source_files(std::string_view text) {
  std::vector<fs::path> files;
  if (const auto photons = path_after(kPhotons, text)) {
    if (!fs::is_directory(*photons)) return {*photons};
    for (const char* name : {kPosition, kDirection, kPolarization, kWavelength, kTime})
      if (fs::exists(*photons / name)) files.push_back(*photons / name);
  } else if (const auto gensteps = path_after(kGensteps, text)) {
    files.push_back(*gensteps);
  } else if (const std::string spectrum = spectrum_file(text); !spectrum.empty()) {
    files.emplace_back(spectrum);
  }
  return files;
}

LoadedSource::LoadedSource(std::string_view text, const GpuGeometry& geometry, std::uint64_t seed,
                           const LoadLimits& limits) {
  const Stream stream(geometry.device());
  if (const auto photons = path_after(kPhotons, text)) {
    std::vector<StartPhoton> read = read_photons(*photons, limits);
    photons_ = read.size();
    if (read.empty()) throw Error(ErrorKind::malformed, "it has no photons", {photons->string(), ""});
    given_ = DeviceBuffer<StartPhoton>(geometry.device(), read.size());
    given_.copy_from(read, stream);
    stream.synchronize();
    const auto [shortest, longest] =
        std::minmax_element(read.begin(), read.end(),
                            [](const StartPhoton& a, const StartPhoton& b) { return a.wavelength < b.wavelength; });
    wavelengths_ = {shortest->wavelength, longest->wavelength};
    source_.photons = given_.device();
    source_.photon_count = read.size();
  } else if (const auto gensteps = path_after(kGensteps, text)) {
    try {
      const std::vector<Genstep> steps = read_gensteps(*gensteps);
      gensteps_ = std::make_unique<Gensteps>(geometry, steps, seed, stream);
      for (const Genstep& step : steps) add_light(step);
    } catch (const Error& error) {
      if (!error.file().empty()) throw;
      throw Error(error.kind(), error.problem(), {gensteps->string(), error.element()}, error.advice());
    }
    photons_ = gensteps_->photons();
    source_ = gensteps_->source();
  } else {
    source_ = parse_source(text);
    const Source::Spectrum& spectrum = source_.spectrum;
    wavelengths_ = spectrum.count == 0 ? std::pair(source_.wavelength, source_.wavelength)
                                       : std::pair(spectrum.points[0].y, spectrum.points[spectrum.count - 1].y);
  }
}

void LoadedSource::add_light(const Genstep& step) {
  const auto add = [this](float shortest, float longest) {
    wavelengths_ = wavelengths_
                       ? std::pair(std::min(wavelengths_->first, shortest), std::max(wavelengths_->second, longest))
                       : std::pair(shortest, longest);
  };
  if (step.type == Genstep::Type::torch) {
    const float wavelength = details_of<Genstep::Torch>(step).wavelength;
    add(wavelength, wavelength);
  } else if (!detail::is_cerenkov(step.type)) {
    emits_scintillation_ = true;
  } else if (const auto of = details_of<Genstep::Cerenkov>(step); of.longest > 0) {
    add(of.shortest, of.longest);
  } else {
    emits_cerenkov_ = true;
  }
}

}  // namespace raylift::photon
