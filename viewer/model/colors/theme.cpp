// SPDX-License-Identifier: Apache-2.0
#include "model/colors/theme.h"

#include <cstdint>

#include "model/colors/palette.h"

namespace raylift::viewer {
namespace {

constexpr Color rgb(std::uint32_t code) {
  const auto part = [code](unsigned shift) { return static_cast<float>((code >> shift) & 0xFFU) / 255; };
  return {part(16), part(8), part(0)};
}

}  // namespace

const Theme& theme(bool light) {
  static constexpr Theme kDark{.ground = rgb(0x1b1e23),
                               .raised = rgb(0x262a31),
                               .field = rgb(0x2f343d),
                               .border = rgb(0x7d8796),
                               .text = rgb(0xe6e9ee),
                               .dim = rgb(0xa7afbb),
                               .accent = rgb(0x6fa8e8),
                               .chosen = rgb(0x2d4a6d),
                               .warning = rgb(0xe5b04c),
                               .error = rgb(0xff9080),
                               .good = rgb(0x82c792)};
  static constexpr Theme kLight{.ground = rgb(0xf6f7f9),
                                .raised = rgb(0xe7eaee),
                                .field = rgb(0xffffff),
                                .border = rgb(0x7b838e),
                                .text = rgb(0x1d2127),
                                .dim = rgb(0x545c67),
                                .accent = rgb(0x22609f),
                                .chosen = rgb(0xcbdcf0),
                                .warning = rgb(0x805300),
                                .error = rgb(0xb02a20),
                                .good = rgb(0x2a7040)};
  return light ? kLight : kDark;
}

double contrast_ratio(const Color& a, const Color& b) {
  const auto luminance = [](const Color& color) {
    const LinearColor c = linear_color(color);
    return 0.2126 * static_cast<double>(c[0]) + 0.7152 * static_cast<double>(c[1]) + 0.0722 * static_cast<double>(c[2]);
  };
  const double one = luminance(a), other = luminance(b);
  return one < other ? contrast_ratio(b, a) : (one + 0.05) / (other + 0.05);
}

}  // namespace raylift::viewer
