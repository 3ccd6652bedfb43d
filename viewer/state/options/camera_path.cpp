// SPDX-License-Identifier: Apache-2.0
#include "state/options/camera_path.h"

#include <raylift/geometry/error.h>
#include <raylift/geometry/scene/eigen.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "cli/text.h"

namespace raylift::viewer {
namespace {

/// The weights of four neighbouring values between the second and the third (Catmull and Rom, 1974).
std::array<double, 4> weights(double t) {
  const double t2 = t * t, t3 = t2 * t;
  return {0.5 * (-t3 + 2 * t2 - t), 0.5 * (3 * t3 - 5 * t2 + 2), 0.5 * (-3 * t3 + 4 * t2 + t), 0.5 * (t3 - t2)};
}

/// The camera between the second and the third of four.
Camera between(const std::array<const Camera*, 4>& cameras, double t) {
  const std::array<double, 4> weight = weights(t);
  Camera result = *cameras[t < 0.5 ? 1 : 2];
  Eigen::Vector3d target = Eigen::Vector3d::Zero(), up = target;
  Eigen::Vector4d turned = Eigen::Vector4d::Zero();
  double log_distance = 0, fov = 0;
  const Eigen::Vector4d near = cameras[1]->orientation().coeffs();
  for (std::size_t i = 0; i != 4; ++i) {
    target += weight[i] * cameras[i]->target;
    up += weight[i] * cameras[i]->up;
    log_distance += weight[i] * std::log(cameras[i]->distance);
    fov += weight[i] * cameras[i]->fov_degrees;
    // A quaternion and its negative are the same orientation: the one on this side of the sphere counts.
    const Eigen::Vector4d q = cameras[i]->orientation().coeffs();
    turned += weight[i] * (q.dot(near) < 0 ? -1 : 1) * q;
  }
  result.target = target;
  if (up.norm() > 0.1) result.up = up.normalized();
  result.distance = std::exp(log_distance);
  result.fov_degrees = std::clamp(fov, 1.0, 170.0);
  if (turned.norm() > 1e-3) result.set_orientation(Eigen::Quaterniond(turned));
  return result;
}

Double3 between(const Double3& a, const Double3& b, double t) {
  return {std::lerp(a.x, b.x, t), std::lerp(a.y, b.y, t), std::lerp(a.z, b.z, t)};
}

}  // namespace

CameraPath::CameraPath(const Bookmarks& bookmarks, const std::vector<std::string>& names, const Bounds& scene) {
  for (const std::string& name : names) {
    const Bookmark* found = bookmarks.find(name);
    if (found == nullptr)
      throw Error(ErrorKind::usage, "no bookmark has the name '" + cli::printable(name) + "'", {},
                  "Ctrl+D in the window makes one");
    bookmarks_.push_back(*found);
    // A plane without an offset goes through the scene's centre.
    if (auto& clip = bookmarks_.back().settings.clip; clip) clip->offset = clip->offset_in(scene);
  }
  if (bookmarks_.size() < 2)
    throw Error(ErrorKind::usage, "a path needs two bookmarks or more", {}, "name them: 'A,B,C'");
}

CameraPath::Sample CameraPath::at(double share) const {
  const std::size_t last = bookmarks_.size() - 1;
  const double place = std::clamp(share, 0.0, 1.0) * static_cast<double>(last);
  const std::size_t from = std::min(static_cast<std::size_t>(place), last - 1);
  const double t = place - static_cast<double>(from);
  const auto camera = [&](std::size_t i) { return &bookmarks_[i].camera; };
  const Bookmark &a = bookmarks_[from], &b = bookmarks_[from + 1];
  Sample result{
      t < 1 ? from : last,
      between({camera(from == 0 ? 0 : from - 1), camera(from), camera(from + 1), camera(std::min(from + 2, last))}, t),
      {},
      {}};
  const Settings &first = a.settings, &second = b.settings;
  if (first.clip_box && second.clip_box && first.clip_box->away == second.clip_box->away) {
    ClipBox box;
    box.away = first.clip_box->away;
    box.box.min = between(first.clip_box->box.min, second.clip_box->box.min, t);
    box.box.max = between(first.clip_box->box.max, second.clip_box->box.max, t);
    result.clip_box = box;
    result.clips = true;
  } else if (first.clip && second.clip && first.more_clips.empty() && second.more_clips.empty()) {
    const Eigen::Vector3d normal = (1 - t) * first.clip->normal + t * second.clip->normal;
    if (normal.norm() > 0.1) {
      result.clip = ClipPlane{normal.normalized(), std::lerp(*first.clip->offset, *second.clip->offset, t)};
      result.clips = true;
    }
  }
  return result;
}

void CameraPath::Sample::set_clip(Settings& settings) const {
  if (!clips) return;
  settings.set_planes({});
  if (clip_box)
    settings.set_clip_box(*clip_box);
  else
    settings.clip = clip;
}

}  // namespace raylift::viewer
