// SPDX-License-Identifier: Apache-2.0
// The end of a context while other threads destroy what was made in it.
#include "context_state.h"

#include <atomic>
#include <chrono>

#include "fixture.h"

namespace raylift {
namespace {

using namespace std::chrono_literals;
using detail::ContextResource;
using detail::ContextState;

/// Takes its time when the context goes.
struct Slow final : ContextResource {
  void context_goes(bool) noexcept override {
    began = true;
    std::this_thread::sleep_for(50ms);
    ended = true;
  }
  std::atomic<bool> began{false};
  std::atomic<bool> ended{false};
};

TEST(ContextStates, WaitForAResourceThatIsBeingTold) {
  ContextState state(nullptr);
  Slow slow;
  state.attach(&slow);
  std::thread end([&] { state.end(false); });
  while (!slow.began) std::this_thread::yield();
  EXPECT_FALSE(state.detach(&slow));
  EXPECT_TRUE(slow.ended);  // now it may be destroyed
  end.join();
  EXPECT_FALSE(state.alive());
}

TEST(ContextStates, LeaveAResourceAloneThatIsDetached) {
  ContextState state(nullptr);
  Slow slow;
  state.attach(&slow);
  EXPECT_TRUE(state.detach(&slow));
  EXPECT_FALSE(state.detach(&slow));
  state.end(false);
  EXPECT_FALSE(slow.began);
}

/// Detaches itself when the context goes, as what owns itself does.
struct Own final : ContextResource {
  void context_goes(bool) noexcept override { was_attached = state->detach(this); }
  ContextState* state = nullptr;
  bool was_attached = true;
};

TEST(ContextStates, DoNotWaitForThemselves) {
  ContextState state(nullptr);
  Own own;
  own.state = &state;
  state.attach(&own);
  state.end(false);
  EXPECT_FALSE(own.was_attached);
}

/// What a resource leaves to be done in the context that it is losing is done.
struct Leaving final : ContextResource {
  void context_goes(bool) noexcept override {
    std::thread([this] { state->when_current([this] { done = true; }); }).join();
  }
  ContextState* state = nullptr;
  bool done = false;
};

TEST(ContextStates, DoWhatIsLeftToThemWhileTheyEnd) {
  ContextState state(nullptr);
  Leaving leaving;
  leaving.state = &state;
  state.attach(&leaving);
  state.end(true);
  EXPECT_TRUE(leaving.done);
}

class EndingContexts : public test::Shared {};
RAYLIFT_IN_ALL_PLACES(EndingContexts);

TEST_P(EndingContexts, DoNoHarmToBuffersThatAreDestroyedMeanwhile) {
  for (int round = 0; round != 20; ++round) {
    auto context = new_context();
    std::vector<detail::SharedMemory> memories;
    for (int i = 0; i != 8; ++i) memories.emplace_back(device(), 4096, options());
    std::atomic<bool> go{false};
    std::thread other([&] {
      while (!go) std::this_thread::yield();
      while (!memories.empty()) memories.pop_back();
    });
    go = true;
    context.reset();
    other.join();
  }
}

}  // namespace
}  // namespace raylift
