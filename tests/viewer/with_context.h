// SPDX-License-Identifier: Apache-2.0
// What tests that draw without a window have in common: a context for the suite, and a renderer for each test.
#pragma once

#include <gtest/gtest.h>
#include <raylift/gpu/device/device.h>
#include <raylift/interop/gl_context.h>

#include <memory>
#include <string>

#include "draw/renderer.h"

namespace raylift::viewer {

inline constexpr Resolution kSize{320, 240};

/// Skips where there is no context, and says why.
class WithContext : public testing::Test {
 protected:
  static void SetUpTestSuite() { make_context(GlContextOptions::Renderer::software); }
  static void TearDownTestSuite() { context_.reset(); }
  /// On a GPU, for OpenGL and CUDA both.
  static void make_cuda_context() {
    std::string why;
    if (cuda_device_count(&why) == 0)
      why_not_ = why;
    else
      make_context(GlContextOptions::Renderer::device);
  }
  static void make_context(GlContextOptions::Renderer where) {
    try {
      context_ = std::make_unique<GlContext>(GlContextOptions{where, -1, false});
    } catch (const std::exception& error) {
      why_not_ = error.what();
    }
  }

  void SetUp() override {
    if (!context_) GTEST_SKIP() << why_not_;
    renderer_ = std::make_unique<Renderer>();
    renderer_->resize(kSize, 1);
  }
  void TearDown() override { renderer_.reset(); }

  static inline std::unique_ptr<GlContext> context_;
  static inline std::string why_not_;
  std::unique_ptr<Renderer> renderer_;
};

}  // namespace raylift::viewer
