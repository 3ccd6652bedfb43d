// SPDX-License-Identifier: Apache-2.0
// Light that is opened from outside, and that bookmarks keep.
#include <gtest/gtest.h>
#include <raylift/geometry/error.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "model/settings/setting_json.h"
#include "state/options/bookmarks.h"
#include "support/paths.h"
#include "viewer/light/photon_rows.h"
#include "viewer/remote/with_outside.h"

namespace raylift::viewer {
namespace {

using namespace test_photons;

PhotonSettings some_light() {
  PhotonSettings light;
  light.color = PhotonColor::process;
  light.filter = {"TO * SD", Between<float>{350, 500}, Between<std::int32_t>{10, 19}};
  light.paths = false;
  light.size = 3;
  light.opacity = 0.25F;
  light.time = 12.5;
  light.trail = 5;
  light.speed = 3;
  light.loop = false;
  return light;
}

constexpr std::initializer_list<Setting::Part> kLight{Setting::Part::light, Setting::Part::time};

/// How photons are drawn, as bookmarks and the verb `state` have it.
nlohmann::ordered_json photon_json(const PhotonSettings& light) {
  Settings settings;
  settings.photons = light;
  return settings_json(settings, kLight);
}

PhotonSettings photon_settings(const char* json) {
  Settings settings;
  read_settings(nlohmann::ordered_json::parse(json), settings, kLight);
  return settings.photons;
}

TEST(PhotonJson, ComesBack) {
  const PhotonSettings again = photon_settings(photon_json(some_light()).dump().c_str());
  EXPECT_EQ(photon_json(again), photon_json(some_light()));
  EXPECT_EQ(again.filter, some_light().filter);
  EXPECT_EQ(again.time, 12.5);
  EXPECT_EQ(photon_json(photon_settings("{}")), photon_json({})) << "as by default";
  EXPECT_EQ(photon_settings(R"({"history": "TO * SD"})").filter.history, "TO * SD") << "an older name";
  const LightOrigin origin{"/run", "/other", "point:0,0,0", {1, 2, 3}};
  EXPECT_EQ(origin_json(light_origin(origin_json(origin))), origin_json(origin));
  EXPECT_TRUE(light_origin(origin_json({})).empty());
}

TEST(PhotonJson, OfAFileIsCheckedAsOptionsAre) {
  for (const char* wrong :
       {R"({"filter": "NOWHERE"})", R"({"wavelength": "blue"})", R"({"channel": "1-x"})", R"({"color": "gold"})",
        R"({"size": "3"})", R"([1])", R"({"paths": 1})", R"({"paths": null})"})
    EXPECT_THROW((void)photon_settings(wrong), Error) << wrong;
  EXPECT_THROW((void)light_origin(Json::parse(R"({"moved": [1, 2]})")), Json::exception);
  const PhotonSettings far = photon_settings(R"({"size": 1e30, "opacity": 0, "trail": -1})");
  EXPECT_EQ(far.size, 64);
  EXPECT_EQ(far.opacity, 0.01F);
  EXPECT_EQ(far.trail, 0);
}

/// A viewer with bookmarks, and two files of photons: of one path, and of two points.
class KeptLight : public Outside {
 protected:
  KeptLight() {
    write_record(folder_.path() / "record.npy",
                 {{event(flags::kTorch, {0, 0, 0}, 0), event(flags::kSurfaceDetect, {100, 0, 0}, 1)}});
    write_points(folder_.path() / "final.npy",
                 {event(flags::kSurfaceDetect, {0, 0, 0}, 2), event(flags::kSurfaceDetect, {0, 0, 9}, 3)});
    options_.bookmarks = (folder_.path() / "bookmarks.json").string();
  }
  [[nodiscard]] std::string file(const char* name) const { return (folder_.path() / name).string(); }
  /// Does the work behind the window until no light is to be read.
  static void settle(ViewerState& state, SceneLoader& loader) {
    for (int i = 0; i != 10000; ++i) {
      loader.poll(state);
      if (!loader.reads_photons(state)) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    FAIL() << "photons are still read";
  }
  /// The answer to the verb `photons`.
  Json ask_for(const Json& params) {
    Conversation talk(target_);
    talk.receive(request("photons", params) + '\n');
    for (int i = 0; i != 10000 && talk.output().empty(); ++i) {
      (void)talk.work(Conversation::Clock::time_point::max());
      loader_.poll(state_);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    const std::vector<Json> lines = said(talk);
    return lines.size() == 1 ? lines.front() : Json{{"lines", lines}};
  }

  test::TemporaryFolder folder_;
  ViewOptions options_;
};

TEST_F(KeptLight, IsOpenedFromOutside) {
  loader_.poll(state_);
  EXPECT_EQ(ask_for({{"file", file("record.npy")}, {"color", "time"}})["result"],
            Json::parse(R"({"steps": 1, "points": 0})"));
  EXPECT_EQ(state_.settings().photons.color, PhotonColor::time);
  EXPECT_EQ(state_.photons().set()->paths(), 1U);
  EXPECT_EQ(ask_for({{"file", file("final.npy")}})["result"]["points"], 2) << "in place of those before";
  const Json reply = call("state")["photons"];
  EXPECT_EQ(reply["file"], file("final.npy"));
  EXPECT_EQ(reply["source"], nullptr);
  // Whatever `photons` takes, `state` has.
  for (const char* verb : {"photons", "time"})
    for (const Parameter& parameter : find_verb(verb)->parameters)
      EXPECT_TRUE(parameter.name == "all" || parameter.name == "play" || reply.contains(std::string(parameter.name)))
          << parameter.name;

  const Json missing = ask_for({{"file", "/nowhere.npy"}});
  EXPECT_EQ(missing["error"]["data"]["kind"], "io") << missing;
  EXPECT_FALSE(state_.photons().set()) << "those before are not what was asked for";
  EXPECT_FALSE(state_.messages().error().empty());
  EXPECT_EQ(ask_for({{"file", file("final.npy")}})["result"]["points"], 2);
  EXPECT_TRUE(state_.messages().error().empty()) << "of what was asked for before";
  for (const char* wrong : {R"({"file": "/a", "source": "point:0,0,0"})", R"({"compare": "/a"})",
                            R"({"file": "/a", "color": "flag", "filter": "NOWHERE"})"})
    EXPECT_EQ(ask_for(Json::parse(wrong))["error"]["data"]["kind"], "usage") << wrong;
  EXPECT_EQ(state_.settings().photons.color, PhotonColor::time) << "what is refused changes nothing";
  ViewerState empty(without_bookmarks(), {640, 480});
  const ControlTarget target{empty, nullptr, layout_, loader_, [](const std::string&) {}};
  Conversation talk(target);
  EXPECT_EQ(ask(talk, request("photons", {{"file", "/a"}}))["error"]["data"]["kind"], "usage") << "no scene";
}

TEST_F(KeptLight, ComesBackWithItsBookmark) {
  options_.light.origin.photons = file("record.npy");
  ViewerState state(options_, {640, 480});
  state.open("/boxes.dae");
  state.show(three_boxes());
  state.change_settings([](Settings& s) {
    s.photons = some_light();
    s.detail = 2;
  });
  state.add_bookmark("lit");
  options_.light.origin.photons.clear();
  ViewerState again(options_, {640, 480});
  again.open("/boxes.dae");
  const Bookmark* kept = again.bookmarks().find("lit");
  ASSERT_NE(kept, nullptr);
  again.show(three_boxes());
  again.go_to(Bookmark(*kept));
  EXPECT_EQ(photon_json(again.settings().photons), photon_json(some_light()));
  EXPECT_EQ(again.settings().detail, 2);
  EXPECT_EQ(again.light().origin().photons, file("record.npy"));
  EXPECT_EQ(again.light().photon_requests(), 1U);
  again.go_to(Bookmark(*again.bookmarks().find("lit")));
  EXPECT_EQ(again.light().photon_requests(), 1U) << "what is shown already is not read again";
}

TEST_F(KeptLight, OfASourceTakesThePlaceOfPhotons) {
  Bookmark live;
  live.settings.photons = some_light();
  live.light.source = "point:0,0,5";
  live.light.moved = {1, 2, 3};
  state_.light().open_photons(file("record.npy"));
  state_.go_to(live);
  ASSERT_TRUE(state_.light().request());
  EXPECT_EQ(state_.light().request()->source, "point:0,0,5");
  EXPECT_EQ(state_.light().request()->moved, live.light.moved);
  EXPECT_TRUE(state_.light().origin().photons.empty());
  Bookmark photons;
  photons.light.photons = file("final.npy");
  state_.go_to(photons);
  EXPECT_FALSE(state_.light().request());
  settle(state_, loader_);
  EXPECT_EQ(state_.photons().set()->points.size(), 2U);
}

TEST_F(KeptLight, StaysWhereABookmarkHasNone) {
  state_.light().open_photons(file("final.npy"));
  settle(state_, loader_);
  state_.change_settings([](Settings& s) { s.photons = some_light(); });
  state_.go_to(Bookmark());
  EXPECT_EQ(state_.light().origin().photons, file("final.npy"));
  EXPECT_TRUE(state_.photons().set());
  EXPECT_EQ(photon_json(state_.settings().photons), photon_json(some_light()));
}

TEST_F(KeptLight, ThatIsGoneIsAnErrorAndTheViewIsThere) {
  Bookmark bookmark;
  bookmark.camera.distance = 77;
  bookmark.light.photons = "/nowhere/run";
  state_.go_to(bookmark);
  settle(state_, loader_);
  EXPECT_EQ(state_.camera().distance, 77);
  EXPECT_NE(state_.messages().error().find("/nowhere/run"), std::string::npos) << state_.messages().error();
}

}  // namespace
}  // namespace raylift::viewer
