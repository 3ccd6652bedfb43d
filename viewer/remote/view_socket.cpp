// SPDX-License-Identifier: Apache-2.0
#include "remote/view_socket.h"

#include <dirent.h>
#include <fcntl.h>
#include <raylift/geometry/error.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <memory>
#include <utility>

#include "cli/own_folder.h"
#include "geometry/src/process.h"

namespace raylift::viewer {
namespace {

namespace fs = std::filesystem;
using base::Descriptor;

[[noreturn]] void refuse_folder(const fs::path& path, const std::string& problem) {
  cli::refuse_folder(path, "viewers", problem);
}

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    throw Error(ErrorKind::io, "the path of a socket is too long", {path, ""}, "use a shorter one");
  std::copy(path.begin(), path.end(), address.sun_path);
  return address;
}

template <class Call>  // int(const sockaddr*, socklen_t)
int with_address(const std::string& path, const Call& call) {
  const sockaddr_un address = address_of(path);
  return call(reinterpret_cast<const sockaddr*>(&address), sizeof address);
}

Descriptor new_socket(int flags) {
  return detail::opened(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0), "socket");
}

/// The path of a file through the descriptor of its folder: short for any folder, and independent of renames.
std::string through(const Descriptor& folder, const std::string& name) {
  return "/proc/self/fd/" + std::to_string(folder.get()) + '/' + name;
}

bool is_socket_name(std::string_view name) {
  return name.starts_with("view-") && name.ends_with(".sock");
}

}  // namespace

fs::path SocketFolder::usual_path() {
  return cli::runtime_folder();
}

SocketFolder::SocketFolder(const fs::path& path, bool make)
    : path_(path), folder_(cli::open_own_folder(path, make, "viewers")) {}

std::vector<std::string> SocketFolder::names() const {
  std::vector<std::pair<timespec, std::string>> found;
  const int copy = ::openat(folder_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(copy < 0 ? nullptr : ::fdopendir(copy),
                                                   [](DIR* open) { return ::closedir(open); });
  if (!folder) return {};
  while (const dirent* entry = ::readdir(folder.get())) {
    struct stat status {};
    if (!is_socket_name(entry->d_name) || ::fstatat(folder_.get(), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
      continue;
    found.emplace_back(status.st_mtim, entry->d_name);
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return std::pair(a.first.tv_sec, a.first.tv_nsec) > std::pair(b.first.tv_sec, b.first.tv_nsec);
  });
  std::vector<std::string> names;
  for (auto& [time, name] : found) names.push_back(std::move(name));
  return names;
}

std::pair<Descriptor, std::string> SocketFolder::listen() const {
  constexpr int kBacklog = 16;
  Descriptor socket = new_socket(SOCK_NONBLOCK);
  // Before bind(), which uses this mode, less the umask.
  if (::fchmod(socket.get(), S_IRUSR | S_IWUSR) != 0) refuse_folder(path_, std::strerror(errno));
  // The socket gets its name once it listens: a socket that does not counts as that of a viewer that has ended.
  const std::string number = std::to_string(::getpid());
  const std::string first = ".starting-" + number;
  remove(first);
  const int bound = with_address(through(folder_, first), [&](const sockaddr* address, socklen_t size) {
    return ::bind(socket.get(), address, size);
  });
  if (bound != 0 || ::listen(socket.get(), kBacklog) != 0) refuse_folder(path_, std::strerror(errno));
  std::string name = "view-" + number + ".sock";
  // Another container may have a process of this number.
  for (int i = 1; ::linkat(folder_.get(), first.c_str(), folder_.get(), name.c_str(), 0) != 0; ++i) {
    if (errno != EEXIST) {
      const std::string why = std::strerror(errno);
      remove(first);
      refuse_folder(path_, why);
    }
    name = "view-" + number + '-' + std::to_string(i) + ".sock";
  }
  remove(first);
  return {std::move(socket), name};
}

std::optional<Descriptor> SocketFolder::connect(const std::string& name) const {
  return connect_to(through(folder_, name));
}

void SocketFolder::remove(const std::string& name) const noexcept {
  (void)::unlinkat(folder_.get(), name.c_str(), 0);
}

void SocketFolder::remove_stale() const {
  for (const std::string& name : names()) {
    const Descriptor socket = new_socket(SOCK_NONBLOCK);
    const int connected = with_address(through(folder_, name), [&](const sockaddr* address, socklen_t size) {
      return ::connect(socket.get(), address, size);
    });
    if (connected != 0 && errno == ECONNREFUSED) remove(name);
  }
}

std::optional<Descriptor> connect_to(const fs::path& path) {
  Descriptor socket = new_socket(0);
  const int connected = with_address(
      path.string(), [&](const sockaddr* address, socklen_t size) { return ::connect(socket.get(), address, size); });
  if (connected == 0) return socket;
  if (errno == ECONNREFUSED || errno == ENOENT) return std::nullopt;
  throw Error(ErrorKind::io, std::string("can't be connected to: ") + std::strerror(errno), {path.string(), ""});
}

std::optional<uid_t> peer_of(const Descriptor& socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return std::nullopt;
  return peer.uid;
}

}  // namespace raylift::viewer
