// SPDX-License-Identifier: Apache-2.0
// The contract of shared buffers, on each device, shared and copied.
#include <raylift/interop/shared_buffer.h>
#include <raylift/interop/support.h>

#include <numeric>
#include <thread>

#include "fixture.h"
#include "kernels.h"

namespace raylift {
namespace {

using test::error_of;
using test::read_gl;
using testing::Each;
using testing::HasSubstr;

using SharedBuffers = test::Shared;
RAYLIFT_IN_ALL_PLACES(SharedBuffers);

std::vector<std::uint32_t> read_device(const Device& device, const Stream& stream, DeviceSpan<std::uint32_t> span) {
  std::vector<std::uint32_t> values(span.size);
  device.backend()->copy_to_host(values.data(), span.data, span.size * sizeof(std::uint32_t), stream.handle());
  stream.synchronize();
  return values;
}

TEST_P(SharedBuffers, ShowWhatAKernelWrote) {
  constexpr int kSide = 32;
  SharedBuffer<Float3> points(device(), 6, options());
  for (int frame = 0; frame != 4; ++frame) {
    const auto shift = static_cast<float>(frame % 2);
    {
      const auto mapping = points.map(stream());
      test::fill_half_picture(device(), stream(), mapping.span(), shift);
    }
    const std::vector<std::uint32_t> pixels = test::draw(points.id(), 6, 0, 0, kSide);
    for (int y = 0; y != kSide; ++y)
      for (int x = 0; x != kSide; ++x) {
        const bool white = (x >= kSide / 2) == (frame % 2 == 1);
        ASSERT_EQ(pixels[static_cast<std::size_t>(y * kSide + x)], white ? 0xFFFFFFFFU : 0xFF000000U) << x << ' ' << y;
      }
  }
}

TEST_P(SharedBuffers, BringWhatOpenGlWroteToKernels) {
  // More than one chunk of copies, and not a whole number of them.
  SharedBuffer<std::uint32_t> values(device(), 5'000'003, options());
  EXPECT_EQ(values.bytes(), 20'000'012U);
  EXPECT_EQ(test::size_of_gl_buffer(values.id()), 20'000'012);
  std::vector<std::uint32_t> expected(values.size());
  std::iota(expected.begin(), expected.end(), 17U);
  glNamedBufferSubData(values.id(), 0, static_cast<GLsizeiptr>(values.bytes()), expected.data());
  {
    const auto mapping = values.map(stream());
    EXPECT_TRUE(read_device(device(), stream(), mapping.span()) == expected);
    test::add_to_all(device(), stream(), mapping.span(), 5);
  }
  for (std::uint32_t& value : expected) value += 5;
  EXPECT_TRUE(read_gl<std::uint32_t>(values.id(), values.size()) == expected);
}

TEST_P(SharedBuffers, KeepWhatIsReadOnly) {
  SharedBuffer<std::uint32_t> values(device(), 100, options(SharedOptions::Access::read_only));
  const std::uint32_t seven = 7;
  glClearNamedBufferData(values.id(), GL_R32UI, GL_RED_INTEGER, GL_UNSIGNED_INT, &seven);
  {
    const auto mapping = values.map(stream());
    EXPECT_THAT(read_device(device(), stream(), mapping.span()), Each(7U));
  }
  EXPECT_THAT(read_gl<std::uint32_t>(values.id(), 100), Each(7U));
}

TEST_P(SharedBuffers, AreMappedTenThousandTimes) {
  SharedBuffer<std::uint32_t> values(device(), 64, options());
  const std::uint32_t zero = 0;
  glClearNamedBufferData(values.id(), GL_R32UI, GL_RED_INTEGER, GL_UNSIGNED_INT, &zero);
  const int times = copies() ? 1000 : 10'000;
  for (int i = 0; i != times; ++i) {
    const auto mapping = values.map(stream());
    test::add_to_all(device(), stream(), mapping.span(), 1);
  }
  EXPECT_THAT(read_gl<std::uint32_t>(values.id(), 64), Each(static_cast<std::uint32_t>(times)));
}

TEST_P(SharedBuffers, AreMappedTwoAtOnce) {
  SharedBuffer<std::uint32_t> values(device(), 100, options(SharedOptions::Access::write_discard));
  SharedBuffer<Float3> points(device(), 6, options(SharedOptions::Access::write_discard));
  const std::uint32_t zero = 0;
  {
    auto together = map_together(stream(), values, points);
    EXPECT_EQ(together.span<0>().size, 100U);
    EXPECT_EQ(together.span<1>().size, 6U);
    EXPECT_NE(static_cast<void*>(together.span<0>().data), static_cast<void*>(together.span<1>().data));
    EXPECT_THAT(error_of(ErrorKind::usage, [&] { (void)values.map(stream()); }), HasSubstr("mapped already"));
    EXPECT_THAT(error_of(ErrorKind::usage, [&] { (void)points.map(stream()); }), HasSubstr("mapped already"));
    const std::vector<std::uint32_t> zeros(100, zero);
    device().backend()->copy_to_device(together.span<0>().data, zeros.data(), 400, stream().handle());
    stream().synchronize();
    test::add_to_all(device(), stream(), together.span<0>(), 3);
    test::fill_half_picture(device(), stream(), together.span<1>(), 0);
    together.unmap();
    together.unmap();
  }
  EXPECT_THAT(read_gl<std::uint32_t>(values.id(), 100), Each(3U));
  EXPECT_EQ(read_gl<Float3>(points.id(), 6)[2], (Float3{0, 1, 0}));
  // And one after the other, ending in the other order.
  {
    auto first = std::make_unique<Mapping<std::uint32_t>>(values.map(stream()));
    const auto second = points.map(stream());
    EXPECT_NE(second.span().data, nullptr);
    first.reset();
  }
  EXPECT_THAT(error_of(ErrorKind::usage, [&] { (void)map_together(stream(), values, values); }),
              HasSubstr("twice at once"));
  (void)values.map(stream());
}

TEST_P(SharedBuffers, ChangeTheirSize) {
  SharedBuffer<std::uint32_t> values(device(), 10, options());
  for (const std::size_t size : {1000U, 1U, 0U, 4'000'000U}) {
    values.resize(size);
    EXPECT_EQ(values.size(), size);
    const std::uint32_t two = 2;
    glClearNamedBufferData(values.id(), GL_R32UI, GL_RED_INTEGER, GL_UNSIGNED_INT, &two);
    (void)glGetError();  // of no bytes at all
    {
      const auto mapping = values.map(stream());
      EXPECT_EQ(mapping.span().size, size);
      EXPECT_EQ(mapping.span().data == nullptr, size == 0);
      test::add_to_all(device(), stream(), mapping.span(), 1);
      EXPECT_THAT(error_of(ErrorKind::usage, [&] { values.resize(5); }), HasSubstr("mapped"));
    }
    EXPECT_EQ(values.size(), size);
    EXPECT_THAT(read_gl<std::uint32_t>(values.id(), size), Each(3U));
  }
}

TEST_P(SharedBuffers, OutliveTheirContext) {
  SharedBuffer<std::uint32_t> idle(device(), 100, options());
  SharedBuffer<std::uint32_t> mapped(device(), 100, options());
  SharedBuffer<std::uint32_t> closed(device(), 100, options());
  auto mapping = std::make_unique<Mapping<std::uint32_t>>(mapped.map(stream()));
  closed.close();
  closed.close();
  EXPECT_EQ(closed.id(), 0U);
  EXPECT_EQ(closed.size(), 0U);
  context_.reset();
  EXPECT_THAT(error_of(ErrorKind::usage, [&] { (void)idle.map(stream()); }), HasSubstr("context has gone"));
  EXPECT_THAT(error_of(ErrorKind::usage, [&] { idle.resize(5); }), HasSubstr("closed"));
  EXPECT_THAT(error_of(ErrorKind::usage, [&] { (void)closed.map(stream()); }), HasSubstr("closed"));
  mapping->unmap();
  mapping.reset();
  idle.close();
  idle.close();
  EXPECT_THAT(error_of(ErrorKind::no_display, [&] { SharedBuffer<int>(device(), 1, options()); }),
              HasSubstr("none is current"));

  // A new context, at the same place perhaps: the old buffer must not touch the new one's.
  context_ = new_context();
  SharedBuffer<std::uint32_t> fresh(device(), 100, options());
  mapped.close();
  { const auto again = fresh.map(stream()); }
  EXPECT_NE(fresh.id(), 0U);
  EXPECT_EQ(test::size_of_gl_buffer(fresh.id()), 400);
}

TEST_P(SharedBuffers, RefuseAnotherThread) {
  SharedBuffer<std::uint32_t> values(device(), 100, options());
  std::thread([&] {
    EXPECT_THAT(error_of(ErrorKind::usage, [&] { (void)values.map(stream()); }), HasSubstr("here none is current"));
    EXPECT_THAT(error_of(ErrorKind::usage, [&] { values.resize(5); }), HasSubstr("here none is current"));
  }).join();
  auto mapping = values.map(stream());
  std::thread([&] {
    EXPECT_THAT(error_of(ErrorKind::usage, [&] { mapping.unmap(); }), HasSubstr("here none is current"));
  }).join();
  mapping.unmap();
  (void)values.map(stream());
}

TEST_P(SharedBuffers, RefuseAnotherContext) {
  SharedBuffer<std::uint32_t> values(device(), 100, options());
  const std::unique_ptr<GlContext> other = new_context();
  EXPECT_THAT(error_of(ErrorKind::usage, [&] { (void)values.map(stream()); }), HasSubstr("another one is current"));
  context_->make_current();
  (void)values.map(stream());
}

TEST_P(SharedBuffers, EndTheirMappingLaterWhenThatGoesOnAnotherThread) {
  SharedBuffer<std::uint32_t> values(device(), 100, options(SharedOptions::Access::write_discard));
  const std::vector<std::uint32_t> zeros(100, 0U);
  auto mapping = std::make_unique<Mapping<std::uint32_t>>(values.map(stream()));
  device().backend()->copy_to_device(mapping->span().data, zeros.data(), 400, stream().handle());
  stream().synchronize();
  test::add_to_all(device(), stream(), mapping->span(), 9);
  std::thread([&] { mapping.reset(); }).join();
  { const auto again = values.map(stream()); }
  if (!copies()) {
    EXPECT_THAT(read_gl<std::uint32_t>(values.id(), 100), Each(9U));
  }

  // And buffers that go there take their OpenGL buffer with them.
  auto lost = std::make_unique<SharedBuffer<std::uint32_t>>(device(), 100, options());
  const unsigned id = lost->id();
  auto lost_mapping = std::make_unique<Mapping<std::uint32_t>>(lost->map(stream()));
  std::thread([&] {
    lost.reset();
    lost_mapping.reset();
  }).join();
  EXPECT_TRUE(glIsBuffer(id));
  (void)values.map(stream());
  EXPECT_FALSE(glIsBuffer(id));
}

TEST_P(SharedBuffers, CloseWhileMapped) {
  SharedBuffer<std::uint32_t> values(device(), 100, options());
  auto mapping = values.map(stream());
  values.close();
  mapping.unmap();
  SharedBuffer<std::uint32_t> others(device(), 100, options());
  auto other_mapping = others.map(stream());
  others = SharedBuffer<std::uint32_t>(device(), 50, options());
  EXPECT_EQ(others.size(), 50U);
  (void)others.map(stream());
}

TEST_P(SharedBuffers, CopyNothingOnceFrozen) {
  SharedBuffer<std::uint32_t> values(device(), 100, options());
  const std::uint32_t one = 1;
  glClearNamedBufferData(values.id(), GL_R32UI, GL_RED_INTEGER, GL_UNSIGNED_INT, &one);
  (void)values.map(stream());
  values.freeze();
  values.freeze();
  const auto mapping = values.map(stream());
  EXPECT_THAT(read_device(device(), stream(), mapping.span()), Each(1U));
}

TEST_P(SharedBuffers, SayWhetherTheyShare) {
  const SharedBuffer<int> values(device(), 100, options());
  EXPECT_EQ(values.shares(), !copies());
  EXPECT_EQ(values.why_not().empty(), !copies());
  const SharedBuffer<int> automatic(device(), 100);
  EXPECT_TRUE(automatic.shares());
}

TEST_P(SharedBuffers, TakeTheDevicesMemoryOnlyWhereTheyCopy) {
  constexpr std::size_t kBytes = 64'000'000;
  const std::uint64_t before = device().memory_info().free_bytes;
  const SharedBuffer<std::byte> bytes(device(), kBytes, options());
  const std::uint64_t after = device().memory_info().free_bytes;
  const std::uint64_t taken = before > after ? before - after : 0;
  if (device().info().is_host)
    EXPECT_EQ(taken, copies() ? kBytes : 0U);
  else
    EXPECT_LT(taken, copies() ? 2 * kBytes + 40'000'000U : kBytes + 40'000'000U);
}

TEST_P(SharedBuffers, AreRefusedInMoreMemoryThanThereIs) {
  try {
    const SharedBuffer<std::byte> bytes(device(), std::size_t{1} << 46, options());
    FAIL() << "64 TiB were given";
  } catch (const Error& error) {
    EXPECT_TRUE(error.kind() == ErrorKind::out_of_device_memory || error.kind() == ErrorKind::device) << error.what();
  }
  EXPECT_THROW(SharedBuffer<double>(device(), std::size_t{1} << 62, options()), Error);
  const SharedBuffer<std::byte> bytes(device(), 100, options());
  EXPECT_NE(bytes.id(), 0U);
}

// A span is handed out by a mapping with a name alone.
template <class M>
concept GivesSpan = requires(M&& mapping) {
  std::forward<M>(mapping).span();
};
static_assert(GivesSpan<const Mapping<int>&>);
static_assert(!GivesSpan<Mapping<int>>);
static_assert(!std::is_copy_constructible_v<SharedBuffer<int>> && !std::is_copy_constructible_v<Mapping<int>>);

TEST(SharedBufferOfNothing, IsClosed) {
  const Device device = Device::host();
  const Stream stream(device);
  SharedBuffer<int> nothing;
  EXPECT_EQ(nothing.id(), 0U);
  EXPECT_FALSE(nothing.shares());
  EXPECT_THAT(error_of(ErrorKind::usage, [&] { (void)nothing.map(stream); }), HasSubstr("closed"));
  nothing.close();
}

TEST(InteropSupport, IsNotThereWithoutAContext) {
  const InteropSupport support = interop_support();
  EXPECT_FALSE(support.available);
  EXPECT_THAT(support.why_not, HasSubstr("no OpenGL context is current"));
}

TEST(InteropSupport, IsNotThereOnTheCpu) {
  try {
    const GlContext context({GlContextOptions::Renderer::software, -1, false});
    const InteropSupport support = interop_support();
    EXPECT_FALSE(support.available);
    EXPECT_FALSE(support.other_gpu);
    EXPECT_EQ(support.cuda_device, -1);
    EXPECT_EQ(support.renderer, context.info().renderer);
    EXPECT_THAT(support.why_not, HasSubstr(context.info().renderer));
    EXPECT_FALSE(interop_support(Device::host()).available);
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
}

class CudaInterop : public testing::Test {
 protected:
  /// A context on a GPU, or a skip.
  std::unique_ptr<GlContext> context_on(int device) {
    try {
      return std::make_unique<GlContext>(GlContextOptions{GlContextOptions::Renderer::device, device, false});
    } catch (const Error& error) {
      [&] { GTEST_SKIP() << error.what(); }();
      return nullptr;
    }
  }
};

TEST_F(CudaInterop, IsThereOnTheSameGpu) {
  const auto context = context_on(0);
  if (context == nullptr) return;
  const InteropSupport support = interop_support(Device::cuda(0));
  EXPECT_TRUE(support.available) << support.why_not;
  EXPECT_EQ(support.cuda_device, 0);
  EXPECT_EQ(support.why_not, "");
  EXPECT_TRUE(interop_support().available);
  const InteropSupport host = interop_support(Device::host());
  EXPECT_FALSE(host.available);
  EXPECT_THAT(host.why_not, HasSubstr("host device"));
  const SharedBuffer<int> copied(Device::host(), 10);
  EXPECT_FALSE(copied.shares());
  EXPECT_THAT(error_of(ErrorKind::device,
                       [] {
                         SharedBuffer<int>(Device::host(), 10, {{}, Sharing::required});
                       }),
              HasSubstr("can't be shared"));
}

TEST_F(CudaInterop, IsRefusedOnAnotherGpu) {
  if (cuda_device_count() < 2) GTEST_SKIP() << "this machine has fewer than two GPUs";
  const auto context = context_on(0);
  if (context == nullptr) return;
  const Device other = Device::cuda(1);
  const InteropSupport support = interop_support(other);
  EXPECT_FALSE(support.available);
  EXPECT_TRUE(support.other_gpu);
  EXPECT_EQ(support.cuda_device, 0);
  EXPECT_THAT(error_of(ErrorKind::device, [&] { SharedBuffer<int>(other, 10); }), HasSubstr("use device cuda:0"));
  SharedBuffer<std::uint32_t> copied(other, 10, {{}, Sharing::copied});
  const Stream stream(other);
  const std::uint32_t two = 2;
  glClearNamedBufferData(copied.id(), GL_R32UI, GL_RED_INTEGER, GL_UNSIGNED_INT, &two);
  {
    const auto mapping = copied.map(stream);
    test::add_to_all(other, stream, mapping.span(), 2);
  }
  EXPECT_THAT(read_gl<std::uint32_t>(copied.id(), 10), Each(4U));
}

}  // namespace
}  // namespace raylift
