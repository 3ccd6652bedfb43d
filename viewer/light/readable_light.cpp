// SPDX-License-Identifier: Apache-2.0
#include "light/readable_light.h"

#include <raylift/geometry/scene/eigen.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "cli/text.h"

namespace raylift::viewer {
namespace {

constexpr std::size_t kSampledSteps = 2000;  // a tenth of a millisecond for each image

/// Cuts a line to where a linear function of its points is not negative; false where that is nowhere.
bool keep(double a, double b, double& begin, double& end) {
  if (a < 0 && b < 0) return false;
  if (a < 0) begin = std::max(begin, a / (a - b));
  if (b < 0) end = std::min(end, a / (a - b));
  return begin < end;
}

/// The length in pixels of the part of a line that the image shows.
double length_in_image(const Camera& camera, Eigen::Vector3d from, Eigen::Vector3d to, const Resolution& size) {
  if (!camera.cut_before_eye(from, to, 1e-3 * camera.distance)) return 0;
  double begin = 0, end = 1;
  const double aspect = static_cast<double>(size.width) / size.height;
  const Eigen::Vector3d a = camera.project(from, aspect), b = camera.project(to, aspect);
  for (int axis = 0; axis != 2; ++axis)
    if (!keep(1 - a[axis], 1 - b[axis], begin, end) || !keep(1 + a[axis], 1 + b[axis], begin, end)) return 0;
  return (end - begin) * std::hypot(0.5 * size.width * (b.x() - a.x()), 0.5 * size.height * (b.y() - a.y()));
}

/// 1, 1.5, 2, 3, 5 or 7 times a power of ten, at most `most`.
std::uint64_t round_down(double most) {
  if (most < 10) return static_cast<std::uint64_t>(std::max(1.0, most));
  const double power = std::pow(10.0, std::floor(std::log10(most)));
  double best = power;
  for (const double digits : {1.5, 2.0, 3.0, 5.0, 7.0})
    if (digits * power <= most) best = digits * power;
  return static_cast<std::uint64_t>(best);
}

}  // namespace

ReadableLight::ReadableLight(const PhotonSet& set, const PhotonChoice& choice)
    : all_{choice.paths, choice.steps.size(), choice.points.size()}, path_ends_(choice.path_ends) {
  while (sampled_paths_ != choice.path_ends.size() && sample_.size() < kSampledSteps) {
    const std::size_t begin = sampled_paths_ == 0 ? 0 : path_ends_[sampled_paths_ - 1],
                      end = path_ends_[sampled_paths_];
    for (std::size_t i = begin; i != end; ++i) {
      const std::uint32_t row = choice.steps[i].row;
      sample_.emplace_back(to_eigen(set.rows[row].position), to_eigen(set.rows[row + 1].position));
    }
    if (begin != end)
      mean_life_ += static_cast<double>(set.rows[choice.steps[end - 1].row + 1].time) -
                    static_cast<double>(set.rows[choice.steps[begin].row].time);
    ++sampled_paths_;
  }
  if (sampled_paths_ != 0) mean_life_ /= static_cast<double>(sampled_paths_);
}

LightShown ReadableLight::shown(const PhotonSettings& settings, const Camera& camera, const Resolution& size) const {
  LightShown shown{settings.paths ? all_.paths : 0, settings.paths ? all_.steps : 0, settings.points ? all_.points : 0};
  if (!(settings.density > 0)) return shown;
  const double room = static_cast<double>(settings.density) * size.width * size.height;
  if (shown.paths != 0 && sampled_paths_ != 0) {
    double length = 0;
    for (const auto& [from, to] : sample_) length += length_in_image(camera, from, to, size);
    double each = length * static_cast<double>(settings.size) / static_cast<double>(sampled_paths_);
    // At one time a trail is all that is drawn of a path.
    if (settings.time && settings.trail > 0 && mean_life_ > 0) each *= std::min(1.0, settings.trail / mean_life_);
    if (each * static_cast<double>(shown.paths) > room) {
      shown.paths = std::min(shown.paths, round_down(room / each));
      shown.steps = path_ends_[static_cast<std::size_t>(shown.paths) - 1];
    }
  }
  const double side = 2 * static_cast<double>(settings.size) + 2, disc = 0.25 * std::numbers::pi * side * side;
  if (disc * static_cast<double>(shown.points) > room) shown.points = std::min(shown.points, round_down(room / disc));
  return shown;
}

std::string shown_text(const PhotonSettings& settings, const LightShown& shown, const PhotonChoice& choice) {
  std::string words;
  const auto add = [&](bool drawn, std::uint64_t some, std::uint64_t all, const char* kind) {
    if (!drawn || some >= all) return;
    words += (words.empty() ? "" : ", ") + cli::grouped(some) + " of " + cli::grouped(all) + kind;
  };
  add(settings.paths, shown.paths, choice.paths, " paths");
  add(settings.points, shown.points, choice.points.size(), " points");
  return words;
}

}  // namespace raylift::viewer
