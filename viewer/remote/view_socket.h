// SPDX-License-Identifier: Apache-2.0
// The folder of the sockets of a user's viewers: $XDG_RUNTIME_DIR/raylift, else /tmp/raylift-UID. Other users have no
// access to the folder (0700) or to a socket (0600). All operations go through the folder's descriptor, so that
// replacing the folder has no effect.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.h"

namespace raylift::viewer {

class SocketFolder {
 public:
  /// The folder by the environment.
  [[nodiscard]] static std::filesystem::path usual_path();
  /// Opens the folder; `make` creates it first. Throws Error(io) if the folder does not exist, is a link, belongs to
  /// another user or is open to others, or if its parent is.
  explicit SocketFolder(const std::filesystem::path& path, bool make);

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// The names of all sockets, the newest first.
  [[nodiscard]] std::vector<std::string> names() const;
  /// A socket of this process that listens, and its name, view-PID.sock. Throws Error.
  [[nodiscard]] std::pair<base::Descriptor, std::string> listen() const;
  /// A connection to the socket of that name; none where no process listens.
  [[nodiscard]] std::optional<base::Descriptor> connect(const std::string& name) const;
  void remove(const std::string& name) const noexcept;
  /// Removes sockets of viewers that have ended.
  void remove_stale() const;

 private:
  std::filesystem::path path_;
  base::Descriptor folder_;
};

/// A connection to the socket at a path; none where no process listens.
[[nodiscard]] std::optional<base::Descriptor> connect_to(const std::filesystem::path& path);
/// The user at the other end of a Unix socket, by the kernel; none where that is unknown.
[[nodiscard]] std::optional<uid_t> peer_of(const base::Descriptor& socket);

}  // namespace raylift::viewer
