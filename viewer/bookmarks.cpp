// SPDX-License-Identifier: Apache-2.0
#include "bookmarks.h"

#include <raylift/geometry/error.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/output_file.h"

namespace raylift::viewer {
namespace {

using Json = nlohmann::ordered_json;

/// The whole file; an empty object where there is none.
Json read(const std::filesystem::path& file) {
  std::error_code ignored;
  if (file.empty() || !std::filesystem::exists(file, ignored)) return Json::object();
  std::ifstream in(file);
  if (!in) throw Error(ErrorKind::io, std::string("can't be read: ") + std::strerror(errno), {file.string(), ""});
  Json json = Json::parse(in, nullptr, false);
  if (!json.is_object())
    throw Error(ErrorKind::malformed, "not a file of bookmarks", {file.string(), ""}, "move or correct the file");
  return json;
}

template <int N, class Vector>
void read_numbers(const Json& json, Vector& target) {
  for (int i = 0; i < N; ++i) target[i] = json.at(static_cast<std::size_t>(i)).get<double>();
}

Bookmark from_json(const Json& json) {
  Bookmark bookmark;
  bookmark.name = json.at("name").get<std::string>();
  Camera& camera = bookmark.camera;
  read_numbers<3>(json.at("target"), camera.target);
  read_numbers<3>(json.at("up"), camera.up);
  Eigen::Vector4d q;
  read_numbers<4>(json.at("orientation"), q);
  camera.set_orientation(Eigen::Quaterniond(q));
  camera.distance = json.at("distance").get<double>();
  camera.fov_degrees = json.at("fov").get<double>();
  camera.orthographic = json.at("orthographic").get<bool>();
  if (json.contains("clip")) bookmark.clip = parse_clip(json["clip"].get<std::string>());
  if (!(camera.distance > 0) || !(q.norm() > 0.5) || !camera.target.allFinite())
    throw Error(ErrorKind::malformed, "its camera is not valid");
  return bookmark;
}

Json to_json(const Bookmark& bookmark) {
  const Camera& camera = bookmark.camera;
  const auto numbers = [](const auto& v) { return Json(std::vector<double>(v.data(), v.data() + v.size())); };
  Json json{{"name", bookmark.name},
            {"target", numbers(camera.target)},
            {"up", numbers(camera.up)},
            {"orientation", numbers(camera.orientation().coeffs())},
            {"distance", camera.distance},
            {"fov", camera.fov_degrees},
            {"orthographic", camera.orthographic}};
  if (bookmark.clip) json["clip"] = clip_text(*bookmark.clip);
  return json;
}

}  // namespace

void Bookmarks::open(std::filesystem::path file, std::string scene) {
  file_ = std::move(file);
  scene_ = std::move(scene);
  bookmarks_.clear();
  readable_ = false;
  const Json json = read(file_);
  std::vector<Bookmark> fresh;
  try {
    if (json.contains(scene_))
      for (const Json& item : json[scene_]) fresh.push_back(from_json(item));
  } catch (const std::exception& error) {
    throw Error(ErrorKind::malformed, std::string("not a file of bookmarks: ") + error.what(), {file_.string(), scene_},
                "move or correct the file");
  }
  bookmarks_ = std::move(fresh);
  readable_ = true;
}

void Bookmarks::add(const Bookmark& bookmark) {
  const auto same =
      std::find_if(bookmarks_.begin(), bookmarks_.end(), [&](const Bookmark& b) { return b.name == bookmark.name; });
  if (same != bookmarks_.end())
    *same = bookmark;
  else
    bookmarks_.push_back(bookmark);
  save();
}

void Bookmarks::remove(std::size_t index) {
  if (index >= bookmarks_.size()) return;
  bookmarks_.erase(bookmarks_.begin() + static_cast<std::ptrdiff_t>(index));
  save();
}

void Bookmarks::save() const {
  if (file_.empty()) return;
  if (!readable_)
    throw Error(ErrorKind::malformed, "bookmarks can't be saved: not a file of bookmarks", {file_.string(), scene_},
                "move or correct the file");
  // Reads the file again: another window may have saved another scene's bookmarks since.
  Json json = read(file_);
  json[scene_] = Json::array();
  for (const Bookmark& bookmark : bookmarks_) json[scene_].push_back(to_json(bookmark));
  std::error_code ignored;
  std::filesystem::create_directories(file_.parent_path(), ignored);
  cli::write_file(file_, json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n');
}

}  // namespace raylift::viewer
