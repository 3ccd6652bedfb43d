// SPDX-License-Identifier: Apache-2.0
// Whether this build has a sanitizer: these reserve terabytes of addresses, handle signals, and start processes.
#pragma once

namespace raylift {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace raylift
