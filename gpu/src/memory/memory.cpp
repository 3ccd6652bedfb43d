// SPDX-License-Identifier: Apache-2.0
#include <raylift/geometry/error.h>
#include <raylift/gpu/memory/buffer.h>
#include <raylift/gpu/memory/memory.h>

#include <algorithm>
#include <cstdint>
#include <new>
#include <string>
#include <utility>

#include "device/run_on.h"

namespace raylift {
namespace {

constexpr std::size_t kAlignment = 256;

/// Larger sizes overflow where something is added to them, here or in a driver.
void check_bytes(std::size_t bytes) {
  if (bytes > PTRDIFF_MAX) detail::refuse_size();
}

/// What the resource has; null where it has none.
void* ask(DeviceResource& resource, StreamRef stream, std::size_t bytes) {
  try {
    return resource.allocate(bytes, stream);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void* allocate_pooled(detail::Backend& backend, StreamHandle stream, std::size_t bytes) {
  try {
    return backend.allocate_on(stream, bytes);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::out_of_device_memory) throw;
  }
  // What was released on other streams may be there once they are done with it.
  backend.synchronize(stream);
  backend.trim_pool(0);
  try {
    return backend.allocate_on(stream, bytes);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::out_of_device_memory) throw;
    const detail::Backend::PoolBytes pool = backend.pool_bytes();
    throw Error(ErrorKind::out_of_device_memory,
                "no device memory for " + std::to_string(bytes) + " bytes on " + backend.info().id + ": " +
                    std::to_string(backend.memory_info().free_bytes) + " free, " + std::to_string(pool.held) +
                    " held by the pool, " + std::to_string(pool.active) + " of them in use",
                {}, "free device memory, or place more in host memory");
  }
}

}  // namespace

void detail::check_range(std::size_t first, std::size_t count, std::size_t whole) {
  if (first > whole || count > whole - first)
    throw Error(ErrorKind::usage, "a copy of " + std::to_string(count) + " elements at " + std::to_string(first) +
                                      " leaves an array of " + std::to_string(whole));
}

void detail::refuse_size() {
  throw Error(ErrorKind::usage, "an array is larger than any memory");
}

Memory Memory::on_device(const Device& device, std::size_t bytes) {
  if (bytes == 0) return {};
  check_bytes(bytes);
  void* data = device.backend()->allocate(bytes);
  return {device, {Kind::device, static_cast<std::byte*>(data), nullptr, bytes, 0}};
}

Memory Memory::pooled(const Device& device, StreamRef stream, std::size_t bytes) {
  if (bytes == 0) return {};
  check_bytes(bytes);
  void* data = allocate_pooled(*device.backend(), stream.handle(), bytes);
  return {device, {Kind::pooled, static_cast<std::byte*>(data), nullptr, bytes, 0, stream.handle()}};
}

Memory Memory::from(std::shared_ptr<DeviceResource> resource, const Device& device, StreamRef stream,
                    std::size_t bytes) {
  if (bytes == 0) return {};
  check_bytes(bytes);
  if (!resource) throw Error(ErrorKind::usage, "there is no resource to take device memory from");
  void* data = ask(*resource, stream, bytes);
  if (data == nullptr)
    throw Error(ErrorKind::out_of_device_memory,
                "the program's own resource has no " + std::to_string(bytes) + " bytes of device memory");
  if (reinterpret_cast<std::uintptr_t>(data) % kAlignment != 0) {
    resource->deallocate(data, bytes, stream);
    throw Error(ErrorKind::usage, "the program's own resource gave device memory that is not aligned to 256 bytes");
  }
  return {device, {Kind::lent, static_cast<std::byte*>(data), nullptr, bytes, 0, stream.handle(), std::move(resource)}};
}

Memory Memory::mapped(const Device& device, std::size_t bytes, PinnedFlags flags) {
  if (bytes == 0) return {};
  check_bytes(bytes);
  const detail::HostBlock block = device.backend()->allocate_pinned(bytes, flags);
  return {device, {Kind::mapped, static_cast<std::byte*>(block.device), static_cast<std::byte*>(block.host), 0, bytes}};
}

Memory Memory::split(const Device& device, std::size_t bytes, std::size_t device_bytes) {
  check_bytes(bytes);
  const std::size_t page = device.info().page_bytes;
  if (!device.info().splits_arrays || page == 0)
    throw Error(ErrorKind::device, device.info().id + " can't back one address range by device and host memory");
  device_bytes = device_bytes / page * page;
  if (device_bytes == 0 || device_bytes >= bytes)
    throw Error(ErrorKind::usage, "a split needs at least one page on each side: " + std::to_string(device_bytes) +
                                      " of " + std::to_string(bytes) + " bytes on the device");
  const detail::SplitBlock block = device.backend()->allocate_split(device_bytes, bytes - device_bytes);
  return {device,
          {Kind::split, static_cast<std::byte*>(block.device), static_cast<std::byte*>(block.host_part),
           block.device_bytes, block.host_bytes}};
}

Memory Memory::registered(const Device& device, std::span<std::byte> memory, PinnedFlags flags) {
  if (memory.empty()) throw Error(ErrorKind::usage, "there is no memory to register");
  const detail::HostBlock block = device.backend()->register_host(memory.data(), memory.size(), flags);
  return {
      device,
      {Kind::registered, static_cast<std::byte*>(block.device), static_cast<std::byte*>(block.host), 0, block.bytes}};
}

Memory Memory::external(const Device& device, std::byte* data, std::size_t bytes) {
  detail::require_arrays(bytes, {data});
  return {device, {Kind::external, data, nullptr, bytes, 0}};
}

void detail::release_memory(detail::Backend& backend, const MemoryBlock& block) noexcept {
  using Kind = MemoryBlock::Kind;
  switch (block.kind) {
    case Kind::device:
      return backend.release(block.device);
    case Kind::pooled:
      return backend.release_on(block.stream, block.device);
    case Kind::lent:
      return block.resource->deallocate(block.device, block.device_bytes, block.stream);
    case Kind::mapped:
      return backend.release_pinned({block.host, block.device, block.host_bytes});
    case Kind::split:
      return backend.release_split({block.device, block.host, block.device_bytes, block.host_bytes});
    case Kind::registered:
      return backend.unregister_host({block.host, block.device, block.host_bytes});
    case Kind::external:
      return;
  }
}

Residency Memory::where() const {
  const Kind kind = block_.get().kind;
  if (kind == Kind::split) return Residency::split;
  return kind == Kind::mapped || kind == Kind::registered ? Residency::mapped : Residency::device;
}

/// Calls copy(part, offset, bytes) for what of [first, first + count) lies in each memory: one copy across the boundary
/// of a split crashes the driver.
template <class Copy>
void Memory::by_part(std::size_t first, std::size_t count, const Copy& copy) const {
  detail::check_range(first, count, bytes());
  const std::size_t end = first + count;
  const std::size_t boundary = std::clamp(block_.get().device_bytes, first, end);
  if (boundary > first) copy(device() + first, std::size_t{0}, boundary - first);
  if (end > boundary) copy(device() + boundary, boundary - first, end - boundary);
}

void Memory::copy_from(std::span<const std::byte> source, StreamRef stream, std::size_t first) {
  by_part(first, source.size(), [&](std::byte* part, std::size_t offset, std::size_t count) {
    backend()->copy_to_device(part, source.data() + offset, count, stream.handle());
  });
}

void Memory::copy_to(std::span<std::byte> target, StreamRef stream, std::size_t first) const {
  by_part(first, target.size(), [&](const std::byte* part, std::size_t offset, std::size_t count) {
    backend()->copy_to_host(target.data() + offset, part, count, stream.handle());
  });
}

void Memory::copy_to(Memory& target, StreamRef stream) const {
  if (target.device_bytes() < bytes() || target.device_bytes() != target.bytes())
    throw Error(ErrorKind::usage, std::to_string(bytes()) + " bytes can't be copied to memory that has " +
                                      std::to_string(target.device_bytes()) + " of its " +
                                      std::to_string(target.bytes()) + " bytes on the device");
  by_part(0, bytes(), [&](const std::byte* part, std::size_t offset, std::size_t count) {
    backend()->copy_on_device(target.device() + offset, part, count, stream.handle());
  });
}

}  // namespace raylift
