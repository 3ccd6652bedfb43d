// SPDX-License-Identifier: Apache-2.0
#include "model/settings/settings.h"

#include <fmt/format.h>
#include <raylift/geometry/error.h>

#include <charconv>
#include <cmath>
#include <utility>

#include "base/parse_number.h"
#include "cli/quantity.h"
#include "cli/text.h"

namespace raylift::viewer {
namespace {

[[noreturn]] void reject(std::string_view text, std::string_view wanted, std::string_view advice = {}) {
  throw Error(ErrorKind::usage, "'" + cli::printable(text) + "' is not " + std::string(wanted), {}, advice);
}

constexpr std::pair<std::string_view, Background> kBackgrounds[]{
    {"dark", {}},
    {"light", {{0.93F, 0.94F, 0.96F}, {0.78F, 0.80F, 0.83F}, false}},
    {"white", {{1, 1, 1}, {1, 1, 1}, false}},
    {"black", {{0, 0, 0}, {0, 0, 0}, false}},
    {"none", {{0, 0, 0}, {0, 0, 0}, true}}};

std::string decimal(double value) {
  std::array<char, 32> text{};
  const auto [end, failed] = std::to_chars(text.data(), text.data() + text.size(), value);
  return failed == std::errc{} ? std::string(text.data(), end) : "0";
}

}  // namespace

std::optional<Color> parse_color(std::string_view text) {
  if (text.size() != 7 || text[0] != '#') return std::nullopt;
  Color color{};
  for (std::size_t i = 0; i < 3; ++i) {
    const auto value = base::parse_number<unsigned>(text.substr(1 + 2 * i, 2), 16);
    if (!value) return std::nullopt;
    color[i] = static_cast<float>(*value) / 255.0F;
  }
  return color;
}

std::string color_text(const Color& color) {
  const auto byte = [&](std::size_t i) { return std::lround(color[i] * 255.0F); };
  return fmt::format("#{:02x}{:02x}{:02x}", byte(0), byte(1), byte(2));
}

ClipPlane facing_plane(const Eigen::Vector3d& forward) {
  int axis = 0;
  forward.cwiseAbs().maxCoeff(&axis);
  return facing_plane(forward, axis);
}

ClipPlane facing_plane(const Eigen::Vector3d& forward, int axis) {
  return {(forward[axis] > 0 ? -1.0 : 1.0) * Eigen::Vector3d::Unit(axis), std::nullopt};
}

ClipPlane parse_clip(std::string_view text) {
  const std::string_view whole = text;
  constexpr std::string_view kWanted = "a plane: an axis (x, -y), or a normal (1,1,0); with =OFFSET in mm";
  ClipPlane plane;
  const std::size_t equals = text.find('=');
  if (equals != std::string_view::npos) {
    plane.offset = cli::number(text.substr(equals + 1));
    if (!plane.offset) reject(whole, kWanted);
    text = text.substr(0, equals);
  }
  const bool negative = !text.empty() && text[0] == '-';
  const std::string_view letter = text.substr(negative ? 1 : 0);
  if (letter.size() == 1 && letter[0] >= 'x' && letter[0] <= 'z') {
    plane.normal = (negative ? -1.0 : 1.0) * Eigen::Vector3d::Unit(letter[0] - 'x');
    // "-x=100" clips at x = 100, and hides the other side.
    if (negative && plane.offset) plane.offset = -*plane.offset;
    return plane;
  }
  const auto normal = cli::three_numbers(text);
  if (!normal || !(normal->norm() > 0) || !std::isfinite(normal->norm())) reject(whole, kWanted);
  plane.normal = normal->normalized();
  return plane;
}

Bounds clipped(Bounds box, const ClipPlane& plane, const Bounds& scene) {
  int along = 0;
  if (box.empty() || plane.normal.cwiseAbs().maxCoeff(&along) < 1 - 1e-9) return box;
  const double place = plane.offset_in(scene) * plane.normal[along];
  if (place <= box.min[along] || place >= box.max[along]) return box;
  (plane.normal[along] > 0 ? box.max : box.min)[along] = place;
  return box;
}

std::vector<ClipPlane> ClipBox::planes() const {
  std::vector<ClipPlane> faces;
  for (int axis = 0; axis != 3; ++axis) {
    faces.push_back({-Eigen::Vector3d::Unit(axis), -box.min[axis]});
    faces.push_back({Eigen::Vector3d::Unit(axis), box.max[axis]});
  }
  return faces;
}

std::optional<Bounds> parse_box(std::string_view text) {
  std::size_t middle = 0;
  for (int comma = 0; comma != 3 && middle != std::string_view::npos; ++comma) middle = text.find(',', middle + 1);
  if (middle == std::string_view::npos) return std::nullopt;
  const auto low = cli::three_numbers(text.substr(0, middle)), high = cli::three_numbers(text.substr(middle + 1));
  if (!low || !high) return std::nullopt;
  if ((low->array() >= high->array()).any())
    reject(text, "a box", "the first three numbers are its least corner, the others its greatest one");
  Bounds box;
  box.add(*low);
  box.add(*high);
  return box;
}

std::string box_text(const Bounds& box) {
  std::string text;
  for (const Double3* corner : {&box.min, &box.max})
    for (int axis = 0; axis != 3; ++axis) text += (text.empty() ? "" : ",") + decimal((*corner)[axis]);
  return text;
}

std::vector<ClipPlane> Settings::planes() const {
  if (clip_box) return clip_box->planes();
  std::vector<ClipPlane> all;
  if (clip) all.push_back(*clip);
  for (const ClipPlane& plane : more_clips)
    if (all.size() < kMaxPlanes) all.push_back(plane);
  return all;
}

void Settings::set_planes(std::span<const ClipPlane> planes) {
  clip = planes.empty() ? std::nullopt : std::optional(planes.front());
  more_clips.assign(planes.begin() + (planes.empty() ? 0 : 1), planes.end());
  clip_box.reset();
}

void Settings::set_clip_box(const ClipBox& fresh) {
  set_planes({});
  clip_box = fresh;
}

void Settings::set_feature_edges(bool on) {
  feature_edges = on;
  edges = edges || (on && !wireframe);
}

ClipPlanes parse_clips(std::span<const std::string> texts) {
  ClipPlanes clips;
  for (const std::string& text : texts) {
    if (text == "off") {
      clips = {};
    } else if (text == "facing") {
      clips.facing = true;
    } else {
      clips.planes.push_back(parse_clip(text));
    }
  }
  // The plane that follows from the camera comes first.
  if (clips.facing) clips.planes.insert(clips.planes.begin(), ClipPlane());
  if (clips.planes.size() > kMaxPlanes)
    throw Error(ErrorKind::usage, "there are more than " + std::to_string(kMaxPlanes) + " clipping planes");
  return clips;
}

std::string clip_text(const ClipPlane& plane) {
  std::string text = decimal(plane.normal.x()) + ',' + decimal(plane.normal.y()) + ',' + decimal(plane.normal.z());
  if (plane.offset) text += '=' + decimal(*plane.offset);
  return text;
}

Background parse_background(std::string_view text) {
  for (const auto& [name, background] : kBackgrounds)
    if (text == name) return background;
  const std::size_t comma = text.find(',');
  const auto top = parse_color(text.substr(0, comma));
  const auto bottom = comma == std::string_view::npos ? top : parse_color(text.substr(comma + 1));
  if (!top || !bottom) reject(text, "dark, light, white, black, none, #rrggbb or #rrggbb,#rrggbb");
  return {*top, *bottom, false};
}

std::string background_text(const Background& background) {
  for (const auto& [name, one] : kBackgrounds)
    if (background == one) return std::string(name);
  return color_text(background.top) + ',' + color_text(background.bottom);
}

Resolution parse_resolution(std::string_view text) {
  const std::size_t cross = text.find('x');
  if (cross != std::string_view::npos) {
    const auto width = base::parse_number<int>(text.substr(0, cross));
    const auto height = base::parse_number<int>(text.substr(cross + 1));
    constexpr int kMax = 16384;
    if (width && height && *width >= 1 && *height >= 1 && *width <= kMax && *height <= kMax) return {*width, *height};
  }
  reject(text, "a resolution such as 1280x720, with 1 to 16384 pixels a side");
}

}  // namespace raylift::viewer
