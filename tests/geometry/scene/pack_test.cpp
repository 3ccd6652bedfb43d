// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <raylift/geometry/import/load.h>
#include <raylift/geometry/scene/pack.h>

#include <vector>

#include "support/expect_error.h"
#include "support/paths.h"
#include "support/same_scene.h"

namespace raylift {
namespace {

using test::expect_error;
using testing::HasSubstr;

Scene whole_detector() {
  return load(test::data("detector.dae"));
}

TEST(Pack, KeepsAllOfAScene) {
  const Scene scene = whole_detector();
  const Scene again = unpack(pack(scene));
  test::expect_same(again, scene);
  EXPECT_EQ(again.optics, scene.optics);
  EXPECT_EQ(again.volumes, scene.volumes);
  EXPECT_FALSE(scene.optics.empty());
  test::expect_same(unpack(pack(Scene{})), Scene{});
}

TEST(Pack, RefusesASceneThatDoesNotHoldTogether) {
  Scene scene = whole_detector();
  scene.instances.back().mesh = 1000;
  EXPECT_THAT(expect_error(ErrorKind::usage, [&] { (void)pack(scene); }).problem(), HasSubstr("refers to mesh 1000"));
}

TEST(Pack, TrustsNoBytes) {
  const std::vector<std::byte> good = pack(load(test::data("cube.dae")));
  const auto refuse = [](const std::vector<std::byte>& bytes, ErrorKind kind) {
    EXPECT_THAT(expect_error(kind, [&] { (void)unpack(bytes); }).problem(), HasSubstr("packed"));
  };
  for (std::size_t size = 0; size < good.size(); size += 1 + size / 16)
    refuse({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size)}, ErrorKind::malformed);
  std::vector<std::byte> bytes = good;
  bytes.push_back({});
  refuse(bytes, ErrorKind::malformed);
  bytes = good;
  bytes[7] = std::byte{0xFF};
  refuse(bytes, ErrorKind::unsupported);
  bytes = good;
  bytes[0] = std::byte{'R'};
  refuse(bytes, ErrorKind::malformed);
  // Each byte changed: a scene or an error, and never more.
  for (std::size_t i = 12; i < good.size(); ++i) {
    bytes = good;
    bytes[i] ^= std::byte{0x5A};
    try {
      (void)unpack(bytes);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::malformed) << error.what();
    }
  }
}

}  // namespace
}  // namespace raylift
