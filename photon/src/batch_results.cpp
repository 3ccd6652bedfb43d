// SPDX-License-Identifier: Apache-2.0
#include "batch_results.h"

#include <raylift/gpu/memory/buffer.h>
#include <raylift/photon/simulation.h>
#include <tbb/combinable.h>

#include <algorithm>

#include "device/run_on.h"
#include "for_each.h"
#include "needs.h"
#include "ready_source.h"
#include "select_hits.h"

namespace raylift::photon {
namespace {

void count_on_host(const GeometryView& view, const BatchArrays& batch) {
  const std::size_t size = batch.layout.size();
  tbb::combinable<std::vector<std::uint64_t>> partial([size] { return std::vector<std::uint64_t>(size); });
  for_each_block(batch.count, [&](std::size_t, std::size_t begin, std::size_t end) {
    std::vector<std::uint64_t>& counts = partial.local();
    for (std::size_t i = begin; i != end; ++i) {
      counts[0] += batch.outcomes[i].steps;
      tally(batch, view.optics, batch.outcomes[i], [&](std::size_t place, std::uint32_t by) { counts[place] += by; });
    }
  });
  partial.combine_each([&](const std::vector<std::uint64_t>& counts) {
    std::transform(counts.begin(), counts.end(), batch.counts, batch.counts, std::plus<>());
  });
}

}  // namespace

std::size_t scratch_bytes(const Device& device, std::size_t count) {
  std::size_t bytes = 1;
  raylift::detail::run_on(
      device, "the selection of hits", [&] { return results_scratch(count, bytes); }, [] {});
  return std::max<std::size_t>(bytes, 1);
}

void make_results(const GpuGeometry& geometry, const BatchArrays& batch, StreamRef stream) {
  const GeometryView& view = geometry.view();
  raylift::detail::run_on(
      geometry.device(), "the kernels of results", [&] { return launch_results(view, batch, stream.handle()); },
      [&] {
        count_on_host(view, batch);
        if (batch.hits != nullptr) {
          *batch.hit_count = select_hits(batch.outcomes, batch.count, batch.hit_places);
          for_each(*batch.hit_count, [&](std::size_t hit) {
            const std::uint32_t place = batch.hit_places[hit];
            batch.hits[hit] = photon_row(view, batch.outcomes[place], batch.first + place);
          });
        }
        if (batch.finals == nullptr) return;
        for_each(batch.count,
                 [&](std::size_t i) { batch.finals[i] = photon_row(view, batch.outcomes[i], batch.first + i); });
      });
}

void make_sequences(const GpuGeometry& geometry, const ReadySource& source, const Run& run, const Outcome* outcomes,
                    Sequence* sequences, std::size_t count, StreamRef stream,
                    const std::function<void(std::size_t)>& after_turn) {
  const GeometryView& view = geometry.view();
  const Source& from = source.source();
  raylift::detail::run_on(
      geometry.device(), "the kernel of histories",
      [&] { return launch_sequences(view, from, source.anchor(), run, outcomes, sequences, count, stream.handle()); },
      [&] {
        const Anchor anchor = anchor_at(source.anchor());
        for_each_in_turns(count, after_turn, [&](std::size_t i) {
          sequences[i] = sequence_of(view, from, anchor, run, run.first + i, outcomes[i]);
        });
      });
}

void make_records(const GpuGeometry& geometry, const ReadySource& source, const Run& run, PhotonRow* rows,
                  std::size_t photons, StreamRef stream, const std::function<void(std::size_t)>& after_turn) {
  const GeometryView& view = geometry.view();
  const Source& from = source.source();
  raylift::detail::run_on(
      geometry.device(), "record",
      [&] { return launch_record(view, from, source.anchor(), run, rows, photons, stream.handle()); },
      [&] {
        const Anchor anchor = anchor_at(source.anchor());
        for_each_in_turns(photons, after_turn, [&](std::size_t i) {
          record_steps(view, from, anchor, run, run.first + i, rows + i * kSequenceEvents);
        });
      });
}

void record(const GpuGeometry& geometry, const Source& source, const Run& how, PhotonRow* rows, std::size_t photons,
            StreamRef stream) {
  if (photons == 0) return;
  require_optics(geometry.view());
  check(source);
  raylift::detail::require_arrays(photons, {rows});
  make_records(geometry, ReadySource(geometry, source, how, photons, stream), how, rows, photons, stream, {});
}

std::vector<PhotonRow> record(const GpuGeometry& geometry, const Source& source, const Run& how, std::size_t photons,
                              const std::function<void(std::size_t)>& after_turn) {
  std::vector<PhotonRow> rows(photons * kSequenceEvents);
  if (rows.empty()) return rows;
  require_optics(geometry.view());
  check(source);
  const Stream stream(geometry.device());
  const DeviceBuffer<PhotonRow> on_device(geometry.device(), std::min(photons, kRecordedAtOnce) * kSequenceEvents);
  for (std::size_t done = 0; done != photons;) {
    const std::size_t here = std::min(photons - done, kRecordedAtOnce);
    Run piece = how;
    piece.first += done;
    const ReadySource ready(geometry, source, piece, here, stream);
    make_records(geometry, ready, piece, on_device.device(), here, stream, [&](std::size_t recorded) {
      if (after_turn) after_turn(done + recorded);
    });
    on_device.copy_to(std::span(rows).subspan(done * kSequenceEvents, here * kSequenceEvents), stream);
    stream.synchronize();
    done += here;
    if (after_turn) after_turn(done);
  }
  return rows;
}

}  // namespace raylift::photon
