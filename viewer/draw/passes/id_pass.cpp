// SPDX-License-Identifier: Apache-2.0
#include "draw/passes/id_pass.h"

#include <limits>

#include "draw/gl/gl_state.h"

namespace raylift::viewer {

void IdPass::draw(const Canvas& canvas, std::optional<std::array<int, 2>> pixel, PhotonLayer* photons) {
  const Resolution& size = canvas.target.size;
  if (!ids_.target) ids_ = IdTarget(size);
  glBindFramebuffer(GL_FRAMEBUFFER, ids_.target.name());
  glViewport(0, 0, size.width, size.height);
  if (pixel) {
    glEnable(GL_SCISSOR_TEST);
    glScissor((*pixel)[0], size.height - 1 - (*pixel)[1], 1, 1);
  }
  glDisable(GL_BLEND);
  glDisable(GL_CULL_FACE);
  glClipControl(GL_LOWER_LEFT, GL_ZERO_TO_ONE);
  glDepthMask(GL_TRUE);
  ids_.clear();
  canvas.set_frame();
  Settings whole = canvas.settings;
  whole.detail = 0;
  canvas.scene.look(sight_of(canvas.camera, whole, canvas.scene.bounds(), size, pixel));
  glEnable(GL_DEPTH_TEST);
  glDepthFunc(GL_GREATER);
  enable_clipping(canvas.settings);
  // What is between lines can be clicked, except between feature edges.
  canvas.program.use("#define IDS\n");
  for (const Look look : {Look::solid, Look::edged, Look::glass}) canvas.draw(look);
  canvas.draw_lines(Look::lines, "#define IDS\n");
  canvas.draw_caps("#define IDS\n");
  disable_clipping();
  if (photons != nullptr) {
    canvas.program.bind_frame();
    photons->set_clipping(canvas.settings);
    photons->draw_ids(canvas.settings.photons, size.width, size.height);
  }
  glDisable(GL_DEPTH_TEST);
  glDisable(GL_SCISSOR_TEST);
  glDepthFunc(GL_LESS);
  glClipControl(GL_LOWER_LEFT, GL_NEGATIVE_ONE_TO_ONE);
  glBindVertexArray(0);
}

std::array<std::uint32_t, 2> IdPass::id_at(const Canvas& canvas, int x, int y, PhotonLayer* photons) {
  std::array<std::uint32_t, 2> id{};
  const Resolution& size = canvas.target.size;
  if (x < 0 || y < 0 || x >= size.width || y >= size.height) return id;
  draw(canvas, std::array<int, 2>{x, y}, photons);
  glReadPixels(x, size.height - 1 - y, 1, 1, GL_RG_INTEGER, GL_UNSIGNED_INT, id.data());
  glBindFramebuffer(GL_FRAMEBUFFER, 0);
  check_gl("picking");
  return id;
}

std::optional<Picked> IdPass::pick(const Canvas& canvas, int x, int y) {
  if (!canvas.scene.has_scene()) return std::nullopt;
  const std::array<std::uint32_t, 2> id = id_at(canvas, x, y);
  if (id[0] == 0) return std::nullopt;
  return Picked{id[0] - 1, id[1]};
}

std::optional<PickedPhoton> IdPass::pick_photon(const Canvas& canvas, PhotonLayer& photons, int x, int y) {
  if (!photons.draws(canvas.settings.photons)) return std::nullopt;
  const std::array<std::uint32_t, 2> id = id_at(canvas, x, y, &photons);
  if (id[0] != kStepId && id[0] != kPointId) return std::nullopt;
  return PickedPhoton{id[0] == kPointId, id[1]};
}

DepthImage IdPass::depths(const Canvas& canvas) {
  const Resolution& size = canvas.target.size;
  draw(canvas, std::nullopt);
  glBindFramebuffer(GL_FRAMEBUFFER, 0);
  DepthImage image{size.width, size.height, read_pixels<float>(ids_.target, size, GL_DEPTH_COMPONENT, GL_FLOAT), {}};
  for (const auto& id : read_pixels<std::array<std::uint32_t, 2>>(ids_.target, size, GL_RG_INTEGER, GL_UNSIGNED_INT))
    image.solids.push_back(id[0]);
  // From reversed depth to lengths along the view.
  const Eigen::Matrix4d p =
      canvas.camera.projection(static_cast<double>(size.width) / size.height, canvas.scene.bounds());
  const bool orthographic = canvas.camera.orthographic;
  for (std::size_t i = 0; i != image.depths.size(); ++i) {
    const auto z = static_cast<double>(image.depths[i]);
    image.depths[i] = image.solids[i] == 0 ? std::numeric_limits<float>::infinity()
                                           : static_cast<float>(orthographic ? (p(2, 3) - z) / p(2, 2) : p(2, 3) / z);
  }
  return image;
}

IdImage IdPass::read(const Canvas& canvas) {
  const Resolution& size = canvas.target.size;
  if (!canvas.scene.has_scene())
    return {size.width, size.height, std::vector<std::array<std::uint32_t, 2>>(pixel_count(size))};
  draw(canvas, std::nullopt);
  glBindFramebuffer(GL_FRAMEBUFFER, 0);
  return {size.width, size.height,
          read_pixels<std::array<std::uint32_t, 2>>(ids_.target, size, GL_RG_INTEGER, GL_UNSIGNED_INT)};
}

}  // namespace raylift::viewer
