// SPDX-License-Identifier: Apache-2.0
// The facts of what is selected: worked out behind the window, of a solid or of a group, copied and sent to clients.
#include <gtest/gtest.h>
#include <raylift/geometry/checks/check.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "model/solids/solid_facts.h"
#include "viewer/remote/with_outside.h"
#include "window/controls/controls.h"

namespace raylift::viewer {
namespace {

/// The state of a viewer, and the work behind it.
class FactsOfTheSelection : public Outside {
 protected:
  [[nodiscard]] bool found(bool checked) {
    for (int i = 0; i != 5000; ++i) {
      loader_.poll(state_);
      if (state_.selection().facts() && state_.selection().facts()->checked == checked &&
          !state_.selection().facts_request(state_.check()))
        return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
  }
};

TEST_F(FactsOfTheSelection, AreWorkedOutBehindTheWindow) {
  loader_.poll(state_);
  EXPECT_FALSE(state_.selection().facts());
  EXPECT_TRUE(state_.selection().text().empty());
  state_.selection().select(1);
  EXPECT_EQ(state_.selection()->solids, std::vector<std::uint32_t>{1});
  ASSERT_TRUE(found(false));
  EXPECT_EQ(state_.selection().facts()->box.size(), Eigen::Vector3d(100, 100, 100));
  state_.set_check(check(*state_.scene()));
  ASSERT_TRUE(found(true)) << "volumes follow the check";
  EXPECT_NEAR(*state_.selection().facts()->volume, 1e6, 1e-3);
  EXPECT_EQ(state_.selection().text().substr(0, 22), "pmt_1\n/tank/pmt_1\nsoli");
  const std::uint64_t before = state_.selection().version();
  state_.selection().select(std::nullopt);
  EXPECT_FALSE(state_.selection().facts());
  state_.selection().set_facts(before, SolidFacts());
  EXPECT_FALSE(state_.selection().facts()) << "they are of another selection";
}

TEST_F(FactsOfTheSelection, AreThoseOfAGroup) {
  state_.set_check(check(*state_.scene()));
  state_.selection().select_group(0);
  EXPECT_EQ(state_.selection()->instance, kNone);
  EXPECT_EQ(state_.selection()->path, "/tank");
  EXPECT_EQ(state_.selection()->solids.size(), 3U);
  ASSERT_TRUE(found(true));
  EXPECT_EQ(state_.selection().facts()->solids, 3U);
  EXPECT_NEAR(*state_.selection().facts()->volume, 1800.0 * 1800 * 1800 + 2e6, 1e-3);
  EXPECT_NEAR(*state_.selection().facts()->outer_volume, 1800.0 * 1800 * 1800, 1e-3);
  EXPECT_EQ(state_.settings().box->max, Eigen::Vector3d(900, 900, 900)) << "its edges are drawn";
  // What acts on the selection acts on all of it.
  state_.viewpoint().focus_selection();
  EXPECT_LT(state_.camera().target.norm(), 300);
  state_.appearance().hide_selection();
  EXPECT_EQ(state_.solids()->visible(), std::vector<std::uint8_t>(3, 0));
  EXPECT_FALSE(state_.selection() || state_.settings().box);
  // A new scene has none of it.
  state_.selection().select_group(0);
  state_.show(three_boxes());
  EXPECT_FALSE(state_.selection() || state_.selection().facts());
}

TEST_F(FactsOfTheSelection, AreCopiedByAKey) {
  std::string copied;
  ControlTarget target = target_;
  target.copy = [&](const std::string& text) { copied = text; };
  const Control& key = *find_control(Control::Kind::key, "C", true, false);
  key.act(target, {});
  EXPECT_EQ(state_.messages().text(), "nothing is selected");
  state_.selection().select(2);
  key.act(target, {});
  EXPECT_TRUE(copied.empty()) << "they are not known yet";
  ASSERT_TRUE(found(false));
  key.act(target, {});
  EXPECT_EQ(copied, state_.selection().text());
  EXPECT_NE(copied.find("area: 60000 mm^2\n"), std::string::npos) << copied;
}

TEST_F(FactsOfTheSelection, AreToldByAVerb) {
  const auto reply = [&](const Json& params) {
    Conversation talk(target_);
    talk.receive(request("facts", params) + '\n');
    for (int i = 0; i != 5000; ++i) {
      (void)talk.work(Conversation::Clock::time_point::max());
      if (const std::vector<Json> lines = said(talk); !lines.empty()) return lines.front();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return Json();
  };
  EXPECT_EQ(reply(Json::object())["error"]["data"]["kind"], "usage") << "nothing is selected";
  EXPECT_EQ(reply({{"solids", "missing"}})["error"]["data"]["kind"], "usage");
  EXPECT_TRUE(reply({{"solids", "pmt_1"}})["result"]["volume"].is_null()) << "no check runs here";
  state_.set_check(check(*state_.scene()));
  EXPECT_EQ(reply({{"solids", "pmt_1"}})["result"]["centre"], Json::array({-300.0, 0.0, 0.0})) << "as the panel has it";
  const Json two = reply({{"solids", "pmt_*"}})["result"];
  EXPECT_TRUE(two["centre"].is_null());
  EXPECT_EQ(two["solids"], 2);
  EXPECT_EQ(two["triangles"], 24);
  EXPECT_EQ(two["size"], Json::array({700.0, 100.0, 100.0}));
  EXPECT_EQ(two["min"], Json::array({-350.0, -50.0, -50.0}));
  EXPECT_NEAR(two["volume"].get<double>(), 2e6, 1e-3);
  EXPECT_NEAR(two["area"].get<double>(), 120000, 1e-6);
  EXPECT_EQ(two["not_closed"], 0);
  const Json selected = call("select", {{"solid", "tank"}, {"below", true}});
  EXPECT_EQ(selected["selection"]["solids"], 3);
  EXPECT_TRUE(selected["selection"]["solid"].is_null());
  EXPECT_EQ(reply(Json::object())["result"]["solids"], 3);
  EXPECT_EQ(call("select", {{"solid", "tank"}})["selection"]["solid"], 0);
  EXPECT_EQ(reply(Json::object())["result"]["solids"], 1);
}

}  // namespace
}  // namespace raylift::viewer
