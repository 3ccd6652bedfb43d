// SPDX-License-Identifier: Apache-2.0
// Messages between a client and `raylift serve`: docs/service.md describes them byte by byte. C++17, for both ends.
//
// A message is a list of ZeroMQ frames: an empty one, a Header, and what its kind has behind it. Proxies and ROUTER
// sockets put frames with routing ids before the empty one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "raylift's protocol needs a little-endian machine: bodies are arrays as they lie in memory"
#endif

namespace raylift::protocol {

inline constexpr char kMagic[4] = {'R', 'L', 'P', 'H'};
inline constexpr std::uint16_t kVersion = 1;
/// In Header::photons: all from Header::first on. In Header::expected: unknown.
inline constexpr std::uint64_t kAll = ~std::uint64_t{0};

/// Bytes of a body that every server reads, if only to refuse it. It closes the connection where a frame is larger than
/// this and than Header::max_body.
inline constexpr std::uint64_t kAlwaysRead = std::uint64_t{32} << 20;

enum class Layout : std::uint8_t {
  none = 0,     ///< no hits: counts alone
  rows = 1,     ///< (H, 4, 4) of float32, 64 bytes a hit: Row
  compact = 2,  ///< 16 bytes a hit: Hit
};

/// Header::flags.
inline constexpr std::uint8_t kMayShare = 1;        ///< the hits may come in shared memory
inline constexpr std::uint8_t kWantsFinals = 2;     ///< all photons at their ends, behind the hits: Row
inline constexpr std::uint8_t kWantsSequences = 4;  ///< histories, behind these: 32 bytes a photon
inline constexpr std::uint8_t kWantsRecords = 8;    ///< every step, behind these: 32 Rows a photon

enum class ErrorCode : std::uint16_t {
  none = 0,
  version = 1,         ///< the other end speaks another version
  digest = 2,          ///< the server has another geometry
  malformed = 3,       ///< the message or its numbers are wrong: shape, type, size
  count = 4,           ///< the body makes another number of photons than was expected
  unsupported = 5,     ///< legal, but nothing that this server does
  limit = 6,           ///< too large for this server
  busy = 7,            ///< try again after Header::retry_after
  memory = 8,          ///< the server's memory, or its devices', ran out
  device = 9,          ///< no device is left that works
  cancelled = 10,      ///< by `cancel`
  dropped = 11,        ///< the client was silent for too long: its requests were freed; send them again
  stopping = 12,       ///< the server ends; try again after Header::retry_after, there or elsewhere
  shared_memory = 13,  ///< the shared memory can't be opened: send the body in the frame
  internal = 14,       ///< a fault of the server
  // These never travel.
  unreachable = 100,  ///< no server answered
  timeout = 101,      ///< the caller's time was over
  usage = 102,        ///< a wrong argument
};

/// The name as it stands in messages: "shared_memory".
inline const char* name_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::none:
      return "none";
    case ErrorCode::version:
      return "version";
    case ErrorCode::digest:
      return "digest";
    case ErrorCode::malformed:
      return "malformed";
    case ErrorCode::count:
      return "count";
    case ErrorCode::unsupported:
      return "unsupported";
    case ErrorCode::limit:
      return "limit";
    case ErrorCode::busy:
      return "busy";
    case ErrorCode::memory:
      return "memory";
    case ErrorCode::device:
      return "device";
    case ErrorCode::cancelled:
      return "cancelled";
    case ErrorCode::dropped:
      return "dropped";
    case ErrorCode::stopping:
      return "stopping";
    case ErrorCode::shared_memory:
      return "shared_memory";
    case ErrorCode::internal:
      return "internal";
    case ErrorCode::unreachable:
      return "unreachable";
    case ErrorCode::timeout:
      return "timeout";
    case ErrorCode::usage:
      return "usage";
  }
  return "unknown";
}

/// The kind of raylift's errors that a code belongs to, by its name in reports (docs/exit_codes.md).
inline const char* kind_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::usage:
    case ErrorCode::digest:
      return "usage";
    case ErrorCode::malformed:
    case ErrorCode::count:
      return "malformed";
    case ErrorCode::unsupported:
    case ErrorCode::version:
      return "unsupported";
    case ErrorCode::limit:
      return "limit";
    case ErrorCode::memory:
      return "out_of_host_memory";
    case ErrorCode::device:
      return "device";
    case ErrorCode::cancelled:
      return "cancelled";
    default:
      return "io";
  }
}

/// The first frame behind the empty one. What a kind does not use is 0.
struct Header {
  enum class Kind : std::uint16_t {
    // From a client.
    hello = 1,     ///< answered by `welcome`
    simulate = 2,  ///< a body; answered by `result` or `error`, and by `pending` until then
    cancel = 3,    ///< takes back the request of that number; not answered
    alive = 4,     ///< every second; answered by `pending`
    status = 5,    ///< answered by `state`
    taken = 6,     ///< the shared memory of a result has been opened or is not wanted; not answered
    received = 7,  ///< answers `ending`, with its `server`: all that it sent before has come; not answered
    // From a server.
    welcome = 129,  ///< JSON: limits, and what the server has
    result = 130,   ///< Counts, then hits
    error = 131,    ///< text: problem, element and advice, each ended by a zero byte
    pending = 132,  ///< numbers of this client's requests that the server has, uint64 each
    state = 133,    ///< JSON: clients, queue and rates
    ending = 134,   ///< the server ends, and has sent all results; to be answered by `received`
  };
  enum class Body : std::uint8_t {
    none = 0,
    gensteps = 1,  ///< (G, 6, 4) of float32
    photons = 2,   ///< (N, 4, 4) of float32
    source = 3,    ///< the text of a source, such as "point:0,0,0", in UTF-8, and its spectrum
    hits = 4,      ///< in the layout of Header::layout
  };
  enum class Encoding : std::uint8_t {
    raw = 0,  ///< an array as it lies in memory: little endian, in C order
    npy = 1,  ///< a .npy file, version 1.0 or 2.0
  };
  enum class Carrier : std::uint8_t {
    frame = 0,   ///< in the frame behind the header
    shared = 1,  ///< in shared memory, which that frame describes: SharedMemory
  };

  char magic[4] = {kMagic[0], kMagic[1], kMagic[2], kMagic[3]};
  std::uint16_t version = kVersion;
  Kind kind = Kind::hello;
  std::uint64_t request = 0;      ///< the client's number for it, returned in all answers
  std::uint8_t digest[32] = {};   ///< of the geometry: that the client expects, or all 0; in answers the server's
  std::uint64_t event = 0;        ///< returned in the result
  std::uint64_t seed = 0;         ///< of the event
  std::uint64_t first = 0;        ///< the number of the first photon to be simulated
  std::uint64_t photons = kAll;   ///< how many; results: how many were simulated
  std::uint64_t expected = kAll;  ///< of the whole body, which is an error where it makes another number
  std::uint64_t rows = 0;         ///< of the body: G, N or H; of a source the points of its spectrum
  std::uint64_t bytes = 0;        ///< of the body, wherever it lies
  std::uint32_t max_steps = 0;    ///< after which a photon is truncated; 0: 10,000
  float max_time = 0;             ///< ns, after which a photon is truncated; 0: none
  Body body = Body::none;
  Encoding encoding = Encoding::raw;         ///< of the body
  Carrier place = Carrier::frame;            ///< of the body
  Layout layout = Layout::none;              ///< of the hits that are wanted, or that the result has
  Encoding wanted_encoding = Encoding::raw;  ///< of the hits
  std::uint8_t flags = 0;
  ErrorCode error = ErrorCode::none;
  std::uint32_t retry_after = 0;  ///< ms
  std::uint32_t reserved = 0;     ///< 0
  std::uint64_t server = 0;       ///< in answers: a random number of the server process
  std::uint64_t max_body = 0;     ///< in answers: bytes of the largest body that the server takes
};
static_assert(std::is_trivially_copyable<Header>::value && sizeof(Header) == 144, "the layout of docs/service.md");
static_assert(offsetof(Header, digest) == 16 && offsetof(Header, expected) == 80 &&
                  offsetof(Header, max_steps) == 104 && offsetof(Header, body) == 112 &&
                  offsetof(Header, error) == 118 && offsetof(Header, server) == 128,
              "the layout of docs/service.md");

/// Where a body lies that both ends map: a sealed memfd of the sender, opened by /proc/PID/fd/DESCRIPTOR.
struct SharedMemory {
  std::uint64_t bytes = 0;
  std::uint32_t process = 0;
  std::uint32_t descriptor = 0;
  char token[16] = {};  ///< 16 characters of 0-9a-f that are in the memory's name: "raylift-TOKEN"
};
static_assert(sizeof(SharedMemory) == 32, "the layout of docs/service.md");

/// The second frame of a result.
struct Counts {
  std::uint64_t steps = 0;                ///< of all photons
  std::uint64_t births[3] = {};           ///< Cerenkov light, scintillation, other
  std::uint64_t ends[16] = {};            ///< photons by their ends, in the order that docs/service.md lists
  std::uint64_t queue_microseconds = 0;   ///< from the server's acceptance to the first launch
  std::uint64_t kernel_microseconds = 0;  ///< of launches, by the request's share of their photons
};
static_assert(sizeof(Counts) == 176, "the layout of docs/service.md");

/// A hit of Layout::compact.
struct Hit {
  std::int32_t channel;  ///< its number; -1: the sensor has none
  float time;            ///< ns
  float wavelength;      ///< nm
  std::uint32_t flags;   ///< Opticks's, of all interactions
};
static_assert(sizeof(Hit) == 16, "the layout of docs/service.md");

/// A hit of Layout::rows: a row of Opticks's hits, see docs/photons.md.
struct Row {
  float position[3];  ///< mm
  float time;         ///< ns
  float direction[3];
  std::uint32_t solid;
  float polarization[3];
  float wavelength;  ///< nm
  std::uint16_t flag;
  std::uint16_t surface;
  std::uint32_t sensor;  ///< channel + 1; 0: none
  std::uint32_t number;  ///< of the photon, its lower 32 bits
  std::uint32_t flags;
};
static_assert(sizeof(Row) == 64, "the layout of docs/photons.md");

inline constexpr std::size_t kGenstepBytes = 96;
inline constexpr std::size_t kPhotonBytes = 64;
inline constexpr std::size_t kSequenceBytes = 32;
inline constexpr std::size_t kRecordBytes = 32 * sizeof(Row);
/// Points of a source's spectrum, at most.
inline constexpr std::size_t kMaxSpectrum = 256;

/// A point of a source's spectrum, in the body behind the text and a zero byte.
struct SpectrumPoint {
  float probability;  ///< cumulative: 0 at the first point, 1 at the last
  float wavelength;   ///< nm
};
static_assert(sizeof(SpectrumPoint) == 8, "the layout of docs/service.md");

/// Bytes of a row of the body; 0: it has no rows.
inline constexpr std::size_t row_bytes(Header::Body body) {
  return body == Header::Body::gensteps ? kGenstepBytes : body == Header::Body::photons ? kPhotonBytes : 0;
}
inline constexpr std::size_t hit_bytes(Layout layout) {
  return layout == Layout::rows ? sizeof(Row) : layout == Layout::compact ? sizeof(Hit) : 0;
}

/// Reads a header. Returns false where the bytes are none of this protocol; the version may be another.
inline bool read_header(const void* bytes, std::size_t size, Header& header) {
  // Magic, version, kind and request lie there in any version.
  constexpr std::size_t kCommon = 16;
  if (size < kCommon || std::memcmp(bytes, kMagic, sizeof kMagic) != 0) return false;
  header = Header{};
  std::memcpy(static_cast<void*>(&header), bytes, size < sizeof header ? size : sizeof header);
  return header.version != kVersion || size == sizeof header;
}

}  // namespace raylift::protocol
