// SPDX-License-Identifier: Apache-2.0
// The devices of a batch, and how many workers there are.
#pragma once

#include "batch_options.h"
#include "mpi_messages.h"
#include "worker_pool.h"

namespace raylift::batch {

/// Throws Error for a device that is not there, before any scene meets it: usage, device. Makes no context.
void check_devices(const BatchOptions& options);

/// The workers of one process of a batch.
[[nodiscard]] WorkerPoolOptions pool_options(const BatchOptions& options, const RankPlace& place);

}  // namespace raylift::batch
