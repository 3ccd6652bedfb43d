// SPDX-License-Identifier: Apache-2.0
// raylift batch: does the same with many scenes, each in a process of its own, and reports a row for each.
#include <raylift/geometry/error.h>

#include <memory>

#include "batch/run/batch_options.h"
#include "batch/run/batch_run.h"
#include "batch/run/merge.h"
#include "batch/run/worker.h"
#include "cli/options.h"
#include "cli/placement_options.h"
#include "cli/quantity.h"
#include "cli/text.h"
#include "commands.h"

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

/// What --retry takes: the names of kinds, and kChanged.
std::vector<std::string> retry_words() {
  std::vector<std::string> words{kChanged};
  for (int kind = 0; kind <= static_cast<int>(ErrorKind::system); ++kind)
    words.emplace_back(to_string(static_cast<ErrorKind>(kind)));
  return words;
}

/// "limit,changed".
std::vector<std::string> parse_retry(std::string_view text) {
  std::vector<std::string> kinds = cli::split_at_commas(text);
  for (const std::string& kind : kinds) one_of(kind, retry_words());
  return kinds;
}

constexpr const char* kFooter = R"(
A scene that fails, whatever becomes of its process, is a row with the error in it, and the rest go on. The report's
lines come as scenes finish; a batch that was interrupted or killed goes on by --resume. After an interrupt the scenes
under way are finished; a second one ends the batch at once.

Under mpirun, rank 0 deals the scenes out to all ranks, and writes the report. A rank that is lost ends the batch, which
goes on by --resume. Shards are jobs that know nothing of each other: what ends one leaves the others alone. In a Slurm
job array each task does its own shard, unless --shard names another one; --shard 0/1 is all scenes.

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
  add_parsed(app, "--report", "FILE", "", "Write a line of JSON for each scene to this file",
             [options](const std::string& text) { options->report = parse_file_name(text); });
  add_flag(app, "--resume", options->resume, "Go on with the report of a batch that was stopped");
  offer(add_parsed(app, "--retry", "KINDS", "",
                   "With --resume, do rows again that failed with errors of these kinds, with commas between; changed: "
                   "those whose files are no longer the same",
                   [options](const std::string& text) { options->retry = parse_retry(text); }),
        retry_words());
  add_parsed(app, "--shard", "I/N", "",
             "Do every N-th scene, from scene I on (0 to N-1); the default in a Slurm job array is the task's",
             [options](const std::string& text) { options->shard = parse_shard(text); });
  add_flag(app, "--merge", options->merge,
           "Put the reports of all shards, which the inputs name, together into --report");
  add_flag(app, "--sort", options->sort, "Once all is done, put the report's lines in the order of the inputs");
}

/// What --do does it with.
void add_action_options(CLI::App& app, const std::shared_ptr<BatchOptions>& options) {
  offer(add_parsed(app, "--device", "DEVICES", options->device,
                   "all, auto, host or cuda:N, or several with commas between; see 'raylift devices'",
                   [options](const std::string& text) {
                     if (text.find("cuda:") == std::string::npos && text.find(',') == std::string::npos)
                       one_of(text, {"all", "auto", "host", "cuda:0"});
                     options->device = text;
                   }),
        {"all", "auto", "host", "cuda:0"});
  UploadOptions& upload = options->action.upload;
  add_placement_options(app, upload);
  add_flag(app, "--flatten", upload.flatten, "Expand instances to one mesh, in the world");
  add_cache_options(app, options->action.cache);
  add_parsed(app, "--rays", "COUNT", exact_count(options->action.rays),
             "That --do trace sends in all directions from the middle of the scene",
             [options](const std::string& text) {
               const std::uint64_t rays = parse_count(text);
               if (rays > 100'000'000) throw Error(ErrorKind::usage, "at most 100M are possible");
               options->action.rays = rays;
             });
  add_parsed(app, "--pictures", "FOLDER", "", "The folder that --do render writes to",
             [options](const std::string& text) { options->action.pictures = text; });
}

}  // namespace

void add_batch(CLI::App& program, GeneralOptions& general, Run& run, const BatchHooks& hooks) {
  auto options = std::make_shared<BatchOptions>();
  options->hooks = hooks;
  CLI::App* app = add_command(program, "batch", "Do the same with many scenes, each in a process of its own");
  add_words(*app, "INPUT", options->inputs,
            "Files, folders, patterns such as '*.dae', or @LIST, a file that names them; with --merge, reports", true);
  options->actions = parse_actions("info,check");
  std::vector<std::string> actions;
  for (const Action& action : all_actions()) actions.emplace_back(action.name);
  offer(add_parsed(*app, "--do", "ACTIONS", "info,check",
                   "Of info, check, cache, upload, trace and render, those to do, with commas between",
                   [options](const std::string& text) { options->actions = parse_actions(text); }),
        actions);
  add_parsed(*app, "-j,--jobs", "COUNT", "one per device", "Scenes at a time; without devices, half as many as cores",
             [options](const std::string& text) {
               const std::uint64_t jobs = parse_count(text);
               if (jobs == 0 || jobs > 4096) throw Error(ErrorKind::usage, "from 1 to 4096 are possible");
               options->jobs = static_cast<unsigned>(jobs);
             });
  add_report_options(*app, options);
  add_parsed(*app, "--timeout", "SECONDS", short_number(options->seconds), "Time for a scene; also 10min, 2h",
             [options](const std::string& text) { options->seconds = parse_seconds(text); });
  add_parsed(*app, "--memory", "BYTES", "its share of 3/4", "Memory for a scene, its import included",
             [options](const std::string& text) { options->bytes = parse_bytes(text); });
  add_flag(*app, "--keep-going", options->keep_going,
           "Go on also when it is no scene's fault: an input that does not exist, a device that does not work");
  add_flag(*app, "--fail-fast", options->fail_fast, "Start no more scenes once one has failed");
  add_action_options(*app, options);
  add_general_options(*app, general, true);
  add_load_options(*app, options->action.load);
  finish_command(*app, kFooter,
                 [options, &run] { run = [options](Session& session) { return batch(session, *options); }; });
}

}  // namespace raylift::batch
