// SPDX-License-Identifier: Apache-2.0
// The framebuffers that the renderer draws into, each with its attachments. Needs a current context.
#pragma once

#include <cstddef>
#include <vector>

#include "cli/image.h"
#include "draw/gl/gl_objects.h"
#include "model/settings/settings.h"

namespace raylift::viewer {

/// An image that the renderer shows in place of the scene: sRGB in GL_RGBA8, the lowest row first, alpha not multiplied
/// in.
struct ForeignImage {
  GLuint texture;
};

/// The weighted sums of transparency, multisampled and resolved.
struct BlendTarget {
  BlendTarget() = default;
  /// `depth`: of the image, which hides what is transparent, and must have the same size and samples.
  BlendTarget(const Resolution& size, int samples, const Renderbuffer& depth);
  void clear() const;
  void resolve(const Resolution& size) const;

  Renderbuffer accumulated, revealage;
  Framebuffer target;
  Texture resolved_accumulated, resolved_revealage;
  Framebuffer resolved, resolved_alpha;
};

/// The image: colour and depth, multisampled, and the colour resolved to one sample a pixel.
struct ImageTarget {
  ImageTarget() = default;
  ImageTarget(const Resolution& pixels, int samples_each);
  /// Binds the framebuffer, and sets the viewport.
  void bind() const;
  void resolve() const;
  /// Sums of transparency that share the depth, made by the first call.
  [[nodiscard]] const BlendTarget& blend_target();

  Resolution size;
  int samples = 1;
  Renderbuffer color, depth;
  Framebuffer target;
  Texture resolved_color;
  Framebuffer resolved;
  BlendTarget blended;
};

/// An image target; where the driver allows none so large, Error(limit) names a size that is possible.
[[nodiscard]] ImageTarget make_image_target(const Resolution& size, int samples);
/// The resolved image. Colours at edges over a transparent background are those of the covered samples.
[[nodiscard]] Image read_image(const ImageTarget& image);

/// The scene as it is without light, of one sample a pixel, and what light is drawn into over it.
struct KeptTarget {
  KeptTarget() = default;
  /// `image`: whose colours light is drawn over, of one sample a pixel.
  explicit KeptTarget(const ImageTarget& image);

  Renderbuffer solid_color, whole_color;
  Texture solid_depth, light_depth, free_depth;
  Framebuffer solid;     ///< colour and depth without what is faint
  Framebuffer whole;     ///< colour with it
  Framebuffer light;     ///< the image's colour, and the depth of light as well
  Framebuffer lit_only;  ///< the image's colour, and a depth that nothing passes where there is no light
};

/// Instance + 1 (0: none) and triangle of each pixel.
struct IdTarget {
  IdTarget() = default;
  explicit IdTarget(const Resolution& size);
  void clear() const;

  Renderbuffer ids, depth;
  Framebuffer target;
};

/// The pixels of the selected solid: 1, others 0.
struct MaskTarget {
  MaskTarget() = default;
  explicit MaskTarget(const Resolution& size);
  void clear() const;

  Texture mask;
  Framebuffer target;
};

/// Copies attachments between framebuffers of the same size.
void blit(const Framebuffer& from, const Framebuffer& to, const Resolution& size, GLbitfield attachments);

[[nodiscard]] inline std::size_t pixel_count(const Resolution& size) {
  return static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height);
}
/// Reads a framebuffer's pixels into `pixels`, pixel_count(size) of `bytes` each, rows from the top.
void read_pixels(const Framebuffer& from, const Resolution& size, GLenum format, GLenum type, std::size_t bytes,
                 void* pixels);
template <class Pixel>
[[nodiscard]] std::vector<Pixel> read_pixels(const Framebuffer& from, const Resolution& size, GLenum format,
                                             GLenum type) {
  std::vector<Pixel> pixels(pixel_count(size));
  read_pixels(from, size, format, type, sizeof(Pixel), pixels.data());
  return pixels;
}

}  // namespace raylift::viewer
