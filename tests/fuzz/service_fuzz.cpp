// SPDX-License-Identifier: Apache-2.0
// Anything as a message of a client: a header, and frames behind it, each with its size in two bytes. It is refused
// with a reason, or the request has what the header says. What begins with no header is frames of ChAR0N.
#include <raylift/geometry/error.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "batch/serve/char0n.h"
#include "batch/serve/read_request.h"

namespace {

using namespace raylift;

std::vector<batch::FrameBytes> frames_of(const std::uint8_t* data, std::size_t size, std::size_t limit) {
  std::vector<batch::FrameBytes> frames;
  for (std::size_t at = 0; at + 2 <= size && frames.size() != limit;) {
    const std::size_t bytes = std::min<std::size_t>(data[at] + 256U * data[at + 1], size - at - 2);
    // A copy of its own size: what is read beyond is found.
    const auto kept = std::make_shared<std::vector<std::byte>>(bytes);
    if (bytes != 0) std::memcpy(kept->data(), data + at + 2, bytes);
    frames.push_back({*kept, kept});
    at += 2 + bytes;
  }
  return frames;
}

void take_char0n(const std::uint8_t* data, std::size_t size) {
  const std::vector<batch::FrameBytes> kept = frames_of(data, size, 20);
  batch::Char0nFrames frames;
  for (const batch::FrameBytes& frame : kept) frames.push_back(frame.bytes);
  const std::string word = batch::char0n_word(frames);
  if (word != "PHOTONDATA") {
    if (batch::char0n_answer(word, {}).front().empty()) std::abort();
    return;
  }
  photon::Request request;
  if (!batch::read_char0n_photons(frames, request).empty()) return;
  const auto* start = std::get_if<photon::SharedRows<photon::StartPhoton>>(&request.source);
  if (start == nullptr || start->rows().size() * sizeof(float) != frames[2].size()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using protocol::ErrorCode;
  protocol::Header header;
  const std::size_t head = std::min(size, sizeof header);
  if (!protocol::read_header(data, head, header)) {
    take_char0n(data, size);
    return 0;
  }
  if (header.version != protocol::kVersion) return 0;
  const std::vector<batch::FrameBytes> frames = frames_of(data + head, size - head, 4);
  batch::Digest digest{};
  digest[0] = 1;
  photon::Request request;
  const batch::RequestLimits limits{1U << 15, 256, false};
  const batch::Refusal refusal = batch::read_request(header, frames, digest, limits, request);
  if (refusal.code != ErrorCode::none) {
    if (refusal.problem.empty() || refusal.code == ErrorCode::internal) std::abort();
    return 0;
  }
  std::size_t rows = 0;
  if (const auto* steps = std::get_if<photon::SharedRows<photon::Genstep>>(&request.source)) {
    for (const photon::Genstep& step : steps->rows()) rows += step.photons != 1;  // each is read
    rows = steps->rows().size() * sizeof(photon::Genstep);
  } else if (const auto* start = std::get_if<photon::SharedRows<photon::StartPhoton>>(&request.source)) {
    for (const photon::StartPhoton& photon : start->rows()) rows += photon.flags != 1;
    rows = start->rows().size() * sizeof(photon::StartPhoton);
  } else if (request.count == photon::kAllPhotons) {
    std::abort();  // an endless source
  }
  if (rows > limits.max_body || header.bytes > limits.max_body || request.seed != header.seed) std::abort();
  if (batch::check_count(header, header.expected).code != ErrorCode::none) std::abort();
  return 0;
}
