// SPDX-License-Identifier: Apache-2.0
// The parent's side of an isolated import.
#include "isolate.h"

#include <fcntl.h>
#include <poll.h>
#include <raylift/geometry/error.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <thread>

#include "base/descriptor.h"
#include "base/own_parts.h"
#include "import_protocol.h"
#include "own_importer.h"
#include "process.h"
#include "scene_stream.h"

namespace raylift {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

struct Pipe {
  base::Descriptor read, write;
};

Pipe make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) ends[0] = ends[1] = -1;
  return {detail::opened(ends[0], "can't make a pipe"), detail::opened(ends[1], "can't make a pipe")};
}

base::Descriptor make_memory(const char* name) {
  return detail::opened(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING), "can't make a file in memory");
}

bool executable(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

fs::path find_program(const LoadOptions& options) {
  std::vector<fs::path> places{options.import_program};
  if (options.import_program.empty()) places = base::places_of("raylift-import", "RAYLIFT_IMPORT", RAYLIFT_LIBEXEC);
  std::string tried;
  for (const fs::path& place : places) {
    if (executable(place)) return place;
    tried += (tried.empty() ? "" : ", ") + place.string();
  }
  throw Error(ErrorKind::usage, "the program raylift-import was not found; tried " + tried, {},
              "set RAYLIFT_IMPORT to its path, or import without isolation");
}

/// The variables of this process that loaders, allocators, sanitizers and raylift-import itself read. The others may
/// hold secrets.
std::vector<std::string> import_environment() {
  std::vector<std::string> all = detail::own_environment();
  std::erase_if(all, [](const std::string& one) {
    const std::string name = one.substr(0, one.find('='));
    return !name.starts_with("LD_") && !name.starts_with("RAYLIFT_") && !name.ends_with("SAN_OPTIONS") &&
           !name.starts_with("MALLOC_") && name != "GLIBC_TUNABLES";
  });
  return all;
}

/// A running import process. Killed and waited for when it goes out of scope.
class Child {
 public:
  explicit Child(int process) : pid_(process) {}
  ~Child() {
    if (ended_) return;
    kill();
    wait();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void kill() const { ::kill(pid_, SIGKILL); }
  void wait() {
    while (!ended_ && ::waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
    }
    ended_ = true;
  }
  /// Whether it has ended. Where the parent ignores SIGCHLD, the status of a child is lost: then it counts as 0, and
  /// what it left behind decides.
  [[nodiscard]] bool ended() {
    if (ended_) return true;
    const pid_t result = ::waitpid(pid_, &status_, WNOHANG);
    if (result < 0 && errno == ECHILD) status_ = 0;
    ended_ = result == pid_ || (result < 0 && errno == ECHILD);
    return ended_;
  }
  [[nodiscard]] int status() const { return status_; }

 private:
  pid_t pid_;
  int status_ = 0;
  bool ended_ = false;
};

/// The first line of an importer's last output, fit for an error message.
std::string first_line(std::string text) {
  text.resize(std::min(text.find('\n'), text.size()));
  if (text.size() > 200) text.resize(200);
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  return text;
}

/// "0.3 s", without trailing zeros.
std::string seconds(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g s", value);
  return text;
}

/// The result's bytes, mapped.
class Mapping {
 public:
  explicit Mapping(int descriptor) {
    struct stat info {};
    if (::fstat(descriptor, &info) != 0 || info.st_size == 0) return;
    size_ = static_cast<std::size_t>(info.st_size);
    void* data = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (data == MAP_FAILED) throw Error(ErrorKind::out_of_host_memory, "can't map the imported scene");
    data_ = data;
  }
  ~Mapping() {
    if (data_ != nullptr) ::munmap(data_, size_);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  [[nodiscard]] std::string_view bytes() const { return {static_cast<const char*>(data_), size_}; }

 private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

/// One isolated import, from request to scene.
class Import {
 public:
  Import(const SceneInputs& inputs, const LoadOptions& options, const Progress& progress)
      : inputs_(inputs), path_(inputs.scene.path()), options_(options), progress_(progress) {}

  Scene run() {
    const auto start = Clock::now();
    const fs::path program = find_program(options_);
    const base::Descriptor request = make_memory("raylift-request");
    const base::Descriptor result = make_memory("raylift-scene");
    const base::Descriptor null = detail::opened(::open("/dev/null", O_RDWR | O_CLOEXEC), "/dev/null");
    Pipe progress = make_pipe();
    Pipe errors = make_pipe();
    ByteWriter writer;
    writer.value(import::kVersion);
    writer.value(::getpid());
    put_options(writer, options_);
    writer.text(path_.string());
    writer.text(inputs_.optics == nullptr ? std::string() : inputs_.optics->path().string());
    writer.write_to(request.get());
    ::lseek(request.get(), 0, SEEK_SET);

    // In the order of import_protocol.h. Standard output goes nowhere: it is the parent's, and importers print to it.
    const int descriptors[] = {null.get(),
                               null.get(),
                               errors.write.get(),
                               request.get(),
                               result.get(),
                               progress.write.get(),
                               inputs_.scene.descriptor(),
                               inputs_.optics == nullptr ? null.get() : inputs_.optics->descriptor()};
    Child child(detail::spawn(program, {program}, import_environment(), descriptors));
    progress.write.close();
    errors.write.close();
    watch(child, progress.read.get(), errors.read.get());
    if (!complete_) check_status(child.status());
    seal(result.get());
    // A complete scene is read while the process still frees its memory.
    std::vector<Progress::StageTime> stages;
    Scene scene = take_result(Mapping(result.get()).bytes(), stages);
    scene.source = path_.string();  // not from the process: Scene::files are relative to its folder
    // What the process itself did not spend in stages: its start, and handing the scene over.
    double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    for (const Progress::StageTime& time : stages) {
      seconds -= time.seconds;
      progress_.record(time);
    }
    progress_.record({"transfer", std::max(seconds, 0.0)});
    return scene;
  }

 private:
  [[nodiscard]] Error::Where where() const { return {path_.string(), ""}; }

  /// Seals the result, so that no process that holds it can shorten or change it while it is read. The system refuses
  /// this while a process has it mapped for writing, which raylift-import does not.
  void seal(int result) const {
    if (::fcntl(result, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) == 0) return;
    throw Error(ErrorKind::malformed, "the import process keeps its result mapped", where(),
                "the file may be made to take over the importer: do not trust it");
  }

  /// Passes progress on until the process has ended; throws when it takes too long, or when the caller cancels.
  void watch(Child& child, int progress, int errors) {
    const auto start = Clock::now();
    const auto limit = std::chrono::duration<double>(options_.limits.isolate_seconds);
    for (const int descriptor : {progress, errors}) ::fcntl(descriptor, F_SETFL, O_NONBLOCK);
    pollfd polled[] = {{progress, POLLIN, 0}, {errors, POLLIN, 0}};
    const auto read_all = [&] {
      const bool progressing = read_progress(polled[0]);
      return read_errors(polled[1]) || progressing;
    };
    while (!complete_ && !child.ended()) {
      if (Clock::now() - start > limit)
        throw Error(ErrorKind::limit,
                    "the import took longer than its limit of " + seconds(options_.limits.isolate_seconds), where(),
                    "raise it with LoadLimits::isolate_seconds");
      if (read_all())
        ::poll(polled, 2, 20);
      else
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (Clock::now() - reported_ > std::chrono::milliseconds(50)) report();  // so that the caller can cancel
    }
    read_all();
  }

  /// Reads and passes on the reports that are there; whether there may be more. Not without end: limits are checked in
  /// between, whatever the process sends.
  bool read_progress(pollfd& polled) {
    for (int i = 0; i != kReads && polled.fd >= 0; ++i) {
      import::ProgressRecord record;
      const ssize_t got = ::read(polled.fd, &record, sizeof record);
      if (got == static_cast<ssize_t>(sizeof record)) {
        record.stage[sizeof record.stage - 1] = '\0';
        if (record.stage[0] == '\0') {
          complete_ = true;
          return false;
        }
        last_ = record;
        report();
      } else if (got == 0) {
        polled.fd = -1;
      } else {
        break;
      }
    }
    return polled.fd >= 0;
  }

  void report() {
    reported_ = Clock::now();
    progress_.report(last_.stage, last_.done, last_.total);
  }

  /// Keeps the beginning of the process's output; returns whether there may be more.
  bool read_errors(pollfd& polled) {
    for (int i = 0; i != kReads && polled.fd >= 0; ++i) {
      char text[4096];
      const ssize_t got = ::read(polled.fd, text, sizeof text);
      if (got > 0 && said_.size() < sizeof text) said_.append(text, static_cast<std::size_t>(got));
      if (got == 0) polled.fd = -1;
      if (got < 0) break;
    }
    return polled.fd >= 0;
  }

  void check_status(int status) const {
    if (WIFSIGNALED(status)) {
      const int number = WTERMSIG(status);
      const char* abbreviation = ::sigabbrev_np(number);
      const std::string signal =
          abbreviation != nullptr ? std::string("SIG") + abbreviation : "signal " + std::to_string(number);
      if (number == SIGKILL)
        throw Error(ErrorKind::limit,
                    "the import process was killed (SIGKILL), probably because the machine ran out of memory", where(),
                    "free memory, or limit the import with LoadLimits::isolate_bytes", number);
      // No fault of the file: whoever ends this process as well may get to it later.
      if (number == SIGTERM || number == SIGINT || number == SIGHUP)
        throw Error(ErrorKind::cancelled, "the import process was ended by a signal (" + signal + ")", where(), "",
                    number);
      const std::string said = first_line(said_);
      throw Error(ErrorKind::malformed,
                  "the importer failed on this file: it crashed (" + signal + ")" + (said.empty() ? "" : ": " + said),
                  where(),
                  options_.reader == LoadOptions::Reader::assimp && reads_itself(inputs_.scene.extension())
                      ? "leave out LoadOptions::reader to read it by raylift's importer"
                      : "export the file in another format, as COLLADA or STL",
                  number);
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) != 0) {
      const std::string said = first_line(said_);
      throw Error(ErrorKind::malformed,
                  "the import process ended without a result (exit code " + std::to_string(WEXITSTATUS(status)) + ")" +
                      (said.empty() ? "" : ": " + said),
                  where());
    }
  }

  Scene take_result(std::string_view bytes, std::vector<Progress::StageTime>& stages) const {
    if (bytes.empty()) throw Error(ErrorKind::malformed, "the import process ended without a result", where());
    try {
      ByteReader reader(bytes, refuse_import);
      // The result and the scene together obey the import's limit. A sparse result counts in full.
      const std::uint64_t memory = import_memory(options_.limits);
      reader.allow_memory(memory - std::min<std::uint64_t>(memory, bytes.size()));
      if (reader.get<std::uint64_t>() != import::kVersion)
        throw Error(ErrorKind::malformed, "the import process is of another version");
      if (reader.get<import::Outcome>() == import::Outcome::error) rethrow(get_error(reader));
      Scene scene = get_scene(reader);
      reader.list(stages, sizeof(std::uint64_t), [&reader](Progress::StageTime& time) {
        reader.text(time.stage);
        reader.value(time.seconds);
      });
      reader.expect_end();
      return scene;
    } catch (const Error& error) {
      if (!error.file().empty()) throw;
      throw Error(error.kind(), error.problem(), where(), error.advice());
    } catch (const std::bad_alloc&) {
      throw Error(ErrorKind::out_of_host_memory, "no memory left for the imported scene", where());
    }
  }

  [[noreturn]] void rethrow(const Error& error) const {
    const Error::Where at{error.file().empty() ? path_.string() : error.file(), error.element()};
    // There, memory ran out against the limit that was set for it.
    if (error.kind() == ErrorKind::out_of_host_memory)
      throw Error(ErrorKind::limit, error.problem() + " under the import's memory limit", at,
                  "raise it with LoadLimits::isolate_bytes");
    // A disk that fails there fails this scene: a batch would end by a fault of the machine.
    if (error.kind() == ErrorKind::system) throw Error(ErrorKind::io, error.problem(), at, error.advice());
    // The others are not a file's. A batch would end by them.
    if (error.kind() != ErrorKind::io && error.kind() != ErrorKind::malformed &&
        error.kind() != ErrorKind::unsupported && error.kind() != ErrorKind::limit)
      refuse_import("an error of kind " + std::string(to_string(error.kind())));
    throw Error(error.kind(), error.problem(), at, error.advice());
  }

  static constexpr int kReads = 64;  // of a pipe, at a time
  const SceneInputs& inputs_;
  const fs::path& path_;
  const LoadOptions& options_;
  const Progress& progress_;
  std::string said_;  // the beginning of what the process wrote to standard error
  import::ProgressRecord last_{"import", 0, 0};
  Clock::time_point reported_ = Clock::now();
  bool complete_ = false;  // the process has reported that its scene is written
};

}  // namespace

Scene load_isolated(const SceneInputs& inputs, const LoadOptions& options, const Progress& progress) {
  return Import(inputs, options, progress).run();
}

}  // namespace raylift
