// SPDX-License-Identifier: Apache-2.0
#include "hash.h"

#include <openssl/evp.h>
#include <raylift/geometry/error.h>
#include <xxhash.h>
#ifdef RAYLIFT_XXHASH_DISPATCH
#include <xxh_x86dispatch.h>  // from here on, the names of XXH3 stand for the code that suits the processor
#endif

#include <array>

namespace raylift::detail {
namespace {

/// The library chooses its code on the first long input, and not safely from several threads: so it is done here, once.
void choose_code() noexcept {
  [[maybe_unused]] static const bool chosen = [] {
    const std::array<char, 1024> any{};
    return (XXH3_64bits(any.data(), any.size()) ^ XXH3_128bits(any.data(), any.size()).low64) != 1;
  }();
}

}  // namespace

std::uint64_t hash64(const void* data, std::size_t bytes) noexcept {
  choose_code();
  return XXH3_64bits(data, bytes);
}

Hash128 hash128(const void* data, std::size_t bytes) noexcept {
  choose_code();
  const XXH128_hash_t hash = XXH3_128bits(data, bytes);
  return {hash.low64, hash.high64};
}

Hash256 sha256(const void* data, std::size_t bytes) {
  Hash256 hash;
  if (EVP_Digest(data, bytes, hash.bytes.data(), nullptr, EVP_sha256(), nullptr) != 1)
    throw Error(ErrorKind::unsupported, "OpenSSL's SHA-256 does not work", {},
                "see OpenSSL's configuration, or go on without the cache");
  return hash;
}

}  // namespace raylift::detail
