// SPDX-License-Identifier: Apache-2.0
#include "render_scene.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <raylift/geometry/error.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "cli/session.h"

namespace raylift::batch {
using namespace cli;
namespace {

namespace fs = std::filesystem;

/// raylift-view: $RAYLIFT_VIEW, beside this program, or on the PATH; empty where there is none.
fs::path find_viewer() {
  const auto usable = [](const fs::path& path) {
    std::error_code error;
    return fs::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
  };
  if (const char* set = std::getenv("RAYLIFT_VIEW"); set != nullptr && *set != '\0')
    return usable(set) ? fs::path(set) : fs::path();
  std::error_code error;
  const fs::path beside = fs::read_symlink("/proc/self/exe", error).parent_path() / "raylift-view";
  if (usable(beside)) return beside;
  const char* path = std::getenv("PATH");
  for (std::string rest = path != nullptr ? path : ""; !rest.empty();) {
    const std::size_t colon = rest.find(':');
    const fs::path candidate = fs::path(rest.substr(0, colon)) / "raylift-view";
    if (usable(candidate)) return candidate;
    rest = colon == std::string::npos ? "" : rest.substr(colon + 1);
  }
  return {};
}

/// An image's name: the scene's path in one word, and a hash of the path (FNV-1a), as two paths may give one word.
std::string picture_name(const std::string& path) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  std::string word;
  for (const char c : path) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    const bool plain =
        (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '.' || c == '-' || c == '_';
    word += plain ? c : '_';
  }
  if (word.size() > 160) word.erase(0, word.size() - 160);
  return fmt::format("{}-{:08x}.png", word, static_cast<std::uint32_t>(hash ^ (hash >> 32U)));
}

/// Runs a program to its end; it dies with this process. Returns its status, and the end of what it said.
int run_viewer(std::vector<std::string> arguments, std::string& said) {
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  const int output = ::memfd_create("raylift-view-output", MFD_CLOEXEC);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) throw Error(kind_of_errno(errno), std::string("can't start raylift-view: ") + std::strerror(errno));
  if (child == 0) {
    // Other threads' locks are as they were: nothing here allocates.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    ::dup2(output, STDOUT_FILENO);
    ::dup2(output, STDERR_FILENO);
    ::closefrom(STDERR_FILENO + 1);
    ::execv(pointers[0], pointers.data());
    ::_exit(127);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  std::array<char, 2048> text{};
  const off_t bytes = ::lseek(output, 0, SEEK_END);
  const ssize_t got = ::pread(output, text.data(), text.size(), std::max<off_t>(0, bytes - 2048));
  if (got > 0) said.assign(text.data(), static_cast<std::size_t>(got));
  if (output >= 0) ::close(output);
  return status;
}

}  // namespace

void check_renderer(const ActionOptions& options) {
  if (find_viewer().empty())
    throw Error(ErrorKind::unsupported, "the action render needs the program raylift-view, which was not found", {},
                "install it, or set RAYLIFT_VIEW to its path");
  if (options.pictures.empty())
    throw Error(ErrorKind::usage, "the action render needs a folder for its pictures", {}, "name it by --pictures");
}

Json render_scene(SceneWork& work) {
  std::error_code error;
  fs::create_directories(work.options().pictures, error);
  const fs::path picture = fs::path(work.options().pictures) / picture_name(work.file());
  work.progress().report("render", 0, 0);
  // `--` would not do: a name that starts with a dash is made one that does not.
  const std::string scene = work.file().starts_with('-') ? "./" + work.file() : work.file();
  std::string said;
  const int status = run_viewer({find_viewer().string(), scene, "--output", picture.string()}, said);
  if (WIFSIGNALED(status))
    throw Error(ErrorKind::device, "raylift-view crashed (" + signal_name(WTERMSIG(status)) + ")", {work.file(), ""},
                "", WTERMSIG(status));
  if (WEXITSTATUS(status) != 0) {
    // Its last line says what was wrong.
    while (!said.empty() && said.back() == '\n') said.pop_back();
    said.erase(0, said.rfind('\n') + 1);
    ErrorKind kind = ErrorKind::device;
    for (const ErrorKind candidate :
         {ErrorKind::io, ErrorKind::malformed, ErrorKind::unsupported, ErrorKind::limit, ErrorKind::out_of_host_memory,
          ErrorKind::out_of_device_memory, ErrorKind::no_display})
      if (exit_code(candidate) == WEXITSTATUS(status)) kind = candidate;
    throw Error(kind, fmt::format("raylift-view ended with {}: {}", WEXITSTATUS(status), said), {work.file(), ""});
  }
  if (!fs::exists(picture, error)) throw Error(ErrorKind::io, "raylift-view wrote no picture", {picture.string(), ""});
  return {{"picture", picture.filename().string()}};
}

}  // namespace raylift::batch
