// SPDX-License-Identifier: Apache-2.0
// The state of an OpenGL context for the objects made in it: whether it still exists, and whether it is current. They
// hold on to this, not to the context, because they may outlive it.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace raylift::detail {

/// Something that must let go of its context before that is destroyed.
class ContextResource {
 public:
  /// Called with the context current, if that was possible: else `current` is false and no GL call may be made.
  virtual void context_goes(bool current) noexcept = 0;

 protected:
  ~ContextResource() = default;
};

class ContextState {
 public:
  explicit ContextState(void* handle) : handle_(handle) {}

  /// The state of the calling thread's current context, also of one made elsewhere; null where none is current.
  [[nodiscard]] static std::shared_ptr<ContextState> current();
  /// Remembers the state of a new context under its native handle.
  static void add(const std::shared_ptr<ContextState>& state);

  [[nodiscard]] bool is_current() const;
  [[nodiscard]] bool alive() const;
  /// Throws Error(usage) unless the context is current on the calling thread. `what` begins the message: "mapping a
  /// shared buffer". Also does what has waited for that.
  void require_current(const std::string& what) const;

  /// Does what needs the context: now if it is current, otherwise as soon as something else is done in it. Not at all
  /// if the context has gone, and all that it held with it.
  void when_current(std::function<void()> action) noexcept;

  void attach(ContextResource* resource);
  /// False: the context has gone, and has notified the resource; a notification under way on another thread is over
  /// when this returns.
  [[nodiscard]] bool detach(ContextResource* resource) noexcept;
  /// The context is about to be destroyed. Resources may be detached on other threads meanwhile.
  void end(bool current) noexcept;

 private:
  /// Does what has waited.
  void catch_up() const noexcept;

  void* handle_;
  mutable std::mutex mutex_;
  mutable std::vector<std::function<void()>> waiting_;
  bool alive_ = true;
  std::vector<ContextResource*> resources_;
  ContextResource* going_ = nullptr;  // is being notified
  std::thread::id ending_;            // the thread that notifies it
  std::condition_variable told_;
};

/// The current context's state; throws Error(no_display) where no context is current.
[[nodiscard]] std::shared_ptr<ContextState> require_current_context(const std::string& what);

/// The native handle of the calling thread's current context, an EGLContext or a GLXContext; null where there is none.
[[nodiscard]] void* current_context_handle();

}  // namespace raylift::detail
