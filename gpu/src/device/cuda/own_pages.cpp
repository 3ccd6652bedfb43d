// SPDX-License-Identifier: Apache-2.0
#include "own_pages.h"

#include <sys/mman.h>
#include <tbb/task_arena.h>

#include <cstdint>

#include "base/huge_pages.h"

namespace raylift::cuda {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

std::size_t in_huge_pages(std::size_t bytes) {
  return (bytes + kHugePage - 1) / kHugePage * kHugePage;
}

}  // namespace

void* OwnPages::map(std::size_t bytes) {
  const std::size_t size = in_huge_pages(bytes);
  void* const mapped = ::mmap(nullptr, size + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  // What lies before and behind whole huge pages goes back.
  auto* const begin = static_cast<std::byte*>(mapped);
  const auto address = reinterpret_cast<std::uintptr_t>(mapped);
  const std::size_t before = in_huge_pages(address) - address;
  std::byte* const data = begin + before;
  if (before != 0) (void)::munmap(begin, before);
  (void)::munmap(data + size, kHugePage - before);
  (void)::madvise(data, size, MADV_DONTFORK);
  // Isolated: this thread must not be handed other work of its caller's, which may wait for these very pages.
  tbb::this_task_arena::isolate([&] { base::touch(data, size); });
  const std::scoped_lock lock(mutex_);
  sizes_.emplace(data, size);
  return data;
}

bool OwnPages::has(void* data) const noexcept {
  const std::scoped_lock lock(mutex_);
  return sizes_.contains(data);
}

void OwnPages::unmap(void* data) noexcept {
  const std::scoped_lock lock(mutex_);
  const auto found = sizes_.find(data);
  if (found == sizes_.end()) return;
  (void)::munmap(data, found->second);
  sizes_.erase(found);
}

}  // namespace raylift::cuda
