// SPDX-License-Identifier: Apache-2.0
#include "offscreen_scene.h"

#include <fmt/format.h>
#include <raylift/geometry/checks/check.h>
#include <raylift/geometry/error.h>
#include <raylift/gpu/memory/residency.h>
#include <raylift/photon/propagate.h>

#include <memory>

#include "cli/output_file.h"
#include "cli/text.h"
#include "draw/overlay/legends.h"
#include "geometry/src/stage.h"
#include "meshes/enclosed.h"
#include "model/solids/reveal.h"
#include "state/photon_source.h"

namespace raylift::viewer {
namespace {

constexpr std::uint64_t kManyTriangles = 2'000'000;

}  // namespace

OffscreenScene::OffscreenScene(const ViewOptions& options, const std::string& file, const Scene& scene,
                               Renderer& renderer, const Progress& progress)
    : options_(options), light_(options.light.origin), scene_file_(file), solids_(scene), renderer_(renderer) {
  refuse_flat(scene);
  notes_ = apply_visibility(options, solids_);
  view_ = open_view(options, solids_, {},
                    static_cast<double>(options.image.resolution.width) / options.image.resolution.height);
  for (const auto& [more, all] :
       {std::pair(&view_.notes.counts, &notes_.counts), {&view_.notes.warnings, &notes_.warnings}})
    all->insert(all->end(), more->begin(), more->end());
  if (!options.bookmark.empty()) go_to_bookmark(scene);
  for (const auto& [name, value] : measured_lines(view_.settings.measured))
    notes_.counts.push_back(name + ": " + value);
  looks_ = looks(solids_, view_.settings, view_.in_the_way);
  const bool rays = view_.settings.ray_cast != RayMode::off;
  if (rays || view_.settings.color == ColorBy::residency) {
    UploadOptions upload = options.upload;
    upload.bvh = rays;
    geometry_.emplace(upload_for_view(scene, choose_device(options.device), upload, progress));
  }
  renderer_.set_scene(scene, geometry_ ? geometry_->buffers() : std::nullopt);
  show_solids();
  // Worth its time for many images, or for those of a slow renderer.
  if (!rays && (options.image.frames > 1 || renderer_.software()) && renderer_.shown_triangles() >= kManyTriangles)
    renderer_.set_enclosing(enclosing_solids(scene, raylift::check(scene, progress), progress));
  if (geometry_) renderer_.set_device_triangles(geometry_->device_triangles());
  if (rays) caster_.emplace(scene, *geometry_);
  if (options.overlaps == "find")
    view_.settings.overlaps = std::make_shared<const OverlapMarks>(
        overlap_marks(scene, find_overlaps(scene, raylift::check(scene, progress), {}, progress)));
  if (view_.settings.overlaps)
    notes_.counts.push_back(cli::counted(view_.settings.overlaps->size(), "overlap", "overlaps"));
  read_light(scene, progress);
  make_room();
}

/// Frames the scene beside the legend, which covers none of it then.
void OffscreenScene::make_room() {
  const CameraOptions& camera = options_.camera;
  if (!options_.image.legend || camera.eye || camera.target || !options_.bookmark.empty()) return;
  const auto [width, height] = options_.image.resolution;
  const float share = legends_width(legends(std::nullopt), width, height) / static_cast<float>(width);
  constexpr float kMax = 0.5F;
  if (!(share > 0) || share > kMax) return;
  Camera before;
  before.free_share.x() = 1 - static_cast<double>(share);
  before.free_middle.x() = -static_cast<double>(share);
  view_.camera = open_view(options_, solids_, before, static_cast<double>(width) / height).camera;
}

void OffscreenScene::set_time(double share) {
  if (!photons_.set() || photons_.set()->times.empty()) return;
  view_.settings.photons.time = time_of_play(view_.settings.photons, photons_.statistics(), share);
}

void OffscreenScene::show_solids() {
  looks_ = looks(solids_, view_.settings, view_.in_the_way);
  renderer_.set_looks(looks_);
  renderer_.set_opacities(solids_.opacities());
  renderer_.set_own_colors(solids_.colors());
}

void OffscreenScene::go_along_path(double share) {
  if (!path_)
    path_.emplace(Bookmarks(bookmarks_file(options_), bookmarks_key(scene_file_)), options_.image.path,
                  solids_.scene().bounds);
  const CameraPath::Sample place = path_->at(share);
  const Bookmark& bookmark = path_->bookmark(place.bookmark);
  view_.camera = place.camera;
  if (passed_ != place.bookmark) {
    view_.settings = with_bookmark(view_.settings, bookmark);
    view_.in_the_way.clear();
    restore_solids(bookmark, solids_);
  }
  place.set_clip(view_.settings);
  if (passed_ != place.bookmark || place.clips) show_solids();  // planes open enclosing solids
  passed_ = place.bookmark;
}

void OffscreenScene::draw(cli::Session& session, int ray_samples) {
  feed_.feed(renderer_, photons_, view_.settings, solids_.scene());
  if (!caster_) {
    draw_legends(std::nullopt);
    renderer_.draw(view_.camera, view_.settings);
    return;
  }
  caster_->start(view_.camera, view_.settings, options_.image.resolution, looks_, ray_samples, solids_.colors());
  draw_legends(caster_->depth_range());
  while (!caster_->advance(0.1)) session.stop_if_interrupted();
  renderer_.draw(view_.camera, view_.settings, caster_->image());
}

void OffscreenScene::draw_legends(std::optional<std::pair<double, double>> depths) {
  if (!options_.image.legend) return;
  renderer_.set_legends(legends(depths));
}

std::vector<Legend> OffscreenScene::legends(std::optional<std::pair<double, double>> depths) const {
  return make_legends(solids_, view_.settings, looks_, depths, photons_, feed_.hits(),
                      renderer_.photons().readable(view_.settings.photons, view_.camera, options_.image.resolution),
                      most_legend_entries(options_.image.resolution.height));
}

void OffscreenScene::go_to_bookmark(const Scene& scene) {
  const Bookmarks bookmarks(bookmarks_file(options_), bookmarks_key(scene_file_));
  const Bookmark* found = bookmarks.find(options_.bookmark);
  if (found == nullptr)
    throw Error(ErrorKind::usage, "no bookmark has the name '" + cli::printable(options_.bookmark) + "'",
                {scene.source, ""}, "Ctrl+D in the window makes one");
  view_.camera = found->camera;
  view_.settings = with_bookmark(view_.settings, *found);
  view_.in_the_way.clear();
  restore_solids(*found, solids_);
  if (found->light.empty()) return;
  light_ = found->light;
}

/// The photons of --photons, --photon-source or a bookmark, where there are some.
void OffscreenScene::read_light(const Scene& scene, const Progress& progress) {
  std::shared_ptr<const PhotonSet> set;
  if (!light_.photons.empty()) set = std::make_shared<const PhotonSet>(load_photons(light_, options_, scene, progress));
  if (!light_.source.empty()) set = follow_light(scene, progress);
  if (!set) return;
  notes_.warnings.insert(notes_.warnings.end(), set->notes.begin(), set->notes.end());
  photons_ = Photons(set, scene);
  const PhotonChoice& choice = photons_.choice(view_.settings.photons.filter);
  notes_.counts.push_back(fmt::format("light: {} in {}, {}", cli::counted(choice.steps.size(), "step", "steps"),
                                      cli::counted(choice.paths, "path", "paths"),
                                      cli::counted(choice.points.size(), "point", "points")));
  if (choice.steps.empty() && choice.points.empty() && !set->empty())
    notes_.warnings.push_back(
        "no photon is what the filters of --photon-filter, --photon-wavelength and "
        "--photon-channel ask for: no light is drawn");
  if (choice.without_history != 0)
    notes_.warnings.push_back(
        "points have no histories that --photon-filter could read: run 'raylift photons' with --seq");
}

/// The photons of a source.
std::shared_ptr<const PhotonSet> OffscreenScene::follow_light(const Scene& scene, const Progress& progress) {
  UploadOptions upload_options = options_.upload;
  upload_options.bvh = true;
  photon::refuse_unsimulated(scene);
  light_geometry_.emplace(upload(scene, choose_device(options_.device), upload_options, progress));
  live_.emplace(*light_geometry_);
  live_->start({light_.source, light_.moved, options_.light.count, options_.light.record, options_.light.seed,
                !view_.settings.photons.filter.history.empty()});
  const Stage stage(progress, "photons", options_.light.count);
  while (!live_->advance(0.2)) stage.advance(live_->followed());
  notes_.counts.push_back(fmt::format("followed {} on {}, {} steps with OpenGL",
                                      human_rate(live_->photons_per_second(), "photons"),
                                      light_geometry_->device().info().name, live_->shares() ? "sharing" : "copying"));
  return live_->photons();
}

OffscreenScenes::OffscreenScenes(const ViewOptions& options) : options_(options) {
  if (!options.image.output.empty()) cli::protect_scenes(options.files, options.load);
}

std::future<Scene> OffscreenScenes::read(const std::string& file, const Progress& progress) const {
  return std::async(std::launch::async, [this, file, progress] { return load(file, options_.load, progress); });
}

OffscreenScene OffscreenScenes::open(const std::string& file, const Scene& scene, Renderer& renderer,
                                     const Progress& progress) const {
  return {options_, file, scene, renderer, progress};
}

}  // namespace raylift::viewer
