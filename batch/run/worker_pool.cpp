// SPDX-License-Identifier: Apache-2.0
#include "worker_pool.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <raylift/gpu/memory/residency.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "base/json.h"
#include "cli/session.h"
#include "cli/text.h"
#include "geometry/src/process.h"
#include "report.h"
#include "worker.h"

namespace raylift::batch {
using namespace cli;
namespace {

[[noreturn]] void fail_to_start(const char* what, int code) {
  throw Error(kind_of_errno(code), fmt::format("can't start a worker: {}: {}", what, std::strerror(code)));
}

/// This process's command line: a worker reads its options from the same one.
std::vector<std::string> own_arguments() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> arguments;
  for (std::string one; std::getline(file, one, '\0');) arguments.push_back(one);
  return arguments;
}

/// Whether a worker's row is of that scene: a worker answers for its own scene alone.
bool is_row_of(const Json& row, const std::string& path) {
  try {
    return file_of(row) == path;
  } catch (const Error&) {
    return false;
  }
}

/// The last line that is not empty of what a process said.
std::string last_line(int file) {
  std::array<char, 4096> text{};
  const off_t bytes = ::lseek(file, 0, SEEK_END);
  const ssize_t got = ::pread(file, text.data(), text.size(), std::max<off_t>(0, bytes - 4096));
  std::string said(text.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  while (!said.empty() && said.back() == '\n') said.pop_back();
  return printable(said.substr(said.rfind('\n') + 1).substr(0, 200));
}

}  // namespace

WorkerPool::WorkerPool(WorkerPoolOptions options) : options_(std::move(options)) {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) == 0) host_ = name.data();
  for (const std::string& device : options_.devices) slots_.emplace_back().device = device;
}

WorkerPool::~WorkerPool() {
  for (Slot& slot : slots_) (void)end(slot);
}

std::size_t WorkerPool::idle() const {
  return static_cast<std::size_t>(
      std::count_if(slots_.begin(), slots_.end(), [](const Slot& slot) { return !slot.busy && !slot.dropped; }));
}

std::size_t WorkerPool::busy() const {
  return static_cast<std::size_t>(
      std::count_if(slots_.begin(), slots_.end(), [](const Slot& slot) { return slot.busy; }));
}

std::size_t WorkerPool::usable() const {
  return static_cast<std::size_t>(
      std::count_if(slots_.begin(), slots_.end(), [](const Slot& slot) { return !slot.dropped; }));
}

std::optional<WorkerPool::UnderWay> WorkerPool::slowest() const {
  const Slot* found = nullptr;
  for (const Slot& slot : slots_)
    if (slot.busy && (found == nullptr || slot.start < found->start)) found = &slot;
  if (found == nullptr) return std::nullopt;
  return UnderWay{found->path, Clock::now() - found->start};
}

/// Whether others are left, here or elsewhere.
bool WorkerPool::drop(const std::string& device) {
  const auto other = [&](const Slot& slot) { return !slot.dropped && slot.device != device; };
  if (!options_.may_drop_last && std::none_of(slots_.begin(), slots_.end(), other)) return false;
  for (Slot& slot : slots_) slot.dropped = slot.dropped || slot.device == device;
  return true;
}

void WorkerPool::start(std::size_t scene, const std::string& path) {
  // One that has a process comes first: it may have a device open already.
  const auto idle = [](const Slot& one) { return !one.busy && !one.dropped; };
  auto slot =
      std::find_if(slots_.begin(), slots_.end(), [&](const Slot& one) { return idle(one) && one.process != 0; });
  if (slot == slots_.end()) slot = std::find_if(slots_.begin(), slots_.end(), idle);
  // One that died while it was idle is replaced.
  slot->not_started.reset();
  try {
    for (int attempt = 0; attempt != 2; ++attempt) {
      if (slot->process == 0) spawn(*slot);
      if (slot->socket.send(FrameType::job, path)) break;
      (void)end(*slot);
    }
  } catch (const Error& error) {
    slot->not_started = error;
  }
  slot->busy = true;
  slot->taken = false;
  slot->scene = scene;
  slot->path = path;
  slot->stage = "start";
  slot->start = Clock::now();
}

void WorkerPool::spawn(Slot& slot) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) fail_to_start("socketpair", errno);
  slot.socket = FrameSocket(ends[0]);
  const FrameSocket theirs(ends[1]);
  const FrameSocket null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  slot.said = base::Descriptor(::memfd_create("raylift-worker-errors", MFD_CLOEXEC));
  if (slot.said.get() < 0) fail_to_start("memfd_create", errno);
  (void)::fcntl(slot.said.get(), F_SETFL, O_APPEND);
  std::vector<std::string> environment = detail::own_environment();
  std::erase_if(environment,
                [](const std::string& one) { return one.starts_with(std::string(kWorkerVariable) + '='); });
  environment.push_back(
      fmt::format("{}={} {} {} {}", kWorkerVariable, ::getpid(), options_.import_bytes, options_.threads, slot.device));
  std::error_code error;
  const std::string program = std::filesystem::read_symlink("/proc/self/exe", error).string();
  const int descriptors[] = {null.descriptor(), null.descriptor(), slot.said.get(), theirs.descriptor()};
  static_assert(std::size(descriptors) == kWorkerSocket + 1);
  try {
    slot.process = detail::spawn(program, own_arguments(), std::move(environment), descriptors);
  } catch (...) {
    (void)end(slot);
    throw;
  }
}

/// Kills the slot's process, if there is one, with all that it has started, and returns its status.
int WorkerPool::end(Slot& slot) noexcept {
  int status = 0;
  if (slot.process != 0) {
    ::kill(-slot.process, SIGKILL);
    while (::waitpid(slot.process, &status, 0) < 0 && errno == EINTR) {
    }
  }
  slot.process = 0;
  slot.leaving = false;
  slot.socket.close();
  (void)slot.said.close();
  return status;
}

void WorkerPool::poll_for(std::vector<pollfd>& polled) const {
  for (const Slot& slot : slots_)
    if (slot.process != 0) polled.push_back({slot.socket.descriptor(), POLLIN, 0});
}

void WorkerPool::handle(std::vector<Finished>& finished) {
  for (Slot& slot : slots_) {
    if (slot.process != 0) read(slot, finished);
    if (slot.busy && slot.process == 0)
      finish_failed(slot, slot.not_started.value_or(Error(ErrorKind::system, "no worker stays alive")), true, finished);
  }
  const Clock::time_point now = Clock::now();
  if (now < next_check_) return;
  if (busy() == 0) return;
  const ProcessTable processes = options_.bytes != 0 ? ProcessTable::read() : ProcessTable();
  // Less often where thousands of processes take long to read.
  next_check_ = now + std::max<Clock::duration>(kTick, 20 * (Clock::now() - now));
  for (Slot& slot : slots_)
    if (slot.busy) check_limits(slot, processes, finished);
}

void WorkerPool::read(Slot& slot, std::vector<Finished>& finished) {
  const bool open = slot.socket.receive();
  while (const std::optional<MessageFrame> frame = slot.socket.next()) {
    slot.taken = true;
    if (frame->type == FrameType::stage) {
      slot.stage = frame->payload;
    } else if (frame->type == FrameType::leaving) {
      slot.leaving = true;
    } else if (slot.busy) {
      const bool refused = frame->type == FrameType::refused;
      const Json row = base::parse_json<Json>(frame->payload);
      if (is_row_of(row, slot.path))
        finish(slot, row, refused, finished);
      else
        finish_failed(slot, Error(ErrorKind::malformed, "the worker gave back no row of this scene", {slot.path, ""}),
                      false, finished);
    }
  }
  if (!open) {
    // What ended it is known once it has ended; a worker that closed its socket ends at once.
    const auto ended = [&] {
      siginfo_t info{};
      return ::waitid(P_PID, static_cast<id_t>(slot.process), &info, WEXITED | WNOWAIT | WNOHANG) != 0 ||
             info.si_pid != 0;
    };
    for (int i = 0; i != 1000 && !ended(); ++i) ::usleep(1000);
    const std::string said = last_line(slot.said.get());
    const int status = end(slot);
    // A worker that never got to its scene has nothing to say about it. Who killed it may have had the scene in mind.
    const bool signalled = WIFSIGNALED(status) && WTERMSIG(status) != SIGABRT;
    if (slot.busy && !slot.taken && !signalled)
      finish_failed(slot, Error(ErrorKind::system, "a worker ended before its first scene: " + said), true, finished);
    else if (slot.busy)
      finish_failed(slot, death(slot, status, said), false, finished);
    return;
  }
  if (slot.busy) return;
  if (slot.leaving) {
    (void)end(slot);
    return;
  }
  // A worker that is at rest and still has much memory would be stopped for it in the next scene.
  if (options_.bytes != 0 && resident_bytes(slot.process) > options_.bytes / 2)
    (void)end(slot);
  else
    (void)!::ftruncate(slot.said.get(), 0);
}

void WorkerPool::check_limits(Slot& slot, const ProcessTable& processes, std::vector<Finished>& finished) {
  const std::chrono::duration<double> time = Clock::now() - slot.start;
  if (time.count() > options_.seconds) {
    (void)end(slot);
    finish_failed(slot,
                  Error(ErrorKind::limit,
                        fmt::format("the scene took longer than its limit of {} s", short_number(options_.seconds)),
                        {slot.path, ""}, "raise it with --timeout", SIGKILL),
                  false, finished);
  } else if (options_.bytes != 0 && processes.resident_bytes(slot.process) > options_.bytes) {
    (void)end(slot);
    finish_failed(slot,
                  Error(ErrorKind::limit,
                        fmt::format("the scene took more memory than its limit of {}", human_bytes(options_.bytes)),
                        {slot.path, ""}, "raise it with --memory", SIGKILL),
                  false, finished);
  }
}

Error WorkerPool::death(const Slot& slot, int status, const std::string& said) {
  const std::string end = said.empty() ? "" : ": " + said;
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
    return Error(ErrorKind::limit, "the scene's process was killed (SIGKILL), probably because memory ran out",
                 {slot.path, slot.stage}, "use fewer --jobs, or limit them with --memory", SIGKILL);
  if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGTERM || WTERMSIG(status) == SIGINT || WTERMSIG(status) == SIGHUP))
    return Error(ErrorKind::cancelled,
                 fmt::format("the scene's process was terminated ({})", signal_name(WTERMSIG(status))),
                 {slot.path, slot.stage}, "", WTERMSIG(status));
  // After the import it is no longer the file that is to blame.
  const bool device = slot.stage == "placement" || slot.stage == "allocation" || slot.stage == "upload";
  const ErrorKind kind = device ? ErrorKind::device : ErrorKind::malformed;
  if (WIFSIGNALED(status))
    return Error(kind, fmt::format("the scene's process crashed ({}){}", signal_name(WTERMSIG(status)), end),
                 {slot.path, slot.stage}, "", WTERMSIG(status));
  return Error(kind, fmt::format("the scene's process ended without a row (exit code {}){}", WEXITSTATUS(status), end),
               {slot.path, slot.stage});
}

void WorkerPool::finish_failed(Slot& slot, const Error& error, bool refused, std::vector<Finished>& finished) {
  Json row = make_row(slot.path, options_.actions);
  std::error_code ignored;
  const std::uintmax_t bytes = std::filesystem::file_size(slot.path, ignored);
  if (!ignored) row["bytes"] = bytes;
  set_error(row, error);
  row["run"]["stage"] = slot.stage;
  finish(slot, std::move(row), refused, finished);
}

void WorkerPool::finish(Slot& slot, Json row, bool refused, std::vector<Finished>& finished) {
  // Last in the row stands what is not the same each time.
  Json run = row.contains("run") ? row["run"] : Json::object();
  row.erase("run");
  run["wall_seconds"] = std::chrono::duration<double>(Clock::now() - slot.start).count();
  run["host"] = host_;
  run["rank"] = options_.rank;
  row["run"] = std::move(run);
  const bool cancelled = row.contains("error") && row["error"]["kind"] == to_string(ErrorKind::cancelled);
  const bool dropped = refused && row["error"]["kind"] == to_string(ErrorKind::device) && drop(slot.device);
  slot.busy = false;
  finished.push_back({slot.scene, std::move(row), refused, cancelled, dropped ? slot.device : ""});
}

}  // namespace raylift::batch
