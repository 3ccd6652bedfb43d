// SPDX-License-Identifier: Apache-2.0
// A worker of a batch: a process that takes scenes one after the other, and whose end is the end of its scene alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "batch_options.h"

namespace raylift::batch {

/// What the environment says to a process that is to be a worker: "PID BYTES THREADS DEVICE", PID being the batch's
/// process, and the rest its orders.
inline constexpr const char* kWorkerVariable = "RAYLIFT_BATCH_WORKER";
/// Its socket.
inline constexpr int kWorkerSocket = 3;

struct WorkerOrders {
  std::uint64_t import_bytes = 0;  ///< of address space that an import may take
  unsigned threads = 1;
  std::string device;  ///< empty where none is needed
};

/// What this process is to do, if it was started as a worker. From then on it dies with the batch.
[[nodiscard]] std::optional<WorkerOrders> worker_orders();

/// Serves scenes until the batch closes the socket. Never returns.
[[noreturn]] void serve(const WorkerOrders& orders, const BatchOptions& options);

/// A scene's row as it begins.
[[nodiscard]] cli::Json make_row(const std::string& path, const std::vector<const Action*>& actions);
/// Makes it that of a scene that failed.
void set_error(cli::Json& row, const Error& error);

}  // namespace raylift::batch
