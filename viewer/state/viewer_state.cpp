// SPDX-License-Identifier: Apache-2.0
#include "state/viewer_state.h"

#include <fmt/format.h>
#include <raylift/geometry/scene/eigen.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "cli/text.h"
#include "draw/overlay/overlay.h"

namespace raylift::viewer {
namespace {

/// Ignores a failure: the window works without what it keeps.
template <class Work>
void quietly(const Work& work) {
  try {
    work();
  } catch (const Error&) {
    return;
  }
}

/// When a file was written last; the earliest time where there is none.
std::filesystem::file_time_type time_of(const std::filesystem::path& file) {
  std::error_code missing;
  const auto time = std::filesystem::last_write_time(file, missing);
  return missing ? std::filesystem::file_time_type::min() : time;
}

}  // namespace

ViewerState::ViewerState(const ViewOptions& options, const Resolution& framebuffer)
    : options_(options), shown_(options.settings, framebuffer) {
  shown_.camera.look(StandardView::iso);
  if (!options.files.empty()) open(options.files.front());
}

void ViewerState::open(const std::string& path) {
  file_ = path;
  ++requests_;
  messages().dismiss_error();
  messages().attempt([&] { bookmarks_.open(bookmarks_file(options_), bookmarks_key(path)); });
  note_bookmarks_error();
}

void ViewerState::note_bookmarks_error() {
  bookmarks_error_ = bookmarks_.readable() ? "" : messages().error();
  bookmarks_time_ = time_of(bookmarks_file(options_));
}

void ViewerState::reread_bookmarks() {
  if (bookmarks_.readable() || time_of(bookmarks_file(options_)) == bookmarks_time_) return;
  bookmarks_time_ = time_of(bookmarks_file(options_));
  quietly([&] { bookmarks_.open(bookmarks_file(options_), bookmarks_key(file_)); });
  if (bookmarks_.readable() && messages().error() == bookmarks_error_) messages().dismiss_error();
}

void ViewerState::open(const std::vector<std::string>& files) {
  options_.files = files;
  open(files.front());
}

void ViewerState::reload() {
  if (!file_.empty()) open(std::string(file_));
}

void ViewerState::keep_shown_file() {
  if (shown_file_.empty() || file_ == shown_file_) return;
  file_ = shown_file_;
  quietly([&] { bookmarks_.open(bookmarks_file(options_), bookmarks_key(file_)); });  // its errors were shown
}

void ViewerState::show(std::shared_ptr<const Scene> scene) {
  selection_.select(std::nullopt);
  selection_.mark_found({});
  shown_.set_scene(std::move(scene));
  check_.reset();
  detail_.reset();
  wants_detail_ = false;
  wants_overlaps_ = false;
  shown_.settings.overlaps.reset();
  device_scene_.reset();
  light_.set_geometry(nullptr);
  appearance_.reset();
  viewpoint_.set(shown_.camera);
  std::vector<std::string> warnings;
  messages().attempt([&] { warnings = apply_visibility(options_, *shown_.solids).warnings; });
  if (shown_file_ != file_) {  // a reloaded file keeps the camera, and the points that are measured
    if (!shown_file_.empty()) measuring_.set_points({});
    open_view(warnings);
    if (!file_.empty()) quietly([&] { remembered_.note_file(bookmarks_key(file_)); });
  }
  if (!warnings.empty() && messages().error().empty()) messages().show(warnings.front());
  messages().attempt([&] { refuse_flat(*shown_.scene); });
  shown_file_ = file_;
  shown_request_ = requests_;
}

void ViewerState::open_view(std::vector<std::string>& warnings) {
  messages().attempt([&] {
    viewpoint_.frame_all();  // for the case that this scene lacks what the options name
    Opening view = viewer::open_view(options_, *shown_.solids, shown_.camera, shown_.aspect());
    if (options_.clip_facing) shown_.settings.clip = view.settings.clip;
    if (!options_.solids.clip_box.empty()) shown_.settings.clip_box = view.settings.clip_box;
    if (shown_file_.empty()) measuring_.set_points(std::move(view.settings.measured));
    if (view.settings.overlaps) set_overlaps(view.settings.overlaps);
    wants_overlaps_ = options_.overlaps == "find";
    viewpoint_.set(view.camera, std::move(view.framed), 1 / options_.camera.zoom);
    appearance_.set_in_the_way(std::move(view.in_the_way));
    warnings.insert(warnings.end(), view.notes.warnings.begin(), view.notes.warnings.end());
  });
  viewpoint_.set_home();
  if (options_.bookmark.empty()) return;
  if (const Bookmark* bookmark = bookmarks_.find(options_.bookmark))
    go_to(Bookmark(*bookmark));
  else
    warnings.push_back("no bookmark has the name '" + options_.bookmark + "'");
}

void ViewerState::set_detail(Detail detail) {
  detail_ = std::make_shared<const Detail>(std::move(detail));
  ++shown_.revision;
}

bool ViewerState::wants_device_scene() const {
  return scene() && (settings().ray_cast != RayMode::off || settings().color == ColorBy::residency);
}

void ViewerState::set_overlaps(std::shared_ptr<const OverlapMarks> marks) {
  wants_overlaps_ = false;
  shown_.settings.overlaps = std::move(marks);
  ++shown_.revision;
  const OverlapMarks* found = shown_.settings.overlaps.get();
  if (found == nullptr) return;
  if (found->empty()) return messages().show("no solids overlap");
  messages().show(cli::counted(found->size(), "overlap", "overlaps") + ", the deepest of " +
                  measured_length_text(found->front().depth));
}

void ViewerState::show_overlap(std::size_t number) {
  if (!overlaps() || number >= overlaps()->size()) return;
  const OverlapMark& mark = (*overlaps())[number];
  const std::array<std::uint32_t, 2> both{mark.first, mark.second};
  viewpoint_.focus(both);
  const auto size = [&](std::uint32_t i) { return to_eigen(shown_.solids->bounds(i).size()).norm(); };
  // Some of the smaller solid, and the overlap so large that it is seen.
  const double half = std::max(5 * mark.depth, 0.25 * std::min(size(mark.first), size(mark.second)));
  Bounds around;
  around.add(mark.place - Eigen::Vector3d::Constant(half));
  around.add(mark.place + Eigen::Vector3d::Constant(half));
  viewpoint_.move([&](Camera& moved) { moved.frame(around, shown_.aspect()); });
  selection_.select(mark.first);
  messages().show(mark.words);
}

void ViewerState::set_device_scene(std::shared_ptr<const DeviceScene> scene) {
  device_scene_ = std::move(scene);
  ++shown_.revision;
}

void ViewerState::add_bookmark(std::string name, std::optional<int> key) {
  if (name.empty()) std::tie(name, key) = bookmarks_.fresh_name(key);
  messages().attempt([&] {
    Bookmark bookmark{name, camera(), settings(), {}, {}, true, light_.origin()};
    bookmark.key = key;
    if (shown_.solids) save_solids(*shown_.solids, bookmark);
    bookmarks_.add(bookmark);
    wants_thumbnail_ = bookmarks_.thumbnail_file(name).empty() ? "" : name;
    thumbnail_of_ = revision();
    const std::optional<int> its_key = bookmarks_.find(name)->key;
    messages().show("bookmark '" + name + "' saved" + (its_key ? ", key " + std::to_string(*its_key) : ""));
  });
  if (!bookmarks_.readable()) note_bookmarks_error();
}

void ViewerState::bookmark_key(int key) {
  const Bookmark* there = bookmarks_.with_key(key);
  add_bookmark(there != nullptr ? there->name : "", key);
}

void ViewerState::go_to_key(int key) {
  const Bookmark* found = bookmarks_.with_key(key);
  if (found == nullptr)
    return messages().show(fmt::format("no bookmark has the key {0}: Ctrl+{0} saves the view as one", key));
  messages().show("bookmark '" + found->name + "'");
  go_to(Bookmark(*found));
}

void ViewerState::set_thumbnail(const Image& image) {
  const std::filesystem::path file = bookmarks_.thumbnail_file(wants_thumbnail_);
  wants_thumbnail_.clear();
  std::error_code ignored;
  std::filesystem::create_directories(file.parent_path(), ignored);
  quietly([&] { write_png(image, file); });
}

void ViewerState::play_path(const std::vector<std::string>& names, double seconds) {
  path_ = PlayedPath{CameraPath(bookmarks_, names, scene() ? scene()->bounds : Bounds()), seconds};
  advance_path(0);
}

void ViewerState::advance_path(double seconds) {
  if (!path_) return;
  path_->now += seconds;
  const CameraPath::Sample place = path_->path.at(path_->now / path_->seconds);
  if (path_->bookmark != place.bookmark) go_to(path_->path.bookmark(place.bookmark));
  path_->bookmark = place.bookmark;
  viewpoint_.set(place.camera);
  place.set_clip(shown_.settings);
  shown_.moved();
  if (path_->now >= path_->seconds) path_.reset();
}

void ViewerState::remove_bookmark(std::size_t index) {
  messages().attempt([&] { bookmarks_.remove(index); });
  if (!bookmarks_.readable()) note_bookmarks_error();
}

void ViewerState::rename_bookmark(std::size_t index, const std::string& name) {
  messages().attempt([&] { bookmarks_.rename(index, name); });
  if (!bookmarks_.readable()) note_bookmarks_error();
}

void ViewerState::go_to(const Bookmark& bookmark) {
  viewpoint_.set(bookmark.camera);
  shown_.settings = with_bookmark(shown_.settings, bookmark);
  appearance_.set_in_the_way({});
  if (shown_.solids) restore_solids(bookmark, *shown_.solids);
  if (!bookmark.light.empty()) messages().attempt([&] { light_.go_to(bookmark.light); });
  shown_.moved();
}

void ViewerState::remember(const std::filesystem::path& file) {
  quietly([&] { remembered_.open(file); });
  viewpoint_.set_fly_speed(remembered_.fly_speed());
}

void ViewerState::keep_fly_speed() {
  quietly([&] { remembered_.set_fly_speed(viewpoint_.fly_speed()); });
}

}  // namespace raylift::viewer
