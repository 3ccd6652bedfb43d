// SPDX-License-Identifier: Apache-2.0
#include "draw/overlay/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>

#include "draw/overlay/font.h"
#include "draw/overlay/overlay_builder.h"
#include "model/colors/palette.h"

namespace raylift::viewer {
namespace {

std::string hex(float r, float g, float b) {
  const auto byte = [](float value) { return static_cast<int>(std::lround(std::clamp(value, 0.0F, 1.0F) * 255)); };
  return fmt::format("#{:02x}{:02x}{:02x}", byte(r), byte(g), byte(b));
}

/// At most two decimals, without zeros at the end.
std::string number(double value) {
  std::string text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string escaped(std::string_view words) {
  std::string text;
  for (const char c : words) {
    if (c == '&')
      text += "&amp;";
    else if (c == '<')
      text += "&lt;";
    else if (c == '>')
      text += "&gt;";
    else if (static_cast<unsigned char>(c) >= 0x20)  // XML has no others
      text += c;
  }
  return text;
}

std::string paint(std::string_view attribute, const std::array<float, 4>& color) {
  std::string text = fmt::format(" {}=\"{}\"", attribute, hex(color[0], color[1], color[2]));
  if (color[3] < 1) text += fmt::format(" {}-opacity=\"{}\"", attribute, number(static_cast<double>(color[3])));
  return text;
}

void add_item(std::string& svg, const OverlayItem& item, int height) {
  const auto x = [](float value) { return number(static_cast<double>(value)); };
  const auto y = [&](float value) { return number(height - static_cast<double>(value)); };
  switch (item.kind) {
    case OverlayItem::Kind::line:
      svg += fmt::format(R"(<line x1="{}" y1="{}" x2="{}" y2="{}" stroke-width="{}" stroke-linecap="square"{}/>)",
                         x(item.from.x()), y(item.from.y()), x(item.to.x()), y(item.to.y()), x(item.size),
                         paint("stroke", item.paint));
      break;
    case OverlayItem::Kind::disc:
      svg += fmt::format(R"(<circle cx="{}" cy="{}" r="{}"{}/>)", x(item.from.x()), y(item.from.y()), x(item.size),
                         paint("fill", item.paint));
      break;
    case OverlayItem::Kind::rectangle:
      svg += fmt::format(R"(<rect x="{}" y="{}" width="{}" height="{}"{}/>)", x(item.from.x()), y(item.to.y()),
                         x(item.to.x() - item.from.x()), x(item.to.y() - item.from.y()), paint("fill", item.paint));
      break;
    case OverlayItem::Kind::text:
      svg += fmt::format(R"(<text x="{}" y="{}" font-size="{}"{}{}>{}</text>)", x(item.from.x()), y(item.from.y()),
                         x(item.size / kCapital), paint("fill", item.paint),
                         item.halo > 0 ? paint("stroke", item.paint) +
                                             fmt::format(R"( stroke-width="{}" stroke-linejoin="round")", x(item.halo))
                                       : "",
                         escaped(item.words));
      break;
  }
  svg += '\n';
}

}  // namespace

LineColors::LineColors(const Scene& scene, const Settings& settings, bool has_legend,
                       std::span<const std::uint32_t> own_colors)
    : scene_(scene),
      by_(settings.color),
      colored_(has_legend && (by_ == ColorBy::material || by_ == ColorBy::solid || by_ == ColorBy::mesh)),
      light_(settings.background.transparent || is_light(settings.background)),
      palette_(material_palette(scene)),
      own_colors_(own_colors) {}

LineStyle LineColors::style(const Outline& line) const {
  constexpr float kWidth = 1, kThin = 0.5F;
  const OverlayBuilder::Paint paint = overlay_ink(light_);
  const Color ink{paint[0], paint[1], paint[2]}, grey{0.5F, 0.5F, 0.5F};
  const std::uint32_t own = own_colors_.empty() ? 0 : own_colors_[line.solid];
  if (!colored_ && own == 0) return line.faint ? LineStyle{grey, kThin} : LineStyle{ink, kWidth};
  const Instance& placed = scene_.instances[line.solid];
  const std::uint32_t material = scene_.material(placed, 0);
  Color color = own != 0                   ? unpacked(own)
                : by_ == ColorBy::material ? unpacked(material == kNone ? palette_.back() : palette_[material])
                                           : distinct_color(by_ == ColorBy::solid ? line.solid : placed.mesh);
  // Towards the ink, until the line is seen on the background.
  const auto luminance = [](const Color& c) { return 0.3F * c[0] + 0.6F * c[1] + 0.1F * c[2]; };
  constexpr float kDarkest = 0.45F, kLightest = 0.55F, kStep = 0.1F;
  for (int i = 0; i != 10 && (light_ ? luminance(color) > kDarkest : luminance(color) < kLightest); ++i)
    for (std::size_t c = 0; c != 3; ++c) color[c] += kStep * (ink[c] - color[c]);
  return {color, line.faint ? kThin : kWidth};
}

std::string svg_text(const Resolution& size, const Background& background, std::span<const Polyline> lines,
                     std::span<const LineStyle> styles, const Overlay& overlay) {
  std::string svg = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
      "{1}\">\n",
      size.width, size.height);
  if (!background.transparent) {
    const Color &top = background.top, &bottom = background.bottom;
    if (top != bottom)
      svg += fmt::format(
          "<defs><linearGradient id=\"ground\" x1=\"0\" y1=\"0\" x2=\"0\" y2=\"1\"><stop offset=\"0\" "
          "stop-color=\"{}\"/>"
          "<stop offset=\"1\" stop-color=\"{}\"/></linearGradient></defs>\n",
          hex(top[0], top[1], top[2]), hex(bottom[0], bottom[1], bottom[2]));
    svg += fmt::format("<rect id=\"background\" width=\"{}\" height=\"{}\" fill=\"{}\"/>\n", size.width, size.height,
                       top != bottom ? "url(#ground)" : hex(top[0], top[1], top[2]));
  }
  svg += "<g id=\"outlines\" fill=\"none\" stroke-linecap=\"round\" stroke-linejoin=\"round\">\n";
  for (std::uint32_t style = 0; style != styles.size(); ++style) {
    const LineStyle& of = styles[style];
    if (std::none_of(lines.begin(), lines.end(), [&](const Polyline& line) { return line.style == style; })) continue;
    svg += fmt::format("<g stroke=\"{}\" stroke-width=\"{}\">\n", hex(of.color[0], of.color[1], of.color[2]),
                       number(static_cast<double>(of.width)));
    for (const Polyline& line : lines) {
      if (line.style != style) continue;
      svg += "<polyline points=\"";
      for (const Eigen::Vector2d& p : line.points) svg += number(p.x()) + ',' + number(p.y()) + ' ';
      svg.back() = '"';
      svg += "/>\n";
    }
    svg += "</g>\n";
  }
  svg += fmt::format("</g>\n<g id=\"overlay\" font-family=\"'{}', Verdana, sans-serif\">\n", kFontName);
  for (const OverlayItem& item : overlay) add_item(svg, item, size.height);
  return svg + "</g>\n</svg>\n";
}

}  // namespace raylift::viewer
