// SPDX-License-Identifier: Apache-2.0
// A folder with a run for each event: the events are in the order of their numbers, and stepped through.
#include <gtest/gtest.h>
#include <raylift/geometry/error.h>

#include <chrono>
#include <thread>

#include "light/photon_set.h"
#include "support/paths.h"
#include "viewer/light/photon_rows.h"
#include "viewer/remote/with_outside.h"
#include "window/controls/controls.h"

namespace raylift::viewer {
namespace {

using namespace test_photons;

class PhotonEvents : public Outside {
 protected:
  PhotonEvents() {
    for (const int number : {9, 10, 1}) {
      const auto run = folder_.path() / "runs" / ("event-" + std::to_string(number));
      std::filesystem::create_directories(run);
      std::vector<PhotonRow> hits;
      for (int i = 0; i != number; ++i)
        hits.push_back(event(flags::kSurfaceDetect, {0, 0, 0}, 1, static_cast<std::uint32_t>(i)));
      write_points(run / "hits.npy", hits);
    }
    std::filesystem::create_directories(folder_.path() / "runs/notes");  // no run
  }
  [[nodiscard]] std::string runs() const { return (folder_.path() / "runs").string(); }
  void press(const char* key) { find_control(Control::Kind::key, key, false, false)->act(target_, {}); }
  /// The number of points of the event that is read now.
  std::size_t points() {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    do {
      loader_.poll(state_);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    } while (loader_.reads_photons(state_) && std::chrono::steady_clock::now() < until);
    return state_.photons().set() ? state_.photons().set()->points.size() : 0;
  }

  test::TemporaryFolder folder_;
};

TEST_F(PhotonEvents, AreOrderedByTheirNumbersAndFoundByThem) {
  const std::vector<std::string> events = photon_events(runs());
  EXPECT_EQ(events, (std::vector<std::string>{"event-1", "event-9", "event-10"}));
  EXPECT_EQ(find_event(events, ""), 0U);
  EXPECT_EQ(find_event(events, "event-10"), 2U);
  EXPECT_EQ(find_event(events, "9"), 1U);
  EXPECT_THROW((void)find_event(events, "2"), Error);
  EXPECT_THROW((void)find_event({}, "2"), Error);
  EXPECT_TRUE(photon_events(folder_.path() / "runs/event-9").empty()) << "a run has no events";
  EXPECT_TRUE(photon_events(folder_.path() / "nowhere").empty());
}

TEST_F(PhotonEvents, AreSteppedThroughByKeysAndVerb) {
  state_.open("/boxes.dae");
  state_.show(three_boxes());
  SceneLoader fresh;
  state_.light().open_photons(runs());
  EXPECT_EQ(points(), 1U);
  press("Page Down");
  EXPECT_EQ(points(), 9U);
  EXPECT_NE(state_.messages().text().find("event 2 of 3: event-9"), std::string::npos) << state_.messages().text();
  press("Page Down");
  press("Page Down");
  EXPECT_NE(state_.messages().text().find("last event"), std::string::npos);
  EXPECT_EQ(points(), 10U);
  press("Page Up");
  EXPECT_EQ(points(), 9U);
  const Json light = call("state")["photons"];
  EXPECT_EQ(light["event"], "event-9");
  EXPECT_EQ(light["events"], 3);
  (void)ask(request("event", {{"event", "1"}}));
  EXPECT_EQ(points(), 1U);
  EXPECT_EQ(code(ask(request("event", {{"event", "17"}}))), kRaylift);
  EXPECT_EQ(state_.light().origin().event, "1") << "and a bookmark keeps it";
}

TEST_F(PhotonEvents, ThatAreNotThereAreSaid) {
  press("Page Down");
  EXPECT_NE(state_.messages().text().find("no events"), std::string::npos);
}

}  // namespace
}  // namespace raylift::viewer
