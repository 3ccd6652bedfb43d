// SPDX-License-Identifier: Apache-2.0
#include "photon_ranks.h"

#include <raylift/gpu/device/device.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>

#include "batch/actions/photon_files.h"

namespace raylift::batch {
namespace {

namespace fs = std::filesystem;

constexpr int kDone = 1;  // the message: photons per second's seconds, and the counts
constexpr std::chrono::milliseconds kTick{5};

fs::path folder_of(const PhotonOptions& whole, int rank) {
  return fs::path(whole.output) / ("rank-" + std::to_string(rank));
}

/// The first photon of a rank, of `photons` that are dealt out evenly.
std::uint64_t begin_of(std::uint64_t photons, int rank, int ranks) {
  const auto parts = static_cast<std::uint64_t>(ranks), part = static_cast<std::uint64_t>(rank);
  return photons / parts * part + photons % parts * part / parts;
}

PhotonOptions photons_of_rank(const PhotonOptions& whole, const RankPlace& place) {
  PhotonOptions own = whole;
  const std::uint64_t begin = begin_of(whole.photons, place.rank, place.ranks);
  own.photons = begin_of(whole.photons, place.rank + 1, place.ranks) - begin;
  own.first = whole.first + begin;
  own.output = folder_of(whole, place.rank).string();
  return own;
}

std::string message_of(const PhotonSummary& summary) {
  std::string text(sizeof(double) + summary.tally.counts.size() * sizeof(std::uint64_t), '\0');
  std::memcpy(text.data(), &summary.seconds, sizeof(double));
  std::memcpy(text.data() + sizeof(double), summary.tally.counts.data(), text.size() - sizeof(double));
  return text;
}

void add_message(const std::string& text, PhotonSummary& summary) {
  if (text.size() != sizeof(double) + summary.tally.counts.size() * sizeof(std::uint64_t))
    throw Error(ErrorKind::system, "the ranks have different scenes", {}, "give all nodes the same file");
  double seconds = 0;
  std::memcpy(&seconds, text.data(), sizeof seconds);
  photon::Tally more = summary.tally;
  std::memcpy(more.counts.data(), text.data() + sizeof(double), text.size() - sizeof(double));
  summary.tally.add(more);
  summary.seconds = std::max(summary.seconds, seconds);
}

}  // namespace

std::string device_of_rank(const std::string& device, const RankPlace& place) {
  if (device != "auto" && device != "all") return device;
  std::vector<Device> devices = Device::all();
  if (devices.size() > 1) devices.pop_back();  // the host, where there is a GPU
  return devices[static_cast<std::size_t>(place.local_rank) % devices.size()].info().id;
}

bool follow_on_ranks(Mpi& mpi, const PhotonOptions& whole, PhotonSummary& summary,
                     const std::function<void(const PhotonOptions&)>& follow) {
  if (whole.resume) check_not_complete(whole.output);
  if (mpi.place.rank == 0 && !whole.resume) clear_photon_files(whole.output);
  follow(photons_of_rank(whole, mpi.place));
  if (mpi.place.rank != 0) {
    mpi.send(0, kDone, message_of(summary));
    return false;
  }
  summary.ranks = mpi.place.ranks;
  for (int missing = mpi.place.ranks - 1; missing != 0;) {
    if (const std::optional<MpiMessage> message = mpi.receive()) {
      add_message(message->text, summary);
      --missing;
    } else {
      std::this_thread::sleep_for(kTick);
    }
  }
  std::vector<fs::path> parts;
  for (int rank = 0; rank != mpi.place.ranks; ++rank) parts.push_back(folder_of(whole, rank));
  join_photon_files(parts, whole.output);
  return true;
}

void remove_rank_folders(const PhotonOptions& whole, int ranks) {
  std::error_code ignored;
  for (int rank = 0; rank != ranks; ++rank) fs::remove_all(folder_of(whole, rank), ignored);
}

}  // namespace raylift::batch
