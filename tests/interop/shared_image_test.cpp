// SPDX-License-Identifier: Apache-2.0
// The contract of shared images, on each device, shared and copied.
#include <raylift/interop/shared_image.h>

#include <thread>

#include "fixture.h"
#include "kernels.h"

namespace raylift {
namespace {

using test::error_of;
using testing::HasSubstr;

class SharedImages : public test::Shared {
 protected:
  [[nodiscard]] SharedOptions image_options() const { return options(SharedOptions::Access::write_discard); }

  void render(SharedImage& image) {
    const auto mapping = image.map(stream());
    EXPECT_EQ(mapping.image().width, image.width());
    EXPECT_EQ(mapping.image().height, image.height());
    test::draw_pattern(device(), stream(), mapping.image());
  }
  /// How many of the texture's pixels are not what the kernel wrote.
  static std::size_t wrong_pixels(const SharedImage& image) {
    std::vector<std::uint32_t> pixels(std::size_t{image.width()} * image.height());
    glGetTextureImage(image.texture(), 0, GL_RGBA, GL_UNSIGNED_BYTE, static_cast<GLsizei>(pixels.size() * 4),
                      pixels.data());
    EXPECT_EQ(glGetError(), GLenum{GL_NO_ERROR});
    std::size_t wrong = 0;
    for (std::uint32_t y = 0; y != image.height(); ++y)
      for (std::uint32_t x = 0; x != image.width(); ++x)
        if (pixels[std::size_t{y} * image.width() + x] != test::pattern(x, y)) ++wrong;
    return wrong;
  }
};
RAYLIFT_IN_ALL_PLACES(SharedImages);

TEST_P(SharedImages, ShowWhatAKernelRendered) {
  SharedImage image(device(), 333, 211, image_options());
  EXPECT_EQ(image.shares(), !copies());
  render(image);
  EXPECT_EQ(wrong_pixels(image), 0U);
  auto mapping = image.map(stream());
  test::draw_pattern(device(), stream(), mapping.image());
  mapping.unmap();
  mapping.unmap();
  EXPECT_EQ(mapping.image().pixels, nullptr);
  EXPECT_EQ(wrong_pixels(image), 0U);
}

TEST_P(SharedImages, ChangeTheirSize) {
  SharedImage image(device(), 16, 16, image_options());
  for (const auto& [width, height] : {std::pair(1U, 1U), std::pair(640U, 3U), std::pair(1920U, 1080U)}) {
    image.resize(width, height);
    render(image);
    EXPECT_EQ(wrong_pixels(image), 0U);
    EXPECT_EQ(test::size_of_gl_buffer(image.pixel_buffer()), 4 * width * height);
  }
  {
    const auto mapping = image.map(stream());
    EXPECT_THAT(error_of(ErrorKind::usage, [&] { image.resize(5, 5); }), HasSubstr("mapped"));
    EXPECT_THAT(error_of(ErrorKind::usage, [&] { (void)image.map(stream()); }), HasSubstr("mapped already"));
  }
  EXPECT_THAT(error_of(ErrorKind::usage, [&] { image.resize(0, 5); }), HasSubstr("0x5"));
  EXPECT_THAT(error_of(ErrorKind::usage, [&] { image.resize(5, 1U << 31); }), HasSubstr("each side"));
  EXPECT_EQ(image.width(), 1920U);
  render(image);
  EXPECT_EQ(wrong_pixels(image), 0U);
}

TEST_P(SharedImages, LeaveOpenGlsStateAlone) {
  SharedImage image(device(), 30, 20, image_options());
  GLuint buffer = 0;
  glCreateBuffers(1, &buffer);
  glBindBuffer(GL_PIXEL_UNPACK_BUFFER, buffer);
  glPixelStorei(GL_UNPACK_ROW_LENGTH, 17);
  glPixelStorei(GL_UNPACK_SKIP_ROWS, 3);
  glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
  render(image);
  GLint bound = 0;
  GLint length = 0;
  GLint skip = 0;
  GLint alignment = 0;
  glGetIntegerv(GL_PIXEL_UNPACK_BUFFER_BINDING, &bound);
  glGetIntegerv(GL_UNPACK_ROW_LENGTH, &length);
  glGetIntegerv(GL_UNPACK_SKIP_ROWS, &skip);
  glGetIntegerv(GL_UNPACK_ALIGNMENT, &alignment);
  EXPECT_EQ(static_cast<GLuint>(bound), buffer);
  EXPECT_EQ(length, 17);
  EXPECT_EQ(skip, 3);
  EXPECT_EQ(alignment, 1);
  EXPECT_EQ(wrong_pixels(image), 0U);
  glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
  glDeleteBuffers(1, &buffer);
}

TEST_P(SharedImages, OutliveTheirContext) {
  SharedImage image(device(), 30, 20, image_options());
  auto mapping = std::make_unique<SharedImage::Mapping>(image.map(stream()));
  context_.reset();
  mapping.reset();
  EXPECT_THAT(error_of(ErrorKind::usage, [&] { (void)image.map(stream()); }), HasSubstr("context has gone"));
  image.close();
  image.close();
  EXPECT_EQ(image.texture(), 0U);
  EXPECT_THAT(error_of(ErrorKind::usage, [&] { image.resize(3, 3); }), HasSubstr("closed"));
  EXPECT_THAT(error_of(ErrorKind::no_display, [&] { SharedImage(device(), 3, 3); }), HasSubstr("none is current"));
}

TEST_P(SharedImages, GoOnAnotherThread) {
  auto image = std::make_unique<SharedImage>(device(), 30, 20, image_options());
  SharedImage other(device(), 30, 20, image_options());
  auto mapping = std::make_unique<SharedImage::Mapping>(other.map(stream()));
  test::draw_pattern(device(), stream(), mapping->image());
  const unsigned texture = image->texture();
  std::thread([&] {
    EXPECT_THAT(error_of(ErrorKind::usage, [&] { (void)image->map(stream()); }), HasSubstr("none is current"));
    image.reset();
    mapping.reset();
  }).join();
  EXPECT_TRUE(glIsTexture(texture));
  { const auto again = other.map(stream()); }
  EXPECT_FALSE(glIsTexture(texture));
  render(other);
  EXPECT_EQ(wrong_pixels(other), 0U);
}

TEST_P(SharedImages, CloseWhileMapped) {
  SharedImage image(device(), 30, 20, image_options());
  auto mapping = image.map(stream());
  image = SharedImage(device(), 10, 10, image_options());
  mapping.unmap();
  render(image);
  EXPECT_EQ(wrong_pixels(image), 0U);
}

}  // namespace
}  // namespace raylift
