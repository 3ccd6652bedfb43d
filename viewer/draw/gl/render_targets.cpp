// SPDX-License-Identifier: Apache-2.0
#include "draw/gl/render_targets.h"

#include <raylift/geometry/error.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>

#include "model/colors/color_scale.h"

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

constexpr float kFarthest = 0;  // depth is reversed

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

}  // namespace

void blit(const Framebuffer& from, const Framebuffer& to, const Resolution& size, GLbitfield attachments) {
  glBlitNamedFramebuffer(from.name(), to.name(), 0, 0, size.width, size.height, 0, 0, size.width, size.height,
                         attachments, GL_NEAREST);
}

void read_pixels(const Framebuffer& from, const Resolution& size, GLenum format, GLenum type, std::size_t bytes,
                 void* pixels) {
  glBindFramebuffer(GL_READ_FRAMEBUFFER, from.name());
  glPixelStorei(GL_PACK_ALIGNMENT, 1);
  glReadPixels(0, 0, size.width, size.height, format, type, pixels);
  glBindFramebuffer(GL_READ_FRAMEBUFFER, 0);
  check_gl("reading an image");
  // OpenGL's lowest row comes first.
  const std::size_t row = static_cast<std::size_t>(size.width) * bytes;
  auto* const rows = static_cast<std::byte*>(pixels);
  for (std::size_t low = 0, high = static_cast<std::size_t>(size.height) - 1; low < high; ++low, --high)
    std::swap_ranges(rows + low * row, rows + (low + 1) * row, rows + high * row);
}

Image read_image(const ImageTarget& image) {
  Image read(image.size.width, image.size.height);
  read_pixels(image.resolved, image.size, GL_RGBA, GL_UNSIGNED_BYTE, sizeof(Pixel), read.pixels.data());
  // On a transparent background the mean over an edge's samples includes empty ones: divide by the coverage.
  for (Pixel& pixel : read.pixels) {
    if (pixel[3] == 255 || pixel[3] == 0) continue;
    for (std::size_t c = 0; c < 3; ++c) {
      const double light = color_scale::to_linear(pixel[c] / 255.0) * 255.0 / pixel[3];
      pixel[c] = static_cast<std::uint8_t>(std::lround(color_scale::to_srgb(light) * 255));
    }
  }
  return read;
}

ImageTarget make_image_target(const Resolution& size, int samples) {
  GLint largest = 0;
  glGetIntegerv(GL_MAX_RENDERBUFFER_SIZE, &largest);
  if (std::max(size.width, size.height) > largest)
    throw Error(ErrorKind::limit,
                "an image of " + std::to_string(size.width) + " x " + std::to_string(size.height) +
                    " pixels is too large for this OpenGL",
                {}, "at most " + std::to_string(largest) + " a side are possible, and fewer with more samples");
  // How large an image may be in all, drivers don't report: it is found by trying.
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

ImageTarget::ImageTarget(const Resolution& pixels, int samples_each)
    : size(pixels), samples(samples_each), target(make_framebuffer()), resolved(make_framebuffer()) {
  color = attach(target, GL_COLOR_ATTACHMENT0, GL_SRGB8_ALPHA8, size, samples);
  depth = attach(target, GL_DEPTH_ATTACHMENT, GL_DEPTH_COMPONENT32F, size, samples);
  check_complete(target);
  resolved_color = attach_texture(resolved, GL_SRGB8_ALPHA8, size);
  check_complete(resolved);
  check_gl("making the image");
}

void ImageTarget::bind() const {
  glBindFramebuffer(GL_FRAMEBUFFER, target.name());
  glViewport(0, 0, size.width, size.height);
}

void ImageTarget::resolve() const {
  blit(target, resolved, size, GL_COLOR_BUFFER_BIT);
}

const BlendTarget& ImageTarget::blend_target() {
  if (!blended.target) blended = BlendTarget(size, samples, depth);
  return blended;
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
  blit(target, resolved, size, GL_COLOR_BUFFER_BIT);
  glNamedFramebufferReadBuffer(target.name(), GL_COLOR_ATTACHMENT1);
  blit(target, resolved_alpha, size, GL_COLOR_BUFFER_BIT);
}

KeptTarget::KeptTarget(const ImageTarget& image)
    : solid(make_framebuffer()), whole(make_framebuffer()), light(make_framebuffer()), lit_only(make_framebuffer()) {
  const Resolution& size = image.size;
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
