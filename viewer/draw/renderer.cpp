// SPDX-License-Identifier: Apache-2.0
#include "draw/renderer.h"

#include <raylift/geometry/error.h>
#include <raylift/interop/gl_context.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "draw/legend_overlay.h"
#include "draw/shaders.h"

namespace raylift::viewer {
namespace {

/// Steps and points of light that make up for the passes over the image that compute shaders need.
constexpr std::uint64_t kMuchLight = 20000;

/// The shaders' uniform block, std140.
struct Frame {
  float clip_from_eye[16];  // by columns
  float eye_high[4];
  float eye_low[4];
  float clip_planes[kMaxPlanes][4];
  float forward[4];
  float up[4];
  float key_light[4];
  std::uint32_t choice[4];
  std::uint32_t tables[4];
};

void store(float* target, const Eigen::Vector3d& v, double w = 0) {
  for (int i = 0; i < 3; ++i) target[i] = static_cast<float>(v[i]);
  target[3] = static_cast<float>(w);
}

std::string size_text(const Resolution& size) {
  return std::to_string(size.width) + 'x' + std::to_string(size.height);
}

bool is_possible(const Resolution& size, int samples) {
  try {
    ImageTarget(size, samples);
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// Drivers say how long a side may be, but not how large an image: where it is too large, that is found by trying.
ImageTarget image_target(const Resolution& size, int samples) {
  try {
    return {size, samples};
  } catch (const Error&) {
    Resolution smaller = size;
    do smaller = {smaller.width / 2, smaller.height / 2};
    while (smaller.width > 0 && smaller.height > 0 && !is_possible(smaller, samples));
    if (smaller.width == 0 || smaller.height == 0) throw;
    throw Error(ErrorKind::limit,
                "an image of " + size_text(size) + " pixels with " + std::to_string(samples) +
                    " samples each is too large for this OpenGL",
                {},
                size_text(smaller) + " is possible" +
                    (samples > 1 && is_possible(size, 1) ? ", or this size with --samples 1" : ""));
  }
}

}  // namespace

Renderer::Renderer() : software_(gl_info().software), fetches_(!software_ && GLEW_ARB_shader_draw_parameters != 0) {
  frame_ = make_buffer(nullptr, sizeof(Frame), GL_DYNAMIC_STORAGE_BIT);
  empty_ = make_vertex_array();
  overlay_array_ = make_vertex_array();
  background_ = make_program(shaders::screen_vertex, shaders::background_fragment, shaders::srgb_curve);
  overlay_ = make_program(shaders::overlay_vertex, shaders::overlay_fragment, shaders::srgb_curve);
  const GLuint overlay = overlay_array_.name();
  glEnableVertexArrayAttrib(overlay, 0);
  glVertexArrayAttribFormat(overlay, 0, 2, GL_FLOAT, GL_FALSE, 0);
  glVertexArrayAttribBinding(overlay, 0, 0);
  glEnableVertexArrayAttrib(overlay, 1);
  glVertexArrayAttribFormat(overlay, 1, 4, GL_FLOAT, GL_FALSE, offsetof(OverlayVertex, paint));
  glVertexArrayAttribBinding(overlay, 1, 0);
  glEnableVertexArrayAttrib(overlay, 2);
  glVertexArrayAttribFormat(overlay, 2, 2, GL_FLOAT, GL_FALSE, offsetof(OverlayVertex, edge));
  glVertexArrayAttribBinding(overlay, 2, 0);
  if (!software_) photons_.set_computed_from(kMuchLight);
  resize({}, 4);
}

void Renderer::set_scene(const Scene& scene, std::optional<SharedGeometryBuffers> shared) {
  selected_.reset();
  device_triangles_ = 0;
  photons_.clear();
  changed().set_scene(scene, shared);
}

void Renderer::set_selected(std::optional<std::uint32_t> instance) {
  if (instance == selected_) return;
  selected_ = instance;
  scene_.set_selected(instance);
}

void Renderer::resize(const Resolution& resolution, int samples) {
  if (samples == 0) samples = software_ ? 1 : 4;
  GLint most = 1;
  glGetIntegerv(GL_MAX_SAMPLES, &most);
  samples = std::clamp(samples, 1, std::max(most, 1));
  if (image_.target && resolution.width == resolution_.width && resolution.height == resolution_.height &&
      samples == samples_)
    return;
  GLint largest = 0;
  glGetIntegerv(GL_MAX_RENDERBUFFER_SIZE, &largest);
  if (std::max(resolution.width, resolution.height) > largest)
    throw Error(ErrorKind::limit,
                "an image of " + std::to_string(resolution.width) + " x " + std::to_string(resolution.height) +
                    " pixels is too large for this OpenGL",
                {}, "at most " + std::to_string(largest) + " a side are possible, and fewer with more samples");
  resolution_ = resolution;
  samples_ = samples;
  // The old targets go first: two large ones may not fit together.
  blended_ = BlendTarget();
  ids_ = IdTarget();
  mask_ = MaskTarget();
  kept_ = KeptTarget();
  view_.reset();
  image_ = ImageTarget();
  image_ = image_target(resolution_, samples_);
}

const Program& Renderer::program(const std::string& variant) {
  // Without planes, no vertex pays for them; without a box that is cut away no pixel, which costs the early test of
  // depth.
  std::string defines = (cuts_away_ ? "#define CUT_AWAY\n" : clipped_ ? "#define CLIPPED\n" : "") + variant;
  // llvmpipe works out all branches.
  if (software_)
    defines += "#define COLOR_BY " + std::to_string(color_by_) + "u\n#define DRAWN_FLAGS " +
               std::to_string(drawn_flags_) + "u\n";
  const auto [entry, fresh] = programs_.try_emplace(defines);
  if (fresh) {
    try {
      const bool caps = defines.find("CAPS") != std::string::npos;
      const char* const fetch =
          caps || !fetches_ ? "" : "#extension GL_ARB_shader_draw_parameters : require\n#define FETCH\n";
      entry->second = make_program(caps ? shaders::cap_vertex : shaders::scene_vertex, shaders::scene_fragment,
                                   fetch + defines + std::string(shaders::srgb_curve) +
                                       std::string(shaders::frame_block) + std::string(shaders::instances_block));
    } catch (...) {
      programs_.erase(entry);
      throw;
    }
  }
  return entry->second;
}

void Renderer::set_frame(const Camera& camera, const Settings& settings) {
  Frame frame{};
  const double aspect = static_cast<double>(resolution_.width) / resolution_.height;
  Eigen::Matrix4d view = Eigen::Matrix4d::Identity();
  view.topLeftCorner<3, 3>() = camera.rotation();
  const Eigen::Matrix4f clip_from_eye = (camera.projection(aspect, scene_.bounds()) * view).cast<float>();
  std::memcpy(frame.clip_from_eye, clip_from_eye.data(), sizeof(frame.clip_from_eye));
  const Eigen::Vector3d eye = camera.eye();
  for (int i = 0; i < 3; ++i) {
    const auto [high, low] = split(eye[i]);
    frame.eye_high[i] = high;
    frame.eye_low[i] = low;
  }
  // Without a plane, every point passes the clip test.
  for (auto& plane : frame.clip_planes) plane[3] = 1;
  const std::vector<ClipPlane> planes = settings.planes();
  clipped_ = !planes.empty();
  for (std::size_t i = 0; i != planes.size(); ++i)
    store(frame.clip_planes[i], planes[i].normal, planes[i].offset_in(scene_.bounds()) - planes[i].normal.dot(eye));
  store(frame.forward, camera.forward(), camera.orthographic ? 1 : 0);
  store(frame.up, camera.up.normalized(), static_cast<double>(settings.opacity));
  store(frame.key_light, key_light(camera), static_cast<double>(settings.glass));
  cuts_away_ = settings.cuts_away();
  color_by_ = frame.choice[0] = static_cast<std::uint32_t>(settings.color);
  drawn_flags_ = frame.choice[1] = (settings.back_faces ? 1U : 0U) | (settings.fill == Fill::wireframe ? 4U : 0U);
  frame.choice[3] = static_cast<std::uint32_t>(std::min<std::uint64_t>(device_triangles_, kNone));
  frame.tables[0] = scene_.material_entries();
  frame.tables[1] = scene_.distinct_entries();
  glNamedBufferSubData(frame_.name(), 0, sizeof(frame), &frame);
  scene_.cut_at(settings.caps && settings.fill == Fill::surface ? planes : std::vector<ClipPlane>());
}

void Renderer::draw_scene(Look look) const {
  glBindBufferBase(GL_UNIFORM_BUFFER, 0, frame_.name());
  scene_.draw(look, pace_);
}

void Renderer::draw_caps(const std::string& defines) {
  if (!scene_.has_caps()) return;  // nor is their program compiled
  glUseProgram(program("#define CAPS\n" + defines).name());
  // The caps of a box that is cut away end at its edges.
  for (std::size_t i = 0; cuts_away_ && i != kMaxPlanes; ++i) glEnable(GL_CLIP_DISTANCE0 + static_cast<GLenum>(i));
  scene_.draw_caps();
  if (cuts_away_) disable_clipping();
}

void Renderer::bind_canvas() const {
  glBindFramebuffer(GL_FRAMEBUFFER, canvas_.target->target.name());
  glViewport(0, 0, canvas_.size.width, canvas_.size.height);
}

bool Renderer::draw(const Camera& camera, const Settings& settings, std::optional<ForeignImage> image,
                    std::optional<Resolution> coarse, Pace* pace) {
  pace_ = pace;
  if (pace_ != nullptr) pace_->begin_turn();
  glDisable(GL_SCISSOR_TEST);
  glDisable(GL_CULL_FACE);
  glDisable(GL_BLEND);
  glEnable(GL_MULTISAMPLE);
  glEnable(GL_FRAMEBUFFER_SRGB);
  glClipControl(GL_LOWER_LEFT, GL_ZERO_TO_ONE);
  glClearColor(0, 0, 0, 0);
  glClearDepth(0);
  glDepthMask(GL_TRUE);
  if (!image && coarse) draw_coarse(camera, settings, *coarse);
  if (coarse) pace_ = nullptr;  // what is left of it is not drawn
  canvas_ = {&image_, resolution_, samples_};
  bind_canvas();
  glDisable(GL_DEPTH_TEST);
  if (!image && !coarse) note_view(camera, settings);
  if (!keeping_ || !kept_whole_)
    draw_piece(pace_, [&] {
      glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
      draw_background(settings);
    });
  if (image)
    draw_image(*image);
  else if (coarse)
    draw_scaled();
  else
    draw_pixels(camera, settings);
  const bool complete = pace_ == nullptr || !pace_->stopped();
  pace_ = nullptr;
  keeping_ = false;
  if (complete) {
    if (scene_.has_selected()) draw_selection(camera, settings);
    Overlay overlay = make_overlay(camera, settings, resolution_.width, resolution_.height);
    add_legends(legends_, resolution_.width, resolution_.height, overlay);
    draw_overlay(overlay);
    image_.resolve(resolution_);
  }
  // Restores OpenGL's defaults, for ImGui.
  glDisable(GL_FRAMEBUFFER_SRGB);
  glClipControl(GL_LOWER_LEFT, GL_NEGATIVE_ONE_TO_ONE);
  glDepthFunc(GL_LESS);
  glBindVertexArray(0);
  glBindFramebuffer(GL_FRAMEBUFFER, 0);
  check_gl("drawing");
  return complete;
}

void Renderer::draw_pixels(const Camera& camera, const Settings& settings) {
  if (!scene_.draws_any() && !photons_.draws(settings.photons)) return;
  set_frame(camera, settings);
  scene_.look(sight_of(camera, settings, scene_.bounds(), canvas_.size));
  if (settings.smooth && settings.fill == Fill::surface) scene_.ensure_normals();
  glEnable(GL_DEPTH_TEST);
  glDepthFunc(GL_GREATER);
  const bool again = keeping_ && kept_whole_;
  if (!again) draw_solids(settings);
  if (!keeping_) draw_piece(pace_, [&] { draw_photons(settings.photons); });
  if (keeping_ && !again) draw_piece(pace_, [&] { keep_solids(); });
  if (!again && scene_.draws(Look::faint)) draw_faint(settings);
  if (keeping_ && !again) draw_piece(pace_, [&] { keep_whole(); });
  if (keeping_ && kept_whole_) draw_over_kept(settings);
  disable_clipping();
  glDisable(GL_DEPTH_TEST);
  const auto draw_selected = [&] { photons_.draw_selected(settings.photons, canvas_.size.width, canvas_.size.height); };
  // What is kept is drawn over in each turn, and is none of its pieces.
  if (!keeping_) draw_piece(pace_, draw_selected);
  if (keeping_ && kept_whole_) draw_selected();
}

void Renderer::draw_solids(const Settings& settings) {
  enable_clipping(settings);
  const bool blended = settings.opacity < 1 && settings.fill == Fill::surface;
  if (scene_.draws(Look::lines)) draw_lines(settings, Look::lines);
  if (!blended) draw_surfaces(settings);
  if (blended || (scene_.draws(Look::glass) && settings.fill == Fill::surface)) draw_blended(settings, blended);
  // Clipping planes open solids, and show the light in them.
  disable_clipping();
}

void Renderer::draw_coarse(const Camera& camera, const Settings& settings, const Resolution& size) {
  if (!coarse_.target || coarse_size_.width != size.width || coarse_size_.height != size.height) {
    blended_ = BlendTarget();  // has the old one's depth
    coarse_ = ImageTarget();
    coarse_ = ImageTarget(size, 1);
    coarse_size_ = size;
    glTextureParameteri(coarse_.resolved_color.name(), GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    glTextureParameteri(coarse_.resolved_color.name(), GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glTextureParameteri(coarse_.resolved_color.name(), GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
  }
  canvas_ = {&coarse_, size, 1};
  bind_canvas();
  glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
  draw_pixels(camera, settings);
  // What is left out of it are solids, rather than the light that somebody looks at.
  if (pace_ != nullptr && pace_->stopped()) draw_quick_photons(settings.photons);
  coarse_.resolve(size);
}

void Renderer::draw_background(const Settings& settings) {
  if (settings.background.transparent) return;
  glUseProgram(background_.name());
  glUniform3fv(0, 1, settings.background.top.data());
  glUniform3fv(1, 1, settings.background.bottom.data());
  glBindVertexArray(empty_.name());
  glDrawArrays(GL_TRIANGLES, 0, 3);
}

void Renderer::draw_lines(const Settings& settings, Look look, const std::string& variant) {
  glUseProgram(program(settings.feature_edges ? "#define LINES\n" + variant : variant).name());
  glBindBufferBase(GL_UNIFORM_BUFFER, 0, frame_.name());
  if (settings.feature_edges) {
    scene_.ensure_feature_edges(look);
    return scene_.draw_feature_edges(look, pace_);
  }
  glPolygonMode(GL_FRONT_AND_BACK, GL_LINE);
  scene_.draw(look, pace_);
  glPolygonMode(GL_FRONT_AND_BACK, GL_FILL);
}

void Renderer::draw_surfaces(const Settings& settings) {
  if (settings.fill == Fill::wireframe) {
    for (const Look look : {Look::solid, Look::edged, Look::glass}) draw_lines(settings, look);
    return;
  }
  glUseProgram(program(settings.smooth ? "#define SMOOTH\n" : "").name());
  const bool edges = settings.edges || scene_.draws(Look::edged);
  if (edges) {
    // Offsets surfaces backward, so that their edges pass the depth test.
    glEnable(GL_POLYGON_OFFSET_FILL);
    glPolygonOffset(-1, -4);
  }
  draw_scene();
  draw_scene(Look::edged);
  glDisable(GL_POLYGON_OFFSET_FILL);
  draw_piece(pace_, [&] { draw_caps(""); });
  if (!edges) return;
  glDepthFunc(GL_GEQUAL);
  draw_edges(settings);
  glDepthFunc(GL_GREATER);
}

void Renderer::draw_edges(const Settings& settings) {
  blend_over();
  if (settings.edges) draw_lines(settings, Look::solid, "#define EDGES\n");
  draw_lines(settings, Look::edged, "#define EDGES\n");
  glDisable(GL_BLEND);
}

}  // namespace raylift::viewer
