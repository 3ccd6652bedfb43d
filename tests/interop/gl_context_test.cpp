// SPDX-License-Identifier: Apache-2.0
// OpenGL contexts without a display: made, current, released, refused.
#include <EGL/egl.h>
#include <GL/glew.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <raylift/geometry/error.h>
#include <raylift/interop/gl_context.h>
#include <raylift/interop/support.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <thread>

#include "fixture.h"

namespace raylift {
namespace {

using test::error_of;
using testing::AllOf;
using testing::HasSubstr;

bool has_gpu() {
  try {
    return GlContext({GlContextOptions::Renderer::device, -1, false}).is_current();
  } catch (const Error&) {
    return false;
  }
}

TEST(GlContext, DrawsWithoutADisplay) {
  const GlContext context;
  EXPECT_TRUE(context.is_current());
  EXPECT_GE(context.info().major * 10 + context.info().minor, 45);
  EXPECT_NE(context.info().renderer, "");
  EXPECT_NE(context.info().vendor, "");
  EXPECT_THAT(context.info().platform, HasSubstr("EGL"));

  GLuint texture = 0;
  GLuint framebuffer = 0;
  glCreateTextures(GL_TEXTURE_2D, 1, &texture);
  glTextureStorage2D(texture, 1, GL_RGBA8, 4, 4);
  glCreateFramebuffers(1, &framebuffer);
  glNamedFramebufferTexture(framebuffer, GL_COLOR_ATTACHMENT0, texture, 0);
  const GLfloat color[] = {1, 0.5F, 0, 1};
  glClearNamedFramebufferfv(framebuffer, GL_COLOR, 0, color);
  unsigned char pixels[64] = {};
  glGetTextureImage(texture, 0, GL_RGBA, GL_UNSIGNED_BYTE, sizeof pixels, pixels);
  EXPECT_EQ(pixels[60], 255);
  EXPECT_NEAR(pixels[61], 128, 1);
  EXPECT_EQ(pixels[62], 0);
  EXPECT_EQ(glGetError(), GLenum{GL_NO_ERROR});
}

TEST(GlContext, DrawsOnTheCpuWhereAsked) {
  try {
    const GlContext context({GlContextOptions::Renderer::software, -1, false});
    EXPECT_TRUE(context.info().software);
    EXPECT_EQ(context.info().cuda_device, -1);
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();  // a machine without Mesa
  }
}

TEST(GlContext, SaysWhatWasTriedWhereThereIsNoGpu) {
  if (has_gpu()) GTEST_SKIP() << "this machine has a GPU that draws";
  const std::string message = error_of(ErrorKind::no_display, [] {
    (void)GlContext({GlContextOptions::Renderer::device, -1, false});
  });
  EXPECT_THAT(message, AllOf(HasSubstr("EGL device 0"), HasSubstr("EGL surfaceless"), HasSubstr("draws on the CPU")));
  EXPECT_EQ(eglGetCurrentContext(), EGL_NO_CONTEXT);
}

TEST(GlContext, SaysWhatWasTriedForAGpuThatIsNotThere) {
  const std::string message = error_of(ErrorKind::no_display, [] {
    (void)GlContext({GlContextOptions::Renderer::automatic, 4711, false});
  });
  EXPECT_THAT(message, HasSubstr("it is not cuda:4711"));
}

// In a child, because EGL looks for drivers once.
TEST(GlContext, SaysWhatWasTriedWithoutADriver) {
  const char* const kChild = "RAYLIFT_TEST_GL_CONTEXT_CHILD";
  if (std::getenv(kChild) != nullptr) {
    try {
      const GlContext context;
    } catch (const Error& error) {
      std::printf("[%s]\n", error.what());
      std::fflush(stdout);
      std::_Exit(exit_code(error.kind()));
    }
    std::_Exit(0);
  }
  const std::string command = std::string(kChild) + "=1 __EGL_VENDOR_LIBRARY_FILENAMES=/nonexistent.json /proc/" +
                              std::to_string(::getpid()) +
                              "/exe --gtest_filter=" + "GlContext.SaysWhatWasTriedWithoutADriver";
  FILE* child = ::popen(command.c_str(), "r");
  ASSERT_NE(child, nullptr);
  std::string output;
  for (int c = std::fgetc(child); c != EOF; c = std::fgetc(child)) output += static_cast<char>(c);
  const int status = ::pclose(child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == exit_code(ErrorKind::no_display)) << status;
  EXPECT_THAT(output, AllOf(HasSubstr("no OpenGL 4.5 context could be made"), HasSubstr("EGL devices: "),
                            HasSubstr("EGL surfaceless: "), HasSubstr("install")));
}

TEST(GlContext, KeepsTheOldContextWhenANewOneCantBeMade) {
  const GlContext context;
  EXPECT_THROW(GlContext({GlContextOptions::Renderer::automatic, 4711, false}), Error);
  EXPECT_TRUE(context.is_current());
}

TEST(GlContext, MovesBetweenThreads) {
  const GlContext context;
  std::string message;
  std::thread([&] { message = error_of(ErrorKind::usage, [&] { context.make_current(); }); }).join();
  EXPECT_THAT(message, HasSubstr("another thread has it"));
  context.release();
  EXPECT_FALSE(context.is_current());
  EXPECT_THAT(error_of(ErrorKind::usage, [&] { context.release(); }), HasSubstr("here none is current"));
  std::thread([&] {
    context.make_current();
    EXPECT_TRUE(context.is_current());
    EXPECT_NE(glGetString(GL_VERSION), nullptr);
    context.release();
  }).join();
  context.make_current();
  EXPECT_TRUE(context.is_current());
}

TEST(GlContext, GoesInAnyOrder) {
  auto first = std::make_unique<GlContext>();
  auto second = std::make_unique<GlContext>();
  EXPECT_FALSE(first->is_current());
  EXPECT_TRUE(second->is_current());
  first.reset();
  EXPECT_TRUE(second->is_current());
  EXPECT_NE(glGetString(GL_VERSION), nullptr);
  GlContext third = std::move(*second);
  second.reset();
  EXPECT_TRUE(third.is_current());
  third = GlContext({GlContextOptions::Renderer::automatic, -1, false, Device::host()});
  EXPECT_TRUE(third.is_current());
  GlContext moved = std::move(third);
  EXPECT_FALSE(third.is_current());  // NOLINT(bugprone-use-after-move)
  EXPECT_TRUE(moved.is_current());
}

TEST(GlContext, IsMadeAHundredTimes) {
  for (int i = 0; i != 100; ++i) {
    const GlContext context;
    ASSERT_TRUE(context.is_current());
  }
}

TEST(GlContext, IsNeededToInitialise) {
  EXPECT_THAT(error_of(ErrorKind::no_display, [] { (void)init_gl(); }), HasSubstr("no OpenGL context is current"));
}

TEST(GlContext, RenderersHaveNames) {
  EXPECT_EQ(gl_renderer("auto"), GlContextOptions::Renderer::automatic);
  EXPECT_EQ(gl_renderer("device"), GlContextOptions::Renderer::device);
  EXPECT_EQ(gl_renderer("software"), GlContextOptions::Renderer::software);
  EXPECT_THAT(error_of(ErrorKind::usage, [] { (void)gl_renderer("opengl"); }), HasSubstr("use auto, device"));
}

TEST(CudaGlContext, IsBesideEachDevice) {
  const int devices = cuda_device_count();
  if (devices == 0) GTEST_SKIP() << "there is no CUDA device";
  for (int i = 0; i != devices; ++i) {
    const Device device = Device::cuda(i);
    const GlContext context({GlContextOptions::Renderer::device, -1, false, device});
    const InteropSupport support = interop_support(device);
    EXPECT_TRUE(support.available) << device.info().id << ": " << support.why_not;
  }
}

TEST(CudaGlContext, IsOnTheCudaDeviceAskedFor) {
  try {
    const GlContext context({GlContextOptions::Renderer::device, 0, false});
    EXPECT_EQ(context.info().cuda_device, 0);
    EXPECT_FALSE(context.info().software);
    EXPECT_THAT(context.info().vendor, HasSubstr("NVIDIA"));
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
}

}  // namespace
}  // namespace raylift
