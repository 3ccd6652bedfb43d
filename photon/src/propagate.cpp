// SPDX-License-Identifier: Apache-2.0
#include <raylift/geometry/error.h>
#include <raylift/geometry/optics/words.h>
#include <raylift/gpu/memory/buffer.h>
#include <raylift/photon/propagate.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "device/run_on.h"
#include "for_each.h"
#include "needs.h"
#include "propagate_kernel.h"
#include "ready_source.h"
#include "working_copies.h"

namespace raylift::photon {
namespace {

/// Photons on their way at a time, at most, and how few are tried where memory is short.
constexpr std::size_t kMaxFlights = std::size_t{1} << 23, kMinFlights = std::size_t{1} << 16;
/// Bytes of each in FlightMemory; in a fine geometry there are 36 more.
constexpr std::size_t kFlightBytes = 3 * (sizeof(WaitingStart) + sizeof(WaitingWay) + sizeof(WaitingLight) +
                                          sizeof(WaitingPast) + sizeof(WaitingNumbers) + sizeof(WaitingExceptions)) +
                                     2 * (sizeof(bvh_detail::FoundFaces) + sizeof(std::uint32_t));

/// Copying an array pays if its part in host memory has at most so many bytes for each photon of a run. Measured: see
/// docs/lab_notes.md.
constexpr std::uint64_t kWorthwhilePerPhoton = 96;

/// Working memory for photons on their way.
class FlightMemory {
 public:
  FlightMemory(const Device& device, StreamRef stream, std::size_t count, bool fine)
      : count_(count),
        starts_(device, stream, 3 * count),
        ways_(device, stream, 3 * count),
        lights_(device, stream, 3 * count),
        pasts_(device, stream, 3 * count),
        numbers_(device, stream, 3 * count),
        exceptions_(device, stream, 3 * count),
        rests_(device, stream, fine ? 3 * count : 0),
        found_(device, stream, 2 * count),
        postponed_(device, stream, 2 * count),
        counts_(device, stream, 1) {}
  [[nodiscard]] Flights flights() const {
    return {static_cast<std::uint32_t>(count_),
            {starts_.device(), ways_.device(), lights_.device(), pasts_.device(), numbers_.device(),
             exceptions_.device(), rests_.device(), nullptr},
            found_.device(),
            postponed_.device(),
            counts_.device()};
  }

 private:
  std::size_t count_;
  PooledBuffer<WaitingStart> starts_;
  PooledBuffer<WaitingWay> ways_;
  PooledBuffer<WaitingLight> lights_;
  PooledBuffer<WaitingPast> pasts_;
  PooledBuffer<WaitingNumbers> numbers_;
  PooledBuffer<WaitingExceptions> exceptions_;
  PooledBuffer<Float3> rests_;
  PooledBuffer<bvh_detail::FoundFaces> found_;
  PooledBuffer<std::uint32_t> postponed_;
  PooledBuffer<FlightCounts> counts_;
};

/// What a run of `count` photons works with, of which `at_once` are launched together. It takes as much memory as
/// `most` photons on their way do; copies of arrays in host memory take at most half of that.
struct WorkingMemory {
  WorkingMemory(const GpuGeometry& geometry, StreamRef stream, std::size_t count, std::size_t at_once, std::size_t most)
      : copies(geometry, stream, kWorthwhilePerPhoton * count, kFlightBytes * (most / 2)),
        flights(geometry.device(), stream, std::min(at_once, most - copies.bytes() / kFlightBytes),
                geometry.view().is_fine()) {
    copies.copy(geometry, stream);  // now that there is memory for all
  }
  WorkingCopies copies;
  FlightMemory flights;
};

/// A cudaError_t, as launch_propagate(), for any number of photons.
// Inline, as GCC compiles other functions without a caller too where it does not optimise: a build without CUDA has no
// launch_propagate().
inline int launch_parts(const WorkingMemory& memory, const ReadySource& ready, const Run& run, Outcome* outcomes,
                        std::size_t count, StreamRef stream) {
  // Photons are counted in 32 bits.
  constexpr std::size_t kMaxAtOnce = std::size_t{1} << 31;
  const Flights flights = memory.flights.flights();
  int error = 0;
  for (std::size_t done = 0; done != count && error == 0;) {
    const std::size_t now = std::min(count - done, kMaxAtOnce);
    Run part = run;
    part.first += done;
    error = launch_propagate(memory.copies.view(), ready.source(), ready.anchor(), part, flights, outcomes + done,
                             static_cast<std::uint32_t>(now), stream.handle());
    done += now;
  }
  return error;
}

/// Free bytes, once the working memory is allocated, that surely hold the local memory of the kernels' threads: about 1
/// GB on an H200. With less, the kernels are launched once on no photons: a launch that fails later leaves photons half
/// done.
constexpr std::uint64_t kRoomForKernels = std::uint64_t{1} << 33;

/// As much as there is memory for, less what the kernels need. After the first failure the pool is trimmed, after
/// others fewer photons are on their way.
std::unique_ptr<WorkingMemory> working_memory(const GpuGeometry& geometry, StreamRef stream, std::size_t count,
                                              std::size_t at_once, const ReadySource& ready, const Run& run,
                                              Outcome* outcomes) {
  const Device& device = geometry.device();
  const bool may_copy = geometry.report().host_bytes() != 0;
  std::size_t most = std::min(may_copy ? 2 * at_once : at_once, kMaxFlights);
  for (bool trimmed = false;; trimmed = true) {
    try {
      auto memory = std::make_unique<WorkingMemory>(geometry, stream, count, at_once, most);
      if (device.memory_info().free_outside_pool() < kRoomForKernels)
        raylift::detail::run_on(
            device, "propagate",
            [&] {
              return launch_propagate_ahead(geometry.view(), ready.source(), ready.anchor(), run,
                                            memory->flights.flights(), outcomes, stream.handle());
            },
            [] {});
      return memory;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::out_of_device_memory || (trimmed && most <= kMinFlights)) throw;
    }
    device.synchronize(stream);
    device.trim();
    if (trimmed) most /= 2;
  }
}

/// `memory`: of a GPU.
void launch(const GpuGeometry& geometry, const WorkingMemory* memory, const ReadySource& ready, const Run& run,
            Outcome* outcomes, std::size_t count, StreamRef stream,
            const std::function<void(std::size_t)>& after_turn) {
  raylift::detail::run_on(
      geometry.device(), "propagate", [&] { return launch_parts(*memory, ready, run, outcomes, count, stream); },
      [&] {
        const Anchor anchor = anchor_at(ready.anchor());
        for_each_in_turns(count, after_turn, [&](std::size_t i) {
          outcomes[i] = follow(geometry.view(), ready.source(), anchor, run, run.first + i);
        });
      });
}

}  // namespace

void propagate(const GpuGeometry& geometry, const Source& source, const Run& run, Outcome* outcomes, std::size_t count,
               StreamRef stream) {
  require_optics(geometry.view());
  check(source);
  raylift::detail::require_arrays(count, {outcomes});
  propagate_pieces(geometry, source, nullptr, run, outcomes, count, stream, {}, {});
}

void propagate_pieces(const GpuGeometry& geometry, const Source& source, const Anchor* anchor, const Run& run,
                      Outcome* outcomes, std::size_t count, StreamRef stream,
                      const std::function<void(const ReadySource&, const Run&, std::size_t, std::size_t)>& after,
                      const std::function<void(std::size_t)>& after_turn) {
  const bool by_pieces =
      source.gensteps.steps != nullptr || (source.photons != nullptr && source.photons_in == nullptr);
  const std::size_t most = by_pieces ? std::size_t{1} << (geometry.device().info().is_host ? 18U : 21U) : count;
  std::unique_ptr<WorkingMemory> memory;  // of a GPU
  for (std::size_t done = 0; done < count;) {
    Run piece = run;
    piece.first += done;
    const std::size_t here = std::min(count - done, most);
    const ReadySource ready(geometry, source, piece, here, stream, anchor);
    // After the first piece's source is allocated, as this takes what memory is left.
    if (!memory && !geometry.device().info().is_host)
      memory = working_memory(geometry, stream, count, here, ready, piece, outcomes + done);
    const auto turn = [&, done](std::size_t followed) { after_turn(done + followed); };
    launch(geometry, memory.get(), ready, piece, outcomes + done, here, stream,
           after_turn ? std::function<void(std::size_t)>(turn) : nullptr);
    if (after) after(ready, piece, done, here);
    done += here;
  }
}

void refuse_unsimulated(const Scene& scene) {
  const Optics& optics = scene.optics;
  std::string names;
  std::vector<bool> warned(optics.surfaces.size());
  for (const SurfaceAssignment& assignment : optics.assignments) {
    if (assignment.surface >= warned.size() || warned[assignment.surface]) continue;
    warned[assignment.surface] = true;
    const OpticalSurface& surface = optics.surfaces[assignment.surface];
    if (surface.model != SurfaceModel::lut && surface.model != SurfaceModel::davis) continue;
    names += (names.empty() ? "'" : ", '") + surface.name + "' (" + std::string(to_string(surface.model)) + ")";
  }
  if (!names.empty())
    throw Error(ErrorKind::unsupported, "surfaces of Geant4's look-up tables are not simulated: " + names,
                {scene.source, ""}, "give them another model in a sidecar, see docs/optics.md");
}

}  // namespace raylift::photon
