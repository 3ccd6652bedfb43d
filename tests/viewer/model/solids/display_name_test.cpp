// SPDX-License-Identifier: Apache-2.0
#include "model/solids/display_name.h"

#include <gtest/gtest.h>

namespace raylift::viewer {
namespace {

TEST(DisplayName, HasNoPointersOfGeant4) {
  EXPECT_EQ(display_name("Sensor_12_pv0x9c69262"), "Sensor_12_pv");
  EXPECT_EQ(display_name("/DefaultScene/top/Pool_pv0xad4818e/Sensor_12_pv0x9c69262"),
            "/DefaultScene/top/Pool_pv/Sensor_12_pv");
  EXPECT_EQ(display_name("Water0x63556b0"), "Water");
}

TEST(DisplayName, LeavesOtherNames) {
  for (const char* name : {"", "/", "//", "Water", "a/b/", "0x12", "mask0xyz", "Größe/テスト"})
    EXPECT_EQ(display_name(name), name);
}

}  // namespace
}  // namespace raylift::viewer
