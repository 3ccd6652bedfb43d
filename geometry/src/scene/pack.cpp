// SPDX-License-Identifier: Apache-2.0
#include <raylift/geometry/error.h>
#include <raylift/geometry/scene/detail/scene_bytes.h>
#include <raylift/geometry/scene/pack.h>

#include <string>
#include <string_view>

namespace raylift {
namespace {

/// Before the scene. The last byte is the version of its layout, which changes with what visit_facts() and visit_tree()
/// write.
constexpr std::string_view kMagic{"raylift\x01", 8};
constexpr std::uint32_t kByteOrder = 0x01020304;

}  // namespace

std::vector<std::byte> pack(const Scene& scene) {
  detail::check_scene(scene, detail::sizes_of(scene), [&](const std::string& what) {
    throw Error(ErrorKind::usage, "the scene does not hold together: " + what, {scene.source, ""});
  });
  detail::ByteWriter writer;
  for (const char c : kMagic) writer.value(c);
  writer.value(kByteOrder);
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
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  detail::ByteReader reader(text, [](const std::string& what) {
    throw Error(ErrorKind::malformed, "the packed scene is invalid: " + what, {}, "pack it again");
  });
  if (text.substr(0, kMagic.size() - 1) != kMagic.substr(0, kMagic.size() - 1)) reader.fail("it is no packed scene");
  if (text.size() < kMagic.size()) reader.fail("it ends too early");
  if (text.substr(0, kMagic.size()) != kMagic)
    throw Error(ErrorKind::unsupported, "the scene was packed by another version of raylift", {},
                "pack it with this version");
  for (std::size_t i = 0; i != kMagic.size(); ++i) (void)reader.get<char>();
  if (reader.get<std::uint32_t>() != kByteOrder)
    throw Error(ErrorKind::unsupported, "the scene was packed by a machine of another byte order");
  Scene scene = detail::get_scene(reader);
  reader.expect_end();
  return scene;
}

}  // namespace raylift
