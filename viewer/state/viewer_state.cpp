// SPDX-License-Identifier: Apache-2.0
#include "state/viewer_state.h"

#include <raylift/geometry/optics/surface_between.h>
#include <raylift/geometry/optics/words.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "model/reveal.h"
#include "state/view_config.h"

namespace raylift::viewer {
namespace {

constexpr auto kRest = std::chrono::milliseconds(180);  // after which a move is over

std::string material_name(const Scene& scene, std::uint32_t material) {
  return material == kNone ? "none" : scene.materials[material].name;
}

/// "Mirror, skin of the solid entered", or "none".
std::string surface_text(const Scene& scene, const SurfaceChoice& choice) {
  if (choice.rule == SurfaceRule::none) return "none";
  return scene.optics.surfaces[choice.surface].name + ", " + std::string(to_string(choice.rule));
}

/// Where the ray meets the plane of a triangle, in double; nothing where it is parallel to it.
std::optional<Eigen::Vector3d> point_on(const Scene& scene, const Instance& instance, std::uint32_t triangle,
                                        const std::pair<Eigen::Vector3d, Eigen::Vector3d>& ray) {
  const Mesh& mesh = scene.meshes[instance.mesh];
  if (triangle >= mesh.triangles.size()) return std::nullopt;
  const UInt3& t = mesh.triangles[triangle];
  const auto world = [&](std::uint32_t v) -> Eigen::Vector3d {
    return instance.transform * Eigen::Vector3d(mesh.vertices[v].x, mesh.vertices[v].y, mesh.vertices[v].z);
  };
  const Eigen::Vector3d a = world(t.x);
  const Eigen::Vector3d normal = (world(t.y) - a).cross(world(t.z) - a);
  const auto& [origin, direction] = ray;
  const double along = normal.dot(direction);
  if (along == 0) return std::nullopt;
  return origin + normal.dot(a - origin) / along * direction;
}

}  // namespace

ViewerState::ViewerState(const ViewOptions& options, const Resolution& framebuffer)
    : options_(options), settings_(options.settings), framebuffer_(framebuffer) {
  camera_.look(StandardView::iso);
  if (!options.files.empty()) open(options.files.front());
}

bool ViewerState::wants_device_scene() const {
  return scene_ && (settings_.rays != RayMode::off || settings_.color == ColorBy::residency);
}

bool ViewerState::moving() const {
  return Clock::now() - last_move_ < kRest;
}

std::string ViewerState::message() const {
  return Clock::now() < message_until_ ? message_ : "";
}

void ViewerState::fail(const Error& failure) {
  if (failure.kind() == ErrorKind::cancelled) return;
  error_ = std::string(to_string(failure.kind())) + ": " + failure.what();
  failure_ = failure;
  ++failures_;
}

void ViewerState::open(const std::string& path) {
  file_ = path;
  ++requests_;
  error_.clear();
  attempt([&] { bookmarks_.open(bookmarks_file(options_), bookmarks_key(path)); });
}

void ViewerState::open(const std::vector<std::string>& files) {
  options_.files = files;
  open(files.front());
}

void ViewerState::reload() {
  if (!file_.empty()) open(std::string(file_));
}

void ViewerState::show(std::shared_ptr<const Scene> scene) {
  auto solids = std::make_unique<Solids>(*scene);
  auto measurer = std::make_shared<SolidMeasurer>(scene);
  offsets_ = mesh_offsets(*scene);
  check_.reset();
  detail_.reset();
  wants_detail_ = false;
  device_scene_.reset();
  select(std::nullopt);
  measurer_ = std::move(measurer);
  photons_ = Photons();
  light_geometry_.reset();
  looks_of_.reset();
  framed_.clear();
  in_the_way_.clear();
  solids_ = std::move(solids);
  scene_ = std::move(scene);
  std::vector<std::string> warnings;
  std::optional<Bookmark> named;
  attempt([&] { warnings = apply_visibility(options_, *solids_).warnings; });
  if (!shown_file_.empty() && shown_file_ != file_) set_measured({});  // the points are of another scene
  // A reloaded file keeps the camera.
  if (shown_file_ != file_) {
    if (const Bookmark* bookmark = bookmarks_.find(options_.bookmark)) named = *bookmark;
    attempt([&] {
      frame_all();  // for the case that this scene has not what the options name
      Opening view = open_view(options_, *solids_, camera_, aspect());
      camera_ = view.camera;
      if (options_.clip_facing) settings_.clip = view.settings.clip;
      if (!options_.clip_box.empty()) settings_.clip_box = view.settings.clip_box;
      framed_ = options_.camera.eye || options_.camera.target ? std::vector<std::uint32_t>() : std::move(view.focus);
      framed_zoom_ = 1 / options_.camera.zoom;
      in_the_way_ = std::move(view.in_the_way);
      warnings.insert(warnings.end(), view.notes.warnings.begin(), view.notes.warnings.end());
    });
  }
  if (named)
    go_to(*named);
  else if (shown_file_ != file_ && !options_.bookmark.empty())
    warnings.push_back("no bookmark has the name '" + options_.bookmark + "'");
  note_shown_file();
  if (!warnings.empty() && error_.empty()) say(warnings.front());
  shown_file_ = file_;
  shown_request_ = requests_;
  ++revision_;
}

void ViewerState::set_device_scene(std::shared_ptr<const DeviceScene> scene) {
  device_scene_ = std::move(scene);
  ++revision_;
}

void ViewerState::set_framebuffer(const Resolution& size) {
  if (size.width == framebuffer_.width && size.height == framebuffer_.height) return;
  framebuffer_ = size;
  ++revision_;
  frame(framed_);
}

void ViewerState::set_free_part(const Eigen::Vector2d& low, const Eigen::Vector2d& high) {
  const Eigen::Vector2d middle = low + high - Eigen::Vector2d(1, 1), share = high - low;
  if ((middle - camera_.free_middle).norm() + (share - camera_.free_share).norm() < 1e-9) return;
  camera_.free_middle = middle;
  camera_.free_share = share;
  ++revision_;
  frame(framed_);
}

const std::vector<std::uint8_t>& ViewerState::looks() const {
  if (!solids_) return looks_;
  LooksKey key{solids_->version(), !settings_.planes().empty(), settings_.shells, in_the_way_};
  if (looks_of_ == key) return looks_;
  looks_ = viewer::looks(*solids_, settings_, in_the_way_);
  looks_of_ = std::move(key);
  ++looks_version_;
  return looks_;
}

void ViewerState::frame(std::span<const std::uint32_t> instances) {
  if (!scene_ || instances.empty()) return;
  framed_ = std::vector(instances.begin(), instances.end());
  camera_.frame(framed_points(*solids_, settings_, framed_), aspect());
  camera_.zoom(framed_zoom_);
}

void ViewerState::moved() {
  last_move_ = Clock::now();
  ++revision_;
}

void ViewerState::set_orthographic(bool orthographic) {
  camera_.orthographic = orthographic;
  ++revision_;
}

void ViewerState::look(StandardView view) {
  camera_.look(view);
  ++revision_;
  frame_all();
}

void ViewerState::frame_all() {
  if (!scene_) return;
  in_the_way_.clear();
  framed_zoom_ = 1;
  frame(shown_solid(looks()));
  moved();
}

void ViewerState::focus(std::span<const std::uint32_t> instances) {
  if (!scene_ || instances.empty()) return;
  framed_zoom_ = 1.6;  // leaves room for some of the surroundings
  frame(instances);
  in_the_way_ = standing_before(*solids_, instances, camera_, aspect());
  moved();
}

void ViewerState::focus_alone(std::span<const std::uint32_t> instances) {
  if (!scene_ || instances.empty()) return;
  framed_zoom_ = 1;
  frame(instances);
  in_the_way_ = all_but(*solids_, instances);
  moved();
}

void ViewerState::focus_selection() {
  if (!selection_) return frame_all();
  focus(selection_->solids);
}

void ViewerState::select(std::optional<std::uint32_t> instance) {
  selection_.reset();
  settings_.box.reset();
  facts_.reset();
  ++selections_;
  photons_.select(std::nullopt);
  ++revision_;
  if (!instance) return;
  const Instance& placed = scene_->instances[*instance];
  const Mesh& mesh = scene_->meshes[placed.mesh];
  Selection fresh;
  fresh.instance = *instance;
  fresh.solids = {*instance};
  fresh.name = scene_->solid_name(placed);
  fresh.path = scene_->path(placed);
  fresh.mesh = mesh.name;
  fresh.inside = mesh.parts.empty() ? "none" : material_name(*scene_, scene_->material(placed, 0));
  fresh.outside = material_name(*scene_, placed.outside);
  fresh.material = mesh.parts.empty() ? kNone : scene_->material(placed, 0);
  if (!scene_->optics.surfaces.empty()) {
    const SolidTree tree = solid_tree(*scene_);
    const std::uint32_t mother = tree.mother[*instance];
    const SurfaceChoice in = surface_between(*scene_, tree, mother, *instance);
    const SurfaceChoice out = surface_between(*scene_, tree, *instance, mother);
    fresh.surface_in = in.surface;
    fresh.surface_out = out.surface;
    fresh.entering = surface_text(*scene_, in);
    fresh.leaving = surface_text(*scene_, out);
  }
  fresh.position = solids_->bounds(*instance).center();
  selection_ = std::move(fresh);
}

void ViewerState::select_group(std::uint32_t node) {
  select(std::nullopt);
  if (!scene_) return;
  Selection fresh;
  fresh.group = node;
  fresh.solids = solids_->below(node);
  fresh.name = scene_->nodes[node].name;
  Instance placed;
  placed.node = node;
  fresh.path = scene_->path(placed);
  fresh.position = solids_->bounds(fresh.solids).center();
  selection_ = std::move(fresh);
}

std::optional<FactsRequest> ViewerState::facts_request() const {
  if (!selection_ || (facts_ && (facts_->checked || !check_))) return std::nullopt;
  return FactsRequest{selections_, measurer_, selection_->solids, check_};
}

void ViewerState::set_facts(std::uint64_t selection, SolidFacts facts) {
  if (selection != selections_) return;
  facts_ = std::move(facts);
  if (!selection_ || selection_->group == kNone || facts_->box.empty()) return;
  settings_.box = facts_->box;  // a group has no outline
  ++revision_;
}

std::string ViewerState::selection_text() const {
  return selection_ && facts_ ? facts_text(selection_->name, selection_->path, *facts_) : "";
}

void ViewerState::select(const std::optional<Picked>& picked, const Cursor& cursor) {
  select(picked ? std::optional(picked->instance) : std::nullopt);
  if (!picked) return;
  selection_->clicked = true;
  if (const auto point = picked_point(*picked, cursor)) selection_->position = *point;
  const std::uint32_t triangle = triangle_of(*picked);
  if (triangle == kNone) return;
  const Instance& instance = scene_->instances[picked->instance];
  selection_->triangle = triangle;
  // The material inside depends on the part that the triangle belongs to.
  if (const auto part = part_of(scene_->meshes[instance.mesh], triangle)) {
    selection_->material = scene_->material(instance, *part);
    selection_->inside = material_name(*scene_, selection_->material);
  }
}

std::uint32_t ViewerState::triangle_of(const Picked& picked) const {
  if (picked.triangle == kNone) return kNone;
  return picked.triangle - offsets_.first_triangle[scene_->instances[picked.instance].mesh];
}

std::optional<Eigen::Vector3d> ViewerState::picked_point(const Picked& picked, const Cursor& cursor) const {
  if (picked.triangle == kNone) {  // a cap
    const auto [origin, direction] = cursor_ray(camera_, cursor);
    return clip_entry(settings_, scene_->bounds, origin, direction);
  }
  return point_on(*scene_, scene_->instances[picked.instance], triangle_of(picked), cursor_ray(camera_, cursor));
}

void ViewerState::hide_selection() {
  if (!selection_) return;
  solids_->set_visible(selection_->solids, false);
  say("hidden: " + selection_->name + "; Ctrl+Z shows it again");
  select(std::nullopt);
}

void ViewerState::undo() {
  if (!solids_) return;
  if (!solids_->undo()) return say("nothing to undo");
  ++revision_;
}

Eigen::Vector3d ViewerState::point_under(const Cursor& cursor) const {
  const auto [origin, direction] = cursor_ray(camera_, cursor);
  const double depth = (camera_.target - origin).dot(camera_.forward()) / direction.dot(camera_.forward());
  return origin + depth * direction;
}

void ViewerState::add_bookmark(std::string bookmark_name) {
  if (bookmark_name.empty()) {
    std::size_t number = 0;
    do bookmark_name = "view " + std::to_string(++number);
    while (bookmarks_.find(bookmark_name) != nullptr);
  }
  attempt([&] {
    Bookmark bookmark{bookmark_name, camera_, settings_, {}, {}, true, light()};
    if (solids_) keep_solids(*solids_, bookmark);
    bookmarks_.add(bookmark);
    say("bookmark '" + bookmark_name + "' saved");
  });
}

void ViewerState::remove_bookmark(std::size_t index) {
  attempt([&] { bookmarks_.remove(index); });
}

void ViewerState::go_to(const Bookmark& bookmark) {
  const Camera before = std::exchange(camera_, bookmark.camera);
  camera_.free_middle = before.free_middle;
  camera_.free_share = before.free_share;
  framed_.clear();
  settings_ = with_bookmark(settings_, bookmark);
  in_the_way_.clear();
  if (solids_) put_solids_back(bookmark, *solids_);
  if (!bookmark.light.empty()) attempt([&] { go_to_light(bookmark.light); });
  moved();
}

void ViewerState::say(const std::string& text) {
  error_.clear();
  message_ = text;
  message_until_ = Clock::now() + std::chrono::seconds(4);
}

}  // namespace raylift::viewer
