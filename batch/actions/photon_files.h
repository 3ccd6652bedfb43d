// SPDX-License-Identifier: Apache-2.0
// The files of a run of photons: arrays that grow while it goes on, and what it needs to go on after a kill. A file
// that has its name is whole; before, it ends in .part. docs/photons.md describes them all.
#pragma once

#include <raylift/photon/npy.h>
#include <raylift/photon/simulation.h>

#include <deque>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/output.h"
#include "photon_options.h"

namespace raylift::batch {

/// Where a run that was stopped had come to.
struct PhotonCheckpoint {
  std::uint64_t done = 0;  ///< photons
  std::uint64_t hits = 0;  ///< rows
  photon::Tally tally;
};

/// One array of photons, or a folder of Chroma's.
class PhotonArrays {
 public:
  /// `resume`: rows that are there and stay. Throws what NpyWriter does.
  PhotonArrays(const std::filesystem::path& folder, const std::string& name, PhotonFormat format,
               std::optional<std::uint64_t> resume);

  void append(std::span<const photon::PhotonRow> rows);
  [[nodiscard]] std::uint64_t rows() const { return writers_.front().rows(); }
  void sync() const;
  void keep();
  void finish();

 private:
  PhotonFormat format_;
  std::deque<photon::NpyWriter> writers_;
};

class PhotonFiles {
 public:
  /// Makes the folder, and takes away what an earlier run left there, or with options.resume goes on with it: `head`
  /// must then be the same. `nothing` has the layout of the counts. `options` must stay as long as this. Throws Error:
  /// io; usage where the run to go on with is complete, or another one; malformed.
  PhotonFiles(const PhotonOptions& options, cli::Json head, const photon::Tally& nothing);

  /// Where the run is to begin.
  [[nodiscard]] const PhotonCheckpoint& checkpoint() const { return checkpoint_; }
  /// What takes the results of a simulation.
  [[nodiscard]] photon::Simulation::Results results();
  /// All rows of `done` photons are there.
  void save(std::uint64_t done, const photon::Tally& tally);
  /// Gives the files their names. The checkpoint stays: from it, the run goes on to its end again.
  void finish();

  /// The files' names, in order.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

 private:
  void load();
  [[nodiscard]] std::filesystem::path counts_file(std::uint64_t done) const;

  const PhotonOptions& options_;
  std::filesystem::path folder_;
  cli::Json head_;
  PhotonCheckpoint checkpoint_;
  bool saved_ = false;
  std::optional<PhotonArrays> hits_, finals_;
  std::optional<photon::NpyWriter> sequences_;
  std::vector<std::string> names_;
};

/// The files that a run may write in a folder, whether they are there or not.
[[nodiscard]] std::vector<std::filesystem::path> photon_files_of(const std::filesystem::path& folder);
/// Takes away what a run left in a folder, or what it needs to go on.
void clear_photon_files(const std::filesystem::path& folder);
void forget_photon_checkpoint(const std::filesystem::path& folder);

/// Throws Error(usage) where a folder has a run that is complete: there is nothing to go on with.
void check_not_complete(const std::filesystem::path& folder);

/// Writes channels.npy and times.npy, where there are channels, and appends their names.
void write_photon_counts(const std::filesystem::path& folder, const photon::Tally& tally,
                         std::vector<std::string>& names);

/// The last file: a folder that has it is complete.
void write_photon_summary(const std::filesystem::path& folder, const cli::Json& summary);

/// Joins the arrays of several folders, in order, as those of one run.
void join_photon_files(std::span<const std::filesystem::path> parts, const std::filesystem::path& folder);

}  // namespace raylift::batch
