// SPDX-License-Identifier: Apache-2.0
#include <raylift/geometry/error.h>
#include <raylift/geometry/scene/pack.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "scene/scene_bytes.h"

namespace raylift {
namespace {

/// Stands before the version and the scene.
constexpr std::string_view kMagic = "rlsc";

}  // namespace

std::vector<std::byte> pack(const Scene& scene) {
  detail::check_scene(scene, detail::sizes_of(scene),
                      [&](const std::string& what) { detail::refuse_scene(scene, what); });
  detail::ByteWriter writer;
  for (const char c : kMagic) writer.value(c);
  writer.value(detail::kStreamVersion);
  detail::put_scene(writer, scene);
  std::vector<std::byte> bytes;
  std::size_t size = 0;
  writer.for_each_piece([&](std::string_view piece) { size += piece.size(); });
  bytes.reserve(size);
  writer.for_each_piece([&](std::string_view piece) {
    const auto of = std::as_bytes(std::span(piece));
    bytes.insert(bytes.end(), of.begin(), of.end());
  });
  return bytes;
}

Scene unpack(std::span<const std::byte> bytes) {
  detail::ByteReader reader({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, [](const std::string& what) {
    throw Error(ErrorKind::malformed, "the packed scene is invalid: " + what, {}, "pack it again");
  });
  for (const char c : kMagic)
    if (reader.get<char>() != c) reader.fail("it is no packed scene");
  if (reader.get<std::uint64_t>() != detail::kStreamVersion)
    throw Error(ErrorKind::unsupported, "the scene was packed by another version of raylift", {},
                "pack it with this version");
  Scene scene = detail::get_scene(reader);
  reader.expect_end();
  return scene;
}

}  // namespace raylift
