// SPDX-License-Identifier: Apache-2.0
// Any number of photons within a fixed memory: in batches, whose results leave the device while the next batch runs.
//
//   raylift::photon::Simulation simulation(geometry);
//   std::vector<raylift::photon::PhotonRow> hits;
//   raylift::photon::Simulation::Results results;
//   results.hits = [&](auto rows) { hits.insert(hits.end(), rows.begin(), rows.end()); };
//   const raylift::photon::Tally tally = simulation.run(source, {.seed = 7}, 1'000'000, results);
#pragma once

#include <raylift/gpu/upload/gpu_geometry.h>
#include <raylift/photon/results.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace raylift::photon {

struct SimulationOptions {
  /// Photons at once; 0: as many as keep the device busy. Results don't depend on it. Where it would take more than
  /// half of a GPU's free memory, or memory does not suffice, it is halved.
  std::size_t batch = 0;
  std::uint32_t time_bins = 0;  ///< of each channel's histogram of arrival times
  float time_from = 0;          ///< ns
  float time_to = 1000;         ///< ns
};

/// A device's batch size if SimulationOptions::batch is 0, and memory suffices.
[[nodiscard]] std::size_t usual_batch(const Device& device);

class Simulation {
 public:
  /// Callbacks for results beside the counts. They get rows ordered by photon number, in pieces, on the thread that
  /// runs the simulation. Results without a callback are not computed. An exception from a callback ends the run, once
  /// the batch that is being started on a GPU has been launched.
  struct Results {
    std::function<void(std::span<const PhotonRow>)> hits;    ///< those detected
    std::function<void(std::span<const PhotonRow>)> finals;  ///< all
    std::function<void(std::span<const Sequence>)> sequences;
    std::function<void(std::uint64_t)> begin;  ///< gets the place in the run of a batch's first photon, before its rows
    std::function<void(std::uint64_t)> done;   ///< gets the place after its last photon, after its rows
    /// On the host device, several times a second: gets the place after the last photon that was followed, which stays
    /// the same while histories are made. Batches overlap: a batch's `done` can come after `during` of the next.
    std::function<void(std::uint64_t)> during;
  };

  /// One device's share of a run's batches, round-robin: batch i belongs to the device whose index is i modulo `of`;
  /// other batches are skipped. For several devices that share a run; Results::begin then waits for the batch's turn,
  /// so that rows come in order.
  struct Share {
    std::uint32_t index, of;
  };

  /// The geometry must outlive this. Throws Error(usage) for an empty range of time.
  explicit Simulation(const GpuGeometry& geometry, const SimulationOptions& options = {});
  /// A temporary would be gone.
  explicit Simulation(const GpuGeometry&& geometry, const SimulationOptions& options = {}) = delete;
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  /// Follows photons how.first to how.first + count - 1; how.end_values is not used, as the counts have them. The same
  /// bytes come out for any split into runs and batches, and on any device; hits are in the photons' order. Waits for
  /// the device. Throws Error: what propagate() does; out_of_host_memory, out_of_device_memory; device where photons
  /// were lost. A share of a run needs SimulationOptions::batch, the same for all, which must fit into memory
  /// beside the photons on their way and the local memory of kernels: 4 GB on an H200.
  Tally run(const Source& source, const Run& how, std::uint64_t count, const Results& results = {},
            Share share = {0, 1});

  /// The number of photons of a batch in the last run.
  [[nodiscard]] std::size_t batch() const;
  /// The layout and the channels of what run() returns, with counts of 0.
  [[nodiscard]] const Tally& nothing() const;

 private:
  struct Slot;
  struct State;
  std::unique_ptr<State> state_;
};

/// The steps of photons how.first to how.first + photons - 1, kSequenceEvents rows for each: its birth, and its state
/// after each step; rows of 0 follow its end. A row has its flag, and all flags so far. Waits for the device.
/// `after_turn`, unless empty, is called with the number of recorded photons: several times a second on the host
/// device, after each 16,384 photons on a GPU. An exception that it throws ends the recording and passes through.
/// Errors: as propagate(), and those of memory.
[[nodiscard]] std::vector<PhotonRow> record(const GpuGeometry& geometry, const Source& source, const Run& how,
                                            std::size_t photons,
                                            const std::function<void(std::size_t)>& after_turn = {});
/// The same into an array of the device's memory, in the stream's order: such as a buffer that OpenGL draws from.
void record(const GpuGeometry& geometry, const Source& source, const Run& how, PhotonRow* rows, std::size_t photons,
            StreamRef stream);

}  // namespace raylift::photon
