// SPDX-License-Identifier: Apache-2.0
#include "desk.h"

#include <raylift/geometry/error.h>
#include <raylift/geometry/import/load.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace raylift::viewer {
namespace {

constexpr double kSlow = 0.045;                         // seconds: slower pictures are drawn coarser while things move
constexpr auto kRest = std::chrono::milliseconds(180);  // after which a move is over
constexpr int kWindowRaySamples = 64;

double seconds_since(std::chrono::steady_clock::time_point then) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - then).count();
}

/// The eye's ray through a pixel: origin and direction in the world.
std::pair<Eigen::Vector3d, Eigen::Vector3d> pixel_ray(const Camera& camera, double x, double y,
                                                      const Resolution& window) {
  const double aspect = static_cast<double>(window.width) / window.height;
  const Eigen::Vector3d aside = camera.half_height() * ((2 * x / window.width - 1) * aspect * camera.right() +
                                                        (1 - 2 * y / window.height) * camera.above());
  if (camera.orthographic) return {camera.eye() + aside, camera.forward()};
  return {camera.eye(), (camera.distance * camera.forward() + aside).normalized()};
}

}  // namespace

Desk::Desk(const ViewOptions& given, const Resolution& window)
    : options(given), settings(given.settings), window_(window) {
  camera.look(StandardView::iso);
}

template <class Work>
void Desk::guarded(const Work& work) {
  try {
    work();
  } catch (const Error& failure) {
    if (failure.kind() != ErrorKind::cancelled) error = std::string(to_string(failure.kind())) + ": " + failure.what();
  } catch (const std::bad_alloc&) {
    error = "out_of_host_memory: no memory left";
  }
  dirty_ = true;
}

void Desk::open(const std::string& path) {
  file = path;
  error.clear();
  std::error_code ignored;
  loaded_ = seen_ = std::filesystem::last_write_time(path, ignored);
  loading_.reset();  // waits for the one before, which is cancelled
  loading_ = std::make_unique<Task<Scene>>(
      [path, load_options = options.load](const Progress& progress) { return load(path, load_options, progress); });
  guarded([&] {
    const std::string folder = config_folder();
    const std::filesystem::path where = !options.bookmarks.empty() ? options.bookmarks
                                        : folder.empty()           ? ""
                                                                   : folder + "/bookmarks.json";
    bookmarks.open(where, std::filesystem::path(path).filename().string());
  });
}

void Desk::reload() {
  if (!file.empty()) open(file);
}

void Desk::take_scene(Scene fresh) {
  // Whatever refers to the old scene goes before it.
  checking_.reset();
  check.reset();
  caster_.reset();
  uploading_.reset();
  shared_upload_.reset();
  upload_failed_ = false;
  selection.reset();
  auto next = std::make_unique<Scene>(std::move(fresh));
  auto next_solids = std::make_unique<Solids>(*next);
  renderer.set_scene(*next);
  device_scene.reset();
  scene = std::move(next);
  solids = std::move(next_solids);
  shown_version_ = ~std::uint64_t{0};
  guarded([&] { apply_visibility(options, *solids); });
  // The same file again keeps the camera, whatever was tried in between.
  if (shown_file_ != file) {
    guarded([&] {
      camera.frame(scene->bounds, aspect());  // at least, where what the options ask for is not in this scene
      camera = make_camera(options, *solids, aspect());
    });
  }
  shown_file_ = file;
  checking_ = std::make_unique<Task<SceneCheck>>(
      [checked = scene.get()](const Progress& progress) { return raylift::check(*checked, {}, progress); });
  full_seconds_ = 0;
}

bool Desk::poll() {
  const bool before = dirty_;
  watch();
  if (loading_ && loading_->ready()) {
    const auto task = std::move(loading_);
    guarded([&] { take_scene(task->take()); });
  }
  if (checking_ && checking_->ready()) {
    const auto task = std::move(checking_);
    guarded([&] { check = task->take(); });
  }
  if (uploading_ && uploading_->ready()) finish_device_scene();
  if (scene && (settings.rays != RayMode::off || settings.color == ColorBy::residency)) want_device_scene();
  return dirty_ && !before;
}

void Desk::watch() {
  if (!options.watch || file.empty() || Clock::now() < next_watch_) return;
  next_watch_ = Clock::now() + std::chrono::milliseconds(400);
  std::error_code failed;
  const auto now = std::filesystem::last_write_time(file, failed);
  if (failed) return;  // being replaced: look again later
  // Only once it has been the same twice: whoever writes it may not have finished.
  if (now == seen_ && now != loaded_ && !loading_) open(file);
  seen_ = now;
}

void Desk::want_device_scene() {
  if (device_scene || uploading_ || upload_failed_ || loading_) return;
  guarded([&] {
    try {
      const Device device = choose_device(options.device);
      UploadOptions upload_options = options.upload;
      upload_options.bvh = true;
      try {
        shared_upload_.emplace(*scene, device, upload_options);
        upload_options = shared_upload_->options();
      } catch (const Error& failure) {
        if (failure.kind() != ErrorKind::out_of_device_memory && failure.kind() != ErrorKind::device) throw;
      }
      uploading_ = std::make_unique<Task<GpuGeometry>>(
          [uploaded = scene.get(), device, upload_options](const Progress& progress) {
            return upload(*uploaded, device, upload_options, progress);
          });
    } catch (...) {
      shared_upload_.reset();
      upload_failed_ = true;
      throw;
    }
  });
}

void Desk::finish_device_scene() {
  const auto task = std::move(uploading_);
  guarded([&] {
    try {
      GpuGeometry geometry = task->take();
      device_scene = shared_upload_ ? std::make_unique<DeviceScene>(shared_upload_->finish(std::move(geometry)))
                                    : std::make_unique<DeviceScene>(std::move(geometry));
      shared_upload_.reset();
      // From now on OpenGL draws what the rays meet: one copy.
      if (const auto buffers = device_scene->buffers()) {
        renderer.set_scene(*scene, buffers);
        shown_version_ = ~std::uint64_t{0};
      }
      renderer.set_device_triangles(device_scene->device_triangles());
      if (selection) renderer.set_selected(selection->instance);
      caster_ = std::make_unique<RayCaster>(*scene, *device_scene);
    } catch (...) {
      shared_upload_.reset();
      upload_failed_ = true;
      throw;
    }
  });
}

std::pair<std::string, float> Desk::activity() const {
  if (loading_) return loading_->progress();
  if (uploading_) return uploading_->progress();
  if (caster_ && settings.rays != RayMode::off && !caster_->done())
    return {"rays", static_cast<float>(caster_->progress())};
  return {"", -1.0F};
}

void Desk::moved() {
  dirty_ = true;
  last_move_ = Clock::now();
}

bool Desk::busy() const {
  return dirty_ || coarse_ || (caster_ && settings.rays != RayMode::off && !caster_->done());
}

bool Desk::draw(const Resolution& window) {
  if (window.width != window_.width || window.height != window_.height) dirty_ = true;
  window_ = window;
  const bool moving = Clock::now() - last_move_ < kRest;
  if (coarse_ && !moving) dirty_ = true;
  const bool rays = settings.rays != RayMode::off && caster_;
  if (!dirty_ && !(rays && !caster_->done())) return false;
  const auto start = Clock::now();
  if (solids && solids->version() != shown_version_) {
    renderer.set_visible(solids->visible());
    shown_version_ = solids->version();
  }
  coarse_ = moving && (rays || full_seconds_ > kSlow);
  Resolution size = window;
  if (coarse_) {
    // Rays: a quarter of the pixels; else so many that the time suffices.
    const double factor = rays ? 0.5 : std::clamp(std::sqrt(kSlow / full_seconds_), 0.2, 1.0);
    size = {std::max(1, static_cast<int>(window.width * factor)),
            std::max(1, static_cast<int>(window.height * factor))};
  }
  guarded([&] {
    renderer.resize(size, coarse_ || rays ? 1 : options.samples);
    if (rays) {
      if (dirty_)
        caster_->start(camera, settings, size, solids->visible(),
                       selection ? std::optional(selection->instance) : std::nullopt, coarse_ ? 1 : kWindowRaySamples);
      caster_->advance(0.03);
      renderer.draw(camera, settings, caster_->image());
    } else {
      renderer.draw(camera, settings);
    }
    renderer.finish();
  });
  dirty_ = false;
  draw_seconds = seconds_since(start);
  if (!coarse_ && !rays) full_seconds_ = draw_seconds;
  draw_times.push_back(static_cast<float>(1000 * draw_seconds));
  if (draw_times.size() > 120) draw_times.erase(draw_times.begin());
  return true;
}

void Desk::frame_all() {
  if (!scene) return;
  const std::vector<std::uint8_t>& visible = solids->visible();
  const bool all = std::find(visible.begin(), visible.end(), std::uint8_t{0}) == visible.end();
  Bounds box = all ? scene->bounds : solids->bounds_of(visible);
  if (settings.clip) box = clipped(box, *settings.clip, scene->bounds);
  camera.frame(box, aspect());
  moved();
}

void Desk::focus(std::span<const std::uint32_t> instances) {
  if (!scene || instances.empty()) return;
  camera.frame(solids->bounds(instances), aspect());
  camera.zoom(1.6);  // with something of what is around it
  moved();
}

std::optional<double> Desk::depth_of(const Picked& picked, double x, double y, const Resolution& window,
                                     Eigen::Vector3d& point) const {
  // Where the pixel's ray meets the plane of the triangle, in double.
  const Instance& instance = scene->instances[picked.instance];
  const Mesh& mesh = scene->meshes[instance.mesh];
  const std::uint32_t index = picked.triangle - mesh_offsets(*scene).first_triangle[instance.mesh];
  if (index >= mesh.triangles.size()) return std::nullopt;
  const uint3& t = mesh.triangles[index];
  const auto world = [&](std::uint32_t v) -> Eigen::Vector3d {
    return instance.transform * Eigen::Vector3d(mesh.vertices[v].x, mesh.vertices[v].y, mesh.vertices[v].z);
  };
  const Eigen::Vector3d a = world(t.x);
  const Eigen::Vector3d normal = (world(t.y) - a).cross(world(t.z) - a);
  const auto [origin, direction] = pixel_ray(camera, x, y, window);
  const double along = normal.dot(direction);
  if (along == 0) return std::nullopt;
  const double depth = normal.dot(a - origin) / along;
  point = origin + depth * direction;
  return depth;
}

Eigen::Vector3d Desk::point_under(double x, double y, const Resolution& window) {
  Eigen::Vector3d point = Eigen::Vector3d::Zero();
  const auto [origin, direction] = pixel_ray(camera, x, y, window);
  // On the plane through the target that faces the camera.
  const double depth = (camera.target - origin).dot(camera.forward()) / direction.dot(camera.forward());
  point = origin + depth * direction;
  return point;
}

void Desk::pick(double x, double y, const Resolution& window) {
  if (!scene) return;
  const Resolution& drawn = renderer.resolution();
  const auto picked = renderer.pick(camera, settings, static_cast<int>(x * drawn.width / window.width),
                                    static_cast<int>(y * drawn.height / window.height));
  select(picked ? std::optional(picked->instance) : std::nullopt);
  if (!picked) return;
  selection->triangle = picked->triangle - mesh_offsets(*scene).first_triangle[scene->instances[picked->instance].mesh];
  (void)depth_of(*picked, x, y, window, selection->position);
  // The material inside depends on the part that the triangle belongs to.
  const Instance& instance = scene->instances[picked->instance];
  const std::vector<MeshPart>& parts = scene->meshes[instance.mesh].parts;
  for (std::size_t part = 0; part != parts.size(); ++part)
    if (*selection->triangle - parts[part].first_triangle < parts[part].triangle_count) {
      const std::uint32_t material = scene->material(instance, part);
      selection->inside = material == kNone ? "none" : scene->materials[material].name;
    }
}

void Desk::select(std::optional<std::uint32_t> instance) {
  selection.reset();
  renderer.set_selected(instance);
  dirty_ = true;
  if (!instance) return;
  const Instance& placed = scene->instances[*instance];
  const auto material = [&](std::uint32_t index) {
    return index == kNone ? std::string("none") : scene->materials[index].name;
  };
  Selection fresh;
  fresh.instance = *instance;
  fresh.name = scene->solid_name(placed);
  fresh.path = scene->path(placed);
  fresh.mesh = scene->meshes[placed.mesh].name;
  fresh.inside = scene->meshes[placed.mesh].parts.empty() ? "none" : material(scene->material(placed, 0));
  fresh.outside = material(placed.outside);
  fresh.position = solids->bounds(*instance).center();
  selection = std::move(fresh);
}

std::string Desk::screenshot() {
  const std::string stem = file.empty() ? "raylift" : output_name("{name}", file, 1);
  std::string path;
  std::error_code ignored;
  do {
    path = stem + "_" + std::to_string(++screenshots_) + ".png";
  } while (std::filesystem::exists(path, ignored));
  if (coarse_ || dirty_) {  // neither as it is while it moves, nor as it was before the last key
    last_move_ = {};
    draw(window_);
  }
  guarded([&] {
    write_png(renderer.read(), path);
    say("saved " + path);
  });
  return path;
}

void Desk::add_bookmark(std::string bookmark_name) {
  const auto taken = [&] {
    return std::any_of(bookmarks.all().begin(), bookmarks.all().end(),
                       [&](const Bookmark& b) { return b.name == bookmark_name; });
  };
  if (bookmark_name.empty()) {
    std::size_t number = 0;
    do bookmark_name = "view " + std::to_string(++number);
    while (taken());
  }
  guarded([&] {
    bookmarks.add({bookmark_name, camera, settings.clip});
    say("bookmark '" + bookmark_name + "' saved");
  });
}

void Desk::remove_bookmark(std::size_t index) {
  guarded([&] { bookmarks.remove(index); });
}

void Desk::go_to(const Bookmark& bookmark) {
  camera = bookmark.camera;
  settings.clip = bookmark.clip;
  moved();
}

void Desk::say(const std::string& text) {
  error.clear();
  message = text;
  message_until = Clock::now() + std::chrono::seconds(4);
}

}  // namespace raylift::viewer
