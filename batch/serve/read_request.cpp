// SPDX-License-Identifier: Apache-2.0
#include "read_request.h"

#include <fmt/format.h>
#include <raylift/client/detail/shared_memory.h>
#include <raylift/geometry/error.h>
#include <raylift/photon/npy.h>
#include <raylift/photon/parse_source.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "cli/text.h"
#include "photon/src/npy_header.h"

namespace raylift::batch {
namespace {

using Body = protocol::Header::Body;
using Encoding = protocol::Header::Encoding;
using protocol::ErrorCode;
using protocol::Header;
using protocol::Layout;
using Carrier = protocol::Header::Carrier;

static_assert(sizeof(photon::Genstep) == protocol::kGenstepBytes &&
              sizeof(photon::StartPhoton) == protocol::kPhotonBytes);
static_assert(sizeof(photon::PhotonRow) == sizeof(protocol::Row) &&
              sizeof(photon::HitColumns::Brief) == sizeof(protocol::Hit));
static_assert(sizeof(photon::Sequence) == protocol::kSequenceBytes);
static_assert(photon::kSequenceEvents * sizeof(photon::PhotonRow) == protocol::kRecordBytes);
static_assert(photon::Source::Spectrum::kMax == protocol::kMaxSpectrum);

/// Thrown and caught here alone.
struct Refused {
  Refusal why;
};
[[noreturn]] void refuse(ErrorCode code, std::string problem, std::string element = {}, std::string advice = {}) {
  throw Refused{{code, std::move(problem), std::move(element), std::move(advice)}};
}

void check_header(const Header& header, const Digest& digest) {
  if (!std::ranges::all_of(header.digest, [](std::uint8_t byte) { return byte == 0; }) &&
      !std::ranges::equal(header.digest, digest)) {
    Digest theirs;
    std::ranges::copy(header.digest, theirs.begin());
    refuse(ErrorCode::digest,
           fmt::format("the server's geometry is {}, and the client's is {}", hex_of(digest), hex_of(theirs)), "digest",
           "give both the same scene and options; 'raylift serve --digest SCENE' prints a scene's");
  }
  if (header.body != Body::gensteps && header.body != Body::photons && header.body != Body::source)
    refuse(ErrorCode::malformed, fmt::format("there is no body {}", static_cast<int>(header.body)), "body",
           "1: gensteps, 2: photons, 3: a source");
  if (header.encoding > Encoding::npy || header.wanted_encoding > Encoding::npy)
    refuse(ErrorCode::malformed, "there is no such encoding", "encoding", "0: raw, 1: .npy");
  if (header.body == Body::source && header.encoding != Encoding::raw)
    refuse(ErrorCode::malformed, "the text of a source is no .npy file", "encoding");
  if (header.place > Carrier::shared) refuse(ErrorCode::malformed, "there is no such place of a body", "place");
  if (header.layout > Layout::compact)
    refuse(ErrorCode::malformed, fmt::format("there is no layout {}", static_cast<int>(header.layout)), "layout",
           "0: none, 1: rows of 64 bytes, 2: 16 bytes");
  constexpr std::uint8_t kArrays = protocol::kWantsFinals | protocol::kWantsSequences | protocol::kWantsRecords;
  constexpr std::uint8_t kFlags = protocol::kMayShare | kArrays;
  if ((header.flags & ~kFlags) != 0 || header.reserved != 0 || header.max_body != 0)
    refuse(ErrorCode::malformed, "bits are set that version 1 has no use for", "flags", "set them to 0");
  if (header.wanted_encoding == Encoding::npy && (header.layout == Layout::none || (header.flags & kArrays) != 0))
    refuse(ErrorCode::unsupported, "a .npy file has one array: hits alone", "wanted_encoding",
           "ask for raw arrays, or for hits and nothing else");
  if (!(header.max_time >= 0)) refuse(ErrorCode::malformed, "the time is not 0 or above", "max_time");
  if (header.max_steps == std::numeric_limits<std::uint32_t>::max())
    refuse(ErrorCode::malformed, "too many steps", "max_steps");
  if (header.photons != protocol::kAll && header.photons > std::numeric_limits<std::uint64_t>::max() - header.first)
    refuse(ErrorCode::malformed, "first and photons exceed the numbers that photons have", "photons");
}

/// The body, wherever it lies.
FrameBytes body_of(const Header& header, std::span<const FrameBytes> frames, const RequestLimits& limits) {
  if (header.bytes > limits.max_body)
    refuse(ErrorCode::limit,
           fmt::format("the body has {} bytes, and at most {} are accepted", header.bytes, limits.max_body), "body",
           "divide the event, or raise --max-body of the server");
  if (frames.size() != 1)
    refuse(ErrorCode::malformed, fmt::format("there are {} frames behind the header", frames.size()), "body",
           "send the body in one");
  FrameBytes body = frames.front();
  if (header.place == Carrier::shared) {
    if (!limits.shared_memory)
      refuse(ErrorCode::shared_memory, "this address is for other machines too", "body", "send the body in its frame");
    protocol::SharedMemory where;
    if (body.bytes.size() != sizeof where)
      refuse(ErrorCode::malformed, "the shared memory is not described", "body", "in 32 bytes");
    std::memcpy(&where, body.bytes.data(), sizeof where);
    if (where.bytes != header.bytes)
      refuse(ErrorCode::malformed, "the size of the shared memory is not that of the header", "body");
    std::string why;
    body.owner = client::SharedBody::open(where, why);
    if (body.owner == nullptr)
      refuse(ErrorCode::shared_memory, "the shared memory can't be used: " + why, "body", "send the body in its frame");
    body.bytes = {static_cast<const std::byte*>(body.owner.get()), static_cast<std::size_t>(where.bytes)};
  }
  if (body.bytes.size() != header.bytes)
    refuse(ErrorCode::malformed,
           fmt::format("the body has {} bytes, and its header says {}", body.bytes.size(), header.bytes), "body");
  return body;
}

template <class T>
photon::SharedRows<T> rows_of(const Header& header, FrameBytes body, std::span<const std::uint64_t> shape) {
  if (header.encoding == Encoding::npy) {
    std::string bytes(reinterpret_cast<const char*>(body.bytes.data()), body.bytes.size());
    std::vector<T> rows =
        photon::read_npy<T>(photon::NpyReader(std::move(bytes), "the body"), photon::NpyType::float32, shape);
    if (header.rows != 0 && header.rows != rows.size())
      refuse(ErrorCode::malformed,
             fmt::format("the array has {} rows, and the header says {}", rows.size(), header.rows), "rows");
    return photon::SharedRows<T>(std::move(rows));
  }
  // A product could exceed its type.
  if (body.bytes.size() % sizeof(T) != 0 || body.bytes.size() / sizeof(T) != header.rows)
    refuse(ErrorCode::malformed,
           fmt::format("{} bytes are not {} rows of {}", body.bytes.size(), header.rows, sizeof(T)), "rows");
  const auto count = static_cast<std::size_t>(header.rows);
  if (reinterpret_cast<std::uintptr_t>(body.bytes.data()) % alignof(T) == 0 && body.owner != nullptr)
    return {std::span(reinterpret_cast<const T*>(body.bytes.data()), count), std::move(body.owner)};
  std::vector<T> rows(count);
  if (count != 0) std::memcpy(static_cast<void*>(rows.data()), body.bytes.data(), body.bytes.size());
  return photon::SharedRows<T>(std::move(rows));
}

/// The spectrum behind a source's text.
photon::Source::Spectrum spectrum_of(std::span<const std::byte> bytes) {
  photon::Source::Spectrum spectrum;
  spectrum.count = static_cast<std::uint32_t>(bytes.size() / sizeof(protocol::SpectrumPoint));
  protocol::SpectrumPoint before{0, 0};
  for (std::uint32_t i = 0; i != spectrum.count; ++i) {
    protocol::SpectrumPoint point{};
    std::memcpy(&point, bytes.data() + i * sizeof point, sizeof point);
    if (!(point.probability >= before.probability && point.probability <= 1 && point.wavelength > 0 &&
          point.wavelength >= before.wavelength && std::isfinite(point.wavelength)))
      refuse(ErrorCode::malformed, fmt::format("point {} of the spectrum is wrong", i), "body",
             "probabilities ascend from 0 to 1, and wavelengths in nm from above 0");
    spectrum.points[i] = {point.probability, point.wavelength};
    before = point;
  }
  return spectrum;
}

photon::Source source_of(const Header& header, const FrameBytes& body, const RequestLimits& limits) {
  if (header.rows > protocol::kMaxSpectrum)
    refuse(ErrorCode::limit, fmt::format("a spectrum has at most {} points", protocol::kMaxSpectrum), "rows");
  // A zero byte is between the text and the spectrum.
  const auto behind = static_cast<std::size_t>(header.rows) * sizeof(protocol::SpectrumPoint);
  const std::size_t end = header.rows == 0 ? 0 : behind + 1;
  if (end > body.bytes.size() || (end != 0 && body.bytes[body.bytes.size() - end] != std::byte{0}))
    refuse(ErrorCode::malformed, fmt::format("the body does not end with {} points of a spectrum", header.rows),
           "rows");
  const std::string text(reinterpret_cast<const char*>(body.bytes.data()), body.bytes.size() - end);
  if (text.size() > limits.max_source)
    refuse(ErrorCode::limit, fmt::format("a source's text has at most {} bytes", limits.max_source), "body");
  if (header.photons == protocol::kAll)
    refuse(ErrorCode::malformed, "a source has no end: the number of photons is missing", "photons");
  // The files would be the server's, whose user may read more than the client's.
  const bool has_file =
      text.starts_with("photons:") || text.starts_with("gensteps:") || !photon::spectrum_file(text).empty();
  if (has_file || text.find('\0') != std::string::npos)
    refuse(ErrorCode::unsupported, "the source names a file, which would be the server's", cli::printable(text),
           "send its photons, gensteps or spectrum themselves");
  photon::Source source = photon::parse_source(text);
  if (header.rows != 0) source.spectrum = spectrum_of(body.bytes.last(behind));
  return source;
}

/// The photons of gensteps, where each states its number.
std::optional<std::uint64_t> stated_photons(std::span<const photon::Genstep> steps) {
  std::uint64_t sum = 0;
  for (const photon::Genstep& step : steps) {
    if (step.photons == photon::kPhotonsOfPhysics) return std::nullopt;
    sum += step.photons;
  }
  return sum;
}

void check_expected(const Header& header, std::optional<std::uint64_t> photons) {
  if (header.expected == protocol::kAll) return;
  if (!photons) {
    // check_count() does it afterwards.
    if (header.first == 0 && header.photons == protocol::kAll) return;
    refuse(ErrorCode::unsupported, "the number of photons comes from physics, and a part of them is wanted", "expected",
           "leave it out, or ask for all photons");
  }
  if (*photons != header.expected)
    refuse(ErrorCode::count, fmt::format("the body makes {} photons, and {} were expected", *photons, header.expected),
           "expected");
}

void read(const Header& header, std::span<const FrameBytes> frames, const Digest& digest, const RequestLimits& limits,
          photon::Request& request) {
  check_header(header, digest);
  FrameBytes body = body_of(header, frames, limits);
  if (header.body == Body::gensteps) {
    constexpr std::array<std::uint64_t, 2> kShape{6, 4};
    auto steps = rows_of<photon::Genstep>(header, std::move(body), kShape);
    check_expected(header, stated_photons(steps.rows()));
    request.source = std::move(steps);
  } else if (header.body == Body::photons) {
    constexpr std::array<std::uint64_t, 2> kShape{4, 4};
    auto start = rows_of<photon::StartPhoton>(header, std::move(body), kShape);
    check_expected(header, start.rows().size());
    request.source = std::move(start);
  } else {
    request.source = source_of(header, body, limits);
    check_expected(header, header.photons);
  }
  request.event = header.event;
  request.seed = header.seed;
  request.first = header.first;
  request.count = header.photons;
  if (header.max_steps != 0) request.most_steps = header.max_steps;
  if (header.max_time != 0) request.latest = header.max_time;
  request.hits = header.layout == Layout::rows      ? photon::HitColumns::rows()
                 : header.layout == Layout::compact ? photon::HitColumns::brief()
                                                    : photon::HitColumns();
  request.finals = (header.flags & protocol::kWantsFinals) != 0;
  request.sequences = (header.flags & protocol::kWantsSequences) != 0;
  request.records = (header.flags & protocol::kWantsRecords) != 0;
}

}  // namespace

std::string hex_of(const Digest& digest) {
  std::string text;
  for (const std::uint8_t byte : digest) text += fmt::format("{:02x}", byte);
  return text;
}

Refusal refusal_of(const Error& error) {
  ErrorCode code = ErrorCode::internal;
  switch (error.kind()) {
    case ErrorKind::usage:
    case ErrorKind::malformed:
      code = ErrorCode::malformed;
      break;
    case ErrorKind::unsupported:
      code = ErrorCode::unsupported;
      break;
    case ErrorKind::limit:
      code = ErrorCode::limit;
      break;
    case ErrorKind::out_of_host_memory:
    case ErrorKind::out_of_device_memory:
      code = ErrorCode::memory;
      break;
    case ErrorKind::device:
      code = ErrorCode::device;
      break;
    case ErrorKind::cancelled:
      code = ErrorCode::cancelled;
      break;
    case ErrorKind::io:
    case ErrorKind::no_display:
    case ErrorKind::system:
      break;
  }
  return {code, error.problem(), error.element(), error.advice()};
}

Refusal read_request(const Header& header, std::span<const FrameBytes> frames, const Digest& digest,
                     const RequestLimits& limits, photon::Request& request) {
  try {
    read(header, frames, digest, limits, request);
    return {};
  } catch (Refused& refused) {
    return std::move(refused.why);
  } catch (const Error& error) {
    return refusal_of(error);
  } catch (const std::bad_alloc&) {
    return {ErrorCode::memory, "the server has no memory for the body", "body", "try again later"};
  }
}

Refusal check_count(const Header& header, std::uint64_t photons) {
  if (header.body != Body::gensteps || header.expected == protocol::kAll || header.first != 0 ||
      header.photons != protocol::kAll || photons == header.expected)
    return {};
  return {ErrorCode::count, fmt::format("the body makes {} photons, and {} were expected", photons, header.expected),
          "expected", ""};
}

std::string hits_header(Layout layout, std::uint64_t hits) {
  const std::array<std::uint64_t, 2> rows{4, 4};
  const std::array<std::uint64_t, 1> compact{4};
  return photon::npy_header(photon::NpyType::float32,
                            layout == Layout::rows ? std::span<const std::uint64_t>(rows) : compact, hits, 0);
}

}  // namespace raylift::batch
