// SPDX-License-Identifier: Apache-2.0
#include <raylift/gpu/upload/upload.h>

#include <chrono>

#include "geometry/src/stage.h"
#include "staging.h"
#include "upload_on.h"

namespace raylift {

ResidentArrays detail::upload_on(std::optional<StreamRef> stream, std::span<const ArraySource> sources,
                                 const Device& device, const UploadOptions& options, const Progress& progress) {
  check_options(options);
  std::vector<ArraySource> joined;
  const std::span<const ArraySource> all = with_own_arrays(sources, options, joined);
  std::optional<Stream> own;
  if (!stream) own.emplace(device);
  const StreamRef copies = stream ? *stream : StreamRef(*own);
  // What is allocated on the own stream would have to go back on it, when it is no more.
  const StreamRef memory = stream ? *stream : StreamRef(nullptr);
  ResidentArrays resident = place_arrays(all, device, memory, options, progress);
  if (options.memory && !stream) {
    Event allocated(device);
    allocated.record(memory);
    allocated.wait(copies);
  }
  ResidencyReport& report = resident.report;
  const Stage stage(progress, "upload", report.uploaded_bytes());
  const auto start = std::chrono::steady_clock::now();
  fill_arrays(destinations_of(all, resident, options), device, copies, options, stage);
  if (!stream) device.synchronize(copies);
  report.upload_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  report.free_after = free_for_arrays(device, options);
  return resident;
}

ResidentArrays upload(std::span<const ArraySource> sources, const Device& device, const UploadOptions& options,
                      const Progress& progress) {
  return detail::upload_on(std::nullopt, sources, device, options, progress);
}

ResidentArrays upload_async(std::span<const ArraySource> sources, const Device& device, StreamRef stream,
                            const UploadOptions& options, const Progress& progress) {
  return detail::upload_on(stream, sources, device, options, progress);
}

}  // namespace raylift
