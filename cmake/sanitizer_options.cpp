// SPDX-License-Identifier: Apache-2.0
// Defaults of the sanitizers' options in all programs; ASAN_OPTIONS overrides those of the first.

/// The sanitizer guesses a thread's dynamic TLS from what stands before it, as glibc 2.19 left it there. Where such a
/// block begins 16 bytes into a page, it takes the allocator's own header for that, and the leak sanitizer then reads
/// at an address that is none: now and then a test of Mesa's threads died after it had passed. Blocks of TLS are on the
/// heap, where they are found without the guess.
/// Stacks of allocations have 10 frames: the usual 30 take a tenth of the time of short runs.
extern "C" const char* __asan_default_options() {  // NOLINT(bugprone-reserved-identifier): the sanitizer's name for it
  return "intercept_tls_get_addr=0:malloc_context_size=10";
}

/// Open CASCADE keeps what it makes once, and polygons of faces that are meshed again. OpenSSL has a state of each
/// thread, which ends with it; oneTBB's threads may end after the sanitizer's own state of them, and while it looks for
/// leaks.
extern "C" const char*
__lsan_default_suppressions() {  // NOLINT(bugprone-reserved-identifier): the sanitizer's name for it
  return "leak:libTK\nleak:libcrypto";
}
