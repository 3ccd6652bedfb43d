// SPDX-License-Identifier: Apache-2.0
// A program's own allocator, as raylift gets memory from it: UploadOptions::memory. docs/linking.md has the same for
// RMM.
#pragma once

#include <raylift/gpu/memory/buffer.h>
#include <raylift/gpu/memory/device_resource.h>

#include <cstddef>
#include <map>
#include <mutex>
#include <new>
#include <optional>
#include <set>

namespace raylift::test {

/// One block of device memory, given out from its front. It is whole again when all of it has come back.
class Arena : public DeviceResource {
 public:
  Arena(const Device& device, std::size_t bytes) : block_(device, bytes) {}

  [[nodiscard]] void* allocate(std::size_t bytes, StreamRef stream) override {
    const std::lock_guard lock(mutex_);
    const std::size_t rounded = (bytes + 255) / 256 * 256;
    if (rounded > block_.size() - next_) throw std::bad_alloc();
    std::byte* const place = block_.device() + next_ + shift_;
    next_ += rounded;
    given_[place] = {bytes, stream.handle()};
    streams_.insert(stream.handle());
    return place;
  }
  void deallocate(void* device, std::size_t bytes, StreamRef stream) noexcept override {
    const std::lock_guard lock(mutex_);
    const auto found = given_.find(static_cast<std::byte*>(device));
    if (found == given_.end() || found->second.bytes != bytes || found->second.stream != stream.handle()) {
      faults_ += 1;
      return;
    }
    given_.erase(found);
    if (given_.empty()) next_ = 0;
  }
  [[nodiscard]] std::optional<std::uint64_t> free_bytes() const override {
    if (!states_free_) return std::nullopt;
    return block_.size() - next_;
  }

  /// Makes it say how much it can give.
  void state_free() { states_free_ = true; }
  /// Makes what it gives lie at odd addresses.
  void misalign() { shift_ = 16; }
  [[nodiscard]] bool has(const void* place) const {
    return place >= block_.device() && place < block_.device() + block_.size();
  }
  [[nodiscard]] std::size_t given_bytes() const {
    std::size_t bytes = 0;
    for (const auto& [place, given] : given_) bytes += given.bytes;
    return bytes;
  }
  [[nodiscard]] const std::set<StreamHandle>& streams() const { return streams_; }
  /// Blocks that came back with another size, on another stream, or twice.
  [[nodiscard]] int faults() const { return faults_; }

 private:
  struct Given {
    std::size_t bytes;
    StreamHandle stream;
  };
  DeviceBuffer<std::byte> block_;
  std::mutex mutex_;
  std::map<std::byte*, Given> given_;
  std::set<StreamHandle> streams_;
  std::size_t next_ = 0;
  std::size_t shift_ = 0;
  bool states_free_ = false;
  int faults_ = 0;
};

}  // namespace raylift::test
