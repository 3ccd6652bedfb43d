// SPDX-License-Identifier: Apache-2.0
// What a client asked for, from bytes that are not trusted. No sockets.
#pragma once

#include <raylift/client/protocol.h>
#include <raylift/geometry/error.h>
#include <raylift/photon/service.h>

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace raylift::batch {

using Digest = std::array<std::uint8_t, 32>;
[[nodiscard]] std::string hex_of(const Digest& digest);

/// Why a request is refused: for its client alone.
struct Refusal {
  protocol::ErrorCode code = protocol::ErrorCode::none;
  std::string problem, element, advice;
  std::uint32_t retry_after = 0;  ///< ms
};
[[nodiscard]] Refusal refusal_of(const Error& error);

struct RequestLimits {
  std::uint64_t max_body = std::uint64_t{1} << 30;  ///< bytes
  std::size_t max_source = 4096;                    ///< bytes of a source's text
  bool shared_memory = true;                        ///< whether clients are on this machine
};

/// The bytes of a frame, and what keeps them.
struct FrameBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

/// Checks a message of Kind::simulate against limits and the geometry's digest, and fills in all of `request` but its
/// `when_ready`. `frames` are those behind the header. Returns Refusal::code none, or why it is refused. Rows are not
/// copied where they are aligned. Numbers in them are left to Service::submit().
[[nodiscard]] Refusal read_request(const protocol::Header& header, std::span<const FrameBytes> frames,
                                   const Digest& digest, const RequestLimits& limits, photon::Request& request);

/// Where the number of photons is known only afterwards: whether it is the one that was expected.
[[nodiscard]] Refusal check_count(const protocol::Header& header, std::uint64_t photons);

/// A NumPy file's header for the hits of a result.
[[nodiscard]] std::string hits_header(protocol::Layout layout, std::uint64_t hits);

}  // namespace raylift::batch
