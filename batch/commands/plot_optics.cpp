// SPDX-License-Identifier: Apache-2.0
#include "plot_optics.h"

#include <raylift/geometry/error.h>
#include <raylift/geometry/optics/sidecar.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>

#include "base/descriptor.h"
#include "geometry/src/process.h"

namespace raylift::batch {
namespace {

namespace fs = std::filesystem;

constexpr int kNothingToDrawWith = 3;  // the script's exit code

class Memory {
 public:
  explicit Memory(const char* name) : file_(detail::opened(::memfd_create(name, MFD_CLOEXEC), "a file in memory")) {}

  void write(std::string_view text) const {
    const int code = base::write_all(file_.get(), text);
    if (code != 0) throw Error(kind_of_errno(code), std::string("can't write: ") + std::strerror(code));
    ::lseek(file_.get(), 0, SEEK_SET);
  }
  /// Its first line.
  [[nodiscard]] std::string line() const {
    std::array<char, 1000> text{};
    const ssize_t got = ::pread(file_.get(), text.data(), text.size(), 0);
    std::string_view all(text.data(), got < 0 ? 0 : static_cast<std::size_t>(got));
    return std::string(all.substr(0, all.find('\n')));
  }
  [[nodiscard]] int get() const { return file_.get(); }

 private:
  base::Descriptor file_;
};

fs::path script() {
  std::error_code error;
  const fs::path own = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const fs::path& place : {own / "raylift-plot-optics", own / "../libexec/raylift/raylift-plot-optics",
                                fs::path(RAYLIFT_LIBEXEC) / "raylift-plot-optics"})
    if (fs::exists(place, error)) return place;
  throw Error(ErrorKind::system, "the script raylift-plot-optics is not installed");
}

int wait_for(int process, const cli::Session& session) {
  int status = 0;
  while (true) {
    const pid_t ended = ::waitpid(process, &status, WNOHANG);
    if (ended == process || (ended < 0 && errno != EINTR)) return status;
    try {
      session.stop_if_interrupted();
    } catch (const Error&) {
      ::kill(process, SIGTERM);
      ::waitpid(process, &status, 0);
      throw;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace

std::string plot_optics(const Scene& scene, const std::string& folder, const cli::Session& session) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) throw Error(kind_of_errno(failed.value()), "the folder can't be made: " + failed.message(), {folder, ""});
  const Memory in("raylift-optics"), out("raylift-plot"), said("raylift-plot-errors");
  in.write(optics_json(scene));
  const std::array<int, 3> descriptors{in.get(), out.get(), said.get()};
  const std::string program = script().string();
  const int status =
      wait_for(detail::spawn(program, {program, folder}, detail::own_environment(), descriptors), session);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return out.line();
  const bool nothing = WIFEXITED(status) && WEXITSTATUS(status) == kNothingToDrawWith;
  const bool no_python = WIFEXITED(status) && WEXITSTATUS(status) == 127;
  if (nothing || no_python)
    throw Error(ErrorKind::system,
                no_python ? "tables are drawn by Python, which is not installed"
                          : "tables are drawn by matplotlib or gnuplot, and neither is installed",
                {}, "install python3-matplotlib, or python3 and gnuplot-nox");
  throw Error(ErrorKind::io, "the tables can't be drawn: " + said.line(), {folder, ""});
}

}  // namespace raylift::batch
