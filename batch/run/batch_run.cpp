// SPDX-License-Identifier: Apache-2.0
#include "batch_run.h"

#include <raylift/geometry/detail/process.h>
#include <raylift/geometry/error.h>
#include <raylift/gpu/device/backend.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <memory>
#include <numeric>
#include <thread>
#include <unordered_map>
#include <unordered_set>

#include "batch_summary.h"
#include "cli/interrupt.h"
#include "cli/text.h"
#include "inputs.h"
#include "mpi_messages.h"
#include "ranks.h"
#include "report.h"
#include "worker.h"
#include "worker_pool.h"

namespace raylift::batch {
using namespace cli;
namespace {

using Clock = std::chrono::steady_clock;

bool uses_device(const BatchOptions& options) {
  return std::any_of(options.actions.begin(), options.actions.end(),
                     [](const Action* one) { return one->needs_device; });
}

/// The devices that the batch is to use, by name: without making a context on any.
std::vector<std::string> devices_of(const BatchOptions& options) {
  if (!uses_device(options)) return {};
  if (options.device != "all") {
    std::vector<std::string> names;
    for (std::size_t begin = 0; begin <= options.device.size();) {
      const std::size_t comma = std::min(options.device.find(',', begin), options.device.size());
      names.push_back(options.device.substr(begin, comma - begin));
      begin = comma + 1;
    }
    return names;
  }
  std::vector<std::string> names;
  for (int i = 0; i != cuda_device_count(); ++i) names.push_back("cuda:" + std::to_string(i));
  if (names.empty()) names.emplace_back("host");
  return names;
}

/// Of the devices of a machine, those for one of several processes on it.
std::vector<std::string> share_of(const std::vector<std::string>& devices, const RankPlace& place) {
  const auto own = static_cast<std::size_t>(place.local_rank);
  const auto all = static_cast<std::size_t>(place.local_ranks);
  if (devices.size() <= all) return devices.empty() ? devices : std::vector{devices[own % devices.size()]};
  std::vector<std::string> share;
  for (std::size_t i = own; i < devices.size(); i += all) share.push_back(devices[i]);
  return share;
}

/// The cores for this process: mpirun may have bound it to some of them already.
unsigned own_cores(const RankPlace& place) {
  const auto machine = static_cast<unsigned>(::sysconf(_SC_NPROCESSORS_ONLN));
  const unsigned share = std::max(1U, machine / static_cast<unsigned>(place.local_ranks));
  return std::min(share, std::max(1U, std::thread::hardware_concurrency()));
}

WorkerPoolOptions pool_options(const BatchOptions& options, const RankPlace& place) {
  const std::vector<std::string> devices = share_of(devices_of(options), place);
  const bool host = devices.empty() || (devices.size() == 1 && devices.front() == "host");
  std::size_t jobs = options.jobs;
  if (jobs == 0) jobs = host ? std::max(1U, own_cores(place) / 2) : devices.size();
  WorkerPoolOptions pool;
  pool.actions = options.actions;
  for (std::size_t i = 0; i != jobs; ++i) pool.devices.push_back(devices.empty() ? "" : devices[i % devices.size()]);
  pool.seconds = options.seconds;
  // Each scene may take its share of what memory there is: several at a time would otherwise take it all.
  const std::uint64_t share = detail::usable_memory() / 4 * 3 / (jobs * static_cast<std::size_t>(place.local_ranks));
  const auto limit = [share](std::uint64_t asked) { return asked != 0 ? asked : share; };
  pool.bytes = limit(options.bytes);
  pool.import_bytes = limit(options.action.load.limits.isolate_bytes);
  pool.threads = std::max(1U, own_cores(place) / static_cast<unsigned>(jobs));
  pool.rank = place.rank;
  return pool;
}

class Batch {
 public:
  /// `ranks`: the others, if there are some.
  Batch(Session& session, const BatchOptions& options, WorkerPoolOptions pool, Ranks* ranks)
      : session_(session),
        options_(options),
        inputs_(expand_inputs(options.inputs)),
        all_scenes_(inputs_.size()),
        pool_(std::move(pool)),
        ranks_(ranks) {}

  int run() {
    for (const Action* action : options_.actions)
      if (action->check != nullptr) action->check(options_.action);
    if (inputs_.empty()) throw Error(ErrorKind::usage, "there are no scenes: the lists are empty");
    if (!options_.keep_going)
      for (const Input& input : inputs_)
        if (input.error) throw Error(*input.error);
    keep_shard();
    if (!options_.report.empty()) open_report();
    deal_order();
    const Clock::time_point start = Clock::now();
    try {
      work();
    } catch (...) {
      try {
        finish_report();
      } catch (const Error&) {
        // What went wrong first says more.
      }
      throw;
    }
    if (report_ && options_.sort && summary_.done() == inputs_.size()) sort_report();
    finish_report();
    print(Clock::now() - start);
    if (refusal_) throw Error(*refusal_);
    if (interrupted() && summary_.done() != inputs_.size()) {
      const bool resumable = !options_.report.empty();
      throw Error(ErrorKind::cancelled, "interrupted", {}, resumable ? "go on by --resume" : "");
    }
    return summary_.exit_code();
  }

 private:
  /// Of the inputs, those of this shard.
  void keep_shard() {
    if (options_.shard) {
      std::vector<Input> own;
      for (std::size_t i = options_.shard->index; i < inputs_.size(); i += options_.shard->count)
        own.push_back(std::move(inputs_[i]));
      inputs_ = std::move(own);
    }
    summary_ = Summary(inputs_.size());
  }

  /// Throws Error(usage) where a row of the report that is resumed is of another shard, or of another list.
  void check_shard(const Json& row, const std::string& file) const {
    const std::optional<ShardRow> earlier = shard_of(row);
    const std::string theirs =
        earlier ? shard_text(earlier->shard, earlier->scenes) : shard_text(std::nullopt, all_scenes_);
    const std::string ours = shard_text(options_.shard, all_scenes_);
    if (theirs != ours)
      throw Error(ErrorKind::usage, "the report's rows are of " + theirs + ", and this is " + ours,
                  {options_.report, file}, "use the same inputs and shard, or another report");
  }

  void open_report() {
    std::unordered_map<std::string, std::size_t> by_path;
    for (std::size_t i = 0; i != inputs_.size(); ++i) by_path.emplace(inputs_[i].path, i);
    const Json wanted = make_row("", options_.actions)["do"];
    done_.resize(inputs_.size());
    report_ = std::make_unique<Report>(
        options_.report, options_.resume ? Report::Mode::resume : Report::Mode::fresh, [&](const Json& row) {
          const std::string file = file_of(row);
          if (row.value("do", Json()) != wanted)
            throw Error(ErrorKind::usage, "the report's rows are of another --do: " + row.value("do", Json()).dump(),
                        {options_.report, file}, "use the same, or another report");
          check_shard(row, file);
          const auto found = by_path.find(file);
          if (found == by_path.end() || done_[found->second]) return;
          done_[found->second] = true;
          summary_.add(found->second, row, true);
        });
  }

  /// The largest come first, so that none of them is left over at the end; for each, what it adds to the work to do.
  void deal_order() {
    done_.resize(inputs_.size());
    for (std::size_t i = 0; i != inputs_.size(); ++i)
      if (!done_[i]) order_.push_back(i);
    std::stable_sort(order_.begin(), order_.end(),
                     [&](std::size_t a, std::size_t b) { return inputs_[a].bytes > inputs_[b].bytes; });
    for (const std::size_t scene : order_) {
      weight_ += weight_of(scene);
      waiting_.push_back(scene);
    }
  }

  [[nodiscard]] std::uint64_t weight_of(std::size_t scene) const {
    return inputs_[scene].bytes + (std::uint64_t{256} << 10);  // starting an import takes time as well
  }

  void work() {
    std::vector<Finished> finished;
    while (true) {
      while (!waiting_.empty() && !stopping() && (pool_.idle() != 0 || (ranks_ != nullptr && ranks_->idle() != 0)))
        deal();
      const std::size_t busy = pool_.busy() + (ranks_ != nullptr ? ranks_->busy() : 0);
      if (busy == 0 && (waiting_.empty() || stopping())) return;
      std::vector<pollfd> polled;
      pool_.poll_for(polled);
      const std::chrono::milliseconds tick = ranks_ != nullptr ? Ranks::kTick : WorkerPool::kTick;
      (void)::poll(polled.data(), polled.size(), static_cast<int>(tick.count()));
      finished.clear();
      pool_.handle(finished);
      if (ranks_ != nullptr) ranks_->handle(finished);
      for (const Finished& one : finished) take(one);
      session_.show(label(), weight_done_, weight_);
    }
  }

  [[nodiscard]] bool interrupted() const {
    return interrupted_by() != 0 || (ranks_ != nullptr && ranks_->interrupted_by() != 0);
  }

  [[nodiscard]] bool stopping() const {
    return interrupted() || refusal_.has_value() || (options_.fail_fast && failed_);
  }

  void deal() {
    const std::size_t scene = waiting_.front();
    waiting_.pop_front();
    const Input& input = inputs_[scene];
    if (input.error)
      take_failed(scene, *input.error);
    else if (pool_.idle() != 0)
      pool_.start(scene, input.path);
    else
      ranks_->start(scene, input.path);
  }

  void take_failed(std::size_t scene, const Error& error) {
    Json row = make_row(inputs_[scene].path, options_.actions);
    set_error(row, error);
    take({scene, std::move(row)});
  }

  /// Of a scene whose process a signal told to end. Where all processes get it, the batch's own may come later.
  void take_stopped(std::size_t scene) {
    if (interrupted()) return;
    if (stopped_.insert(scene).second)
      waiting_.push_front(scene);
    else
      take_failed(scene,
                  Error(ErrorKind::cancelled, "the scene's process was told to end by a signal, and so was the next",
                        {inputs_[scene].path, ""}));
  }

  void take(const Finished& finished) {
    if (finished.cancelled) return take_stopped(finished.scene);
    Json row = finished.row;
    if (options_.shard) {
      const std::size_t number = options_.shard->index + finished.scene * options_.shard->count;
      set_shard(row, {*options_.shard, number, all_scenes_});
    }
    if (row["status"] == "failed") {
      const Json& json = row["error"];
      const Error error(error_kind(json["kind"].get<std::string>()), json["problem"].get<std::string>(),
                        {inputs_[finished.scene].path, json["element"].get<std::string>()},
                        json["advice"].get<std::string>());
      // It would go as with this one with all others.
      if (finished.refused && !options_.keep_going) {
        if (!refusal_) refusal_ = error;
        return;
      }
      failed_ = true;
      session_.report(error);
    }
    if (report_) report_->append(row);
    summary_.add(finished.scene, row, false);
    weight_done_ += weight_of(finished.scene);
  }

  [[nodiscard]] std::string label() const {
    return grouped(summary_.done()) + '/' + grouped(inputs_.size()) + " scenes";
  }

  void sort_report() {
    std::vector<std::string> paths;
    for (const Input& input : inputs_) paths.push_back(input.path);
    report_->sort(paths);
  }

  void finish_report() {
    if (report_) report_->finish();
  }

  /// Of this batch or, with a row's shard, of the one that wrote the row.
  [[nodiscard]] static std::string shard_text(const std::optional<Shard>& shard, std::size_t scenes) {
    return shard ? "shard " + shard->text() + " of " + counted(scenes, "scene", "scenes") : "a batch without shards";
  }

  void print(std::chrono::duration<double> time) {
    if (session_.options().json) {
      Json json = summary_.json(time);
      if (options_.shard) json["shard"] = options_.shard->text();
      JsonOutput document(false);
      document.add(json);
    } else {
      session_.write((options_.shard ? shard_text(options_.shard, all_scenes_) + '\n' : "") + summary_.text(time));
    }
  }

  Session& session_;
  const BatchOptions& options_;
  std::vector<Input> inputs_;
  std::size_t all_scenes_;  // of all shards
  Summary summary_{0};
  WorkerPool pool_;
  Ranks* ranks_;
  std::unique_ptr<Report> report_;
  std::vector<char> done_;
  std::vector<std::size_t> order_;
  std::deque<std::size_t> waiting_;  // to be dealt
  std::unordered_set<std::size_t> stopped_;
  std::uint64_t weight_ = 0;
  std::uint64_t weight_done_ = 0;
  std::optional<Error> refusal_;
  bool failed_ = false;
};

/// The other ranks' part. Where one can't go on, none can: its scenes would be missing.
void serve(Session& session, Mpi& mpi, const WorkerPoolOptions& pool) {
  try {
    (void)with_raylift_errors([&] {
      serve_rank(mpi, pool);
      return 0;
    });
  } catch (const Error& error) {
    session.report(error);
    mpi.abort(exit_code_of(error));
  }
  mpi.finish();
}

}  // namespace

int run_batch(Session& session, const BatchOptions& options) {
  ::signal(SIGXFSZ, SIG_IGN);  // a report at the limit of a file's size is an error like a full disk
  if (!started_in_parallel()) return Batch(session, options, pool_options(options, {}), nullptr).run();

  const std::unique_ptr<Mpi> mpi = start_mpi();
  const WorkerPoolOptions pool = pool_options(options, mpi->place);
  if (mpi->place.rank != 0) {
    serve(session, *mpi, pool);
    return 0;
  }
  Ranks ranks(*mpi);
  const auto end = [&] {
    ranks.stop();
    mpi->finish();
  };
  try {
    const int code = Batch(session, options, pool, &ranks).run();
    end();
    return code;
  } catch (...) {
    end();
    throw;
  }
}

}  // namespace raylift::batch
