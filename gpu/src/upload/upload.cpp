// SPDX-License-Identifier: Apache-2.0
#include <raylift/gpu/upload/upload.h>

#include <chrono>

#include "staging.h"

namespace raylift::inline v0_1 {

ResidentArrays upload(std::span<const ArraySource> sources, const Device& device, const UploadOptions& options,
                      const Progress& progress) {
  ResidentArrays resident = detail::place_arrays(sources, device, options, progress);
  ResidencyReport& report = resident.report;
  const Stage stage(progress, "upload", report.uploaded_bytes());
  const auto start = std::chrono::steady_clock::now();
  detail::fill_arrays(detail::destinations_of(sources, resident, options), device, options, stage);
  report.upload_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  report.free_after = device.memory_info().free_bytes;
  return resident;
}

}  // namespace raylift::inline v0_1
