// SPDX-License-Identifier: Apache-2.0
#include <GL/glew.h>
#include <raylift/geometry/error.h>
#include <raylift/interop/gl_context.h>
#include <raylift/interop/shared_image.h>

#include <string>
#include <utility>

#include "context_state.h"
#include "gl_error.h"

namespace raylift {
namespace {

/// OpenGL's state that says how pixels are read, put back at the end of a scope.
class UnpackState {
 public:
  explicit UnpackState(GLuint buffer) {
    glGetIntegerv(GL_PIXEL_UNPACK_BUFFER_BINDING, &buffer_);
    for (int i = 0; i != kCount; ++i) {
      glGetIntegerv(kNames[i], &values_[i]);
      glPixelStorei(kNames[i], kNames[i] == GL_UNPACK_ALIGNMENT ? 4 : 0);
    }
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, buffer);
  }
  ~UnpackState() {
    for (int i = 0; i != kCount; ++i) glPixelStorei(kNames[i], values_[i]);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, static_cast<GLuint>(buffer_));
  }
  UnpackState(const UnpackState&) = delete;
  UnpackState& operator=(const UnpackState&) = delete;

 private:
  static constexpr int kCount = 6;
  static constexpr GLenum kNames[kCount] = {GL_UNPACK_SWAP_BYTES,  GL_UNPACK_LSB_FIRST, GL_UNPACK_ROW_LENGTH,
                                            GL_UNPACK_SKIP_PIXELS, GL_UNPACK_SKIP_ROWS, GL_UNPACK_ALIGNMENT};
  GLint buffer_ = 0;
  GLint values_[kCount] = {};
};

std::string size_of(std::uint32_t width, std::uint32_t height) {
  return std::to_string(width) + "x" + std::to_string(height);
}

}  // namespace

/// The texture, as long as the image or a mapping of it needs it.
struct SharedImage::Texture {
  Texture(std::uint32_t wide, std::uint32_t high)
      : width(wide), height(high), context(detail::require_current_context("making a shared image")) {
    detail::clear_gl_errors();
    glCreateTextures(GL_TEXTURE_2D, 1, &id);
    glTextureStorage2D(id, 1, GL_RGBA8, static_cast<GLsizei>(width), static_cast<GLsizei>(height));
    glTextureParameteri(id, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTextureParameteri(id, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glTextureParameteri(id, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glTextureParameteri(id, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    try {
      detail::check_gl("making a texture of " + size_of(width, height));
    } catch (const Error&) {
      glDeleteTextures(1, &id);
      throw;
    }
  }
  ~Texture() {
    context->when_current([old = id] { glDeleteTextures(1, &old); });
  }
  Texture(const Texture&) = delete;
  Texture& operator=(const Texture&) = delete;

  void fill_from(GLuint pixel_buffer) const {
    detail::clear_gl_errors();
    const UnpackState state(pixel_buffer);
    glTextureSubImage2D(id, 0, 0, 0, static_cast<GLsizei>(width), static_cast<GLsizei>(height), GL_RGBA,
                        GL_UNSIGNED_BYTE, nullptr);
    detail::check_gl("filling a texture of " + size_of(width, height));
  }

  std::uint32_t width;
  std::uint32_t height;
  std::shared_ptr<detail::ContextState> context;
  GLuint id = 0;
};

SharedImage::SharedImage(const Device& device, std::uint32_t width, std::uint32_t height,
                         const SharedOptions& options) {
  (void)detail::require_current_context("making a shared image");
  if (glCreateTextures == nullptr) (void)init_gl();
  GLint most = 0;
  glGetIntegerv(GL_MAX_TEXTURE_SIZE, &most);
  const auto limit = static_cast<std::uint32_t>(most);
  if (width == 0 || height == 0 || width > limit || height > limit)
    throw Error(ErrorKind::usage, "an image of " + size_of(width, height) + " pixels can't be made", {},
                "each side must be between 1 and " + std::to_string(limit));
  memory_ = detail::SharedMemory(device, std::size_t{width} * height * sizeof(std::uint32_t), options);
  texture_ = std::make_shared<Texture>(width, height);
  width_ = width;
  height_ = height;
}

SharedImage::Mapping SharedImage::map(StreamRef stream) {
  const detail::SharedMemory* const memory = &memory_;
  detail::MappedMemory mapped({&memory, 1}, stream);
  const ImageView image{reinterpret_cast<std::uint32_t*>(mapped.device(0)), width_, height_};
  mapped.afterwards([texture = texture_, pixels = memory_.id()] { texture->fill_from(pixels); });
  return {std::move(mapped), image};
}

unsigned SharedImage::texture() const {
  return texture_ == nullptr ? 0 : texture_->id;
}

void SharedImage::resize(std::uint32_t width, std::uint32_t height) {
  if (texture_ == nullptr) throw Error(ErrorKind::usage, "resizing a shared image that is closed");
  if (memory_.mapped())
    throw Error(ErrorKind::usage, "resizing a shared image that is mapped", {}, "end its mapping first");
  if (width == width_ && height == height_) return;
  *this = SharedImage(memory_.device(), width, height, memory_.options());
}

void SharedImage::close() noexcept {
  texture_.reset();
  memory_.close();
  width_ = 0;
  height_ = 0;
}

}  // namespace raylift
