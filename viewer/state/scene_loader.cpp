// SPDX-License-Identifier: Apache-2.0
#include "state/scene_loader.h"

#include <raylift/geometry/error.h>
#include <raylift/geometry/import/load.h>
#include <raylift/photon/propagate.h>

#include <span>
#include <utility>

#include "cli/output_file.h"
#include "state/photon_source.h"

namespace raylift::viewer {

namespace {

/// Passes the result of a task that has ended to `accept`. Returns whether that failed; the state has the error then.
template <class T, class Accept>
bool failed(std::unique_ptr<Task<T>>& running, ViewerState& state, const Accept& accept) {
  if (!running || !running->ready()) return false;
  const auto task = std::move(running);
  bool accepted = false;
  state.messages().attempt([&] {
    accept(task->result());
    accepted = true;
  });
  return !accepted;
}

}  // namespace

void SceneLoader::poll(ViewerState& state) {
  watch(state);
  if (requests_ != state.requests()) start_loading(state);
  const bool not_read = failed(loading_, state, [&](Scene scene) { show(state, std::move(scene)); });
  if (not_read || std::exchange(cancelled_, false)) keep_shown_file(state);
  (void)failed(checking_, state, [&](SceneCheck check) { state.set_check(std::move(check)); });
  if (photon_requests_ != state.light().photon_requests() && !reads(state)) read_photons(state);
  (void)failed(reading_, state, [&](PhotonSet photons) {
    state.light().set_photons(std::make_shared<const PhotonSet>(std::move(photons)));
  });
  if (uploading_ && uploading_->ready()) {
    upload_failed_ = failed(uploading_, state, [&](GpuGeometry geometry) {
      state.set_device_scene(
          std::make_shared<const DeviceScene>(shared_upload_ ? DeviceScene(shared_upload_->finish(std::move(geometry)))
                                                             : DeviceScene(std::move(geometry))));
    });
    shared_upload_.reset();
  }
  light_failed_ |= failed(lighting_, state, [&](GpuGeometry geometry) {
    state.light().set_geometry(std::make_shared<const GpuGeometry>(std::move(geometry)));
  });
  find_facts(state);
  make_detail(state);
  find_overlaps(state);
  if (state.wants_device_scene()) start_upload(state);
  if (state.light().request()) start_light(state);
}

SceneLoader::Activity SceneLoader::activity() const {
  const auto activity = [](const std::string& what, const std::pair<std::string, float>& progress) {
    return Activity{what, progress.first, progress.second, true};
  };
  if (loading_) return activity("reading " + loading_file_, loading_->progress());
  if (reading_) return activity("reading photons", reading_->progress());
  if (lighting_) return activity("uploading the scene to " + device_name_ + " for light", lighting_->progress());
  if (uploading_) return activity("uploading the scene to " + device_name_ + " for rays", uploading_->progress());
  if (finding_overlaps_) return activity("searching for overlaps", finding_overlaps_->progress());
  return {};
}

bool SceneLoader::owes(const ViewerState& state) const {
  return reads_photons(state) || uploading_ || (state.wants_device_scene() && !state.device_scene() && !upload_failed_);
}

void SceneLoader::cancel() {
  if (loading_) {
    loading_.reset();
    cancelled_ = true;
  } else if (finding_overlaps_ && !reading_ && !lighting_ && !uploading_) {
    finding_overlaps_.reset();
    overlaps_cancelled_ = true;
  } else if (reading_) {
    reading_.reset();
  } else if (lighting_) {
    lighting_.reset();
    light_failed_ = true;
  } else if (uploading_) {
    uploading_.reset();
    shared_upload_.reset();
    upload_failed_ = true;  // not again for this scene
  }
}

void SceneLoader::start_loading(const ViewerState& state) {
  requests_ = state.requests();
  std::error_code ignored;
  loaded_ = seen_ = std::filesystem::last_write_time(state.file(), ignored);
  loading_file_ = state.file();
  cancelled_ = false;
  loading_.reset();  // cancels the load before, and waits for its end
  loading_ =
      std::make_unique<Task<Scene>>([path = loading_file_, options = state.options().load](const Progress& progress) {
        cli::protect_scenes(std::span(&path, 1), options);
        return load(path, options, progress);
      });
}

void SceneLoader::keep_shown_file(ViewerState& state) {
  const std::string before = state.file();
  state.keep_shown_file();
  std::error_code ignored;
  if (state.file() != before) loaded_ = seen_ = std::filesystem::last_write_time(state.file(), ignored);
}

void SceneLoader::watch(ViewerState& state) {
  if (!state.options().window.watch || state.file().empty() || Clock::now() < next_watch_) return;
  next_watch_ = Clock::now() + std::chrono::milliseconds(400);
  std::error_code failed;
  const auto now = std::filesystem::last_write_time(state.file(), failed);
  if (failed) return;  // the file is being replaced
  // Two equal times in a row: its writer has probably finished.
  if (now == seen_ && now != loaded_ && !loading_) state.reload();
  seen_ = now;
}

void SceneLoader::show(ViewerState& state, Scene scene) {
  // The tasks of the old scene end first.
  checking_.reset();
  finding_facts_.reset();
  making_detail_.reset();
  finding_overlaps_.reset();
  detail_failed_ = false;
  reading_.reset();
  lighting_.reset();
  light_failed_ = false;
  uploading_.reset();
  shared_upload_.reset();
  upload_failed_ = false;
  cli::protect_files_of(scene);
  const auto fresh = std::make_shared<const Scene>(std::move(scene));
  state.show(fresh);
  checking_ = std::make_unique<Task<SceneCheck>>(
      [fresh](const Progress& progress) { return raylift::check(*fresh, progress); });
  read_photons(state);
}

void SceneLoader::read_photons(const ViewerState& state) {
  photon_requests_ = state.light().photon_requests();
  reading_.reset();  // cancels the reading before
  if (!state.scene() || state.options().light.origin.photons.empty()) return;
  reading_ =
      std::make_unique<Task<PhotonSet>>([scene = state.scene(), options = state.options()](const Progress& progress) {
        return load_photons(options.light.origin, options, *scene, progress);
      });
}

SceneLoader::Upload SceneLoader::upload_of(const ViewerState& state) {
  Upload result{state.scene(), choose_device(state.options().device), state.options().upload};
  device_name_ = result.device.info().name;
  result.options.bvh = true;
  return result;
}

std::unique_ptr<Task<GpuGeometry>> SceneLoader::run(Upload what) {
  return std::make_unique<Task<GpuGeometry>>([what = std::move(what)](const Progress& progress) {
    return upload(*what.scene, what.device, what.options, progress);
  });
}

void SceneLoader::start_upload(ViewerState& state) {
  if (state.device_scene() || uploading_ || upload_failed_ || loading_) return;
  upload_failed_ = true;  // until the task runs
  state.messages().attempt([&] {
    Upload what = upload_of(state);
    try {
      shared_upload_.emplace(*what.scene, what.device, what.options);
      what.options = shared_upload_->options();
    } catch (const Error& failure) {
      if (failure.kind() != ErrorKind::out_of_device_memory && failure.kind() != ErrorKind::device) throw;
    }
    uploading_ = run(std::move(what));
    upload_failed_ = false;
  });
  if (upload_failed_) shared_upload_.reset();
}

void SceneLoader::start_light(ViewerState& state) {
  if (state.light().geometry() || lighting_ || light_failed_ || loading_) return;
  light_failed_ = true;  // until the task runs
  state.messages().attempt([&] {
    Upload what = upload_of(state);
    photon::refuse_unsimulated(*what.scene);
    // Arrays of its own: those that OpenGL shares have addresses while they are mapped alone.
    lighting_ = run(std::move(what));
    light_failed_ = false;
  });
}

void SceneLoader::find_facts(ViewerState& state) {
  if (finding_facts_ && facts_of_ != state.selection().version()) finding_facts_.reset();
  if (failed(finding_facts_, state,
             [&](SolidFacts facts) { state.selection().set_facts(facts_of_, std::move(facts)); }))
    facts_failed_ = facts_of_;
  std::optional<FactsRequest> request = finding_facts_ ? std::nullopt : state.selection().facts_request(state.check());
  if (!request || facts_failed_ == request->selection) return;
  facts_of_ = request->selection;
  finding_facts_ = std::make_unique<Task<SolidFacts>>([what = std::move(*request)](const Progress& progress) {
    return what.measurer->facts(what.solids, what.check.get(), progress);
  });
}

void SceneLoader::find_overlaps(ViewerState& state) {
  if (failed(finding_overlaps_, state,
             [&](OverlapMarks marks) { state.set_overlaps(std::make_shared<const OverlapMarks>(std::move(marks))); }))
    state.stop_wanting_overlaps();
  if (std::exchange(overlaps_cancelled_, false)) state.stop_wanting_overlaps();
  if (!state.wants_overlaps() || !state.check() || finding_overlaps_) return;
  finding_overlaps_ =
      std::make_unique<Task<OverlapMarks>>([scene = state.scene(), check = state.check()](const Progress& progress) {
        return overlap_marks(*scene, raylift::find_overlaps(*scene, *check, {}, progress));
      });
}

void SceneLoader::make_detail(ViewerState& state) {
  detail_failed_ |= failed(making_detail_, state, [&](Detail detail) { state.set_detail(std::move(detail)); });
  if (!state.wants_detail() || !state.check() || making_detail_ || detail_failed_) return;
  making_detail_ =
      std::make_unique<Task<Detail>>([scene = state.scene(), check = state.check()](const Progress& progress) {
        return viewer::make_detail(*scene, *check, progress);
      });
}

}  // namespace raylift::viewer
