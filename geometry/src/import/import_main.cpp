// SPDX-License-Identifier: Apache-2.0
// The import process's side: everything that the program raylift-import does.
#include <malloc.h>
#include <raylift/geometry/error.h>
#include <raylift/geometry/import/load.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <limits>
#include <new>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "import/gdml/booleans/occt_module.h"
#include "import/import_process.h"
#include "import_protocol.h"
#include "input_file.h"
#include "load_optics.h"
#include "optics/property_faults.h"
#include "sandbox.h"
#include "sanitized.h"
#include "scene_stream.h"
#include "serve_import.h"
#include "step/step_module.h"

namespace raylift {
namespace {

void limit_memory(const LoadLimits& limits) {
  if (kSanitized) return;
  const std::uint64_t bytes = import_memory(limits);
  const auto set = [bytes](auto resource) {
    rlimit limit{};
    ::getrlimit(resource, &limit);
    limit.rlim_cur = limit.rlim_max = std::min<rlim_t>(bytes, limit.rlim_max);
    ::setrlimit(resource, &limit);
  };
  set(RLIMIT_AS);
  set(RLIMIT_FSIZE);  // the result is a file in memory, and not in this address space
}

/// Threads count for all of the user's processes together. No user has more than the system, and no import needs many
/// of its own. The system does not limit root's.
void limit_threads() {
  constexpr rlim_t kOwn = 1024;
  rlim_t all = 0;
  // "0.20 0.18 0.12 1/80 11206": of 80 threads 1 runs.
  if (std::FILE* const file = std::fopen("/proc/loadavg", "re"); file != nullptr) {
    unsigned long threads = 0;
    if (std::fscanf(file, "%*s %*s %*s %*[0-9]/%lu", &threads) == 1) all = threads;
    (void)std::fclose(file);
  }
  if (all == 0) return;
  rlimit limit{};
  ::getrlimit(RLIMIT_NPROC, &limit);
  limit.rlim_cur = limit.rlim_max = std::min(all + kOwn, limit.rlim_max);
  ::setrlimit(RLIMIT_NPROC, &limit);
}

void leave_no_core() {
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  // Also where the kernel pipes cores to a program, which the limit does not stop. The leak sanitizer needs to look.
  if (!kSanitized) ::prctl(PR_SET_DUMPABLE, 0);
}

/// An import allocates and frees large blocks in turn. Given back to the system each time, they would cost the page
/// faults of their first touch again and again: a good part of all the time. The process is short-lived, so it keeps
/// them.
void keep_freed_memory() {
  ::mallopt(M_MMAP_MAX, 0);
  ::mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  ::mallopt(M_TOP_PAD, 32 << 20);
}

std::string read_request() {
  struct stat info {};
  if (::fstat(import::kRequest, &info) != 0) return {};
  std::string bytes(static_cast<std::size_t>(info.st_size), '\0');
  return ::pread(import::kRequest, bytes.data(), bytes.size(), 0) == info.st_size ? bytes : std::string();
}

/// Reports progress to the parent, at most every 20 ms in one stage.
Progress make_progress(std::vector<Progress::StageTime>* times) {
  return Progress(
      [last = std::string(), sent = std::chrono::steady_clock::time_point()](std::string_view stage, std::uint64_t done,
                                                                             std::uint64_t total) mutable {
        const auto now = std::chrono::steady_clock::now();
        if (stage == last && now - sent < std::chrono::milliseconds(20)) return true;
        last = stage;
        sent = now;
        import::ProgressRecord record{};
        std::memcpy(record.stage, stage.data(), std::min(stage.size(), sizeof record.stage - 1));
        record.done = done;
        record.total = total;
        (void)!::write(import::kProgress, &record, sizeof record);
        return true;
      },
      times);
}

void write_error(const Error& error) {
  // Part of a scene may be written.
  if (::ftruncate(import::kResult, 0) != 0 || ::lseek(import::kResult, 0, SEEK_SET) != 0) return;
  ByteWriter writer;
  writer.value(import::kVersion);
  writer.value(import::Outcome::error);
  put_error(writer, error);
  writer.write_to(import::kResult);
}

std::terminate_handler terminate_otherwise = nullptr;

/// Destructors that allocate, as those of JSON do, end the program where memory has run out.
void report_terminate() {
  std::set_terminate(terminate_otherwise);  // what follows may fail likewise
  try {
    if (std::current_exception()) std::rethrow_exception(std::current_exception());
  } catch (const std::bad_alloc&) {
    write_error(Error(ErrorKind::out_of_host_memory, "no memory left to import the file"));
    ::_exit(0);
  } catch (...) {
    terminate_otherwise();
  }
  std::abort();
}

void import_and_write(ByteReader& reader, const import::ReadScene& read) {
  const LoadOptions options = get_options(reader);
  const std::string path = reader.get_text();
  const std::string optics_path = reader.get_text();
  limit_memory(options.limits);
  limit_threads();
  try {
    const InputFile input(path, import::kInput);
    std::optional<InputFile> optics;
    if (!optics_path.empty()) optics.emplace(optics_path, import::kOptics);
    std::vector<std::filesystem::path> folders;
    if (options.external || !is_collada(input.extension())) folders.push_back(input.path().parent_path());
    if (optics && has_files_below(*optics)) folders.push_back(optics->path().parent_path());
    if (input.extension() == "gdml") gdml::open_occt();
    if (step::is_step(input.extension())) step::open_step();
    import::enter_sandbox(path, folders);
    std::vector<Progress::StageTime> times;
    import::write_result(read({input, optics ? &*optics : nullptr}, options, make_progress(&times)), times);
    const import::ProgressRecord complete{};
    (void)!::write(import::kProgress, &complete, sizeof complete);
    // No destructors: the system frees the memory at once.
    ::_exit(0);
  } catch (const Error& error) {
    write_error(error);
  } catch (const std::bad_alloc&) {
    write_error(Error(ErrorKind::out_of_host_memory, "no memory left to import the file", {path, ""}));
  } catch (const std::system_error& error) {
    write_error(Error(kind_of_errno(error.code().value()), error.what(), {path, ""}));  // no thread, for instance
  } catch (const std::exception& error) {
    write_error(Error(ErrorKind::malformed, std::string("the importer failed: ") + error.what(), {path, ""}));
  }
}

}  // namespace

void import::write_result(const Scene& scene, const std::vector<Progress::StageTime>& times) {
  detail::check_property_values(scene);  // the parent expects tables that make sense
  ByteWriter writer;
  writer.value(kVersion);
  writer.value(Outcome::scene);
  put_scene(writer, scene);
  writer.value(std::uint64_t{times.size()});
  for (const Progress::StageTime& time : times) {
    writer.text(time.stage);
    writer.value(time.seconds);
  }
  writer.write_to(kResult);
}

int import::serve(const ReadScene& read) {
  ::signal(SIGXFSZ, SIG_IGN);  // a result that must not grow is an error
  terminate_otherwise = std::set_terminate(report_terminate);
  leave_no_core();
  keep_freed_memory();
  const std::string bytes = read_request();
  ByteReader reader(bytes, refuse_import);
  try {
    if (bytes.size() < sizeof(std::uint64_t) || reader.get<std::uint64_t>() != import::kVersion)
      return exit_code(ErrorKind::usage);
    // This process ends with its parent, which may have ended already.
    const auto parent = reader.get<pid_t>();
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) return 1;
    import_and_write(reader, read);
    return 0;
  } catch (const std::exception&) {
    return 1;
  }
}

int import_process() {
  return import::serve(import_scene);
}

}  // namespace raylift
