// SPDX-License-Identifier: Apache-2.0
// DejaVu Sans as a part of the program: images without a window have letters on a machine without fonts. This file is
// compiled by itself, because ccache keeps nothing that has a file of its own in it.
#include "draw/overlay/font_data.h"

__asm__(
    ".section .rodata\n"
    ".balign 16\n"
    ".global raylift_font_begin, raylift_font_end\n"
    "raylift_font_begin:\n"
    ".incbin \"" RAYLIFT_FONT
    "\"\n"
    "raylift_font_end:\n"
    ".byte 0\n"
    ".text\n");

extern "C" {
extern const unsigned char raylift_font_begin[], raylift_font_end[];
}

namespace raylift::viewer {

std::span<const unsigned char> font_data() {
  return {raylift_font_begin, raylift_font_end};
}

}  // namespace raylift::viewer
