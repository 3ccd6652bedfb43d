// SPDX-License-Identifier: Apache-2.0
#include "draw/legend_overlay.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/text.h"
#include "draw/overlay_builder.h"

namespace raylift::viewer {
namespace {

using Point = OverlayBuilder::Point;
using Paint = OverlayBuilder::Paint;

// In pixels of an image 720 high.
constexpr float kLetter = 8, kPitch = 18, kMargin = 14, kInner = 10, kSwatch = 12, kBesideSwatch = 8, kMinRamp = 150;
constexpr float kBelow = 64;           // for the scale bar
constexpr float kLargestShare = 0.4F;  // of the image's width

Paint opaque(const Color& color) {
  return {color[0], color[1], color[2], 1};
}

/// A line of the plate: a title, an entry with its colour, or a ramp.
struct Row {
  std::string words;
  const Legend::Entry* entry = nullptr;
  const Legend* ramp = nullptr;
};

std::string entry_text(const Legend::Entry& entry) {
  return entry.name + (entry.solids > 1 ? " (" + cli::grouped(entry.solids) + ")" : "");
}

std::vector<Row> rows_of(std::span<const Legend> legends, std::size_t most) {
  std::vector<Row> rows;
  for (const Legend& legend : legends) {
    if (!rows.empty()) rows.emplace_back();
    rows.push_back({legend.title});
    if (!legend.ramp.empty()) rows.push_back({{}, nullptr, &legend});
    if (!legend.ramp.empty() && !legend.labels.empty()) rows.emplace_back();  // for the labels
    const std::size_t shown = std::min(legend.entries.size(), most / legends.size());
    for (std::size_t i = 0; i != shown; ++i) rows.push_back({entry_text(legend.entries[i]), &legend.entries[i]});
    const std::uint64_t more = legend.more + legend.entries.size() - shown;
    if (more != 0) rows.push_back({"and " + cli::grouped(more) + " more"});
  }
  return rows;
}

/// The text, or as much of its begin as is so wide, with dots.
std::string fitted(const std::string& words, float width, float letter) {
  if (OverlayBuilder::text_width(words, letter) <= width) return words;
  std::string part = words;
  do {
    // A letter of UTF-8 goes as a whole.
    while (!part.empty() && (static_cast<unsigned char>(part.back()) & 0xC0U) == 0x80) part.pop_back();
    if (!part.empty()) part.pop_back();
  } while (!part.empty() && OverlayBuilder::text_width(part + "...", letter) > width);
  return part + "...";
}

/// So wide that labels don't touch. The first and the last one stay within the ramp.
float ramp_width(const Legend& legend, float letter) {
  float most = 0;  // between two labels' places
  const std::size_t count = legend.labels.size();
  const auto half = [&](std::size_t i) {
    return (i == 0 || i + 1 == count ? 1.0F : 0.5F) * OverlayBuilder::text_width(legend.labels[i], letter);
  };
  for (std::size_t i = 1; i < count; ++i) most = std::max(most, half(i - 1) + letter + half(i));
  return most * static_cast<float>(std::max<std::size_t>(1, count) - 1);
}

void add_ramp(OverlayBuilder& builder, const Legend& legend, const Point& at, float width, float scale) {
  const auto steps = static_cast<float>(legend.ramp.size());
  for (std::size_t i = 0; i != legend.ramp.size(); ++i) {
    const float from = width * static_cast<float>(i) / steps, to = width * static_cast<float>(i + 1) / steps;
    builder.rectangle(at + Point(from, 0), at + Point(to, kSwatch * scale), opaque(legend.ramp[i]));
  }
  const auto last = static_cast<float>(std::max<std::size_t>(1, legend.labels.size() - 1));
  for (std::size_t i = 0; i != legend.labels.size(); ++i) {
    const float words = OverlayBuilder::text_width(legend.labels[i], kLetter * scale);
    const float middle = width * static_cast<float>(i) / last;
    const float left = std::clamp(middle - 0.5F * words, 0.0F, std::max(0.0F, width - words));
    builder.text(at + Point(left, -(kPitch - 4) * scale), legend.labels[i], kLetter * scale, kPlateInk);
  }
}

}  // namespace

std::size_t most_legend_entries(int height) {
  constexpr float kOthers = 6;  // rows: titles, what is between, counts
  const float rows =
      (static_cast<float>(height) / overlay_scale(height) - kBelow - kMargin - 2 * kInner) / kPitch - kOthers;
  return static_cast<std::size_t>(std::clamp(rows, 2.0F, 24.0F));
}

void add_legends(std::span<const Legend> legends, int width, int height, Overlay& overlay) {
  if (legends.empty() || is_thumbnail(width, height)) return;
  const float scale = overlay_scale(height), letter = kLetter * scale;
  const std::vector<Row> rows = rows_of(legends, most_legend_entries(height));
  const float beside = (kSwatch + kBesideSwatch) * scale;
  float wide = 0;
  for (const Row& row : rows)
    wide = std::max({wide, OverlayBuilder::text_width(row.words, letter) + (row.entry != nullptr ? beside : 0),
                     row.ramp != nullptr ? std::max(kMinRamp * scale, ramp_width(*row.ramp, letter)) : 0});
  wide = std::min(wide, kLargestShare * static_cast<float>(width));

  OverlayBuilder builder(overlay);
  const Point corner(static_cast<float>(width) - kMargin * scale, static_cast<float>(height) - kMargin * scale);
  const float high = (static_cast<float>(rows.size()) * kPitch + 2 * kInner) * scale;
  builder.rectangle(corner - Point(wide + 2 * kInner * scale, high), corner, kPlatePaint);
  Point at = corner - Point(wide + kInner * scale, (kInner + 0.5F * (kPitch + kLetter)) * scale);
  for (const Row& row : rows) {
    const Point words = row.entry != nullptr ? Point(at + Point(beside, 0)) : at;
    if (row.entry != nullptr) {
      const Point low = at - Point(0, 0.5F * (kSwatch * scale - letter)), side(kSwatch * scale, kSwatch * scale);
      builder.rectangle(low - Point(1, 1), low + side + Point(1, 1), kPlateInk);  // seen in any colour
      builder.rectangle(low, low + side, opaque(row.entry->color));
    }
    if (row.ramp != nullptr) add_ramp(builder, *row.ramp, at, wide, scale);
    builder.text(words, fitted(row.words, wide - (words - at).x(), letter), letter, kPlateInk);
    at.y() -= kPitch * scale;
  }
}

}  // namespace raylift::viewer
