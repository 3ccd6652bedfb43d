// SPDX-License-Identifier: Apache-2.0
#ifdef RAYLIFT_WITH_WINDOW
#include "window/panels/toolbar.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string_view>
#include <vector>

#include "cli/camera.h"

namespace raylift::viewer {
namespace {

TEST(Toolbar, HasTheKeysOfItsMenus) {
  std::vector<KeyedRow> rows(kViewRows.begin(), kViewRows.end());
  rows.insert(rows.end(), {kOrthographicRow, kFrameSceneRow, kFrameSelectionRow, kSaveRow, kLegendRow, kFullScreenRow});
  for (const KeyedRow& row : rows) EXPECT_NE(key_of(row.help), "") << row.label;
  EXPECT_EQ(key_of("no such control"), "");
  ASSERT_EQ(kViewRows.size(), kViewNames.size());
  for (std::size_t i = 0; i + 1 < kViewRows.size(); ++i)
    EXPECT_TRUE(std::string_view(kViewRows[i].help).ends_with(kViewNames[i])) << kViewNames[i];
}

TEST(Toolbar, WritesKeysApartInItsMenu) {
  EXPECT_EQ(keys_in("Clipping planes and the clipping box (X, Ctrl+X)"), "X, Ctrl+X");
  EXPECT_EQ(keys_in("Photons: what is drawn"), "");
  EXPECT_EQ(keys_in("Cast rays (all) now"), "");
}

}  // namespace
}  // namespace raylift::viewer
#endif
