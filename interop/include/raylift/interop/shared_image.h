// SPDX-License-Identifier: Apache-2.0
// An image that a kernel renders and OpenGL shows. The kernel writes a pixel buffer
// that it shares with OpenGL; when that is unmapped, OpenGL copies it into a texture, on its own GPU.
#pragma once

#include <raylift/interop/image_view.h>
#include <raylift/interop/shared_memory.h>

#include <cstdint>
#include <memory>
#include <utility>

namespace raylift {

/// width x height pixels of 8-bit RGBA. Move-only. Created, mapped and resized on the thread where the OpenGL context
/// is current; may be destroyed on any thread, also after its context.
class SharedImage {
 public:
  /// A scope in which an image is mapped for kernels, with the rules of raylift::Mapping.
  class Mapping {
   public:
    [[nodiscard]] ImageView image() const& { return image_; }
    ImageView image() && = delete;
    /// Ends it now, and fills the texture. Throws Error: usage on a wrong thread, device. Again does nothing.
    void unmap() {
      image_ = {};
      memory_.unmap();
    }

   private:
    friend class SharedImage;
    Mapping(detail::MappedMemory memory, const ImageView& image) : memory_(std::move(memory)), image_(image) {}

    detail::MappedMemory memory_;
    ImageView image_;
  };

  SharedImage() = default;
  /// In the current context. Each map makes the pixels undefined, unless `options.access` is none. Throws Error: as
  /// SharedBuffer does; usage where a side is 0 or larger than OpenGL's textures.
  SharedImage(const Device& device, std::uint32_t width, std::uint32_t height,
              const SharedOptions& options = {SharedOptions::Access::write_discard, Sharing::automatic});

  [[nodiscard]] Mapping map(StreamRef stream);

  /// OpenGL's name of the texture, GL_TEXTURE_2D of GL_RGBA8 with one level; and of the pixel buffer.
  [[nodiscard]] unsigned texture() const;
  [[nodiscard]] unsigned pixel_buffer() const { return memory_.id(); }
  [[nodiscard]] std::uint32_t width() const { return width_; }
  [[nodiscard]] std::uint32_t height() const { return height_; }
  /// Whether kernels and OpenGL share the pixel buffer; otherwise why_not() says why it is copied.
  [[nodiscard]] bool shares() const { return memory_.shares(); }
  [[nodiscard]] const std::string& why_not() const { return memory_.why_not(); }

  /// Changes the size; pixels are lost, and OpenGL's names change. Throws Error as the constructor.
  void resize(std::uint32_t width, std::uint32_t height);
  /// Unmaps, unregisters and deletes it. Again, or after its context has gone, does nothing.
  void close() noexcept;

 private:
  struct Texture;

  detail::SharedMemory memory_;
  std::shared_ptr<Texture> texture_;
  std::uint32_t width_ = 0;
  std::uint32_t height_ = 0;
};

}  // namespace raylift
