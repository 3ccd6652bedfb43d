// SPDX-License-Identifier: Apache-2.0
// The service over ZeroMQ (docs/service.md): one thread handles the messages of all clients, and photon::Service
// simulates.
#pragma once

#include <raylift/photon/service.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "char0n.h"
#include "cli/output.h"
#include "keys.h"
#include "read_request.h"

namespace raylift::batch {

struct ServerOptions {
  /// ipc://PATH, in a folder of the user alone, or tcp://ADDRESS:PORT, which needs keys.
  std::vector<std::string> addresses;
  std::optional<ServerKeys> keys;
  std::string chroma;     ///< ipc://PATH for RAT's clients, which send ChAR0N's messages; empty: none
  Char0nSensors sensors;  ///< what they ask for
  Digest digest{};
  cli::Json about;     ///< what `welcome` and `state` say of the scene
  cli::Json contents;  ///< what `welcome` says beside that: names of materials and surfaces, numbers of channels
  std::uint64_t max_body = std::uint64_t{1} << 30;    ///< bytes of a request's body
  std::uint64_t max_unread = std::uint64_t{1} << 30;  ///< bytes of results that a client has not read
  std::size_t max_open = 4096;                        ///< a client's requests without a result
  std::chrono::milliseconds silence{10'000};          ///< after which a client's requests are freed
};

class PhotonServer {
 public:
  /// Listens. Throws Error: usage (an address, TCP without keys), io (a folder of others, an address in use).
  PhotonServer(photon::Service& service, ServerOptions options);
  ~PhotonServer();
  PhotonServer(const PhotonServer&) = delete;
  PhotonServer& operator=(const PhotonServer&) = delete;

  /// Serves until `stop` is true: then refuses new requests, and returns once all others have their results.
  void run(const std::function<bool()>& stop);

  /// Where it listens; a port that the system chose is there.
  [[nodiscard]] const std::vector<std::string>& addresses() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Forwards between clients at `front` and the servers at `back` by ZeroMQ's own proxy until `stop` is true. Errors as
/// above.
void forward(const std::vector<std::string>& front, const std::vector<std::string>& back,
             const std::function<bool()>& stop);

}  // namespace raylift::batch
