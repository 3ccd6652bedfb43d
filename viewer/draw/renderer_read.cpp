// SPDX-License-Identifier: Apache-2.0
// What is read back from the renderer: the image, and the solids under its pixels.
#include <algorithm>
#include <cmath>

#include "draw/renderer.h"
#include "model/color_scale.h"

namespace raylift::viewer {
namespace {

/// Flips rows from OpenGL's order, bottom to top.
template <class T>
void from_below(const std::vector<T>& rows, const Resolution& size, std::vector<T>& upright) {
  for (int y = 0; y < size.height; ++y)
    std::copy_n(rows.begin() + static_cast<std::ptrdiff_t>(size.height - 1 - y) * size.width, size.width,
                upright.begin() + static_cast<std::ptrdiff_t>(y) * size.width);
}

}  // namespace

Image Renderer::read() const {
  const auto [width, height] = resolution_;
  Image image(width, height);
  std::vector<Pixel> rows(image.pixels.size());
  glBindFramebuffer(GL_READ_FRAMEBUFFER, image_.resolved.name());
  glPixelStorei(GL_PACK_ALIGNMENT, 1);
  glReadPixels(0, 0, width, height, GL_RGBA, GL_UNSIGNED_BYTE, rows.data());
  glBindFramebuffer(GL_READ_FRAMEBUFFER, 0);
  check_gl("reading the image");
  from_below(rows, resolution_, image.pixels);
  // On a transparent background the mean over an edge's samples includes empty ones: divide by the coverage.
  for (Pixel& pixel : image.pixels) {
    if (pixel[3] == 255 || pixel[3] == 0) continue;
    for (std::size_t c = 0; c < 3; ++c) {
      const double light = color_scale::to_linear(pixel[c] / 255.0) * 255.0 / pixel[3];
      pixel[c] = static_cast<std::uint8_t>(std::lround(color_scale::to_srgb(light) * 255));
    }
  }
  return image;
}

void Renderer::present(GLuint framebuffer, int width, int height) const {
  const bool same = width == resolution_.width && height == resolution_.height;
  glBlitNamedFramebuffer(image_.resolved.name(), framebuffer, 0, 0, resolution_.width, resolution_.height, 0, 0, width,
                         height, GL_COLOR_BUFFER_BIT, same ? GL_NEAREST : GL_LINEAR);
}

void Renderer::finish() const {
  glFinish();
}

void Renderer::draw_ids(const Camera& camera, const Settings& settings, std::optional<std::array<int, 2>> pixel,
                        bool photons) {
  if (!ids_.target) ids_ = IdTarget(resolution_);
  glBindFramebuffer(GL_FRAMEBUFFER, ids_.target.name());
  glViewport(0, 0, resolution_.width, resolution_.height);
  if (pixel) {
    glEnable(GL_SCISSOR_TEST);
    glScissor((*pixel)[0], resolution_.height - 1 - (*pixel)[1], 1, 1);
  }
  glDisable(GL_BLEND);
  glDisable(GL_CULL_FACE);
  glClipControl(GL_LOWER_LEFT, GL_ZERO_TO_ONE);
  glDepthMask(GL_TRUE);
  ids_.clear();
  set_frame(camera, settings);
  Settings whole = settings;
  whole.detail = 0;
  scene_.look(sight_of(camera, whole, scene_.bounds(), resolution_, pixel));
  glEnable(GL_DEPTH_TEST);
  glDepthFunc(GL_GREATER);
  enable_clipping(settings);
  glUseProgram(program("#define IDS\n").name());
  for (const Look look : {Look::solid, Look::edged, Look::glass}) draw_scene(look);
  // What is between lines can be clicked.
  draw_lines(settings, Look::lines, "#define IDS\n");
  draw_caps("#define IDS\n");
  disable_clipping();
  if (photons) {
    glBindBufferBase(GL_UNIFORM_BUFFER, 0, frame_.name());
    photons_.draw_ids(settings.photons, resolution_.width, resolution_.height);
  }
  glDisable(GL_DEPTH_TEST);
  glDisable(GL_SCISSOR_TEST);
  glDepthFunc(GL_LESS);
  glClipControl(GL_LOWER_LEFT, GL_NEGATIVE_ONE_TO_ONE);
  glBindVertexArray(0);
}

std::array<std::uint32_t, 2> Renderer::id_at(int x, int y, const char* what) const {
  std::array<std::uint32_t, 2> id{};
  glReadPixels(x, resolution_.height - 1 - y, 1, 1, GL_RG_INTEGER, GL_UNSIGNED_INT, id.data());
  glBindFramebuffer(GL_FRAMEBUFFER, 0);
  check_gl(what);
  return id;
}

std::optional<Picked> Renderer::pick(const Camera& camera, const Settings& settings, int x, int y) {
  if (!scene_.has_scene() || x < 0 || y < 0 || x >= resolution_.width || y >= resolution_.height) return std::nullopt;
  draw_ids(camera, settings, std::array<int, 2>{x, y});
  const std::array<std::uint32_t, 2> id = id_at(x, y, "picking");
  if (id[0] == 0) return std::nullopt;
  return Picked{id[0] - 1, id[1]};
}

std::optional<PickedPhoton> Renderer::pick_photon(const Camera& camera, const Settings& settings, int x, int y) {
  if (x < 0 || y < 0 || x >= resolution_.width || y >= resolution_.height || !photons_.draws(settings.photons))
    return std::nullopt;
  draw_ids(camera, settings, std::array<int, 2>{x, y}, true);
  const std::array<std::uint32_t, 2> id = id_at(x, y, "picking photons");
  if (id[0] != kStepId && id[0] != kPointId) return std::nullopt;
  return PickedPhoton{id[0] == kPointId, id[1]};
}

IdImage Renderer::ids(const Camera& camera, const Settings& settings) {
  const auto [width, height] = resolution_;
  IdImage image{width, height, {}};
  image.ids.resize(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  if (!scene_.has_scene()) return image;
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
