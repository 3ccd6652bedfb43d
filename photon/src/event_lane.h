// SPDX-License-Identifier: Apache-2.0
// Launches over the photons of many events, one after the other, in memory of their own.
#pragma once

#include <raylift/gpu/memory/buffer.h>
#include <raylift/photon/service.h>

#include <array>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "event_results_kernel.h"

namespace raylift::photon {

class ReadySource;

/// The gensteps of a request as they are placed: the same on all devices, and in each launch with a part of it.
struct PlacedGensteps {
  std::vector<GenstepPlace> places;
  std::vector<std::uint64_t> ends;  ///< of each step, the number of photons up to its last one
};

/// A part of a request in a launch.
struct Part {
  const Request* request = nullptr;
  std::shared_ptr<const PlacedGensteps> placed;  ///< null: the launch places them, and sets it
  std::uint64_t first = 0;                       ///< number of its first photon
  std::uint64_t count = kAllPhotons;             ///< kAllPhotons: not known before the gensteps are placed

  // Results.
  std::exception_ptr error;  ///< of this part alone
  std::uint64_t total = 0;   ///< photons of the request's gensteps
  EventCounts counts{};
  std::array<std::uint64_t, kBulkProperties> end_values{};
  std::vector<std::uint32_t> hit_words;
  std::vector<PhotonRow> finals;
  std::vector<Sequence> sequences;
  std::vector<PhotonRow> records;
};

/// The parts of a launch are of one kind of source, and have the same limits. One thread at a time.
class EventLane {
 public:
  static constexpr std::size_t kMinRoom = 1024;
  /// Parts of a launch.
  static constexpr std::size_t kMaxParts = 4096;

  /// With room for `photons` at once, or for a half, a quarter ... of them: as memory allows. Throws Error: memory
  /// where there is none for kMinRoom photons, device.
  EventLane(const GpuGeometry& geometry, std::size_t photons);

  [[nodiscard]] std::size_t room() const { return room_; }
  /// From now on with half of the room. False: it is too small for that.
  bool halve();

  /// Simulates the parts' photons, and fills in their results. Gensteps are placed first, if no launch has placed them
  /// before; placed() is then called, once
  /// `total` and errors are known: it has to set each part's count, and may reduce it, until all have room. Parts with
  /// an error and those without photons are left out. Throws Error: memory, device; then parts have no results.
  void run(std::span<Part> parts, const std::function<void()>& placed);

  /// Seconds of the last run() until its results were made.
  [[nodiscard]] double seconds() const { return seconds_; }

 private:
  struct Gensteps;
  struct Events;
  struct Births;
  void reserve(std::span<const Part> parts);
  void simulate(std::span<Part> parts, const std::function<void()>& placed);
  void place(std::span<Part> parts, Gensteps& gensteps);
  static void count_photons(Part& part, Gensteps& gensteps, GenstepRange range, std::span<const GenstepPlace> places);
  void upload_photons(const Events& events, PooledBuffer<StartPhoton>& to);
  void upload_births(const Events& events, const Gensteps& gensteps, Births& births);
  void follow_all(const Events& events, const Births& births);
  void record(const Events& events, const ReadySource& source, const photon::Run& run, std::size_t first,
              std::size_t count);
  void make_results(const Events& events);
  void read_counts(const Events& events);
  void read_rows(const Events& events);
  template <class T, class Take>
  void read(const DeviceBuffer<T>& from, std::size_t first, std::size_t count, const Take& take);

  const GpuGeometry& geometry_;
  std::size_t room_;
  Stream stream_;
  DeviceBuffer<std::uint64_t> end_values_;  // of each event
  MappedBuffer<std::byte> pieces_;          // two of them
  DeviceBuffer<Outcome> outcomes_;
  DeviceBuffer<std::byte> scratch_;
  DeviceBuffer<std::uint32_t> hit_places_, hit_count_, hit_words_;
  DeviceBuffer<EventCounts> counts_;
  DeviceBuffer<EventHits> hits_;
  DeviceBuffer<PhotonRow> finals_;
  DeviceBuffer<Sequence> sequences_;
  DeviceBuffer<PhotonRow> records_;  // of kRecordedAtOnce photons
  double seconds_ = 0;
};

}  // namespace raylift::photon
