// SPDX-License-Identifier: Apache-2.0
// What raylift's headers require of the compiler. Without it, compilation fails
// here, with one message.
#pragma once

#if defined(_MSVC_LANG) ? _MSVC_LANG < 202002L : __cplusplus < 202002L
#error "raylift's headers need C++20: compile with -std=c++20, or link raylift's CMake targets, which ask for it."
#endif

// The triangle test is watertight only with IEEE rounding. NVRTC defines the last four macros by its rounding; nvcc
// none.
#if defined(__FAST_MATH__) || (defined(__USE_FAST_MATH__) && __USE_FAST_MATH__) ||           \
    (defined(__CUDA_FTZ) && __CUDA_FTZ) || (defined(__CUDA_PREC_DIV) && !__CUDA_PREC_DIV) || \
    (defined(__CUDA_PREC_SQRT) && !__CUDA_PREC_SQRT)
#error "raylift's headers need IEEE rounding: compile without -ffast-math, -Ofast, --use_fast_math, --ftz and --prec-*."
#endif
