// SPDX-License-Identifier: Apache-2.0
#include "state/options/bookmarks.h"

#include <fmt/format.h>
#include <raylift/geometry/error.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "model/colors/palette.h"
#include "model/json_file.h"
#include "model/settings/setting_json.h"

namespace raylift::viewer {
namespace {

using Json = KeptJson;

using Part = Setting::Part;

template <int N, class Vector>
void read_numbers(const Json& json, Vector& target) {
  for (int i = 0; i < N; ++i) target[i] = json.at(static_cast<std::size_t>(i)).get<double>();
}

Bookmark from_json(const Json& json) {
  Bookmark bookmark;
  bookmark.name = json.at("name").get<std::string>();
  if (const auto key = json.find("key"); key != json.end()) {
    bookmark.key = key->get<int>();
    if (*bookmark.key < 0 || *bookmark.key > 9) throw Error(ErrorKind::malformed, "its key is no digit");
  }
  Camera& camera = bookmark.camera;
  read_numbers<3>(json.at("target"), camera.target);
  read_numbers<3>(json.at("up"), camera.up);
  Eigen::Vector4d q;
  read_numbers<4>(json.at("orientation"), q);
  camera.set_orientation(Eigen::Quaterniond(q));
  camera.distance = json.at("distance").get<double>();
  camera.fov_degrees = json.at("fov").get<double>();
  camera.orthographic = json.at("orthographic").get<bool>();
  Settings& s = bookmark.settings;
  if (json.contains("clip")) s.clip = parse_clip(json["clip"].get<std::string>());
  if (json.contains("more-clips"))
    for (const Json& plane : json["more-clips"]) s.more_clips.push_back(parse_clip(plane.get<std::string>()));
  if (json.contains("clip-box")) {
    const auto box = parse_box(json["clip-box"].get<std::string>());
    if (!box) throw Error(ErrorKind::malformed, "its clipping box is not valid");
    s.set_clip_box({*box, json.value("clip-box-away", false)});
  }
  bookmark.whole = json.contains("color");
  if (bookmark.whole) {
    read_settings(json, s, {Part::scene});
    bookmark.hidden = json.at("hidden").get<std::vector<std::string>>();
    for (std::size_t i = 1; i != kStyleNames.size(); ++i)
      if (const auto styled = json.find("styled"); styled != json.end() && styled->contains(kStyleNames[i]))
        bookmark.styled[static_cast<std::uint8_t>(i)] =
            styled->at(std::string(kStyleNames[i])).get<std::vector<std::string>>();
    for (const Json& one : json.value("opacities", Json::array()))
      bookmark.opacities[hundredths(one.at("opacity").get<double>())] =
          one.at("solids").get<std::vector<std::string>>();
    for (const Json& one : json.value("colors", Json::array())) {
      const auto color = parse_color(one.at("color").get<std::string>());
      if (!color) throw Error(ErrorKind::malformed, "a colour of its solids is not #rrggbb");
      bookmark.colors[packed(*color)] = one.at("solids").get<std::vector<std::string>>();
    }
  }
  if (const auto light = json.find("light"); light != json.end()) {
    bookmark.light = light_origin(*light);
    read_settings(*light, s, {Part::light, Part::time});
  }
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
  if (bookmark.key) json["key"] = *bookmark.key;
  const Settings& s = bookmark.settings;
  if (s.clip) json["clip"] = clip_text(*s.clip);
  for (const ClipPlane& plane : s.more_clips) json["more-clips"].push_back(clip_text(plane));
  if (s.clip_box) {
    json["clip-box"] = box_text(s.clip_box->box);
    json["clip-box-away"] = s.clip_box->away;
  }
  if (!bookmark.whole) return json;
  json.update(settings_json(s, {Part::scene}));
  json["hidden"] = bookmark.hidden;
  for (const auto& [style, of] : bookmark.styled) json["styled"][std::string(kStyleNames[style])] = of;
  for (const auto& [opacity, of] : bookmark.opacities)
    json["opacities"].push_back({{"opacity", opacity / 100.0}, {"solids", of}});
  for (const auto& [color, of] : bookmark.colors)
    json["colors"].push_back({{"color", color_text(unpacked(color))}, {"solids", of}});
  if (bookmark.light.empty()) return json;
  json["light"] = origin_json(bookmark.light);
  json["light"].update(settings_json(s, {Part::light, Part::time}));
  return json;
}

/// The path of each node. Nodes with equal paths are numbered from 1: "/World/pmt[3]".
std::vector<std::string> numbered_paths(const Scene& scene) {
  std::vector<std::string> paths;
  std::vector<int> numbers;
  std::unordered_map<std::string, int> counts;
  for (const Node& node : scene.nodes) {
    paths.push_back((node.parent == kNone ? std::string() : paths[node.parent]) + '/' + node.name);
    numbers.push_back(++counts[paths.back()]);
  }
  std::vector<std::string> names;
  for (std::size_t i = 0; i != paths.size(); ++i)
    names.push_back(paths[i] + (counts[paths[i]] > 1 ? '[' + std::to_string(numbers[i]) + ']' : ""));
  return names;
}

}  // namespace

std::vector<std::string> hidden_solids(const Solids& solids) {
  const std::vector<std::string> paths = numbered_paths(solids.scene());
  std::vector<std::string> hidden;
  std::vector<std::uint32_t> open(solids.children(kNone).begin(), solids.children(kNone).end());
  while (!open.empty()) {
    const std::uint32_t node = open.back();
    open.pop_back();
    if (solids.shown(node) == 0) {
      hidden.push_back(paths[node] + '/');
      continue;
    }
    for (const std::uint32_t i : solids.instances(node))
      if (solids.visible()[i] == 0) {
        hidden.push_back(paths[node]);
        break;
      }
    if (solids.shown(node) == 1) open.insert(open.end(), solids.children(node).begin(), solids.children(node).end());
  }
  for (const std::uint32_t i : solids.instances(kNone))
    if (solids.visible()[i] == 0) hidden.push_back('#' + std::to_string(i));
  return hidden;
}

std::vector<std::uint8_t> visibility(const Solids& solids, const std::vector<std::string>& hidden) {
  std::vector<std::uint8_t> visible(solids.visible().size(), 1);
  const std::unordered_set<std::string> names(hidden.begin(), hidden.end());
  const std::vector<std::string> paths = numbered_paths(solids.scene());
  const auto hide = [&](const auto& instances) {
    for (const std::uint32_t i : instances) visible[i] = 0;
  };
  for (std::uint32_t node = 0; node != paths.size(); ++node) {
    if (names.contains(paths[node])) hide(solids.instances(node));
    if (names.contains(paths[node] + '/')) hide(solids.below(node));
  }
  for (const std::uint32_t i : solids.instances(kNone))
    if (names.contains('#' + std::to_string(i))) visible[i] = 0;
  return visible;
}

namespace {

/// The solids of each value but 0.
template <class Value>
std::map<Value, std::vector<std::string>> by_value(const Solids& solids, const std::vector<Value>& values) {
  std::map<Value, std::vector<std::string>> result;
  Solids marked(solids.scene());  // those with the value are hidden
  for (const Value value : std::set<Value>(values.begin(), values.end())) {
    if (value == 0) continue;
    std::vector<std::uint8_t> others;
    others.reserve(values.size());
    for (const Value one : values) others.push_back(one == value ? 0 : 1);
    marked.set_all(std::move(others));
    result[value] = hidden_solids(marked);
  }
  return result;
}

/// The inverse: one value per solid.
template <class Value>
std::vector<Value> values_of(const Solids& solids, const std::map<Value, std::vector<std::string>>& by_value) {
  std::vector<Value> values(solids.visible().size(), 0);
  for (const auto& [value, written] : by_value) {
    const std::vector<std::uint8_t> others = visibility(solids, written);
    for (std::size_t i = 0; i != values.size(); ++i)
      if (others[i] == 0) values[i] = value;
  }
  return values;
}

}  // namespace

void save_solids(const Solids& solids, Bookmark& bookmark) {
  bookmark.hidden = hidden_solids(solids);
  bookmark.styled = by_value(solids, solids.styles());
  bookmark.opacities = by_value(solids, solids.opacities());
  bookmark.colors = by_value(solids, solids.colors());
}

void restore_solids(const Bookmark& bookmark, Solids& solids) {
  if (!bookmark.whole) return;
  solids.set_all(visibility(solids, bookmark.hidden), values_of(solids, bookmark.styled),
                 values_of(solids, bookmark.opacities), values_of(solids, bookmark.colors));
}

void Bookmarks::open(std::filesystem::path file, std::string scene) {
  file_ = std::move(file);
  scene_ = std::move(scene);
  bookmarks_.clear();
  readable_ = false;
  const Json json = read_json_file(file_, "bookmarks");
  std::vector<Bookmark> fresh;
  try {
    // Older files have the name alone.
    const std::string name = std::filesystem::path(scene_).filename().string();
    const std::string& key = json.contains(scene_) ? scene_ : name;
    if (json.contains(key))
      for (const Json& item : json[key]) fresh.push_back(from_json(item));
  } catch (const std::exception& error) {
    throw Error(ErrorKind::malformed, std::string("not a file of bookmarks: ") + error.what(), {file_.string(), scene_},
                "move or correct the file");
  }
  bookmarks_ = std::move(fresh);
  // Older files have no keys.
  if (std::none_of(bookmarks_.begin(), bookmarks_.end(), [](const Bookmark& one) { return one.key.has_value(); }))
    for (Bookmark& one : bookmarks_) one.key = free_key();
  readable_ = true;
}

const Bookmark* Bookmarks::find(std::string_view name) const {
  const auto found =
      std::find_if(bookmarks_.begin(), bookmarks_.end(), [&](const Bookmark& b) { return b.name == name; });
  return found == bookmarks_.end() ? nullptr : &*found;
}

const Bookmark* Bookmarks::with_key(int key) const {
  const auto found =
      std::find_if(bookmarks_.begin(), bookmarks_.end(), [&](const Bookmark& b) { return b.key == key; });
  return found == bookmarks_.end() ? nullptr : &*found;
}

std::optional<int> Bookmarks::free_key() const {
  for (const int key : {1, 2, 3, 4, 5, 6, 7, 8, 9, 0})
    if (with_key(key) == nullptr) return key;
  return std::nullopt;
}

std::pair<std::string, std::optional<int>> Bookmarks::fresh_name(std::optional<int> key) const {
  constexpr int kKeys = 10;
  const auto name_of = [](int number) { return "view " + std::to_string(number); };
  for (int number = 1; number <= kKeys; ++number) {
    const int own = number % kKeys;
    const bool fits = key ? own == *key : with_key(own) == nullptr;
    if (fits && find(name_of(number)) == nullptr) return {name_of(number), own};
  }
  int number = kKeys + 1;  // a name that no key agrees with
  while (find(name_of(number)) != nullptr) ++number;
  return {name_of(number), key ? key : free_key()};
}

void Bookmarks::add(Bookmark bookmark) {
  const Bookmark* same = find(bookmark.name);
  if (!bookmark.key) bookmark.key = same != nullptr ? same->key : free_key();
  for (Bookmark& other : bookmarks_)
    if (bookmark.key && other.key == bookmark.key) other.key.reset();
  if (same != nullptr)
    bookmarks_[static_cast<std::size_t>(same - bookmarks_.data())] = std::move(bookmark);
  else
    bookmarks_.push_back(std::move(bookmark));
  save();
}

void Bookmarks::remove(std::size_t index) {
  if (index >= bookmarks_.size()) return;
  std::error_code ignored;
  if (const auto image = thumbnail_file(bookmarks_[index].name); !image.empty())
    std::filesystem::remove(image, ignored);
  bookmarks_.erase(bookmarks_.begin() + static_cast<std::ptrdiff_t>(index));
  save();
}

void Bookmarks::rename(std::size_t index, const std::string& name) {
  if (index >= bookmarks_.size() || bookmarks_[index].name == name) return;
  if (name.empty()) throw Error(ErrorKind::usage, "a bookmark needs a name", {file_.string(), scene_}, "type one");
  if (find(name) != nullptr)
    throw Error(ErrorKind::usage, "another bookmark has the name '" + name + "'", {file_.string(), scene_},
                "choose another name, or remove that one");
  const std::string before = std::exchange(bookmarks_[index].name, name);
  try {
    save();
  } catch (...) {
    bookmarks_[index].name = before;
    throw;
  }
  std::error_code ignored;  // a bookmark may be without an image
  if (const auto image = thumbnail_file(name); !image.empty())
    std::filesystem::rename(thumbnail_file(before), image, ignored);
}

std::filesystem::path Bookmarks::thumbnail_file(const std::string& name) const {
  if (file_.empty()) return {};
  // FNV-1a: file names that stay the same between versions of the program, whatever letters the bookmark's name has.
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : scene_ + '\n' + name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  std::filesystem::path folder = file_;
  folder.replace_extension();  // bookmarks.json -> bookmarks/
  if (folder == file_) folder += ".images";
  return folder / fmt::format("{:016x}.png", hash);
}

void Bookmarks::save() const {
  if (file_.empty()) return;
  if (!readable_)
    throw Error(ErrorKind::malformed, "bookmarks can't be saved: not a file of bookmarks", {file_.string(), scene_},
                "move or correct the file");
  // Reads the file again: another window may have saved another scene's bookmarks since.
  Json json = read_json_file(file_, "bookmarks");
  json[scene_] = Json::array();
  for (const Bookmark& bookmark : bookmarks_) json[scene_].push_back(to_json(bookmark));
  write_json_file(file_, json);
}

}  // namespace raylift::viewer
