// SPDX-License-Identifier: Apache-2.0
// docs/cache_format.md lists all arrays with the sizes of their elements.
#include <gmock/gmock.h>
#include <raylift/gpu/upload/view_arrays.h>

#include <iterator>
#include <string>

#include "support/paths.h"

namespace raylift {
namespace {

using testing::HasSubstr;

TEST(CacheFormat, IsDescribedWithAllArrays) {
  const std::string page = test::bytes_in(test::source_dir() / "docs/cache_format.md");
  for (const ViewArrayInfo& array : view_arrays()) {
    const std::size_t row = page.find("`" + std::string(array.name) + "`");
    ASSERT_NE(row, std::string::npos) << array.name;
    if (array.presence == ViewArrayInfo::Presence::bvh) continue;  // three in one row
    const std::string line = page.substr(row, page.find('\n', row) - row);
    EXPECT_THAT(line, HasSubstr(" | " + std::to_string(array.element_bytes) + " | ")) << array.name;
  }
}

}  // namespace
}  // namespace raylift
