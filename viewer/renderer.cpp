// SPDX-License-Identifier: Apache-2.0
#include "renderer.h"

#include <raylift/geometry/error.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "palette.h"
#include "shaders.h"

namespace raylift::viewer {
namespace {

/// The shaders' uniform block, std140.
struct Frame {
  float clip_from_eye[16];  // by columns
  float eye_high[4];
  float eye_low[4];
  float clip_plane[4];
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

void upload_mesh_arrays(const Scene& scene, const MeshOffsets& offsets, const Buffer& vertices,
                        const Buffer& triangles) {
  std::vector<uint3> shifted;
  for (std::size_t m = 0; m != scene.meshes.size(); ++m) {
    const Mesh& mesh = scene.meshes[m];
    if (!mesh.vertices.empty())
      glNamedBufferSubData(vertices.name(), static_cast<GLintptr>(offsets.first_vertex[m] * sizeof(float3)),
                           static_cast<GLsizeiptr>(mesh.vertices.size() * sizeof(float3)), mesh.vertices.data());
    const std::uint32_t first = offsets.first_vertex[m];
    // In pieces, so that the shifted copy stays small.
    constexpr std::size_t kPiece = std::size_t{1} << 18;
    for (std::size_t begin = 0; begin < mesh.triangles.size(); begin += kPiece) {
      const std::size_t count = std::min(kPiece, mesh.triangles.size() - begin);
      const uint3* source = mesh.triangles.data() + begin;
      if (first != 0) {
        shifted.resize(count);
        std::transform(source, source + count, shifted.begin(), [&](const uint3& t) {
          return uint3{t.x + first, t.y + first, t.z + first};
        });
        source = shifted.data();
      }
      glNamedBufferSubData(triangles.name(), static_cast<GLintptr>((offsets.first_triangle[m] + begin) * sizeof(uint3)),
                           static_cast<GLsizeiptr>(count * sizeof(uint3)), source);
    }
  }
}

/// Rows as OpenGL counts them, from the bottom, into rows from the top.
template <class T>
void from_below(const std::vector<T>& rows, const Resolution& size, std::vector<T>& upright) {
  for (int y = 0; y < size.height; ++y)
    std::copy_n(rows.begin() + static_cast<std::ptrdiff_t>(size.height - 1 - y) * size.width, size.width,
                upright.begin() + static_cast<std::ptrdiff_t>(y) * size.width);
}

}  // namespace

Renderer::Renderer() {
  frame_ = make_buffer(nullptr, sizeof(Frame), GL_DYNAMIC_STORAGE_BIT);
  geometry_ = make_vertex_array();
  empty_ = make_vertex_array();
  overlay_array_ = make_vertex_array();
  background_ = make_program(shaders::screen_vertex, shaders::background_fragment);
  overlay_ = make_program(shaders::overlay_vertex, shaders::overlay_fragment);
  const GLuint overlay = overlay_array_.name();
  glEnableVertexArrayAttrib(overlay, 0);
  glVertexArrayAttribFormat(overlay, 0, 2, GL_FLOAT, GL_FALSE, 0);
  glVertexArrayAttribBinding(overlay, 0, 0);
  glEnableVertexArrayAttrib(overlay, 1);
  glVertexArrayAttribFormat(overlay, 1, 4, GL_FLOAT, GL_FALSE, offsetof(OverlayVertex, paint));
  glVertexArrayAttribBinding(overlay, 1, 0);
  resize({}, 4);
}

void Renderer::set_scene(const Scene& scene, std::optional<SharedGeometryBuffers> shared) {
  // Everything of the old scene goes first: two large ones need not fit together.
  for (Buffer* buffer : {&vertices_, &triangles_, &normals_, &smooth_, &instances_, &colors_, &slots_, &commands_})
    *buffer = Buffer();
  scene_ = nullptr;  // until all is there
  selected_.reset();
  device_triangles_ = 0;
  command_count_ = 0;
  offsets_ = mesh_offsets(scene);
  bounds_ = scene.bounds;
  shared_ = shared;
  const std::uint64_t mesh_bytes = offsets_.vertices * sizeof(float3) + offsets_.triangles * sizeof(uint3);
  if (!shared_) {
    vertices_ = make_buffer(nullptr, offsets_.vertices * sizeof(float3), GL_DYNAMIC_STORAGE_BIT);
    triangles_ = make_buffer(nullptr, offsets_.triangles * sizeof(uint3), GL_DYNAMIC_STORAGE_BIT);
    upload_mesh_arrays(scene, offsets_, vertices_, triangles_);
  }
  const std::vector<DrawInstance> instances = draw_instances(scene);
  instances_ = make_buffer(std::span<const DrawInstance>(instances));

  const ColorTable table = color_table(scene);
  material_entries_ = table.materials;
  distinct_entries_ = table.distinct;
  colors_ = make_buffer(std::span<const std::uint32_t>(table.colors));

  const GLuint array = geometry_.name();
  glVertexArrayVertexBuffer(array, 0, shared_ ? shared_->vertices : vertices_.name(), 0, sizeof(float3));
  glVertexArrayElementBuffer(array, shared_ ? shared_->triangles : triangles_.name());
  glEnableVertexArrayAttrib(array, 0);
  glVertexArrayAttribFormat(array, 0, 3, GL_FLOAT, GL_FALSE, 0);
  glVertexArrayAttribBinding(array, 0, 0);
  glDisableVertexArrayAttrib(array, 1);
  buffer_bytes_ = mesh_bytes + instances.size() * sizeof(DrawInstance) + table.colors.size() * sizeof(std::uint32_t);
  scene_ = &scene;
  set_visible({});
  check_gl("putting the scene into OpenGL buffers");
}

void Renderer::set_visible(std::span<const std::uint8_t> visible) {
  if (scene_ == nullptr) return;
  const DrawList list = draw_list(*scene_, offsets_, visible);
  slots_ = make_buffer(std::span<const DrawSlot>(list.slots));
  commands_ = make_buffer(std::span<const DrawCommand>(list.commands));
  command_count_ = static_cast<std::uint32_t>(list.commands.size());
  drawn_triangles_ = list.triangles;
  const GLuint array = geometry_.name();
  glVertexArrayVertexBuffer(array, 2, slots_.name(), 0, sizeof(DrawSlot));
  glVertexArrayBindingDivisor(array, 2, 1);
  glEnableVertexArrayAttrib(array, 2);
  glVertexArrayAttribIFormat(array, 2, 3, GL_UNSIGNED_INT, 0);
  glVertexArrayAttribBinding(array, 2, 2);
}

void Renderer::ensure_normals() {
  if (normals_ || scene_ == nullptr) return;
  const SmoothNormals normals = smooth_normals(*scene_, offsets_);
  normals_ = make_buffer(std::span<const std::uint32_t>(normals.vertices));
  smooth_ = make_buffer(std::span<const std::uint32_t>(normals.smooth));
  buffer_bytes_ += (normals.vertices.size() + normals.smooth.size()) * sizeof(std::uint32_t);
  const GLuint array = geometry_.name();
  glVertexArrayVertexBuffer(array, 1, normals_.name(), 0, sizeof(std::uint32_t));
  glEnableVertexArrayAttrib(array, 1);
  glVertexArrayAttribFormat(array, 1, 2, GL_SHORT, GL_TRUE, 0);
  glVertexArrayAttribBinding(array, 1, 1);
}

void Renderer::resize(const Resolution& resolution, int samples) {
  GLint most = 1;
  glGetIntegerv(GL_MAX_SAMPLES, &most);
  samples = std::clamp(samples, 1, std::max(most, 1));
  if (target_ && resolution.width == resolution_.width && resolution.height == resolution_.height &&
      samples == samples_)
    return;
  GLint largest = 0;
  glGetIntegerv(GL_MAX_RENDERBUFFER_SIZE, &largest);
  if (std::max(resolution.width, resolution.height) > largest)
    throw Error(ErrorKind::limit,
                "a picture of " + std::to_string(resolution.width) + " x " + std::to_string(resolution.height) +
                    " pixels is too large for this OpenGL",
                {}, "at most " + std::to_string(largest) + " a side are possible");
  resolution_ = resolution;
  samples_ = samples;
  make_targets();
}

void Renderer::make_targets() {
  const auto [width, height] = resolution_;
  // Old ones go first.
  blended_ = Framebuffer();
  resolved_blended_ = Framebuffer();
  resolved_blended_alpha_ = Framebuffer();
  accumulated_ = Renderbuffer();
  revealage_ = Renderbuffer();
  id_target_ = Framebuffer();
  const int samples = samples_ > 1 ? samples_ : 0;
  color_ = make_renderbuffer(GL_SRGB8_ALPHA8, width, height, samples);
  depth_ = make_renderbuffer(GL_DEPTH_COMPONENT32F, width, height, samples);
  target_ = make_framebuffer();
  glNamedFramebufferRenderbuffer(target_.name(), GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, color_.name());
  glNamedFramebufferRenderbuffer(target_.name(), GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER, depth_.name());
  check_complete(target_);
  resolved_color_ = make_texture(GL_TEXTURE_2D);
  glTextureStorage2D(resolved_color_.name(), 1, GL_SRGB8_ALPHA8, width, height);
  resolved_ = make_framebuffer();
  glNamedFramebufferTexture(resolved_.name(), GL_COLOR_ATTACHMENT0, resolved_color_.name(), 0);
  check_complete(resolved_);
  check_gl("making the picture");
}

void Renderer::make_id_target() {
  if (id_target_) return;
  const auto [width, height] = resolution_;
  id_color_ = make_renderbuffer(GL_RG32UI, width, height, 0);
  id_depth_ = make_renderbuffer(GL_DEPTH_COMPONENT32F, width, height, 0);
  id_target_ = make_framebuffer();
  glNamedFramebufferRenderbuffer(id_target_.name(), GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, id_color_.name());
  glNamedFramebufferRenderbuffer(id_target_.name(), GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER, id_depth_.name());
  check_complete(id_target_);
}

const Program& Renderer::program(const std::string& defines) {
  const auto [entry, fresh] = programs_.try_emplace(defines);
  if (fresh) {
    try {
      entry->second = make_program(shaders::scene_vertex, shaders::scene_fragment, defines);
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
  const Eigen::Matrix4f clip_from_eye = (camera.projection(aspect, bounds_) * view).cast<float>();
  std::memcpy(frame.clip_from_eye, clip_from_eye.data(), sizeof(frame.clip_from_eye));
  const Eigen::Vector3d eye = camera.eye();
  for (int i = 0; i < 3; ++i) {
    const auto [high, low] = split(eye[i]);
    frame.eye_high[i] = high;
    frame.eye_low[i] = low;
  }
  // Without a plane, nothing lies beyond it.
  frame.clip_plane[3] = 1;
  if (settings.clip)
    store(frame.clip_plane, settings.clip->normal, settings.clip->offset_in(bounds_) - settings.clip->normal.dot(eye));
  store(frame.forward, camera.forward(), camera.orthographic ? 1 : 0);
  store(frame.up, camera.up.normalized(), static_cast<double>(settings.opacity));
  store(frame.key_light, key_light(camera));
  frame.choice[0] = static_cast<std::uint32_t>(settings.color);
  frame.choice[1] = (settings.back_faces ? 1U : 0U) | (settings.clip && settings.caps ? 2U : 0U) |
                    (settings.fill == Fill::wireframe ? 4U : 0U);
  frame.choice[2] = selected_ ? *selected_ + 1 : 0;
  frame.choice[3] = static_cast<std::uint32_t>(std::min<std::uint64_t>(device_triangles_, kNone));
  frame.tables[0] = material_entries_;
  frame.tables[1] = distinct_entries_;
  glNamedBufferSubData(frame_.name(), 0, sizeof(frame), &frame);
}

void Renderer::draw_scene() const {
  if (command_count_ == 0) return;
  glBindBufferBase(GL_UNIFORM_BUFFER, 0, frame_.name());
  glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, instances_.name());
  glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 1, colors_.name());
  if (smooth_) glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 2, smooth_.name());
  glBindVertexArray(geometry_.name());
  glBindBuffer(GL_DRAW_INDIRECT_BUFFER, commands_.name());
  glMultiDrawElementsIndirect(GL_TRIANGLES, GL_UNSIGNED_INT, nullptr, static_cast<GLsizei>(command_count_), 0);
}

void Renderer::draw(const Camera& camera, const Settings& settings, std::optional<ForeignImage> image) {
  const auto [width, height] = resolution_;
  glBindFramebuffer(GL_FRAMEBUFFER, target_.name());
  glViewport(0, 0, width, height);
  glDisable(GL_SCISSOR_TEST);
  glDisable(GL_CULL_FACE);
  glDisable(GL_BLEND);
  glEnable(GL_MULTISAMPLE);
  glEnable(GL_FRAMEBUFFER_SRGB);
  glClipControl(GL_LOWER_LEFT, GL_ZERO_TO_ONE);
  glClearColor(0, 0, 0, 0);
  glClearDepth(0);
  glDepthMask(GL_TRUE);
  glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
  glDisable(GL_DEPTH_TEST);
  draw_background(settings);
  if (image) {
    draw_image(*image);
  } else if (scene_ != nullptr && command_count_ > 0) {
    set_frame(camera, settings);
    if (settings.smooth && settings.fill == Fill::surface) ensure_normals();
    glEnable(GL_DEPTH_TEST);
    glDepthFunc(GL_GREATER);
    if (settings.clip) glEnable(GL_CLIP_DISTANCE0);
    if (settings.opacity < 1 && settings.fill == Fill::surface)
      draw_blended(settings);
    else
      draw_surfaces(settings);
    glDisable(GL_CLIP_DISTANCE0);
    glDisable(GL_DEPTH_TEST);
  }
  draw_overlay(make_overlay(camera, settings, width, height));
  glBlitNamedFramebuffer(target_.name(), resolved_.name(), 0, 0, width, height, 0, 0, width, height,
                         GL_COLOR_BUFFER_BIT, GL_NEAREST);
  // As others expect it.
  glDisable(GL_FRAMEBUFFER_SRGB);
  glClipControl(GL_LOWER_LEFT, GL_NEGATIVE_ONE_TO_ONE);
  glDepthFunc(GL_LESS);
  glBindVertexArray(0);
  glBindFramebuffer(GL_FRAMEBUFFER, 0);
  check_gl("drawing");
}

void Renderer::draw_background(const Settings& settings) {
  if (settings.background.transparent) return;
  glUseProgram(background_.name());
  glUniform3fv(0, 1, settings.background.top.data());
  glUniform3fv(1, 1, settings.background.bottom.data());
  glBindVertexArray(empty_.name());
  glDrawArrays(GL_TRIANGLES, 0, 3);
}

void Renderer::draw_image(const ForeignImage& image) {
  if (!image_) image_ = make_program(shaders::screen_vertex, shaders::image_fragment);
  glUseProgram(image_.name());
  glUniform2f(0, static_cast<float>(resolution_.width), static_cast<float>(resolution_.height));
  glBindTextureUnit(0, image.texture);
  glBindVertexArray(empty_.name());
  glEnable(GL_BLEND);
  glBlendFuncSeparate(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA, GL_ONE, GL_ONE_MINUS_SRC_ALPHA);
  glDrawArrays(GL_TRIANGLES, 0, 3);
  glDisable(GL_BLEND);
}

void Renderer::draw_surfaces(const Settings& settings) {
  const bool lines = settings.fill == Fill::wireframe;
  glUseProgram(program(settings.smooth && !lines ? "#define SMOOTH\n" : "").name());
  if (lines) glPolygonMode(GL_FRONT_AND_BACK, GL_LINE);
  if (settings.edges && !lines) {
    // Surfaces step back a little, so that their own edges win.
    glEnable(GL_POLYGON_OFFSET_FILL);
    glPolygonOffset(-1, -4);
  }
  draw_scene();
  glDisable(GL_POLYGON_OFFSET_FILL);
  if (settings.edges && !lines) {
    glUseProgram(program("#define EDGES\n").name());
    glPolygonMode(GL_FRONT_AND_BACK, GL_LINE);
    glEnable(GL_BLEND);
    glBlendFuncSeparate(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA, GL_ONE, GL_ONE_MINUS_SRC_ALPHA);
    glDepthFunc(GL_GEQUAL);
    draw_scene();
    glDepthFunc(GL_GREATER);
    glDisable(GL_BLEND);
  }
  glPolygonMode(GL_FRONT_AND_BACK, GL_FILL);
}

void Renderer::draw_blended(const Settings& settings) {
  const auto [width, height] = resolution_;
  if (!blended_) {
    if (!composite_) composite_ = make_program(shaders::screen_vertex, shaders::composite_fragment);
    const int samples = samples_ > 1 ? samples_ : 0;
    accumulated_ = make_renderbuffer(GL_RGBA16F, width, height, samples);
    revealage_ = make_renderbuffer(GL_R16F, width, height, samples);
    resolved_accumulated_ = make_texture(GL_TEXTURE_2D);
    glTextureStorage2D(resolved_accumulated_.name(), 1, GL_RGBA16F, width, height);
    resolved_revealage_ = make_texture(GL_TEXTURE_2D);
    glTextureStorage2D(resolved_revealage_.name(), 1, GL_R16F, width, height);
    blended_ = make_framebuffer();
    glNamedFramebufferRenderbuffer(blended_.name(), GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, accumulated_.name());
    glNamedFramebufferRenderbuffer(blended_.name(), GL_COLOR_ATTACHMENT1, GL_RENDERBUFFER, revealage_.name());
    const std::array<GLenum, 2> both{GL_COLOR_ATTACHMENT0, GL_COLOR_ATTACHMENT1};
    glNamedFramebufferDrawBuffers(blended_.name(), 2, both.data());
    resolved_blended_ = make_framebuffer();
    glNamedFramebufferTexture(resolved_blended_.name(), GL_COLOR_ATTACHMENT0, resolved_accumulated_.name(), 0);
    resolved_blended_alpha_ = make_framebuffer();
    glNamedFramebufferTexture(resolved_blended_alpha_.name(), GL_COLOR_ATTACHMENT0, resolved_revealage_.name(), 0);
    check_complete(blended_);
  }
  constexpr std::array<float, 4> kZero{0, 0, 0, 0};
  constexpr std::array<float, 4> kOne{1, 1, 1, 1};
  glBindFramebuffer(GL_FRAMEBUFFER, blended_.name());
  glClearBufferfv(GL_COLOR, 0, kZero.data());
  glClearBufferfv(GL_COLOR, 1, kOne.data());
  glDisable(GL_DEPTH_TEST);
  glEnable(GL_BLEND);
  glBlendFunci(0, GL_ONE, GL_ONE);
  glBlendFunci(1, GL_ZERO, GL_ONE_MINUS_SRC_COLOR);
  glUseProgram(program(settings.smooth ? "#define BLENDED\n#define SMOOTH\n" : "#define BLENDED\n").name());
  draw_scene();
  glNamedFramebufferReadBuffer(blended_.name(), GL_COLOR_ATTACHMENT0);
  glBlitNamedFramebuffer(blended_.name(), resolved_blended_.name(), 0, 0, width, height, 0, 0, width, height,
                         GL_COLOR_BUFFER_BIT, GL_NEAREST);
  glNamedFramebufferReadBuffer(blended_.name(), GL_COLOR_ATTACHMENT1);
  glBlitNamedFramebuffer(blended_.name(), resolved_blended_alpha_.name(), 0, 0, width, height, 0, 0, width, height,
                         GL_COLOR_BUFFER_BIT, GL_NEAREST);
  glBindFramebuffer(GL_FRAMEBUFFER, target_.name());
  glDisable(GL_CLIP_DISTANCE0);
  glUseProgram(composite_.name());
  glBindTextureUnit(0, resolved_accumulated_.name());
  glBindTextureUnit(1, resolved_revealage_.name());
  glBindVertexArray(empty_.name());
  glBlendFuncSeparate(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA, GL_ONE, GL_ONE_MINUS_SRC_ALPHA);
  glDrawArrays(GL_TRIANGLES, 0, 3);
  glDisable(GL_BLEND);
  if (settings.edges) {
    glUseProgram(program("#define EDGES\n").name());
    glPolygonMode(GL_FRONT_AND_BACK, GL_LINE);
    if (settings.clip) glEnable(GL_CLIP_DISTANCE0);
    glEnable(GL_BLEND);
    draw_scene();
    glDisable(GL_BLEND);
    glPolygonMode(GL_FRONT_AND_BACK, GL_FILL);
  }
}

void Renderer::draw_overlay(const Overlay& overlay) {
  if (overlay.empty()) return;
  overlay_buffer_ = make_buffer(std::span<const OverlayVertex>(overlay));
  glVertexArrayVertexBuffer(overlay_array_.name(), 0, overlay_buffer_.name(), 0, sizeof(OverlayVertex));
  glUseProgram(overlay_.name());
  glUniform2f(0, static_cast<float>(resolution_.width), static_cast<float>(resolution_.height));
  glBindVertexArray(overlay_array_.name());
  glEnable(GL_BLEND);
  glBlendFuncSeparate(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA, GL_ONE, GL_ONE_MINUS_SRC_ALPHA);
  glDrawArrays(GL_TRIANGLES, 0, static_cast<GLsizei>(overlay.size()));
  glDisable(GL_BLEND);
}

Image Renderer::read() const {
  const auto [width, height] = resolution_;
  Image image(width, height);
  std::vector<Pixel> rows(image.pixels.size());
  glBindFramebuffer(GL_READ_FRAMEBUFFER, resolved_.name());
  glPixelStorei(GL_PACK_ALIGNMENT, 1);
  glReadPixels(0, 0, width, height, GL_RGBA, GL_UNSIGNED_BYTE, rows.data());
  glBindFramebuffer(GL_READ_FRAMEBUFFER, 0);
  check_gl("reading the picture");
  from_below(rows, resolution_, image.pixels);
  // On a transparent background the samples of an edge were averaged with nothing: divide the coverage out again.
  for (Pixel& pixel : image.pixels) {
    if (pixel[3] == 255 || pixel[3] == 0) continue;
    for (std::size_t c = 0; c < 3; ++c) {
      const double encoded = pixel[c] / 255.0;
      const double light = encoded <= 0.04045 ? encoded / 12.92 : std::pow((encoded + 0.055) / 1.055, 2.4);
      const double whole = std::min(1.0, light * 255.0 / pixel[3]);
      const double result = whole <= 0.0031308 ? 12.92 * whole : 1.055 * std::pow(whole, 1 / 2.4) - 0.055;
      pixel[c] = static_cast<std::uint8_t>(std::lround(result * 255));
    }
  }
  return image;
}

void Renderer::present(GLuint framebuffer, int width, int height) const {
  const bool same = width == resolution_.width && height == resolution_.height;
  glBlitNamedFramebuffer(resolved_.name(), framebuffer, 0, 0, resolution_.width, resolution_.height, 0, 0, width,
                         height, GL_COLOR_BUFFER_BIT, same ? GL_NEAREST : GL_LINEAR);
}

void Renderer::finish() const {
  glFinish();
}

void Renderer::draw_ids(const Camera& camera, const Settings& settings, std::optional<std::array<int, 2>> pixel) {
  make_id_target();
  glBindFramebuffer(GL_FRAMEBUFFER, id_target_.name());
  glViewport(0, 0, resolution_.width, resolution_.height);
  if (pixel) {
    glEnable(GL_SCISSOR_TEST);
    glScissor((*pixel)[0], resolution_.height - 1 - (*pixel)[1], 1, 1);
  }
  glDisable(GL_BLEND);
  glDisable(GL_CULL_FACE);
  glClipControl(GL_LOWER_LEFT, GL_ZERO_TO_ONE);
  constexpr std::array<GLuint, 4> kNothing{0, 0, 0, 0};
  constexpr float kFar = 0;
  glDepthMask(GL_TRUE);
  glClearBufferuiv(GL_COLOR, 0, kNothing.data());
  glClearBufferfv(GL_DEPTH, 0, &kFar);
  set_frame(camera, settings);
  glEnable(GL_DEPTH_TEST);
  glDepthFunc(GL_GREATER);
  if (settings.clip) glEnable(GL_CLIP_DISTANCE0);
  glUseProgram(program("#define IDS\n").name());
  draw_scene();
  glDisable(GL_CLIP_DISTANCE0);
  glDisable(GL_DEPTH_TEST);
  glDisable(GL_SCISSOR_TEST);
  glDepthFunc(GL_LESS);
  glClipControl(GL_LOWER_LEFT, GL_NEGATIVE_ONE_TO_ONE);
  glBindVertexArray(0);
}

std::optional<Picked> Renderer::pick(const Camera& camera, const Settings& settings, int x, int y) {
  if (scene_ == nullptr || x < 0 || y < 0 || x >= resolution_.width || y >= resolution_.height) return std::nullopt;
  draw_ids(camera, settings, std::array<int, 2>{x, y});
  std::array<std::uint32_t, 2> id{};
  glReadPixels(x, resolution_.height - 1 - y, 1, 1, GL_RG_INTEGER, GL_UNSIGNED_INT, id.data());
  glBindFramebuffer(GL_FRAMEBUFFER, 0);
  check_gl("picking");
  if (id[0] == 0) return std::nullopt;
  return Picked{id[0] - 1, id[1]};
}

IdImage Renderer::ids(const Camera& camera, const Settings& settings) {
  const auto [width, height] = resolution_;
  IdImage image{width, height, {}};
  image.ids.resize(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  if (scene_ == nullptr) return image;
  draw_ids(camera, settings, std::nullopt);
  std::vector<std::array<std::uint32_t, 2>> rows(image.ids.size());
  glPixelStorei(GL_PACK_ALIGNMENT, 1);
  glReadPixels(0, 0, width, height, GL_RG_INTEGER, GL_UNSIGNED_INT, rows.data());
  glBindFramebuffer(GL_FRAMEBUFFER, 0);
  check_gl("reading the solids under the pixels");
  from_below(rows, resolution_, image.ids);
  return image;
}

}  // namespace raylift::viewer
