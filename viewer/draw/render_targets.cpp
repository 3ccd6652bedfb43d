// SPDX-License-Identifier: Apache-2.0
#include "draw/render_targets.h"

#include <array>

namespace raylift::viewer {
namespace {

/// Renderbuffers of one sample are not multisampled ones.
Renderbuffer attach(const Framebuffer& target, GLenum place, GLenum format, const Resolution& size, int samples) {
  Renderbuffer buffer = make_renderbuffer(format, size.width, size.height, samples > 1 ? samples : 0);
  glNamedFramebufferRenderbuffer(target.name(), place, GL_RENDERBUFFER, buffer.name());
  return buffer;
}

Texture attach_texture(const Framebuffer& target, GLenum format, const Resolution& size,
                       GLenum place = GL_COLOR_ATTACHMENT0) {
  Texture texture = make_texture(GL_TEXTURE_2D);
  glTextureStorage2D(texture.name(), 1, format, size.width, size.height);
  glNamedFramebufferTexture(target.name(), place, texture.name(), 0);
  return texture;
}

void copy(const Framebuffer& from, const Framebuffer& to, const Resolution& size) {
  glBlitNamedFramebuffer(from.name(), to.name(), 0, 0, size.width, size.height, 0, 0, size.width, size.height,
                         GL_COLOR_BUFFER_BIT, GL_NEAREST);
}

constexpr float kFarthest = 0;  // depth is reversed

}  // namespace

ImageTarget::ImageTarget(const Resolution& size, int samples)
    : target(make_framebuffer()), resolved(make_framebuffer()) {
  color = attach(target, GL_COLOR_ATTACHMENT0, GL_SRGB8_ALPHA8, size, samples);
  depth = attach(target, GL_DEPTH_ATTACHMENT, GL_DEPTH_COMPONENT32F, size, samples);
  check_complete(target);
  resolved_color = attach_texture(resolved, GL_SRGB8_ALPHA8, size);
  check_complete(resolved);
  check_gl("making the image");
}

void ImageTarget::resolve(const Resolution& size) const {
  copy(target, resolved, size);
}

BlendTarget::BlendTarget(const Resolution& size, int samples, const Renderbuffer& depth)
    : target(make_framebuffer()), resolved(make_framebuffer()), resolved_alpha(make_framebuffer()) {
  accumulated = attach(target, GL_COLOR_ATTACHMENT0, GL_RGBA16F, size, samples);
  revealage = attach(target, GL_COLOR_ATTACHMENT1, GL_R16F, size, samples);
  glNamedFramebufferRenderbuffer(target.name(), GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER, depth.name());
  const std::array<GLenum, 2> both{GL_COLOR_ATTACHMENT0, GL_COLOR_ATTACHMENT1};
  glNamedFramebufferDrawBuffers(target.name(), 2, both.data());
  resolved_accumulated = attach_texture(resolved, GL_RGBA16F, size);
  resolved_revealage = attach_texture(resolved_alpha, GL_R16F, size);
  check_complete(target);
}

void BlendTarget::clear() const {
  constexpr std::array<float, 4> kZero{0, 0, 0, 0}, kOne{1, 1, 1, 1};
  glClearBufferfv(GL_COLOR, 0, kZero.data());
  glClearBufferfv(GL_COLOR, 1, kOne.data());
}

void BlendTarget::resolve(const Resolution& size) const {
  glNamedFramebufferReadBuffer(target.name(), GL_COLOR_ATTACHMENT0);
  copy(target, resolved, size);
  glNamedFramebufferReadBuffer(target.name(), GL_COLOR_ATTACHMENT1);
  copy(target, resolved_alpha, size);
}

KeptTarget::KeptTarget(const Resolution& size, const ImageTarget& image)
    : solid(make_framebuffer()), whole(make_framebuffer()), light(make_framebuffer()), lit_only(make_framebuffer()) {
  solid_color = attach(solid, GL_COLOR_ATTACHMENT0, GL_SRGB8_ALPHA8, size, 1);
  whole_color = attach(whole, GL_COLOR_ATTACHMENT0, GL_SRGB8_ALPHA8, size, 1);
  solid_depth = attach_texture(solid, GL_DEPTH_COMPONENT32F, size, GL_DEPTH_ATTACHMENT);
  light_depth = attach_texture(light, GL_DEPTH_COMPONENT32F, size, GL_DEPTH_ATTACHMENT);
  free_depth = attach_texture(lit_only, GL_DEPTH_COMPONENT32F, size, GL_DEPTH_ATTACHMENT);
  for (const Framebuffer* over : {&light, &lit_only})
    glNamedFramebufferRenderbuffer(over->name(), GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, image.color.name());
  for (const Framebuffer* made : {&solid, &whole, &light, &lit_only}) check_complete(*made);
  check_gl("making room for the scene without light");
}

IdTarget::IdTarget(const Resolution& size) : target(make_framebuffer()) {
  ids = attach(target, GL_COLOR_ATTACHMENT0, GL_RG32UI, size, 1);
  depth = attach(target, GL_DEPTH_ATTACHMENT, GL_DEPTH_COMPONENT32F, size, 1);
  check_complete(target);
}

MaskTarget::MaskTarget(const Resolution& size) : target(make_framebuffer()) {
  mask = attach_texture(target, GL_R8, size);
  check_complete(target);
}

void MaskTarget::clear() const {
  constexpr std::array<float, 4> kNothing{0, 0, 0, 0};
  glClearBufferfv(GL_COLOR, 0, kNothing.data());
}

void IdTarget::clear() const {
  constexpr std::array<GLuint, 4> kNothing{0, 0, 0, 0};
  glClearBufferuiv(GL_COLOR, 0, kNothing.data());
  glClearBufferfv(GL_DEPTH, 0, &kFarthest);
}

}  // namespace raylift::viewer
