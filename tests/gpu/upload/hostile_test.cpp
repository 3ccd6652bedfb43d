// SPDX-License-Identifier: Apache-2.0
// Misuse that must not crash: odd sizes, many threads, fills that throw, moves in bad
// moments.
#include <raylift/gpu/device/pool.h>
#include <raylift/gpu/memory/buffer.h>
#include <raylift/gpu/upload/gpu_geometry.h>
#include <tbb/parallel_for.h>

#include <array>
#include <atomic>
#include <cstring>
#include <new>
#include <stdexcept>
#include <thread>

#include "gpu/test_backend.h"
#include "support/devices.h"
#include "support/expect_error.h"
#include "support/random_scenes.h"

namespace raylift {
namespace {

using test::Kind;
using test::random_scene;
using test::TestBackend;

UploadOptions hostile_options(std::uint64_t budget = UINT64_MAX) {
  UploadOptions options;
  options.reserve = 0;
  options.budget = budget;
  options.chunk_bytes = 1U << 19;
  return options;
}

std::vector<std::byte> bytes_back(const Memory& array, const Device& device) {
  const Stream stream(device);
  std::vector<std::byte> values(array.bytes());
  array.copy_to(values, stream);
  stream.synchronize();
  return values;
}

std::vector<std::byte> pattern(std::size_t bytes, unsigned seed = 1) {
  std::vector<std::byte> values(bytes);
  std::uint32_t state = seed;
  for (std::byte& value : values) {
    state = state * 1664525U + 1013904223U;
    value = static_cast<std::byte>(state >> 24);
  }
  return values;
}

/// An array of elements of any size over bytes.
ArraySource source_of(const std::vector<std::byte>& bytes, std::size_t element) {
  return {"bytes", ArrayRank::vertices, element, bytes.size() / element,
          [&bytes, element](std::size_t first, std::size_t count, std::byte* target, StoreMode mode) {
            copy_bytes(bytes.data() + first * element, target, count * element, mode);
          }};
}

class Hostile : public test::OnDevice {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    if (IsSkipped()) return;
    backend_ = std::make_shared<TestBackend>(device().backend());
    wrapped_.emplace(backend_);
  }
  std::shared_ptr<TestBackend> backend_;
  std::optional<Device> wrapped_;
};
RAYLIFT_ON_BOTH_DEVICES(Hostile);

// Ownership ---------------------------------------------------------------------------------------------------------

TEST_P(Hostile, AssignmentsReleaseWhatWasThereAtOnce) {
  DeviceBuffer<int> a(*wrapped_, 1000);
  DeviceBuffer<int> b(*wrapped_, 2000);
  a = std::move(b);
  EXPECT_EQ(backend_->alive(), 1) << "the old memory hides in the buffer that was moved from";
  EXPECT_EQ(a.size(), 2000U);
  EXPECT_EQ(b.size(), 0U);
  EXPECT_EQ(b.device(), nullptr);

  MappedBuffer<int> c(*wrapped_, 1000);
  MappedBuffer<int> d(*wrapped_, 1000);
  c = std::move(d);
  EXPECT_EQ(backend_->alive(), 2);

  Stream s(*wrapped_);
  Stream t(*wrapped_);
  s = std::move(t);
  EXPECT_EQ(backend_->alive(), 3);

  PinnedPool::Block e = wrapped_->pinned_pool().allocate(100);
  PinnedPool::Block f = wrapped_->pinned_pool().allocate(100);
  e = std::move(f);
  EXPECT_EQ(wrapped_->pinned_pool().active_blocks(), 1U);
  EXPECT_TRUE(f.host().empty());

  if (!device().info().splits_arrays) return;
  const std::size_t page = device().info().page_bytes;
  const int before = backend_->alive();
  SplitBuffer<std::byte> g(*wrapped_, 2 * page, page);
  SplitBuffer<std::byte> h(*wrapped_, 3 * page, page);
  g = std::move(h);
  EXPECT_EQ(backend_->alive(), before + 1);
  EXPECT_EQ(g.size(), 3 * page);
}

TEST_P(Hostile, ABufferSurvivesItsOwnAssignment) {
  DeviceBuffer<int> a(*wrapped_, 1000);
  const int* address = a.device();
  DeviceBuffer<int>& same = a;
  a = std::move(same);
  EXPECT_EQ(a.device(), address);
  EXPECT_EQ(a.size(), 1000U);
}

TEST_P(Hostile, WhatIsUploadedOutlivesTheDeviceValueAndMoves) {
  const Scene scene = random_scene(21);
  std::optional<Device> device_value(device());
  GpuGeometry first = upload(scene, *device_value, hostile_options());
  device_value.reset();
  const GeometryView view = first.view();
  const GpuGeometry second = std::move(first);
  EXPECT_EQ(second.view().vertices, view.vertices);
  EXPECT_EQ(bytes_back(second.array(ViewArray::vertices), second.device()).size(),
            scene.unique_vertices() * sizeof(Float3));
}

template <class Source>
concept MayBeCopiedFrom = requires(DeviceBuffer<int> buffer, SplitBuffer<int> split, const Stream& stream,
                                   Source source) {
  buffer.copy_from(std::forward<Source>(source), stream);
  split.copy_from(std::forward<Source>(source), stream);
};
static_assert(MayBeCopiedFrom<std::vector<int>&> && MayBeCopiedFrom<const std::vector<int>&>);
static_assert(MayBeCopiedFrom<std::array<int, 4>&> && MayBeCopiedFrom<std::span<const int>>);
static_assert(MayBeCopiedFrom<std::span<int>>);
static_assert(!MayBeCopiedFrom<std::vector<int>> && !MayBeCopiedFrom<const std::vector<int>>);
static_assert(!MayBeCopiedFrom<std::array<int, 4>>);

// Odd sizes ---------------------------------------------------------------------------------------------------------

TEST_P(Hostile, ElementsOfAnySizeCrossChunksAndPages) {
  // Three bytes, a prime, more than a task, more than a chunk.
  for (const std::size_t element : {std::size_t{1}, std::size_t{3}, std::size_t{12}, std::size_t{4099},
                                    std::size_t{300'007}, std::size_t{3'000'017}}) {
    const std::vector<std::byte> bytes = pattern(9'000'051 / element * element, static_cast<unsigned>(element));
    const ArraySource source = source_of(bytes, element);
    for (const std::uint64_t budget : {UINT64_MAX, std::uint64_t{5} << 20, std::uint64_t{0}}) {
      const ResidentArrays resident = upload({&source, 1}, device(), hostile_options(budget));
      ASSERT_EQ(bytes_back(resident.arrays[0], device()), bytes) << element << " bytes each, budget " << budget;
    }
  }
}

TEST_P(Hostile, TheRingMayBeSmallOrAbsurdlyLarge) {
  const std::vector<std::byte> bytes = pattern(3'000'003);
  const ArraySource source = source_of(bytes, 1);
  for (const std::size_t chunk : {std::size_t{512} << 10, std::size_t{1} << 30})
    for (const std::size_t chunks : {1, 1024}) {
      UploadOptions options = hostile_options();
      options.chunk_bytes = chunk;
      options.chunks = chunks;
      const ResidentArrays resident = upload({&source, 1}, device(), options);
      ASSERT_EQ(bytes_back(resident.arrays[0], device()), bytes) << chunk << " x " << chunks;
    }
}

TEST_P(Hostile, ThousandsOfTinyArraysArrive) {
  std::vector<std::vector<std::byte>> values;
  for (unsigned i = 0; i != 3000; ++i) values.push_back(pattern(i % 41, i));
  std::vector<ArraySource> sources;
  for (const auto& one : values) sources.push_back(source_of(one, 1));
  const ResidentArrays resident = upload(sources, device(), hostile_options());
  for (std::size_t i = 0; i < values.size(); i += 37)
    ASSERT_EQ(bytes_back(resident.arrays[i], device()), values[i]) << i;
}

TEST_P(Hostile, ASceneOfNothingHasAViewOfNothing) {
  for (const bool flatten : {false, true}) {
    UploadOptions options = hostile_options();
    options.flatten = flatten;
    Scene scene;
    scene.bounds = world_bounds(scene);
    const GpuGeometry geometry = upload(scene, device(), options);
    EXPECT_EQ(geometry.view().triangle_count, 0U);
    EXPECT_EQ(geometry.view().vertices, nullptr);
    EXPECT_EQ(geometry.report().bytes(), geometry.report().device_bytes());
  }
}

// Flattened, or without its own mesh, the index would lead to another solid's vertex.
TEST_P(Hostile, AnIndexOutOfItsMeshIsRefusedHoweverTheSceneIsUploaded) {
  Scene scene = random_scene(23, 3, 400);
  scene.meshes[1].triangles[7].y = static_cast<std::uint32_t>(scene.meshes[1].vertices.size());
  for (const bool flatten : {false, true})
    for (const bool bvh : {false, true}) {
      UploadOptions options = hostile_options();
      options.flatten = flatten;
      options.bvh = bvh;
      // What builds a mesh's tree finds it on the way, as in a file.
      const ErrorKind kind = bvh && !flatten ? ErrorKind::malformed : ErrorKind::usage;
      const Error error = test::expect_error(kind, [&] { (void)upload(scene, device(), options); });
      EXPECT_EQ(error.element().find("mesh"), 0U) << error.what();
    }
}

TEST_P(Hostile, MeshesWithoutTrianglesOrVerticesStandBetweenOthers) {
  Scene scene = random_scene(22, 4, 500);
  for (const std::size_t at : {0, 2, 6}) {
    Mesh nothing;
    nothing.name = "nothing";
    scene.meshes.insert(scene.meshes.begin() + static_cast<std::ptrdiff_t>(at), nothing);
    for (Instance& instance : scene.instances)
      if (instance.mesh >= at) ++instance.mesh;
  }
  const GpuGeometry geometry = upload(scene, device(), hostile_options());
  const std::vector<std::byte> triangles = bytes_back(geometry.array(ViewArray::triangles), device());
  std::size_t at = 0;
  std::uint32_t first_vertex = 0;
  for (const Mesh& mesh : scene.meshes) {
    for (const UInt3& triangle : mesh.triangles) {
      UInt3 got;
      std::memcpy(&got, triangles.data() + at, sizeof got);
      at += sizeof got;
      ASSERT_EQ(got, (UInt3{triangle.x + first_vertex, triangle.y + first_vertex, triangle.z + first_vertex}));
    }
    first_vertex += static_cast<std::uint32_t>(mesh.vertices.size());
  }
  EXPECT_EQ(at, triangles.size());
}

TEST_P(Hostile, PartsThatDoNotCoverTheirMeshAreRefused) {
  for (int damage = 0; damage != 4; ++damage) {
    Scene scene = random_scene(23);
    std::vector<Mesh::Part>& parts = scene.meshes[1].parts;
    ASSERT_EQ(parts.size(), 2U);
    if (damage == 0) parts.clear();
    if (damage == 1) --parts[1].triangle_count;
    if (damage == 2) ++parts[1].first_triangle;
    if (damage == 3) std::swap(parts[0], parts[1]);
    try {
      (void)upload(scene, device(), hostile_options());
      FAIL() << "damage " << damage;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage) << error.what();
    }
  }
}

// Threads -----------------------------------------------------------------------------------------------------------

TEST_P(Hostile, ManyThreadsUploadToOneDevice) {
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (unsigned t = 0; t != 6; ++t)
    threads.emplace_back([this, t, &wrong] {
      const std::vector<std::byte> bytes = pattern(3'000'000 + t, t);
      const ArraySource source = source_of(bytes, 1);
      for (int round = 0; round != 4; ++round) {
        const ResidentArrays resident =
            upload({&source, 1}, device(), hostile_options(round % 2 == 0 ? UINT64_MAX : std::uint64_t{2} << 20));
        if (bytes_back(resident.arrays[0], device()) != bytes) ++wrong;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(device().pinned_pool().active_blocks(), 0U);
}

TEST_P(Hostile, FreeMemoryIsNeverMoreThanThereIsWhileThreadsAllocate) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int t = 0; t != 4; ++t)
    threads.emplace_back([this, &stop] {
      const Stream stream(device());
      while (!stop) const PooledBuffer<std::byte> buffer(device(), stream, 1U << 20);
      stream.synchronize();
    });
  std::uint64_t most = 0;
  for (int round = 0; round != 2000; ++round) most = std::max(most, device().memory_info().free_bytes);
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(most, device().memory_info().total_bytes);
}

TEST_P(Hostile, AFillMayWorkInParallelItself) {
  const std::vector<std::byte> bytes = pattern(5'000'000);
  const ArraySource source{"bytes", ArrayRank::vertices, 1, bytes.size(),
                           [&](std::size_t first, std::size_t count, std::byte* target, StoreMode mode) {
                             tbb::parallel_for(std::size_t{0}, (count + 999) / 1000, [&](std::size_t piece) {
                               const std::size_t at = piece * 1000;
                               copy_bytes(bytes.data() + first + at, target + at,
                                          std::min<std::size_t>(1000, count - at), mode);
                             });
                           }};
  const ResidentArrays resident = upload({&source, 1}, device(), hostile_options());
  EXPECT_EQ(bytes_back(resident.arrays[0], device()), bytes);
}

// What throws -------------------------------------------------------------------------------------------------------

TEST_P(Hostile, AFillThatThrowsLeavesNothingBehind) {
  for (const std::uint64_t budget : {UINT64_MAX, std::uint64_t{2} << 20, std::uint64_t{0}}) {
    for (const bool no_memory : {false, true}) {
      const ArraySource source{"bad", ArrayRank::vertices, 1, 5'000'000,
                               [no_memory](std::size_t first, std::size_t count, std::byte* target, StoreMode) {
                                 if (first + count > 4'000'000) {
                                   if (no_memory) throw std::bad_alloc();
                                   throw std::runtime_error("the caller's own");
                                 }
                                 std::memset(target, 0, count);
                               }};
      const Device fresh(backend_);
      if (no_memory)
        EXPECT_THROW((void)upload({&source, 1}, fresh, hostile_options(budget)), std::bad_alloc);
      else
        EXPECT_THROW((void)upload({&source, 1}, fresh, hostile_options(budget)), std::runtime_error);
      EXPECT_EQ(fresh.pinned_pool().active_blocks(), 0U);
      fresh.pinned_pool().free_held();
      EXPECT_EQ(backend_->alive(), 0);
    }
  }
}

TEST_P(Hostile, ACallbackMayThrowItsOwnAtAnyReport) {
  const Scene scene = random_scene(24, 3, 20'000);
  int reports = 0;
  (void)upload(scene, *wrapped_, hostile_options(), Progress([&](auto, auto, auto) { return ++reports != 0; }));
  wrapped_->pinned_pool().free_held();
  ASSERT_GT(reports, 3);
  for (int at = 0; at < reports; at += 1 + reports / 20) {
    int seen = 0;
    const Progress progress([&](auto, auto, auto) {
      if (seen++ == at) throw std::logic_error("mine");
      return true;
    });
    try {
      (void)upload(scene, *wrapped_, hostile_options(), progress);
      // How many reports there are depends on the threads: the last ones may not come.
    } catch (const std::logic_error&) {
    }
    wrapped_->pinned_pool().free_held();
    ASSERT_EQ(backend_->alive(), 0) << "report " << at;
  }
}

TEST_P(Hostile, ACallbackIsCalledByTheCallersThreadOnly) {
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<int> elsewhere{0};
  const Progress progress([&](auto, auto, auto) {
    if (std::this_thread::get_id() != caller) ++elsewhere;
    return true;
  });
  (void)upload(random_scene(25, 3, 50'000), device(), hostile_options(1U << 20), progress);
  EXPECT_EQ(elsewhere, 0);
}

// Memory that another part of raylift holds -------------------------------------------------------------------------

TEST_P(Hostile, TrimmingLeavesNothingInThePools) {
  (void)upload(random_scene(26), device(), hostile_options());
  device().trim();
  EXPECT_EQ(device().pinned_pool().managed_bytes(), 0U);
  const auto pool = device().backend()->pool_bytes();
  EXPECT_EQ(pool.held, pool.active);
}

TEST_P(Hostile, ASplitTakesWhatThePoolHoldsUnused) {
  if (!device().info().splits_arrays) GTEST_SKIP() << device().info().id << " splits no arrays";
  const Stream stream(device());
  const std::uint64_t free = device().memory_info().free_bytes;
  { const PooledBuffer<std::byte> most(device(), stream, free - (free >> 3)); }
  stream.synchronize();
  const std::size_t page = device().info().page_bytes;
  const std::size_t wanted = free / 2 / page * page;
  const SplitBuffer<std::byte> split(device(), wanted + page, wanted);
  EXPECT_EQ(split.device_bytes(), wanted);
}

}  // namespace
}  // namespace raylift
