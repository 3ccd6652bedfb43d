// SPDX-License-Identifier: Apache-2.0
#include "worker.h"

#include <fcntl.h>
#include <malloc.h>
#include <raylift/geometry/error.h>
#include <raylift/geometry/optics/properties.h>
#include <raylift/gpu/device/device.h>
#include <signal.h>
#include <sys/prctl.h>
#include <tbb/global_control.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/json.h"
#include "batch/actions/optics_text.h"
#include "cli/interrupt.h"
#include "cli/session.h"
#include "frames.h"
#include "inputs.h"
#include "report.h"

namespace raylift::batch {
using namespace cli;
namespace {

using Clock = std::chrono::steady_clock;

/// Sends the batch the stage that a scene is at, for the message if its process is killed.
Progress make_progress(FrameSocket& socket) {
  return Progress([&socket, last = std::string()](std::string_view stage, std::uint64_t, std::uint64_t) mutable {
    if (stage != last) {
      last = stage;
      (void)socket.send(FrameType::stage, stage);
    }
    return interrupted_by() == 0;
  });
}

/// Every property of the scene that the simulation does not honour, up to a length of the row.
void add_unhonoured(Json& row, const Scene& scene) {
  constexpr std::size_t kMax = 100;
  const std::vector<UnhonouredProperty> unhonoured = unhonoured_properties(scene);
  const std::size_t all = unhonoured.size();
  if (all != 0) row["unhonoured"] = unhonoured_json(unhonoured, kMax);
  if (all > kMax) row["more_unhonoured"] = all - kMax;
}

class Worker {
 public:
  Worker(std::string device, const std::vector<const Action*>& actions, const ActionOptions& options,
         const BatchHooks& hooks)
      : device_name_(std::move(device)), actions_(actions), options_(options), hooks_(hooks), socket_(kWorkerSocket) {}

  void run() {
    while (const std::optional<MessageFrame> frame = socket_.wait()) {
      if (!socket_.send(FrameType::stage, "start")) return;
      hooks_.before_scene(frame->payload);
      Json row = make_row(frame->payload, actions_);
      const FrameType type = work(frame->payload, row);
      hooks_.before_row(row);
      const std::string text = base::json_text(row);
      const bool leaving = type == FrameType::refused || spoilt_;
      if (leaving && !socket_.send(FrameType::leaving, "")) return;
      if (!socket_.send(type, text) || leaving) return;
      ::malloc_trim(0);
    }
  }

 private:
  /// A scene from its file to its row. In one function, as what a failure means depends on how far the work was.
  FrameType work(const std::string& path, Json& row) {
    Json seconds = Json::object();
    bool negative = false;
    std::string_view at = "load";
    Clock::time_point start = Clock::now();
    const auto lap = [&] {
      seconds[std::string(at)] = std::chrono::duration<double>(Clock::now() - start).count();
      start = Clock::now();
    };
    FrameType type = FrameType::row;
    std::optional<Error> failure;
    const auto fail = [&](const Error& error) {
      failure = error;
      // The row is of the scene: a file of another name, such as the cache's, is where it went wrong.
      if (!error.file().empty() && error.file() != path)
        failure = Error(error.kind(), error.problem(),
                        {path, error.file() + (error.element().empty() ? "" : ": " + error.element())}, error.advice(),
                        error.signal());
      // A device that has failed once may not come back; memory that ran out may be held by this process, and a signal
      // that terminates it is not forgotten.
      spoilt_ = error.kind() == ErrorKind::device || error.kind() == ErrorKind::out_of_host_memory ||
                error.kind() == ErrorKind::cancelled;
    };
    try {
      with_raylift_errors([&] {
        std::error_code ignored;
        const std::uintmax_t bytes = std::filesystem::file_size(path, ignored);
        row["bytes"] = ignored ? Json() : Json(bytes);
        if (const std::string hash = source_of(path); !hash.empty()) row["source"] = hash;
        try {
          open_device();
        } catch (const Error&) {
          type = FrameType::refused;
          throw;
        }
        SceneWork scene(path, options_, device_ ? &*device_ : nullptr, make_progress(socket_));
        if (device_) row["run"]["device"] = device_->info().id;
        start = Clock::now();
        set_files(row, path, scene.scene().files, make_progress(socket_));
        add_unhonoured(row, scene.scene());
        lap();
        for (const Action* action : actions_) {
          at = action->name;
          if (action->needs_device) hooks_.before_device_action(device_name_);
          row[std::string(at)] = action->run(scene);
          lap();
        }
        negative = scene.negative();
        return 0;
      });
    } catch (const Error& error) {
      lap();
      // Nothing is wrong with a scene that raylift-import was not found for.
      if (error.kind() == ErrorKind::usage || error.kind() == ErrorKind::system) type = FrameType::refused;
      fail(error);
    } catch (const std::exception& error) {
      fail(Error(ErrorKind::malformed, std::string("unexpected: ") + error.what(), {path, ""}));
    }
    row["status"] = negative ? "negative" : "ok";
    if (failure) {
      set_error(row, *failure);
      row["error"]["action"] = at;
    }
    row["run"]["seconds"] = seconds;
    return type;
  }

  /// What the file holds, by which a resumed batch sees whether it is still the same. A file that can't be
  /// read is an error of loading it.
  [[nodiscard]] std::string source_of(const std::string& path) {
    try {
      return scene_hash(path, options_.load, options_.load.limits.file_bytes, make_progress(socket_));
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::io) throw;
      return {};
    }
  }

  void open_device() {
    bool needed = false;
    for (const Action* action : actions_) needed = needed || action->needs_device;
    if (needed) hooks_.before_open(device_name_);
    // Several workers on the host device share the machine's memory as their imports do.
    if (needed && !device_) device_ = Device::parse(device_name_, options_.load.limits.isolate_bytes);
  }

  std::string device_name_;
  const std::vector<const Action*>& actions_;
  const ActionOptions& options_;
  const BatchHooks& hooks_;
  FrameSocket socket_;
  std::optional<Device> device_;
  bool spoilt_ = false;
};

}  // namespace

std::optional<WorkerOrders> worker_orders() {
  const char* set = std::getenv(kWorkerVariable);
  if (set == nullptr) return std::nullopt;
  std::istringstream text(set);
  pid_t parent = 0;
  WorkerOrders orders;
  const bool complete = static_cast<bool>(text >> parent >> orders.import_bytes >> orders.threads);
  text.ignore();
  std::getline(text, orders.device);
  // No process waits for this one once the batch is gone; it may have gone already.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (!complete || parent != ::getppid()) ::_exit(1);
  ::unsetenv(kWorkerVariable);
  // What a worker starts is not to speak in its name.
  (void)::fcntl(kWorkerSocket, F_SETFD, FD_CLOEXEC);
  return orders;
}

void serve(const WorkerOrders& orders, const BatchOptions& options) {
  // Where memory runs out for all, the kernel shall take this process or its import, not the batch.
  std::ofstream("/proc/self/oom_score_adj") << 900;
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, std::max(orders.threads, 1U));
  ActionOptions own = options.action;
  own.load.limits.isolate_bytes = orders.import_bytes;
  Worker(orders.device, options.actions, own, options.hooks).run();
  ::_exit(0);  // drivers may take long to shut down, without need
}

Json make_row(const std::string& path, const std::vector<const Action*>& actions) {
  Json row;
  set_file(row, path);
  row["bytes"] = nullptr;
  row["source"] = nullptr;
  row["do"] = Json::array();
  for (const Action* action : actions) row["do"].push_back(action->name);
  row["status"] = "";
  return row;
}

void set_error(Json& row, const Error& error) {
  row["status"] = "failed";
  row["error"] = to_json(error);
}

}  // namespace raylift::batch
