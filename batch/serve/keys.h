// SPDX-License-Identifier: Apache-2.0
// Keys of CURVE: who may talk to a server over TCP. A folder of `raylift serve --keygen` has
//   server.key   the server's pair, and the public keys of its clients
//   client.key   a client's pair, and the server's public key
// in lines "name = key". Both are secret (0600).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace raylift::batch {

struct ServerKeys {
  std::string public_key, secret_key;  ///< Z85, 40 characters
  std::vector<std::string> clients;    ///< public keys
};

/// Writes both files of new keys. Throws Error: io, usage (a file is there), unsupported (libzmq has no CURVE).
void write_new_keys(const std::filesystem::path& folder);
/// Adds one more client, `name`.key, to a folder that has keys. Throws as above.
void write_new_client(const std::filesystem::path& folder, const std::string& name);
/// Reads a server.key, or that of a folder. Throws Error: io (it is not there, others can read it), malformed.
[[nodiscard]] ServerKeys read_server_keys(const std::filesystem::path& path);

}  // namespace raylift::batch
