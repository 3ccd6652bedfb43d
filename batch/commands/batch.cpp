// SPDX-License-Identifier: Apache-2.0
// raylift batch: does the same with many scenes, each in a process of its own, and reports a row for each.
#include "geometry/src/error_kinds.h"

#include <memory>

#include "batch/run/batch_options.h"
#include "batch/run/batch_run.h"
#include "batch/run/merge.h"
#include "batch/run/worker.h"
#include "cli/options.h"
#include "cli/quantity.h"
#include "cli/text.h"
#include "commands.h"
#include "device_options.h"

namespace raylift::batch {
using namespace cli;
namespace {

int batch(Session& session, BatchOptions& options) {
  if (options.resume && options.report.empty())
    throw Error(ErrorKind::usage, "--resume needs a report to go on with", {}, "name it by --report");
  if (!options.retry.empty() && !options.resume)
    throw Error(ErrorKind::usage, "--retry does rows of an earlier batch again", {}, "add --resume");
  if (options.sort && options.report.empty())
    throw Error(ErrorKind::usage, "--sort needs a report to sort", {}, "name it by --report");
  if (options.merge && (options.resume || options.shard))
    throw Error(ErrorKind::usage, "--merge only puts reports together: it has no --resume and no --shard");
  if (options.merge) return merge_reports(session, options.inputs, options.report);
  options.action.upload.bvh = false;  // unless a query follows
  for (const Action* action : options.actions) {
    if (action->name == "cache") options.action.fill_cache = true;
    if (action->name == "trace") options.action.upload.bvh = true;
  }
  if (const std::optional<WorkerOrders> orders = worker_orders()) serve(*orders, options);
  if (!options.shard) options.shard = slurm_shard();
  return run_batch(session, options);
}

/// The words of --retry: the names of kinds, and kChanged.
std::vector<std::string> retry_words() {
  std::vector<std::string> words{kChanged};
  for (const ErrorKindRow& row : error_kinds()) words.emplace_back(row.name);
  return words;
}

/// "limit,changed".
std::vector<std::string> parse_retry(std::string_view text) {
  std::vector<std::string> kinds = cli::split_at_commas(text);
  for (const std::string& kind : kinds) one_of(kind, retry_words());
  return kinds;
}

constexpr const char* kFooter = R"(
A scene that fails or crashes gets a line with the error in the report, and the batch continues. Lines are written as
scenes end; --resume continues a batch that was interrupted or killed. After an interrupt (Ctrl-C) the running scenes are
completed; a second interrupt ends the batch at once.

Under mpirun, rank 0 distributes the scenes to all ranks and writes the report; if a rank is lost the batch ends, and
--resume continues it. Shards are independent jobs. In a Slurm job array each task processes its own shard, unless --shard
names another; --shard 0/1 is all scenes.

Examples:
  raylift batch scenes/ --report out.jsonl --jobs 4
  raylift batch 'runs/*/geometry.dae' --do info,check,upload --timeout 10min --report out.jsonl --resume
  mpirun -n 8 raylift batch @list.txt --report out.jsonl --resume
  raylift batch @list.txt --shard 0/2 --report 0.jsonl; raylift batch @list.txt --shard 1/2 --report 1.jsonl
  raylift batch --merge 0.jsonl 1.jsonl --report out.jsonl
  raylift batch scenes/ --report out.jsonl --resume --retry limit --timeout 4h
  raylift batch @list.txt --keep-going --report out.jsonl; jq -r 'select(.status == "failed").file' out.jsonl)";

/// Where the rows go, and which scenes are done for that.
void add_report_options(CLI::App& app, const std::shared_ptr<BatchOptions>& options) {
  add_parsed(app, "--report", "FILE", "", "File to write, with a line of JSON for each scene",
             [options](const std::string& text) { options->report = parse_file_name(text); });
  add_flag(app, "--resume", options->resume,
           "Continue the report of a batch that was stopped: scenes with a line in it are left out");
  offer(
      add_parsed(
          app, "--retry", "KINDS", "",
          "With --resume, also repeat scenes that failed with these kinds of errors, with commas; changed: those whose "
          "files have changed since",
          [options](const std::string& text) { options->retry = parse_retry(text); }),
      retry_words());
  add_parsed(
      app, "--shard", "I/N", "",
      "Process every N-th scene only, from scene I on (0 to N-1); in a Slurm job array, the task's shard by default",
      [options](const std::string& text) { options->shard = parse_shard(text); });
  add_flag(app, "--merge", options->merge, "Merge the reports of all shards, which are the INPUTs, into --report");
  add_flag(app, "--sort", options->sort, "At the end, sort the lines of the report by the order of the inputs");
}

/// What --do does it with.
void add_action_options(CLI::App& app, const std::shared_ptr<BatchOptions>& options) {
  add_devices_option(app, options->device,
                     "all, auto, host (the CPU), cuda:N, or a list with commas; 'raylift devices' lists them");
  add_upload_options(app, options->action.upload, options->action.load);
  add_cache_options(app, options->action.cache);
  add_parsed(app, "--rays", "COUNT", exact_count(options->action.rays),
             "Rays of the action trace, in all directions from the centre of the scene",
             [options](const std::string& text) {
               const std::uint64_t rays = parse_count(text);
               if (rays > 100'000'000) throw Error(ErrorKind::usage, "at most 100M are possible");
               options->action.rays = rays;
             });
  add_parsed(app, "--pictures", "FOLDER", "", "Folder for the images of the action render",
             [options](const std::string& text) { options->action.pictures = text; });
}

}  // namespace

void add_batch(CLI::App& program, GeneralOptions& general, CommandRun& run, const BatchHooks& hooks) {
  auto options = std::make_shared<BatchOptions>();
  options->hooks = hooks;
  CLI::App* app =
      add_command(program, "batch", "Process many scenes, each in a process of its own, and report on each");
  add_words(*app, "INPUT", options->inputs,
            "Scene files, folders, patterns such as '*.dae', or @LIST, a file with one of these per line; with "
            "--merge, reports",
            true);
  options->actions = parse_actions("info,check");
  std::vector<std::string> actions;
  for (const Action& action : all_actions()) actions.emplace_back(action.name);
  offer(add_parsed(*app, "--do", "ACTIONS", "info,check",
                   "Actions for each scene, with commas: info, check, cache, upload, trace, render",
                   [options](const std::string& text) { options->actions = parse_actions(text); }),
        actions);
  add_parsed(*app, "-j,--jobs", "COUNT", "one per device",
             "Scenes at a time; without devices, half the number of cores by default",
             [options](const std::string& text) {
               const std::uint64_t jobs = parse_count(text);
               if (jobs == 0 || jobs > 4096) throw Error(ErrorKind::usage, "from 1 to 4096 are possible");
               options->jobs = static_cast<unsigned>(jobs);
             });
  add_report_options(*app, options);
  add_parsed(*app, "--timeout", "SECONDS", short_number(options->seconds),
             "Time limit of a scene, in seconds or as 10min, 2h",
             [options](const std::string& text) { options->seconds = parse_seconds(text); });
  add_parsed(*app, "--memory", "BYTES", "3/4 / jobs",
             "Memory limit of a scene and its import; by default 3/4 of the machine's memory, divided by --jobs",
             [options](const std::string& text) { options->bytes = parse_bytes(text); });
  add_flag(*app, "--keep-going", options->keep_going,
           "Continue after errors that are not a scene's: an input that does not exist, a device that does not work");
  add_flag(*app, "--fail-fast", options->fail_fast, "Start no further scenes after the first that fails");
  add_action_options(*app, options);
  add_general_options(*app, general, true);
  add_load_options(*app, options->action.load);
  finish_command(*app, kFooter,
                 [options, &run] { run = [options](Session& session) { return batch(session, *options); }; });
}

}  // namespace raylift::batch
