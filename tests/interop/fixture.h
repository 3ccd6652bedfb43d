// SPDX-License-Identifier: Apache-2.0
// Where the contract tests run: on the host device and on CUDA, with memory that is shared and with memory that is
// copied. Each test is written once.
#pragma once

#include <GL/glew.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <raylift/geometry/error.h>
#include <raylift/gpu/device/device.h>
#include <raylift/interop/gl_context.h>
#include <raylift/interop/shared_memory.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace raylift::test {

enum class Place { host, host_copied, cuda, cuda_copied };

inline void PrintTo(Place place, std::ostream* out) {
  const char* names[] = {"host", "host_copied", "cuda", "cuda_copied"};
  *out << names[static_cast<int>(place)];
}

/// The message of the error of this kind that `act` throws.
template <class Act>
std::string error_of(ErrorKind kind, const Act& act) {
  try {
    act();
  } catch (const Error& error) {
    EXPECT_EQ(to_string(error.kind()), to_string(kind)) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

/// A device, and a context that draws where the device is. Skips, visibly, where there is none.
class Shared : public testing::TestWithParam<Place> {
 protected:
  static constexpr std::uint64_t kHostBudget = std::uint64_t{256} << 20;

  void SetUp() override {
    const bool cuda = GetParam() == Place::cuda || GetParam() == Place::cuda_copied;
    try {
      device_ = cuda ? Device::cuda(0) : Device::host(kHostBudget);
      context_ = new_context();
      stream_.emplace(*device_);
    } catch (const Error& error) {
      if (!cuda && !no_mesa()) throw;
      GTEST_SKIP() << error.what();
    }
  }

  /// A device of the same kind.
  [[nodiscard]] std::unique_ptr<GlContext> new_context() const {
    const bool cuda = device_->info().cuda_device >= 0;
    return std::make_unique<GlContext>(GlContextOptions{
        cuda ? GlContextOptions::Renderer::device : GlContextOptions::Renderer::software, -1, false, *device_});
  }
  /// A machine with a GPU need not have Mesa.
  static bool no_mesa() {
    try {
      return !GlContext().info().software;
    } catch (const Error&) {
      return false;
    }
  }

  [[nodiscard]] bool copies() const { return GetParam() == Place::host_copied || GetParam() == Place::cuda_copied; }
  [[nodiscard]] SharedOptions options(SharedOptions::Access access = SharedOptions::Access::none) const {
    return {access, sharing()};
  }
  [[nodiscard]] Sharing sharing() const { return copies() ? Sharing::copied : Sharing::required; }
  [[nodiscard]] const Device& device() const { return *device_; }
  [[nodiscard]] const Stream& stream() const { return *stream_; }

  std::unique_ptr<GlContext> context_;

 private:
  std::optional<Device> device_;
  std::optional<Stream> stream_;
};

/// What OpenGL sees in a buffer.
template <class T>
std::vector<T> read_gl(unsigned buffer, std::size_t count) {
  std::vector<T> values(count);
  glGetNamedBufferSubData(buffer, 0, static_cast<GLsizeiptr>(count * sizeof(T)), values.data());
  EXPECT_EQ(glGetError(), GLenum{GL_NO_ERROR});
  return values;
}

inline std::int64_t size_of_gl_buffer(unsigned buffer) {
  GLint64 bytes = 0;
  glGetNamedBufferParameteri64v(buffer, GL_BUFFER_SIZE, &bytes);
  return bytes;
}

/// A picture of triangles in OpenGL's own coordinates, white on black; row by row, lowest first.
std::vector<std::uint32_t> draw(unsigned vertex_buffer, std::size_t vertices, unsigned triangle_buffer,
                                std::size_t triangles, int side, float scale = 1);

}  // namespace raylift::test

/// Instantiates a suite for all places. The CUDA instances' names give their tests the label gpu.
#define RAYLIFT_IN_ALL_PLACES(Suite)                                                               \
  INSTANTIATE_TEST_SUITE_P(Host, Suite, testing::Values(raylift::test::Place::host));              \
  INSTANTIATE_TEST_SUITE_P(HostCopied, Suite, testing::Values(raylift::test::Place::host_copied)); \
  INSTANTIATE_TEST_SUITE_P(Cuda, Suite, testing::Values(raylift::test::Place::cuda));              \
  INSTANTIATE_TEST_SUITE_P(CudaCopied, Suite, testing::Values(raylift::test::Place::cuda_copied))
