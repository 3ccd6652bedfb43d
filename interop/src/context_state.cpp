// SPDX-License-Identifier: Apache-2.0
#include "context_state.h"

#include <EGL/egl.h>
#include <raylift/geometry/error.h>

#include <map>
#include <utility>

// As in <GL/glx.h>, without the headers of X11.
extern "C" void* glXGetCurrentContext();

namespace raylift::detail {
namespace {

/// The contexts that something was made in. A handle may be used again by the system after its context has gone; the
/// states of contexts of our own leave this table before that.
struct Table {
  std::mutex mutex;
  std::map<void*, std::weak_ptr<ContextState>> states;
};

Table& table() {
  static Table instance;
  return instance;
}

}  // namespace

void* current_context_handle() {
  if (void* egl = eglGetCurrentContext(); egl != EGL_NO_CONTEXT) return egl;
  return glXGetCurrentContext();
}

std::shared_ptr<ContextState> ContextState::current() {
  void* handle = current_context_handle();
  if (handle == nullptr) return nullptr;
  const std::lock_guard lock(table().mutex);
  std::weak_ptr<ContextState>& entry = table().states[handle];
  std::shared_ptr<ContextState> state = entry.lock();
  if (state == nullptr) entry = state = std::make_shared<ContextState>(handle);
  return state;
}

void ContextState::add(const std::shared_ptr<ContextState>& state) {
  const std::lock_guard lock(table().mutex);
  table().states[state->handle_] = state;
}

bool ContextState::alive() const {
  const std::lock_guard lock(mutex_);
  return alive_;
}

bool ContextState::is_current() const {
  return alive() && current_context_handle() == handle_;
}

void ContextState::require_current(const std::string& what) const {
  if (!alive())
    throw Error(ErrorKind::usage, what + " needs the OpenGL context that it was made in, and that is gone", {},
                "close what is shared before its context, and make it again in the new one");
  void* handle = current_context_handle();
  if (handle == handle_) return catch_up();
  throw Error(ErrorKind::usage,
              what + " needs the OpenGL context that it was made in to be current on this thread; here " +
                  (handle == nullptr ? "none is current" : "another one is current"),
              {}, "call it on the thread that draws, or make the context current here");
}

void ContextState::when_current(std::function<void()> action) noexcept {
  if (!is_current()) {
    const std::lock_guard lock(mutex_);
    if (alive_) waiting_.push_back(std::move(action));
    return;
  }
  catch_up();
  action();
}

void ContextState::catch_up() const noexcept {
  std::vector<std::function<void()>> actions;
  {
    const std::lock_guard lock(mutex_);
    actions.swap(waiting_);
  }
  for (const std::function<void()>& action : actions) action();
}

void ContextState::attach(ContextResource* resource) {
  const std::lock_guard lock(mutex_);
  resources_.push_back(resource);
}

bool ContextState::detach(ContextResource* resource) noexcept {
  std::unique_lock lock(mutex_);
  if (std::erase(resources_, resource) != 0) return true;
  told_.wait(lock, [&] { return going_ != resource || ending_ == std::this_thread::get_id(); });
  return false;
}

void ContextState::end(bool current) noexcept {
  while (true) {
    // Whatever has waited, also for a resource that was let go on another thread meanwhile.
    if (current) catch_up();
    std::unique_lock lock(mutex_);
    if (current && !waiting_.empty()) continue;
    if (resources_.empty()) {
      alive_ = false;
      break;
    }
    going_ = resources_.back();
    resources_.pop_back();
    ending_ = std::this_thread::get_id();
    // Not under the lock: a resource asks whether its context is current.
    lock.unlock();
    going_->context_goes(current);
    lock.lock();
    going_ = nullptr;
    told_.notify_all();
  }
  const std::lock_guard lock(table().mutex);
  table().states.erase(handle_);
}

std::shared_ptr<ContextState> require_current_context(const std::string& what) {
  std::shared_ptr<ContextState> state = ContextState::current();
  if (state == nullptr)
    throw Error(ErrorKind::no_display, what + " needs an OpenGL context, and none is current on this thread", {},
                "make one current, or make a GlContext");
  state->require_current(what);
  return state;
}

}  // namespace raylift::detail
