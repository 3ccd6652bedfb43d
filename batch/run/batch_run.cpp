// SPDX-License-Identifier: Apache-2.0
#include "batch_run.h"

#include <fmt/format.h>
#include <raylift/geometry/error.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <filesystem>
#include <memory>
#include <unordered_set>
#include <utility>

#include "base/json.h"
#include "batch_devices.h"
#include "batch_summary.h"
#include "cli/interrupt.h"
#include "cli/progress_bar.h"
#include "cli/text.h"
#include "earlier_rows.h"
#include "inputs.h"
#include "mpi_messages.h"
#include "ranks.h"
#include "report.h"
#include "report_head.h"
#include "worker.h"
#include "worker_pool.h"

namespace raylift::batch {
using namespace cli;
namespace {

using Clock = std::chrono::steady_clock;

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
    start_ = Clock::now();
    next_line_ = start_ + options_.hooks.line_interval;
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
    print(Clock::now() - start_);
    const std::string resume = options_.report.empty() ? "" : "go on by --resume";
    if (refusal_)
      throw Error(refusal_->kind(), refusal_->problem(), {refusal_->file(), refusal_->element()},
                  refusal_->advice() + (refusal_->advice().empty() || resume.empty() ? "" : "; ") + resume);
    if (interrupted() && summary_.done() != inputs_.size())
      throw Error(ErrorKind::cancelled, "interrupted", {}, resume);
    return summary_.exit_code();
  }

 private:
  /// The inputs of this shard.
  void keep_shard() {
    if (options_.shard) {
      std::vector<Input> own;
      for (std::size_t i = options_.shard->index; i < inputs_.size(); i += options_.shard->count)
        own.push_back(std::move(inputs_[i]));
      inputs_ = std::move(own);
    }
    summary_ = Summary(inputs_.size());
  }

  void open_report() {
    EarlierRows earlier(inputs_, options_, all_scenes_);
    report_ = std::make_unique<Report>(options_.report, options_.resume ? Report::Mode::resume : Report::Mode::fresh,
                                       make_head(options_),
                                       [&](const Json& head, const Json& row) { earlier.add(head, row); });
    earlier.check_sources(session_.progress());
    if (earlier.any_again())
      report_->rewrite(
          [&](const Json& row) { return earlier.again(row) ? std::nullopt : std::optional<std::size_t>(0); });
    done_.resize(inputs_.size());
    for (const auto& [scene, row] : earlier.done()) {
      done_[scene] = true;
      summary_.add(scene, row, true);
    }
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
      say_what_happens(busy);
    }
  }

  /// An interrupt is answered at once; without a terminal, a line a minute says how far the batch is.
  void say_what_happens(std::size_t busy) {
    if (interrupted() && !std::exchange(answered_, true) && busy != 0)
      session_.say("interrupted: finishing " + counted(busy, "scene", "scenes") + "; again to stop at once");
    const Clock::time_point now = Clock::now();
    if (now < next_line_ || !session_.says_progress()) return;
    next_line_ = now + options_.hooks.line_interval;
    std::string line = summary_.progress(now - start_);
    if (const auto slowest = pool_.slowest())
      line += fmt::format("; for {}: {}", short_duration(slowest->time), slowest->path);
    session_.say(line);
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

  /// The error of a scene whose process a signal terminated. Where all processes get it, the batch's own may come
  /// later.
  void take_stopped(std::size_t scene) {
    if (interrupted()) return;
    if (stopped_.insert(scene).second)
      waiting_.push_front(scene);
    else
      take_failed(scene,
                  Error(ErrorKind::cancelled, "the scene's process was terminated by a signal, and so was the next",
                        {inputs_[scene].path, ""}));
  }

  /// The error of a device that has failed: the scene goes to another one.
  void take_dropped(const Finished& finished) {
    const Json& run = finished.row["run"];
    std::string device = finished.dropped;
    if (ranks_ != nullptr)
      device += fmt::format(" of rank {} on {}", run["rank"].get<int>(), run["host"].get<std::string>());
    const Json& error = finished.row["error"];
    if (dropped_.insert(device).second)
      session_.warn(device + " is no longer used: " + error["message"].get<std::string>());
    waiting_.push_front(finished.scene);
    if (!refusal_ && pool_.usable() == 0 && (ranks_ == nullptr || !ranks_->usable()))
      refusal_ = Error(ErrorKind::device, error["problem"].get<std::string>(), {inputs_[finished.scene].path, ""},
                       error["advice"].get<std::string>());
  }

  /// Whether the scene is to be tried again: where a device failed, it may be the device's fault or the scene's. A dead
  /// one can't be opened by the next worker.
  bool tries_again(std::size_t scene, const Error& error) {
    if (error.kind() != ErrorKind::device || stopping() || !tried_.insert(scene).second) return false;
    waiting_.push_front(scene);
    return true;
  }

  void take(const Finished& finished) {
    if (finished.cancelled) return take_stopped(finished.scene);
    if (!finished.dropped.empty()) return take_dropped(finished);
    Json row = finished.row;
    if (report_ && folder_of(report_->head()) != std::filesystem::current_path().string())
      set_file(row, std::filesystem::absolute(inputs_[finished.scene].path).string());
    if (options_.shard) {
      const std::size_t number = options_.shard->index + finished.scene * options_.shard->count;
      set_shard(row, {*options_.shard, number, all_scenes_});
    }
    if (row["status"] == "failed") {
      const Json& json = row["error"];
      const Input& input = inputs_[finished.scene];
      Error error(error_kind(json["kind"].get<std::string>()), json["problem"].get<std::string>(),
                  {input.path, json["element"].get<std::string>()}, json["advice"].get<std::string>());
      const bool vanished = error.kind() == ErrorKind::io && !input.error && folder_vanished(input);
      if (vanished) error = Error(ErrorKind::system, "the folder of the scene is gone", {input.path, ""});
      if (!finished.refused && tries_again(finished.scene, error)) return;
      // It would go as with this one with all others.
      if ((finished.refused || vanished) && !options_.keep_going) {
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
    EarlierRows rows(inputs_, options_, all_scenes_);
    rows.set_folder(report_->head());
    report_->rewrite([&](const Json& row) { return std::optional(rows.scene_of(row).value_or(inputs_.size())); });
  }

  void finish_report() {
    if (report_) report_->finish();
  }

  void print(std::chrono::duration<double> time) {
    if (session_.options().json) {
      Json json = summary_.json(time);
      if (options_.shard) json["shard"] = options_.shard->text();
      session_.write(base::json_text(json, 2) + '\n');
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
  std::unordered_set<std::size_t> tried_;  // and a device failed
  std::unordered_set<std::string> dropped_;
  std::uint64_t weight_ = 0;
  std::uint64_t weight_done_ = 0;
  std::optional<Error> refusal_;
  bool failed_ = false;
  bool answered_ = false;  // an interrupt
  Clock::time_point start_;
  Clock::time_point next_line_;
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
  if (!options.keep_going) check_devices(options);
  if (!started_in_parallel()) {
    return Batch(session, options, pool_options(options, {}), nullptr).run();
  }

  const std::unique_ptr<Mpi> mpi = start_mpi();
  WorkerPoolOptions pool = pool_options(options, mpi->place);
  pool.may_drop_last = !options.keep_going;  // other ranks have devices too
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
