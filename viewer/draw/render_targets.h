// SPDX-License-Identifier: Apache-2.0
// The framebuffers that the renderer draws into, each with its attachments. Needs a current context.
#pragma once

#include "draw/gl_objects.h"
#include "model/settings.h"

namespace raylift::viewer {

/// An image that the renderer shows in place of the scene: sRGB in GL_RGBA8, the lowest row first, alpha not multiplied
/// in.
struct ForeignImage {
  GLuint texture;
};

/// The image: colour and depth, multisampled, and the colour resolved to one sample a pixel.
struct ImageTarget {
  ImageTarget() = default;
  ImageTarget(const Resolution& size, int samples);
  void resolve(const Resolution& size) const;

  Renderbuffer color, depth;
  Framebuffer target;
  Texture resolved_color;
  Framebuffer resolved;
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

/// The scene as it is without light, of one sample a pixel, and what light is drawn into over it.
struct KeptTarget {
  KeptTarget() = default;
  /// `image`: whose colours light is drawn over.
  KeptTarget(const Resolution& size, const ImageTarget& image);

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

}  // namespace raylift::viewer
