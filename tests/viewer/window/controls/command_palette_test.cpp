// SPDX-License-Identifier: Apache-2.0
// The command palette finds actions of keys and verbs by parts of their names, and does them.
#include "window/controls/command_palette.h"

#include <gtest/gtest.h>

#include "remote/typed_commands.h"
#include "viewer/remote/with_outside.h"

namespace raylift::viewer {
namespace {

class CommandPaletteTest : public Outside {
 protected:
  std::string first(std::string_view typed) {
    palette_.type(typed);
    return palette_.rows().empty() ? "" : palette_.rows().front().key;
  }
  /// Types a line and enters it.
  std::string run(std::string_view typed) {
    layout_.palette = true;
    palette_.type(typed);
    return palette_.enter(target_, &commands_);
  }

  TypedCommands commands_{target_};
  CommandPalette palette_{&commands_};
};

TEST_F(CommandPaletteTest, HasAllKeysAndVerbs) {
  std::set<const Control*> keys;
  std::set<std::string> verbs_there;
  for (const CommandPalette::Row& row : palette_.rows()) {
    keys.insert(row.control);
    if (row.verb != nullptr) verbs_there.insert(row.verb->name);
  }
  for (const Control& one : controls())
    if (one.kind == Control::Kind::key && one.shown.empty()) {
      EXPECT_TRUE(keys.contains(&one)) << one.help;
    }
  for (const Verb& verb : verbs()) EXPECT_EQ(verbs_there.contains(std::string(verb.name)), verb.act != nullptr);
}

TEST_F(CommandPaletteTest, FindsByPartsOfWords) {
  EXPECT_EQ(first("wire"), "M");
  EXPECT_EQ(first("clipping plane"), "X");
  EXPECT_EQ(first("front"), "Num 1, Shift+1");
  EXPECT_EQ(first("quit"), "quit") << "a whole name comes first";
  EXPECT_EQ(first("ctrl+q"), "Ctrl+Q");
  EXPECT_EQ(first("shot"), "screenshot ...");
  EXPECT_EQ(first("clbx"), "Ctrl+X") << "clipping box";
  EXPECT_EQ(first("orthogr"), "Num 5, Shift+5");
  EXPECT_EQ(first("xyzzy"), "");
  EXPECT_GT(match_score("clip", "clip along"), match_score("clip", "move the clip"));
  EXPECT_GT(match_score("clip", "move the clip"), match_score("clip", "eclipse"));
  EXPECT_GT(match_score("flsc", "full screen"), 0);
  EXPECT_EQ(match_score("clip", "choose which light is shown, and how; parameters"), 0);
}

TEST_F(CommandPaletteTest, DoesWhatAKeyDoes) {
  EXPECT_EQ(run("wireframe"), "");
  EXPECT_TRUE(state_.settings().wireframe);
  EXPECT_FALSE(layout_.palette);
}

TEST_F(CommandPaletteTest, AsksForParametersAndRunsALine) {
  EXPECT_EQ(run("hide"), "hide ") << "it needs solids";
  EXPECT_TRUE(layout_.palette);
  palette_.type("hide ");
  ASSERT_EQ(palette_.rows().size(), 1U);
  EXPECT_EQ(palette_.rows().front().verb->parameters.front().first, "solids=PATTERN,...");
  EXPECT_EQ(run("hide pmt_1"), "");
  EXPECT_EQ(state_.solids()->visible()[1], 0);
  EXPECT_EQ(state_.messages().text(), "hide: solids: 1");
  EXPECT_FALSE(layout_.palette);
  (void)run("show ");
  EXPECT_EQ(state_.solids()->visible()[1], 1) << "it needs none";
  (void)run("hide nothing_of_this_name");
  EXPECT_NE(state_.messages().error().find("nothing_of_this_name"), std::string::npos);
  (void)run("select 'pmt_2'");
  EXPECT_EQ(state_.selection()->name, "pmt_2");
  EXPECT_EQ(state_.messages().error(), "");
}

TEST_F(CommandPaletteTest, StaysInItsList) {
  palette_.type("clip");
  palette_.move(-1);
  EXPECT_EQ(palette_.chosen(), 0U);
  palette_.move(1000);
  EXPECT_EQ(palette_.chosen() + 1, palette_.rows().size());
}

TEST(TypedLines, HaveWordsWithSpacesInQuotationMarks) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(words_of_line("look view=top  fov=30 "), (Words{"look", "view=top", "fov=30"}));
  EXPECT_EQ(words_of_line("photons filter='TO * SD' \"a b\"c ''"), (Words{"photons", "filter=TO * SD", "a bc", ""}));
  EXPECT_EQ(words_of_line("  "), Words());
  EXPECT_THROW((void)words_of_line("select 'pmt"), Error);
}

}  // namespace
}  // namespace raylift::viewer
