// SPDX-License-Identifier: Apache-2.0
// Where the sockets of a user's viewers lie: $XDG_RUNTIME_DIR/raylift, else /tmp/raylift-UID. Nobody else has access to
// the folder (0700) or to a socket (0600), and all is done through the folder's descriptor, so that nobody can put
// another folder in its place.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/descriptor.h"

namespace raylift::viewer {

class SocketFolder {
 public:
  /// The folder by the environment.
  [[nodiscard]] static std::filesystem::path usual_path();
  /// Opens it, and makes it first with `make`. Throws Error(io) where it is not there, or is a link, another user's, or
  /// open to others, or where what it lies in is.
  explicit SocketFolder(const std::filesystem::path& path, bool make);

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// The names of all sockets, the newest first.
  [[nodiscard]] std::vector<std::string> names() const;
  /// A socket of this process that listens, and its name, view-PID.sock. Throws Error.
  [[nodiscard]] std::pair<base::Descriptor, std::string> listen() const;
  /// Connected to a socket of that name; nothing where nobody listens there.
  [[nodiscard]] std::optional<base::Descriptor> connect(const std::string& name) const;
  void remove(const std::string& name) const noexcept;
  /// Removes sockets of viewers that have ended.
  void remove_stale() const;

 private:
  std::filesystem::path path_;
  base::Descriptor folder_;
};

/// Connected to the socket at a path; nothing where nobody listens there.
[[nodiscard]] std::optional<base::Descriptor> connect_to(const std::filesystem::path& path);
/// Who is at the other end of a Unix socket, as the kernel knows it; nothing where it doesn't.
[[nodiscard]] std::optional<uid_t> peer_of(const base::Descriptor& socket);

}  // namespace raylift::viewer
