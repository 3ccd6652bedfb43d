// SPDX-License-Identifier: Apache-2.0
// The owner of a backend's resource: streams, events and memory have one as a
// member, and need no destructor or move operations of their own.
#pragma once

#include <raylift/gpu/device/backend.h>

#include <functional>
#include <memory>
#include <utility>

namespace raylift::detail {

/// A resource of a backend, which it keeps alive. `kRelease(backend, resource)` gives it back. Move-only; empty after a
/// move.
template <class Resource, auto kRelease>
class Owned {
 public:
  Owned() = default;
  Owned(std::shared_ptr<Backend> backend, Resource resource) noexcept
      : backend_(std::move(backend)), resource_(resource) {}
  Owned(Owned&& other) noexcept : backend_(std::move(other.backend_)), resource_(std::exchange(other.resource_, {})) {}
  /// What was held before is released.
  Owned& operator=(Owned&& other) noexcept {
    Owned taken(std::move(other));
    std::swap(backend_, taken.backend_);
    std::swap(resource_, taken.resource_);
    return *this;
  }
  ~Owned() {
    if (backend_) std::invoke(kRelease, *backend_, resource_);
  }

  /// Null where nothing is held.
  [[nodiscard]] Backend* backend() const { return backend_.get(); }
  [[nodiscard]] const Resource& get() const { return resource_; }

 private:
  std::shared_ptr<Backend> backend_;
  Resource resource_{};
};

}  // namespace raylift::detail
