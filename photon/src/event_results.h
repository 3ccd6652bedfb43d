// SPDX-License-Identifier: Apache-2.0
// The results of a launch over several events, on any device.
#pragma once

#include <raylift/gpu/upload/gpu_geometry.h>

#include "event_results_kernel.h"

namespace raylift::photon {

/// Makes what `launch` asks for, in the stream's order. Errors: device.
void make_event_results(const GpuGeometry& geometry, const EventArrays& launch, StreamRef stream);

}  // namespace raylift::photon
