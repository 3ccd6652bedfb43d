// SPDX-License-Identifier: Apache-2.0
#include "placed_arrays.h"

#include <raylift/geometry/error.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <set>
#include <string_view>

#include "array_on_device.h"
#include "geometry/src/stage.h"
#include "memory/plan_placement.h"

namespace raylift::detail {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::size_t size_of(const ArraySource& source) {
  if (source.element_bytes == 0 || source.count > PTRDIFF_MAX / source.element_bytes)
    throw Error(ErrorKind::usage, "array '" + source.name + "' is larger than any memory");
  return source.count * source.element_bytes;
}

Memory allocate(const Device& device, StreamRef stream, std::size_t bytes, const ArrayPlacement& placement,
                const UploadOptions& options) {
  switch (placement.where) {
    case Residency::device:
      return options.memory ? Memory::from(options.memory, device, stream, bytes) : Memory::on_device(device, bytes);
    case Residency::split:
      return Memory::split(device, bytes, placement.device_bytes);
    case Residency::mapped:
      break;
  }
  return Memory::mapped(device, bytes, options.mapped_flags);
}

bool splits(const Device& device, const UploadOptions& options) {
  return device.info().splits_arrays && !(options.memory && options.memory->free_bytes());
}

/// Pages that fit into device memory now.
std::uint64_t pages_that_fit(const Device& device, const UploadOptions& options) {
  if (!splits(device, options) || options.policy != PlacementPolicy::automatic) return 0;
  return usable_bytes(device.memory_info().free_bytes, options.reserve, options.budget) / device.info().page_bytes;
}

/// Allocates by the plan. Free memory was a hint: what is not there after all goes one step down, each step once:
/// device to split, split to mapped. Giving up after the first would fail an upload that mapped memory holds.
Memory allocate_or_fall_back(const Device& device, StreamRef stream, std::size_t bytes, const UploadOptions& options,
                             ResidencyReport::Array& row) {
  ArrayPlacement placement{row.where, row.device_bytes, row.host_bytes, row.why};
  for (;;) {
    try {
      Memory array = allocate(device, stream, bytes, placement, options);
      row.where = placement.where;
      row.device_bytes = placement.device_bytes;
      row.host_bytes = placement.host_bytes;
      row.why = placement.why;
      return array;
    } catch (const Error& error) {
      const bool lower = error.kind() == ErrorKind::out_of_device_memory && placement.where != Residency::mapped &&
                         options.policy != PlacementPolicy::device;
      if (!lower) throw;
      row.fell_back = true;
      placement = fallback(placement, bytes, pages_that_fit(device, options), device.info().page_bytes);
    }
  }
}

/// What the device computed there already, for each array: it counts as free.
std::vector<std::uint64_t> bytes_in_place(std::span<const ArraySource> sources, const Device& device) {
  std::vector<std::uint64_t> bytes(sources.size(), 0);
  for (std::size_t i = 0; i != sources.size(); ++i)
    if (sources[i].on_device) bytes[i] = sources[i].on_device->bytes_on(device);
  return bytes;
}

/// The caller's memory for arrays; empty where UploadOptions::external is not set.
std::vector<UploadOptions::ExternalMemory> external_memory(std::span<const ArraySize> arrays,
                                                           const UploadOptions& options) {
  std::vector<UploadOptions::ExternalMemory> external(arrays.size());
  if (options.external)
    for (std::size_t i = 0; i != arrays.size(); ++i)
      if (arrays[i].bytes != 0) external[i] = options.external(arrays[i].name, arrays[i].bytes);
  return external;
}

}  // namespace

void check_options(const UploadOptions& options) {
  constexpr std::size_t kMinChunk = std::size_t{512} << 10;
  constexpr std::size_t kMaxChunk = std::size_t{1} << 30;
  if (!std::has_single_bit(options.chunk_bytes) || options.chunk_bytes < kMinChunk || options.chunk_bytes > kMaxChunk)
    throw Error(
        ErrorKind::usage,
        "chunks of " + std::to_string(options.chunk_bytes) +
            " bytes can't stage an upload: UploadOptions::chunk_bytes is 512 KiB times a power of two, up to 1 GiB");
  if (options.chunks < 1 || options.chunks > 1024)
    throw Error(ErrorKind::usage, std::to_string(options.chunks) +
                                      " chunks can't stage an upload: UploadOptions::chunks is from 1 to 1024");
}

std::span<const ArraySource> with_own_arrays(std::span<const ArraySource> sources, const UploadOptions& options,
                                             std::vector<ArraySource>& joined) {
  if (options.arrays.empty()) return sources;
  std::set<std::string_view> names;
  for (const ArraySource& source : sources) names.insert(source.name);
  for (const ArraySource& own : options.arrays)
    if (find_view_array(own.name) != nullptr || !names.insert(own.name).second)
      throw Error(ErrorKind::usage, "an array of the program's own has the name of another one, '" + own.name + "'", {},
                  "name each of UploadOptions::arrays differently, and not as a ViewArray");
  joined.assign(sources.begin(), sources.end());
  joined.insert(joined.end(), options.arrays.begin(), options.arrays.end());
  return joined;
}

std::uint64_t free_for_arrays(const Device& device, const UploadOptions& options) {
  const std::optional<std::uint64_t> lent = options.memory ? options.memory->free_bytes() : std::nullopt;
  return lent ? *lent : device.memory_info().free_bytes;
}

ResidentArrays place_arrays(std::span<const ArraySource> sources, const Device& device, StreamRef stream,
                            const UploadOptions& options, const Progress& progress) {
  // What the device built lies in its own memory, and not in the resource's.
  if (options.memory) release_from_devices(sources);
  ResidentArrays resident;
  resident.arrays.resize(sources.size());
  ResidencyReport& report = resident.report;
  const std::vector<std::uint64_t> in_place = bytes_in_place(sources, device);
  const std::uint64_t all_in_place = std::accumulate(in_place.begin(), in_place.end(), std::uint64_t{0});
  report.device_id = device.info().id;
  report.device_name = device.info().name;
  report.policy = options.policy;
  report.reserve = options.reserve;
  report.budget = options.budget;
  report.free_before = free_for_arrays(device, options) + all_in_place;
  report.total = device.memory_info().total_bytes;
  {
    const Stage stage(progress, "placement");
    const auto start = Clock::now();
    std::vector<ArraySize> sizes;
    for (const ArraySource& source : sources) sizes.push_back({source.name, size_of(source), source.rank});
    const std::vector<UploadOptions::ExternalMemory> external = external_memory(sizes, options);
    std::uint64_t budget = options.budget;
    std::vector<ArraySize> placed = sizes;  // an array that has its memory asks for none
    for (std::size_t i = 0; i != sizes.size(); ++i) {
      if (external[i].device == nullptr) continue;
      placed[i].bytes = 0;
      budget -= std::min(budget, sizes[i].bytes);
      resident.arrays[i] = Memory::external(device, external[i].device, sizes[i].bytes);
    }
    const std::vector<ArrayPlacement> plan =
        plan_placement({placed, free_for_arrays(device, options) + all_in_place, options.reserve,
                        options.budget == UINT64_MAX ? UINT64_MAX : budget, options.policy, splits(device, options),
                        device.info().page_bytes});
    for (std::size_t i = 0; i != sizes.size(); ++i) {
      const bool ours = external[i].device == nullptr;
      report.arrays.push_back({sizes[i].name, sizes[i].rank, sizes[i].bytes, plan[i].where,
                               ours ? plan[i].device_bytes : sizes[i].bytes, plan[i].host_bytes,
                               ours ? plan[i].why : external[i].why});
      if (!sources[i].on_device) continue;
      ResidencyReport::Array& row = report.arrays.back();
      row.in_place = ours && in_place[i] != 0 && row.where == Residency::device;
      if (row.in_place)
        resident.arrays[i] = sources[i].on_device->take();
      else
        sources[i].on_device->release();
    }
    report.placement_seconds = seconds_since(start);
  }
  {
    const Stage stage(progress, "allocate");
    const auto start = Clock::now();
    // In the order of rank: where the plan's memory is not there after all, the array that matters most is served
    // first.
    std::vector<std::size_t> order(sources.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return sources[a].rank < sources[b].rank; });
    for (const std::size_t i : order)
      if (report.arrays[i].bytes != 0 && resident.arrays[i].device() == nullptr)
        resident.arrays[i] = allocate_or_fall_back(device, stream, report.arrays[i].bytes, options, report.arrays[i]);
    report.allocation_seconds = seconds_since(start);
  }
  return resident;
}

std::vector<Destination> destinations_of(std::span<const ArraySource> sources, const ResidentArrays& resident,
                                         const UploadOptions& options) {
  std::vector<Destination> arrays;
  for (std::size_t i = 0; i != sources.size(); ++i) {
    const ResidencyReport::Array& row = resident.report.arrays[i];
    const Memory& array = resident.arrays[i];
    if (row.in_place) {
      arrays.push_back({&sources[i]});
      continue;
    }
    // The host's pages of a split are ordinary memory; CUDA has no write-combined ones there.
    const bool write_combined = row.where == Residency::mapped && options.mapped_flags.write_combined;
    arrays.push_back({&sources[i], array.device(), row.device_bytes, array.host_part().data(), row.host_bytes,
                      write_combined ? StoreMode::write_combined : StoreMode::cached, array.peers_write()});
  }
  return arrays;
}

}  // namespace raylift::detail
