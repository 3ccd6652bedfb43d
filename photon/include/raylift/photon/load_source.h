// SPDX-License-Identifier: Apache-2.0
// Sources that may come from files of photons or gensteps: "photons:start.npy", "gensteps:steps.npy".
#pragma once

#include <raylift/geometry/import/load.h>
#include <raylift/photon/gensteps.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace raylift::photon {

/// The photons of a file or folder, in its order. A .npy is Opticks's array, (N, 4, 4) of float32. A folder, or a .npz
/// of NumPy's savez() or savez_compressed(), has Chroma's arrays of float32: pos.npy, dir.npy and pol.npy, (N, 3),
/// wavelengths.npy and t.npy, (N,); without pol.npy polarisations are random, and without t.npy times are 0. Points are
/// the scene's. The limits of text and expansion hold for each array of a .npz. Throws Error: io, malformed,
/// unsupported, limit; and what check_photons() does.
[[nodiscard]] std::vector<StartPhoton> read_photons(const std::filesystem::path& path, const LoadLimits& limits = {});

/// The gensteps of a file: Opticks's array, (G, 6, 4) of float32. Likewise.
[[nodiscard]] std::vector<Genstep> read_gensteps(const std::filesystem::path& path);

/// Throws Error(usage), as parse_source() does, for a text that LoadedSource does not accept. A file's contents are not
/// read.
void check_source_text(std::string_view text);

/// The files that a text names, or those in its folder: the text and their contents define a source. Throws
/// Error(usage) as above.
[[nodiscard]] std::vector<std::filesystem::path> source_files(std::string_view text);

/// The source that a text describes, for one geometry, with the arrays that it reads: what parse_source() takes, or
/// photons:PATH as read_photons() does, or gensteps:PATH as read_gensteps(). Move-only.
class LoadedSource {
 public:
  /// `seed` is that of the run: gensteps' numbers of photons may depend on it. Waits for the device. Throws Error: what
  /// those functions do, what Gensteps does, and that of memory.
  LoadedSource(std::string_view text, const GpuGeometry& geometry, std::uint64_t seed, const LoadLimits& limits = {});

  /// Valid while this lives.
  [[nodiscard]] const Source& source() const { return source_; }
  /// How many photons there are, from number 0 on; nullopt if unlimited.
  [[nodiscard]] std::optional<std::uint64_t> photons() const { return photons_; }
  /// The shortest and the longest wavelength in nm; nullopt for gensteps that state none.
  [[nodiscard]] std::optional<std::pair<float, float>> wavelengths() const { return wavelengths_; }
  /// Whether there are gensteps of scintillation; of Cerenkov light without a range of wavelengths: for
  /// emitted_light().
  [[nodiscard]] bool emits_scintillation() const { return emits_scintillation_; }
  [[nodiscard]] bool emits_cerenkov() const { return emits_cerenkov_; }

 private:
  void add_light(const Genstep& step);

  Source source_;
  std::optional<std::uint64_t> photons_;
  std::optional<std::pair<float, float>> wavelengths_;
  bool emits_scintillation_ = false, emits_cerenkov_ = false;
  DeviceBuffer<StartPhoton> given_;
  std::unique_ptr<Gensteps> gensteps_;
};

}  // namespace raylift::photon
