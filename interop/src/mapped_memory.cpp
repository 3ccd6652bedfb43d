// SPDX-License-Identifier: Apache-2.0
// Mapping shared memory for a scope.
#include <GL/glew.h>
#include <raylift/geometry/error.h>
#include <raylift/interop/shared_memory.h>

#include <atomic>
#include <utility>

#include "cuda_link.h"
#include "shared_memory_impl.h"

namespace raylift::detail {

struct MappedMemory::Held {
  std::vector<std::shared_ptr<SharedMemory::Impl>> memories;
  std::vector<std::byte*> pointers;
  std::uint64_t serial = 0;
  StreamHandle stream = nullptr;
  std::function<void()> after;

  /// The memories that this still maps: not those that were closed meanwhile.
  [[nodiscard]] std::vector<std::shared_ptr<SharedMemory::Impl>> mapped() const {
    std::vector<std::shared_ptr<SharedMemory::Impl>> result;
    for (const auto& memory : memories)
      if (memory->serial == serial) result.push_back(memory);
    return result;
  }
  void map();
  void unmap();
};

void MappedMemory::Held::map() {
  std::vector<void*> resources;
  bool wait_for_gl = false;
  for (const auto& memory : memories) {
    if (memory->way == Way::cuda) resources.push_back(memory->resource);
    wait_for_gl = wait_for_gl || (memory->way == Way::in_place && !memory->frozen);
  }
  // OpenGL's earlier commands on the memory come before the host's kernels.
  if (wait_for_gl) glFinish();
  const int ordinal = memories[0]->device.info().cuda_device;
  if (!resources.empty()) cuda_map(ordinal, resources, stream);
  try {
    for (const auto& memory : memories) {
      if (memory->way == Way::copied) memory->copy_in(stream);
      pointers.push_back(memory->bytes == 0             ? nullptr
                         : memory->way == Way::cuda     ? cuda_pointer(ordinal, memory->resource, memory->bytes)
                         : memory->way == Way::in_place ? memory->buffer.host().data()
                                                        : memory->twin.device());
    }
  } catch (const Error&) {
    try {
      if (!resources.empty()) cuda_unmap(ordinal, resources, stream);
    } catch (const Error&) {
      // The first error says more.
    }
    throw;
  }
  for (const auto& memory : memories) {
    memory->serial = serial;
    memory->stream = stream;
  }
}

void MappedMemory::Held::unmap() {
  const std::vector<std::shared_ptr<SharedMemory::Impl>> still = mapped();
  if (still.empty()) return;
  still[0]->context->require_current("unmapping a shared buffer");
  std::vector<void*> resources;
  for (const auto& memory : still) {
    memory->serial = 0;
    if (memory->way == Way::cuda) resources.push_back(memory->resource);
  }
  if (!resources.empty()) cuda_unmap(still[0]->device.info().cuda_device, resources, stream);
  for (const auto& memory : still) {
    if (memory->way == Way::copied) memory->copy_out(stream);
    if (memory->way == Way::in_place) memory->device.backend()->synchronize(stream);
  }
  if (after) after();
}

MappedMemory::MappedMemory(std::span<const SharedMemory* const> memories, StreamRef stream)
    : held_(std::make_unique<Held>()) {
  static std::atomic<std::uint64_t> last_serial{0};
  held_->serial = ++last_serial;
  held_->stream = stream.handle();
  auto& list = held_->memories;
  for (const SharedMemory* memory : memories) {
    const std::shared_ptr<SharedMemory::Impl>& impl = memory->impl_;
    if (impl == nullptr || impl->closed)
      throw Error(ErrorKind::usage, "mapping a shared buffer that is closed, or whose OpenGL context has gone");
    impl->context->require_current("mapping a shared buffer");
    if (impl->serial != 0)
      throw Error(ErrorKind::usage, "mapping a shared buffer that is mapped already", {},
                  "end its mapping before the next one");
    if (std::find(list.begin(), list.end(), impl) != list.end())
      throw Error(ErrorKind::usage, "mapping a shared buffer twice at once", {}, "name it once");
    if (!list.empty() && impl->device.backend() != list[0]->device.backend())
      throw Error(ErrorKind::usage, "mapping shared buffers of different devices at once", {}, "map them one by one");
    list.push_back(impl);
  }
  if (!list.empty()) held_->map();
}

MappedMemory::~MappedMemory() {
  if (held_ == nullptr) return;
  const std::vector<std::shared_ptr<SharedMemory::Impl>> still = held_->mapped();
  if (still.empty()) return;
  const std::shared_ptr<ContextState> context = still[0]->context;
  if (!context->is_current()) {
    // It is unmapped as soon as the context is current; the stream may be gone by then.
    still[0]->wait_for(held_->stream);
    held_->stream = nullptr;
  }
  context->when_current([held = std::shared_ptr<Held>(std::move(held_))] {
    try {
      held->unmap();
    } catch (const Error&) {
      // The device is in trouble; whoever uses it next hears of it.
    }
  });
}

MappedMemory::MappedMemory() = default;
MappedMemory::MappedMemory(MappedMemory&&) noexcept = default;

MappedMemory& MappedMemory::operator=(MappedMemory&& other) noexcept {
  MappedMemory taken(std::move(other));
  std::swap(held_, taken.held_);
  return *this;
}

std::byte* MappedMemory::device(std::size_t i) const {
  return held_ == nullptr || i >= held_->pointers.size() ? nullptr : held_->pointers[i];
}

void MappedMemory::unmap() {
  if (held_ == nullptr) return;
  held_->unmap();
  held_.reset();
}

void MappedMemory::afterwards(std::function<void()> action) {
  held_->after = std::move(action);
}

}  // namespace raylift::detail
