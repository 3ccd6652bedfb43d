// SPDX-License-Identifier: Apache-2.0
// Solids that are drawn in a way of their own: ghosts, glass, lines, edges. What says so, what is seen, what keeps it.
#include <gmock/gmock.h>
#include <raylift/geometry/error.h>
#include <raylift/geometry/import/load.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "draw/overlay/legends.h"
#include "meshes/caps.h"
#include "model/colors/palette.h"
#include "model/solids/find.h"
#include "model/solids/reveal.h"
#include "state/options/bookmarks.h"
#include "state/options/view_options.h"
#include "support/boxes.h"
#include "support/paths.h"
#include "viewer/remote/with_outside.h"
#include "viewer/window/typed.h"
#include "viewer/with_context.h"
#include "window/controls/controls.h"

namespace raylift::viewer {
namespace {

using Eigen::Vector3d;

std::vector<std::uint8_t> values(std::initializer_list<Look> looks) {
  std::vector<std::uint8_t> all;
  for (const Look look : looks) all.push_back(static_cast<std::uint8_t>(look));
  return all;
}

class Styles : public Outside {
 protected:
  void press(const char* key, bool control = false) {
    find_control(Control::Kind::key, key, control, false)->act(target_, {});
  }
};

TEST_F(Styles, GoBeforeWhatFollowsFromTheScene) {
  EXPECT_EQ(state_.appearance().looks(), values({Look::faint, Look::solid, Look::solid}));
  EXPECT_EQ(call("style", {{"solids", "tank"}, {"as", "glass"}})["solids"], 1);
  EXPECT_EQ(call("style", {{"solids", "pmt_*"}, {"as", "wireframe"}})["solids"], 2);
  EXPECT_EQ(state_.appearance().looks(), values({Look::glass, Look::lines, Look::lines}));
  (void)call("style", {{"solids", "material:Glass"}, {"as", "edges"}});
  (void)call("hide", {{"solids", "pmt_2"}});
  EXPECT_EQ(state_.appearance().looks(), values({Look::glass, Look::edged, Look::hidden}));
  EXPECT_EQ(call("state")["styled"], Json::parse(R"({"ghost": 0, "glass": 1, "wireframe": 0, "edges": 2})"));
  (void)call("focus", {{"solids", "pmt_1"}});
  EXPECT_EQ(state_.appearance().looks()[0], static_cast<std::uint8_t>(Look::faint))
      << "what is in the way is faint in any case";
  EXPECT_EQ(code(ask(request("style", {{"solids", "pmt_1"}, {"as", "shiny"}}))), kParams);
  EXPECT_EQ(code(ask(request("style", {{"solids", "missing"}, {"as", "glass"}}))), kRaylift);
}

TEST_F(Styles, GlassMayHaveAnOpacityOfItsOwn) {
  (void)call("style", {{"solids", "pmt_*"}, {"as", "glass"}, {"opacity", 0.25}});
  (void)call("style", {{"solids", "tank"}, {"as", "glass"}});
  EXPECT_EQ(state_.solids()->opacities(), (std::vector<std::uint8_t>{0, 25, 25}));
  EXPECT_EQ(call("state")["opacities"], Json::parse(R"([{"opacity": 0.25, "solids": 2}])"));
  EXPECT_EQ(code(ask(request("style", {{"solids", "tank"}, {"as", "ghost"}, {"opacity", 0.5}}))), kRaylift);
  EXPECT_EQ(code(ask(request("style", {{"solids", "tank"}, {"as", "glass"}, {"opacity", 1.5}}))), kParams);
  state_.selection().select(1);
  for (const double opacity : {0.3, 0.4, 0.5}) state_.appearance().slide_opacity(opacity);
  EXPECT_EQ(state_.solids()->opacities(), (std::vector<std::uint8_t>{0, 50, 25}));
  state_.appearance().end_slide();
  state_.selection().select(2);
  state_.appearance().slide_opacity(0.999);
  EXPECT_EQ(state_.solids()->opacities(), (std::vector<std::uint8_t>{0, 50, 100}));
  press("Z", true);
  EXPECT_EQ(state_.solids()->opacities(), (std::vector<std::uint8_t>{0, 50, 25})) << "one step for each slide";
  state_.appearance().slide_opacity(0.7);
  press("Z", true);
  press("Z", true);
  EXPECT_EQ(state_.solids()->opacities(), (std::vector<std::uint8_t>{0, 25, 25}));
  (void)call("style", {{"solids", "tank"}, {"as", "ghost"}});
  state_.appearance().set_glass(0.8);
  EXPECT_EQ(state_.solids()->opacities(), (std::vector<std::uint8_t>{0, 80, 80})) << "of what is glass";
  press("Z", true);
  EXPECT_EQ(state_.solids()->opacities(), (std::vector<std::uint8_t>{0, 25, 25}));
}

TEST_F(Styles, AreUndoneInOrderWithVisibility) {
  (void)call("style", {{"solids", "pmt_1"}, {"as", "ghost"}});
  (void)call("hide", {{"solids", "pmt_2"}});
  (void)call("style", {{"solids", "pmt_1"}, {"as", "default"}});
  press("Z", true);
  EXPECT_EQ(state_.appearance().looks(), values({Look::faint, Look::faint, Look::hidden}));
  press("Z", true);
  EXPECT_EQ(state_.appearance().looks(), values({Look::faint, Look::faint, Look::solid}));
  press("Z", true);
  EXPECT_EQ(state_.appearance().looks(), values({Look::faint, Look::solid, Look::solid}));
}

TEST_F(Styles, AllButTheSelectionAreGhosts) {
  press("G", true);
  EXPECT_EQ(state_.messages().text(), "nothing is selected");
  state_.selection().select(1);
  press("G", true);
  EXPECT_EQ(state_.appearance().looks(), values({Look::faint, Look::solid, Look::faint}));
  EXPECT_EQ(state_.solids()->styles(), (std::vector<std::uint8_t>{1, 0, 1}));
  state_.selection().select(std::nullopt);
  press("G", true);
  EXPECT_FALSE(state_.solids()->has_styles());
  state_.selection().select(2);
  state_.appearance().set_style(Style::glass);
  EXPECT_EQ(state_.appearance().looks(), values({Look::faint, Look::solid, Look::glass}));
}

TEST_F(Styles, AreKeptByBookmarks) {
  const test::TemporaryFolder folder;
  const auto file = folder.path() / "bookmarks.json";
  ViewOptions options;
  options.bookmarks = file.string();
  ViewerState state(options, {640, 480});
  state.open("/boxes.dae");
  state.show(three_boxes());
  const std::vector<std::uint8_t> styles{2, 1, 4};
  const std::vector<std::uint8_t> opacities{20, 0, 7};
  state.change_solids([&](Solids& s) { s.set_all({1, 0, 1}, styles, opacities); });
  state.change_settings([](Settings& s) { s.glass_opacity = 0.6F; });
  state.add_bookmark("here");
  state.change_solids([&](Solids& s) { s.set_all({1, 1, 1}, {0, 0, 3}); });
  state.change_settings([](Settings& s) { s.glass_opacity = 0.2F; });
  ViewerState again(options, {640, 480});
  again.open("/boxes.dae");
  again.show(three_boxes());
  for (ViewerState* one : {&state, &again}) {
    ASSERT_NE(one->bookmarks().find("here"), nullptr);
    one->go_to(Bookmark(*one->bookmarks().find("here")));
    EXPECT_EQ(one->solids()->styles(), styles);
    EXPECT_EQ(one->solids()->opacities(), opacities);
    EXPECT_EQ(one->solids()->visible(), (std::vector<std::uint8_t>{1, 0, 1}));
    EXPECT_EQ(one->settings().glass_opacity, 0.6F);
  }
  (void)state.change_solids(&Solids::undo);
  EXPECT_EQ(state.solids()->styles(), (std::vector<std::uint8_t>{0, 0, 3})) << "in one step";
}

TEST(StyleOptions, TakePatterns) {
  const test::TemporaryFolder folder;
  const std::string file = folder.write("view.json", R"({"ghost": "pmt_1", "glass": ["missing"]})");
  ViewOptions options = typed({"a.dae", "--config", file, "--glass", "Water", "--edges-of", "pmt_1", "--wireframe-of",
                               "pmt_2,pmt_2", "--glass-opacity", "0.5"});
  const auto scene = three_boxes();
  Solids solids(*scene);
  const Notes notes = apply_visibility(options, solids);
  EXPECT_EQ(solids.styles(), (std::vector<std::uint8_t>{2, 4, 3})) << "by material; the later style holds";
  EXPECT_EQ(notes.warnings.size(), 1U) << "the configuration is for any scene";
  EXPECT_EQ(options.settings.glass_opacity, 0.5F);
  options.solids.styled[2] = {"material:Glass=0.1", "pmt_2=1"};
  (void)apply_visibility(options, solids);
  EXPECT_EQ(solids.styles(), (std::vector<std::uint8_t>{2, 4, 3})) << "lines go before";
  options.solids.styled[3] = options.solids.styled[4] = {};
  (void)apply_visibility(options, solids);
  EXPECT_EQ(solids.opacities(), (std::vector<std::uint8_t>{0, 10, 100}));
  options.solids.configured = {};
  for (const char* wrong : {"pmt_1=1.5", "pmt_1=0", "pmt_1=-1", "pmt_1=nan", "pmt_1=0.5x", "pmt_1="}) {
    options.solids.styled[2] = {wrong};
    EXPECT_THROW((void)apply_visibility(options, solids), Error) << wrong;
  }
  options.solids.styled[2] = {};
  options.solids.styled[1] = {"pmt_1", "missing"};
  EXPECT_THROW((void)apply_visibility(options, solids), Error);
}

class StyleImage : public WithContext {
 protected:
  void SetUp() override {
    WithContext::SetUp();
    if (IsSkipped()) return;
    // Seen from the front: a box before a larger one.
    scene_ = std::make_unique<Scene>(test::drawn_boxes({{{0, -30, 0}, 10}, {{0, 0, 0}, 30}}));
    renderer_->set_scene(*scene_);
    camera_.orthographic = true;
    camera_.look(Vector3d(0, 1, 0), Vector3d(0, 0, 1));
    camera_.target = Vector3d::Zero();
    camera_.distance = 60;
    settings_.axes = settings_.scale_bar = false;
    settings_.color = ColorBy::solid;
    settings_.background = parse_background("black");
  }
  Image drawn(std::initializer_list<Look> looks) {
    renderer_->set_looks(values(looks));
    renderer_->draw(camera_, settings_);
    return renderer_->read();
  }
  static Pixel at(const Image& image, int x, int y) { return image.at(kSize.width / 2 + x, kSize.height / 2 + y); }
  static int differing(const Image& a, const Image& b) {
    int count = 0;
    for (std::size_t i = 0; i != a.pixels.size(); ++i) count += a.pixels[i] != b.pixels[i] ? 1 : 0;
    return count;
  }
  std::optional<std::uint32_t> picked(int x, int y) {
    const auto pick = renderer_->pick(camera_, settings_, kSize.width / 2 + x, kSize.height / 2 + y);
    return pick ? std::optional(pick->instance) : std::nullopt;
  }

  std::unique_ptr<Scene> scene_;
  Camera camera_;
  Settings settings_;
};

constexpr int kInFront = 7;  // pixels to the right and up, on both boxes, off the diagonals of their faces

TEST_F(StyleImage, GlassIsAsOpaqueAsItsOwnOpacitySays) {
  const auto shade = [&](std::vector<std::uint8_t> hundredths) {
    renderer_->set_opacities(hundredths);
    return at(drawn({Look::glass, Look::solid}), kInFront, 3);
  };
  settings_.glass_opacity = 0.3F;
  const Pixel common = shade({0, 0});
  EXPECT_EQ(shade({30, 0}), common);
  EXPECT_EQ(shade({0, 90}), common) << "of what is no glass it means nothing";
  const Pixel front = at(drawn({Look::solid, Look::solid}), kInFront, 3);
  const Pixel back = at(drawn({Look::hidden, Look::solid}), kInFront, 3);
  // The nearer to the box itself, the more opaque.
  const auto off = [](const Pixel& a, const Pixel& b) {
    int sum = 0;
    for (std::size_t c = 0; c != 3; ++c) sum += std::abs(a[c] - b[c]);
    return sum;
  };
  int before = off(back, front);
  for (const int one : {5, 20, 50, 100}) {
    const Pixel now = shade({static_cast<std::uint8_t>(one), 0});
    EXPECT_LT(off(now, front), before) << one;
    before = off(now, front);
  }
}

TEST_F(StyleImage, GlassShowsWhatIsBehindAndIsHiddenByWhatIsBefore) {
  const Pixel front = at(drawn({Look::solid, Look::solid}), kInFront, 3);
  const Pixel back = at(drawn({Look::hidden, Look::solid}), kInFront, 3);
  ASSERT_NE(front, back);
  const Image glass = drawn({Look::glass, Look::solid});
  const Pixel mixed = at(glass, kInFront, 3);
  EXPECT_NE(mixed, front);
  EXPECT_NE(mixed, back);
  for (std::size_t c = 0; c != 3; ++c) {
    EXPECT_GE(mixed[c] + 3, std::min(front[c], back[c]));
    EXPECT_LE(mixed[c], std::max(front[c], back[c]) + 3);
  }
  settings_.glass_opacity = 0.9F;
  const Pixel denser = at(drawn({Look::glass, Look::solid}), kInFront, 3);
  const auto far = [&](const Pixel& a) {
    return std::abs(a[0] - front[0]) + std::abs(a[1] - front[1]) + std::abs(a[2] - front[2]);
  };
  EXPECT_LT(far(denser), far(mixed)) << "its opacity is set";
  EXPECT_EQ(at(drawn({Look::solid, Look::glass}), kInFront, 3), front) << "what is opaque hides glass behind it";
  EXPECT_EQ(picked(kInFront, 3), 0U);
  // With all transparent, each has its own opacity.
  settings_.opacity = 0.2F;
  EXPECT_NE(at(drawn({Look::glass, Look::solid}), kInFront, 3), at(drawn({Look::solid, Look::solid}), kInFront, 3));
}

TEST_F(StyleImage, LinesLeaveTheFacesOpen) {
  const Image without = drawn({Look::hidden, Look::solid}), lines = drawn({Look::lines, Look::solid}),
              with = drawn({Look::solid, Look::solid});
  EXPECT_EQ(at(lines, kInFront, 3), at(without, kInFront, 3));
  EXPECT_GT(differing(lines, without), 50) << "its edges";
  EXPECT_LT(differing(lines, without), differing(with, without) / 3);
  EXPECT_EQ(picked(kInFront, 3), 0U);
  (void)drawn({Look::lines, Look::solid});
  EXPECT_EQ(picked(kInFront, 3), 1U) << "a click goes between the lines";
}

TEST_F(StyleImage, EdgesAreDrawnOverOneSolidAlone) {
  const Image plain = drawn({Look::solid, Look::solid}), edged = drawn({Look::edged, Look::solid});
  EXPECT_EQ(at(edged, kInFront, 3), at(plain, kInFront, 3));
  EXPECT_GT(differing(edged, plain), 50);
  settings_.edges = true;
  const Image all = drawn({Look::edged, Look::solid});
  EXPECT_GT(differing(all, plain), differing(edged, plain) + 50) << "those of the other one too";
  EXPECT_LT(differing(all, drawn({Look::solid, Look::solid})), 10) << "but for their order";
}

TEST_F(StyleImage, WireframeOfAllHoldsForEachStyle) {
  settings_.wireframe = true;
  const Image plain = drawn({Look::solid, Look::solid});
  for (const Look look : {Look::lines, Look::edged, Look::glass})
    EXPECT_EQ(differing(drawn({look, look}), plain), 0) << static_cast<int>(look);
}

TEST_F(StyleImage, EdgedSolidsHaveCapsAndGlassHasNone) {
  const MeshOffsets offsets = mesh_offsets(*scene_);
  const CapMaker maker(*scene_, offsets);
  const std::vector<ClipPlane> plane{parse_clip("z=0.5")};
  const auto capped = [&](Look first, Look second) {
    std::vector<std::uint32_t> solids;
    for (const CapVertex& v : maker.make(plane, values({first, second}))) solids.push_back(v.solid);
    std::sort(solids.begin(), solids.end());
    solids.erase(std::unique(solids.begin(), solids.end()), solids.end());
    return solids;
  };
  EXPECT_EQ(capped(Look::edged, Look::solid), (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(capped(Look::glass, Look::lines), std::vector<std::uint32_t>());
}

TEST(OwnColors, AreUndoneAndFoundByDepth) {
  const Scene scene = load(test::data("detector.dae"));
  Solids solids(scene);
  const std::vector<std::uint32_t> deep = find(solids, "depth:1").solids;
  ASSERT_FALSE(deep.empty());
  for (const std::uint32_t i : deep) EXPECT_EQ(solids.depth(i), 1U);
  EXPECT_FALSE(find(solids, "depth:77").by);
  EXPECT_FALSE(find(solids, "depth:x").by);
  EXPECT_THAT(solids.colors(), testing::Each(0U));
  solids.set_color(deep, packed({1, 0, 0}));
  EXPECT_EQ(solids.colors()[deep.front()], packed({1, 0, 0}));
  const std::uint64_t version = solids.opacity_version();
  for (int i = 1; i != 9; ++i) solids.slide_color(deep, packed({0, 0.1F * static_cast<float>(i), 0}));
  solids.end_slide();
  EXPECT_GT(solids.opacity_version(), version);
  solids.undo();
  EXPECT_EQ(solids.colors()[deep.front()], packed({1, 0, 0})) << "one step for each slide";
  solids.undo();
  EXPECT_THAT(solids.colors(), testing::Each(0U));
}

TEST(OwnColors, AreTakenFromOptionsAndKeptInBookmarks) {
  const Scene scene = load(test::data("detector.dae"));
  Solids solids(scene);
  ViewOptions options;
  options.solids.colored = {"material:Glass=#88ccff", "depth:1=#102030"};
  (void)apply_visibility(options, solids);
  const std::uint32_t glass = find(solids, "material:Glass").solids.front();
  EXPECT_EQ(color_text(unpacked(solids.colors()[glass])), "#88ccff");
  options.solids.colored = {"missing=#88ccff"};
  EXPECT_THROW((void)apply_visibility(options, solids), Error);
  options.solids.configured.colored = 1;
  EXPECT_EQ(apply_visibility(options, solids).warnings.size(), 1U) << "the configuration is for any scene";

  const test::TemporaryFolder folder;
  Bookmark bookmark;
  bookmark.name = "one";
  save_solids(solids, bookmark);
  Bookmarks(folder.path() / "b.json", "/a.dae").add(bookmark);
  const Bookmarks read(folder.path() / "b.json", "/a.dae");
  ASSERT_EQ(read.all().size(), 1U);
  const std::vector<std::uint32_t> before = solids.colors();
  solids.set_color(find(solids, "*").solids, 0);
  restore_solids(read.all().front(), solids);
  EXPECT_EQ(solids.colors(), before);
}

TEST(OwnColors, HaveTheirEntryInTheLegend) {
  const Scene scene = load(test::data("detector.dae"));
  Solids solids(scene);
  const std::vector<std::uint32_t> glass = find(solids, "material:Glass").solids;
  solids.set_color(std::vector{glass[0], glass[1]}, packed({1, 0, 0}));
  const std::vector<std::uint8_t> looks(scene.instances.size(), 1);
  const Legend legend = make_legend(solids, Settings(), looks, std::nullopt);
  std::size_t own = 0, others = 0;
  for (const Legend::Entry& entry : legend.entries) {
    own += entry.color == Color{1, 0, 0} ? entry.solids.size() : 0;
    others += entry.solids == std::vector<std::uint32_t>(glass.begin() + 2, glass.end()) ? 1 : 0;
  }
  EXPECT_EQ(own, 2U);
  EXPECT_EQ(others, 1U);
}

}  // namespace
}  // namespace raylift::viewer
