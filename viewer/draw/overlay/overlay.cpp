// SPDX-License-Identifier: Apache-2.0
#include "draw/overlay/overlay.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "draw/overlay/overlay_builder.h"
#include "model/settings/measurement.h"

namespace raylift::viewer {
namespace {

using Builder = OverlayBuilder;
using Point = Builder::Point;
using Paint = Builder::Paint;

/// A colour in contrast to the background's lower edge.
Paint ink(const Background& background, float alpha) {
  return overlay_ink(is_light(background), alpha);
}
/// Its opposite, drawn around it: solids of any colour may stand behind.
Paint halo(const Background& background) {
  Paint paint = ink(background, 0.7F);
  for (std::size_t i = 0; i < 3; ++i) paint[i] = 1 - paint[i];
  return paint;
}

constexpr float kAxesSide = 106, kAxesMiddle = 52, kAxesLength = 34;  // at scale 1, as all lengths here
constexpr float kBarMost = 200, kBarShare = 0.35F, kBarMargin = 28, kBarHeight = 56;
constexpr float kBarLeft = 4;    // of its tick
constexpr float kBarLeast = 60;  // without room for so long a bar there is none

/// The free part of the camera's image, in pixels from the lower left.
Eigen::AlignedBox2f free_part(const Camera& camera, int width, int height) {
  const Eigen::Array2d size(width, height), middle = 0.5 * (camera.free_middle.array() + 1),
                                            half = 0.5 * camera.free_share.array();
  return {((middle - half) * size).cast<float>().matrix(), ((middle + half) * size).cast<float>().matrix()};
}

float longest_bar(const Eigen::AlignedBox2f& free, float scale) {
  return std::min(kBarMost * scale, kBarShare * free.sizes().x());
}

void add_axes(Builder& builder, const Camera& camera, const Settings& settings, const Resolution& image,
              const Point& corner, float scale) {
  const Point center = corner + Point(kAxesMiddle * scale, kAxesMiddle * scale);
  constexpr std::array<Color, 3> kColors{{{0.93F, 0.36F, 0.36F}, {0.47F, 0.78F, 0.36F}, {0.36F, 0.60F, 0.95F}}};
  builder.disc(center, 2.4F * scale, ink(settings.background, 1));
  for (const GizmoEnd& end : gizmo_ends(camera, image)) {
    int a = 0;
    end.axis.cwiseAbs().maxCoeff(&a);
    const Color& c = kColors[static_cast<std::size_t>(a)];
    const bool named = end.axis[a] > 0;
    const float shade = end.axis.dot(camera.forward()) > 0.01 ? 0.72F : 1.0F;
    const Paint paint{c[0] * shade, c[1] * shade, c[2] * shade, named ? 1 : 0.55F};
    if (named) builder.line(center, end.at, 2.6F * scale, paint);
    builder.disc(end.at, end.radius, paint);
    if (!named) continue;
    const float high = 7.5F * scale;
    const char letter = static_cast<char>('X' + a);
    builder.text(end.at - Point(high / 3, high / 2), std::string_view(&letter, 1), high, {0.06F, 0.07F, 0.08F, 1});
  }
}

void add_scale_bar(Builder& builder, const Camera& camera, const Settings& settings, const Eigen::AlignedBox2f& free,
                   int height, float scale) {
  const double pixel = camera.pixel_size(height);
  const double length = round_length(pixel * static_cast<double>(longest_bar(free, scale)));
  const float bar = static_cast<float>(length / pixel);
  const float right = free.max().x() - kBarMargin * scale;
  const float y = free.min().y() + kBarMargin * scale;
  const float tick = 5 * scale;
  const std::string text = length_text(length);
  const float letter = 10 * scale;
  const float text_width = Builder::text_width(text, letter);
  const auto draw = [&](const Paint& paint, float more) {
    const float stroke = 2 * scale + more;
    builder.line({right - bar, y}, {right, y}, stroke, paint);
    builder.line({right - bar, y - tick}, {right - bar, y + tick}, stroke, paint);
    builder.line({right, y - tick}, {right, y + tick}, stroke, paint);
    builder.text({right - 0.5F * bar - 0.5F * text_width, y + 10 * scale}, text, letter, paint, more);
  };
  draw(halo(settings.background), 3 * scale);
  draw(ink(settings.background, 1), 0);
}

/// Where points of the world are in the image, in pixels from the lower left.
class ImagePlaces {
 public:
  ImagePlaces(const Camera& camera, int width, int height)
      : camera_(camera), size_(width, height), aspect_(static_cast<double>(width) / height) {}

  [[nodiscard]] bool before_the_eye(const Eigen::Vector3d& p) const {
    return camera_.orthographic || camera_.depth(p) > least_;
  }
  [[nodiscard]] Eigen::Vector2d place(const Eigen::Vector3d& p) const {
    const Eigen::Vector3d at = camera_.project(p, aspect_);
    return (0.5 * (at.head<2>().array() + 1) * size_.array()).matrix();
  }
  /// The part of a line that lies before the eye, and in the image or close by.
  [[nodiscard]] std::optional<std::pair<Point, Point>> line(Eigen::Vector3d a, Eigen::Vector3d b) const {
    if (!camera_.cut_before_eye(a, b, least_)) return std::nullopt;
    const Eigen::Vector2d from = place(a), along = place(b) - from;
    double begin = 0, end = 1;  // Liang and Barsky
    for (int axis = 0; axis != 2; ++axis)
      for (const double side : {-1.0, 1.0}) {
        const double room = (side < 0 ? kMargin + from[axis] : size_[axis] + kMargin - from[axis]);
        const double speed = side * along[axis];
        if (speed == 0 && room < 0) return std::nullopt;
        if (speed > 0) end = std::min(end, room / speed);
        if (speed < 0) begin = std::max(begin, room / speed);
      }
    if (!(begin <= end)) return std::nullopt;
    return std::pair((from + begin * along).cast<float>().eval(), (from + end * along).cast<float>().eval());
  }
  /// A point that is in the image, or close by.
  [[nodiscard]] std::optional<Point> point(const Eigen::Vector3d& p) const {
    if (!before_the_eye(p)) return std::nullopt;
    const Eigen::Vector2d at = place(p);
    if ((at.array() < -kMargin).any() || (at.array() > size_.array() + kMargin).any()) return std::nullopt;
    return at.cast<float>();
  }

 private:
  static constexpr double kMargin = 64;

  const Camera& camera_;
  Eigen::Vector2d size_;
  double aspect_;
  double least_ = 1e-6 * camera_.distance;
};

constexpr Paint kMarkPaint{1.00F, 0.78F, 0.25F, 1}, kMarkHalo{0.04F, 0.05F, 0.06F, 0.75F};

void add_mark_line(Builder& builder, const ImagePlaces& places, const Eigen::Vector3d& a, const Eigen::Vector3d& b,
                   float width) {
  const auto seen = places.line(a, b);
  if (!seen) return;
  builder.line(seen->first, seen->second, width + 2.4F, kMarkHalo);
  builder.line(seen->first, seen->second, width, kMarkPaint);
}

constexpr float kLabelLetter = 10, kLabelHeight = 20, kLabelPadding = 16;  // in pixels of an image 720 high
constexpr Paint kLabelPaint{kPlatePaint[0], kPlatePaint[1], kPlatePaint[2], 0.95F};

/// The plate of a label, with a margin.
Eigen::AlignedBox2f label_box(const Point& middle, const std::string& words, float scale) {
  const float wide = Builder::text_width(words, kLabelLetter * scale) + kLabelPadding * scale;
  const Point half(0.5F * wide + 3, 0.5F * kLabelHeight * scale + 3);
  return {middle - half, middle + half};
}

/// As near as the image has room for it.
Point label_within(const Point& middle, const std::string& words, float scale, const Point& size) {
  const Point half = 0.5F * label_box(middle, words, scale).sizes();
  return middle.cwiseMin(size - half).cwiseMax(half);
}

/// A dark plate with light letters: read on any ground. It stays in the image.
void add_label(Builder& builder, Point middle, const std::string& words, float scale, const Point& size) {
  const float letter = kLabelLetter * scale, high = kLabelHeight * scale;
  const float text = Builder::text_width(words, letter), wide = text + kLabelPadding * scale;
  middle = label_within(middle, words, scale, size);
  builder.line(middle - Point(0.5F * (wide - high), 0), middle + Point(0.5F * (wide - high), 0), high, kLabelPaint);
  builder.text(middle - Point(0.5F * text, 0.5F * letter), words, letter, kPlateInk);
}

void add_box(Builder& builder, const ImagePlaces& places, const Bounds& box, float scale) {
  const std::array<Eigen::Vector3d, 8> corners = box_corners(box);  // by a bit for each axis
  for (unsigned i = 0; i != 8; ++i)
    for (const unsigned bit : {1U, 2U, 4U})
      if ((i & bit) == 0) add_mark_line(builder, places, corners[i], corners[i | bit], 1.2F * scale);
}

/// A lamp: a ring with rays, so that it is no measured point.
void add_source(Builder& builder, const ImagePlaces& places, const Eigen::Vector3d& source, float scale) {
  const auto at = places.point(source);
  if (!at) return;
  for (const bool halo : {true, false}) {
    const Paint& paint = halo ? kMarkHalo : kMarkPaint;
    const float more = halo ? 1.2F * scale : 0;
    constexpr int kRays = 8;
    for (int i = 0; i != kRays; ++i) {
      const float angle = 2 * std::numbers::pi_v<float> * static_cast<float>(i) / kRays;
      const Point along(std::cos(angle), std::sin(angle));
      builder.line(*at + 8 * scale * along, *at + 13 * scale * along, 2 * scale + 2 * more, paint);
    }
    builder.disc(*at, 4.5F * scale + more, paint);
  }
}

using Segment = std::pair<Point, Point>;

bool crosses(const Segment& line, const Eigen::AlignedBox2f& box) {
  float begin = 0, end = 1;
  for (int axis = 0; axis != 2; ++axis) {
    const float from = line.first[axis], along = line.second[axis] - from;
    if (along == 0) {
      if (from < box.min()[axis] || from > box.max()[axis]) return false;
      continue;
    }
    const float a = (box.min()[axis] - from) / along, b = (box.max()[axis] - from) / along;
    begin = std::max(begin, std::min(a, b));
    end = std::min(end, std::max(a, b));
  }
  return begin <= end;
}

/// Labels beside lines: they cover no line and no other label, where there is room for that.
class LabelPlaces {
 public:
  LabelPlaces(std::vector<Segment> lines, float scale, const Point& size)
      : lines_(std::move(lines)), scale_(scale), size_(size) {}

  /// A place beside the line; the first choices are its middle and its upper side.
  [[nodiscard]] Point beside(const Segment& line, const std::string& words) {
    const Point along = line.second - line.first;
    Point across = along.norm() > 0 ? Point(Point(-along.y(), along.x()).normalized()) : Point(0, 1);
    if (across.y() < 0 || (across.y() == 0 && across.x() < 0)) across = -across;
    std::vector<Point> choices;
    for (const float place : {0.5F, 0.35F, 0.65F, 0.2F, 0.8F})
      for (const float side : {1.0F, -1.0F}) choices.push_back(line.first + place * along + off(side * across, words));
    return first_free(choices, words);
  }
  /// A place off a disc of this radius about a point, in this direction if that is free.
  [[nodiscard]] Point around(const Point& point, const Point& direction, const std::string& words, float radius = 0) {
    std::vector<Point> choices;
    for (const float turn : {0.0F, 0.7F, -0.7F, 1.4F, -1.4F, 2.1F, -2.1F, 2.8F}) {
      const Point turned = Eigen::Rotation2Df(turn) * direction;
      choices.push_back(point + radius * turned + off(turned, words));
    }
    return first_free(choices, words);
  }

 private:
  /// So far that the plate lies beside a line, or a point, that the direction is normal to.
  [[nodiscard]] Point off(const Point& direction, const std::string& words) const {
    constexpr float kGap = 6;
    const Point half = 0.5F * label_box({0, 0}, words, scale_).sizes();
    return (direction.cwiseAbs().dot(half) + kGap * scale_) * direction;
  }
  Point first_free(const std::vector<Point>& choices, const std::string& words) {
    const auto place = [&](const Point& choice) { return label_within(choice, words, scale_, size_); };
    const auto found = std::find_if(choices.begin(), choices.end(), [&](const Point& choice) {
      const Eigen::AlignedBox2f box = label_box(place(choice), words, scale_);
      return std::none_of(lines_.begin(), lines_.end(), [&](const Segment& line) { return crosses(line, box); }) &&
             std::none_of(taken_.begin(), taken_.end(), [&](const auto& other) { return other.intersects(box); });
    });
    const Point chosen = place(found == choices.end() ? choices.front() : *found);
    taken_.push_back(label_box(chosen, words, scale_));
    return chosen;
  }

  std::vector<Segment> lines_;
  std::vector<Eigen::AlignedBox2f> taken_;
  float scale_;
  Point size_;
};

/// Lines first, then points, then labels beside both.
void add_measured(Builder& builder, const ImagePlaces& places, std::span<const Eigen::Vector3d> points, float scale,
                  const Point& size) {
  const Measurement measured = measure(points);
  for (std::size_t i = 1; i < points.size(); ++i)
    add_mark_line(builder, places, points[i - 1], points[i], 2.2F * scale);
  for (const Eigen::Vector3d& p : points)
    if (const auto at = places.point(p)) {
      builder.disc(*at, 5.4F * scale, kMarkHalo);
      builder.disc(*at, 4 * scale, kMarkPaint);
    }
  std::vector<Segment> lines;
  std::vector<std::string> lengths;
  for (std::size_t i = 0; i != measured.distances.size(); ++i)
    if (const auto seen = places.line(points[i], points[i + 1])) {
      lines.push_back(*seen);
      lengths.push_back(measured_length_text(measured.distances[i]));
    }
  LabelPlaces labels(lines, scale, size);
  for (std::size_t i = 0; i != lines.size(); ++i)
    add_label(builder, labels.beside(lines[i], lengths[i]), lengths[i], scale, size);
  if (!measured.angle || !places.point(points[1])) return;
  // Outside of the angle.
  Point away(0, 0);
  for (const std::size_t other : {std::size_t{0}, std::size_t{2}})
    if (const auto seen = places.line(points[1], points[other]); seen && seen->first != seen->second)
      away -= (seen->second - seen->first).normalized();
  away = away.norm() > 0.1F ? Point(away.normalized()) : Point(0, 1);
  const std::string angle = fmt::format("{:.2f}°", *measured.angle);
  add_label(builder, labels.around(*places.point(points[1]), away, angle), angle, scale, size);
}

/// A red disc at each overlap, and labels of the deepest.
void add_overlaps(Builder& builder, const ImagePlaces& places, const OverlapMarks& marks, float scale,
                  const Point& size) {
  constexpr std::size_t kMaxMarks = 5000, kMaxLabels = 12;
  constexpr Paint kOverlap{0.95F, 0.22F, 0.18F, 1};
  const std::size_t count = std::min(marks.size(), kMaxMarks);
  for (std::size_t i = count; i-- != 0;)  // the deepest lie over the others
    if (const auto at = places.point(marks[i].place)) {
      builder.disc(*at, 7.5F * scale, kMarkHalo);
      builder.disc(*at, 6 * scale, kOverlap);
      builder.disc(*at, 2 * scale, kPlateInk);
    }
  LabelPlaces labels({}, scale, size);
  for (std::size_t i = 0; i != std::min(count, kMaxLabels); ++i)
    if (const auto at = places.point(marks[i].place)) {
      const std::string words = fmt::format("{}: {}", i + 1, measured_length_text(marks[i].depth));
      add_label(builder, labels.around(*at, {0, 1}, words, 8 * scale), words, scale, size);
    }
}

}  // namespace

double round_length(double most) {
  if (!(most > 0) || !std::isfinite(most)) return 1;
  const double power = std::pow(10.0, std::floor(std::log10(most)));
  for (const double digit : {5.0, 2.0})
    if (digit * power <= most) return digit * power;
  return power;
}

namespace {

struct LengthUnit {
  double size;
  const char* name;
};

const LengthUnit& unit_of(double millimetres) {
  static constexpr std::array<LengthUnit, 4> kUnits{{{1e6, "km"}, {1e3, "m"}, {1, "mm"}, {1e-3, "µm"}}};
  const auto fits = std::find_if(kUnits.begin(), kUnits.end(), [&](const LengthUnit& unit) {
    return std::abs(millimetres) >= unit.size * (1 - 1e-9);
  });
  return fits == kUnits.end() ? kUnits.back() : *fits;
}

}  // namespace

std::string length_text(double millimetres) {
  const LengthUnit& unit = unit_of(millimetres);
  // Without an exponent: the overlay has no letter e.
  const double value = millimetres / unit.size;
  const int digits =
      value >= 1 || !(value > 0) ? 0 : std::min(20, static_cast<int>(std::ceil(-std::log10(value) - 1e-9)));
  return fmt::format("{:.{}f} {}", value, digits, unit.name);
}

std::string rounded_length_text(double millimetres) {
  const LengthUnit& unit = unit_of(millimetres);
  return fmt::format("{:.3g} {}", millimetres / unit.size, unit.name);
}

std::string measured_length_text(double millimetres) {
  const LengthUnit& unit = millimetres > 0 ? unit_of(millimetres) : unit_of(1);
  const double value = millimetres / unit.size;
  const int whole = value >= 1 ? 1 + static_cast<int>(std::floor(std::log10(value))) : 1;  // digits before the point
  std::string words = fmt::format("{:.{}f}", value, std::clamp(5 - whole, 0, 4));
  if (words.find('.') != std::string::npos) words.erase(words.find_last_not_of('0') + 1);
  if (words.ends_with('.')) words.pop_back();
  return words + ' ' + unit.name;
}

OverlayPlaces overlay_places(const Eigen::AlignedBox2f& free, float scale) {
  OverlayPlaces places;
  const Point low = free.min();
  if (free.sizes().x() >= kAxesSide * scale) places.axes = {low, low + Point(kAxesSide * scale, kAxesSide * scale)};
  const float axes = places.axes.isEmpty() ? 0 : kAxesSide * scale;
  const float bar = longest_bar(free, scale), wide = bar + (kBarMargin + kBarLeft) * scale;
  if (bar >= kBarLeast * scale && axes + wide <= free.sizes().x())
    places.scale_bar = {Point(free.max().x() - wide, low.y()), Point(free.max().x(), low.y() + kBarHeight * scale)};
  return places;
}

std::vector<GizmoEnd> gizmo_ends(const Camera& camera, const Resolution& image) {
  std::vector<GizmoEnd> ends;
  const float scale = overlay_scale(image.height);
  const Eigen::AlignedBox2f axes = overlay_places(free_part(camera, image.width, image.height), scale).axes;
  if (is_thumbnail(image.width, image.height) || axes.isEmpty()) return ends;
  const Point middle = axes.min() + Point::Constant(kAxesMiddle * scale);
  const Eigen::Matrix3d rotation = camera.rotation();
  for (int i = 0; i != 6; ++i) {
    const Eigen::Vector3d axis = (i % 2 == 0 ? 1 : -1) * Eigen::Vector3d::Unit(i / 2);
    const Eigen::Vector3d seen = rotation * axis;
    ends.push_back(
        {axis, middle + kAxesLength * scale * seen.head<2>().cast<float>(), (i % 2 == 0 ? 8.5F : 5.5F) * scale});
  }
  std::stable_sort(ends.begin(), ends.end(), [&](const GizmoEnd& a, const GizmoEnd& b) {
    return (rotation * a.axis).z() < (rotation * b.axis).z();
  });
  return ends;
}

std::optional<GizmoEnd> gizmo_end_at(const Camera& camera, const Settings& settings, const Resolution& image,
                                     const Eigen::Vector2f& place) {
  if (!settings.axes) return std::nullopt;
  const std::vector<GizmoEnd> ends = gizmo_ends(camera, image);
  // The nearest end hides those behind it.
  const auto found = std::find_if(ends.rbegin(), ends.rend(),
                                  [&](const GizmoEnd& end) { return (place - end.at).norm() <= end.radius; });
  return found == ends.rend() ? std::nullopt : std::optional(*found);
}

Overlay make_overlay(const Camera& camera, const Settings& settings, int width, int height) {
  Overlay overlay;
  Builder builder(overlay);
  if (is_thumbnail(width, height)) return overlay;
  const float scale = overlay_scale(height);
  const ImagePlaces places(camera, width, height);
  if (settings.overlaps)
    add_overlaps(builder, places, *settings.overlaps, scale, {static_cast<float>(width), static_cast<float>(height)});
  if (settings.box) add_box(builder, places, *settings.box, scale);
  if (!settings.measured.empty())
    add_measured(builder, places, settings.measured, scale, {static_cast<float>(width), static_cast<float>(height)});
  const Eigen::AlignedBox2f free = free_part(camera, width, height);
  const OverlayPlaces at = overlay_places(free, scale);
  if (settings.source) add_source(builder, places, *settings.source, scale);
  if (settings.axes && !at.axes.isEmpty()) add_axes(builder, camera, settings, {width, height}, at.axes.min(), scale);
  if (settings.scale_bar && !at.scale_bar.isEmpty()) add_scale_bar(builder, camera, settings, free, height, scale);
  return overlay;
}

}  // namespace raylift::viewer
