// SPDX-License-Identifier: Apache-2.0
// What the fuzz targets of the stream and of the cache begin with, in the layouts of this build:
//
//   fuzz_seeds FOLDER    writes FOLDER/stream and FOLDER/cache
#include <fcntl.h>

#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "gpu/src/cache/cache_files.h"
#include "import/scene_stream.h"
#include "support/random_optics.h"
#include "support/tank_scene.h"

namespace {

using namespace raylift;
namespace fs = std::filesystem;

struct Named {
  std::string name;
  Scene scene;
};

std::vector<Named> scenes() {
  std::vector<Named> all;
  for (const char* name : {"cube", "instances", "materials", "nested_transforms", "open_box"})
    all.push_back({name, load(fs::path(RAYLIFT_SOURCE_DIR) / "data" / (std::string(name) + ".dae"))});
  all.push_back({"tank", test::tank_scene()});
  for (unsigned seed = 0; seed != 3; ++seed) {
    Named& one = all.emplace_back(Named{"optics" + std::to_string(seed), all[seed].scene});
    test::give_optics(one.scene, seed);
  }
  return all;
}

std::string bytes_in(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void write(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

/// As fuzz_stream takes them: a byte that says which, and a scene or an error.
template <class Put>
std::string stream_of(char which, const fs::path& scratch, const Put& put) {
  detail::ByteWriter writer;
  put(writer);
  const base::Descriptor file(::open(scratch.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600));
  if (file.get() < 0) throw std::runtime_error("the scratch file can't be made");
  writer.write_to(file.get());
  return which + bytes_in(scratch);
}

/// As fuzz_cache takes the sections of a file: each with its size in two bytes; nothing where one is longer.
std::string sections_of(const fs::path& path) {
  const CacheFile file(path);
  std::string text = "s";
  for (const char* name : {"scene", "scene_tree", "vertices", "triangles"}) {
    const CacheSection& section = file.section(name);
    if (section.bytes() > 0xFFFF) return {};
    std::vector<std::byte> bytes(section.bytes());
    file.read(section, 0, bytes.size(), bytes.data(), StoreMode::cached);
    text += static_cast<char>(bytes.size() & 0xFF);
    text += static_cast<char>(bytes.size() >> 8);
    text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return text;
}

void make_seeds(const fs::path& folder) {
  fs::remove_all(folder);
  fs::create_directories(folder / "stream");
  fs::create_directories(folder / "cache");
  const fs::path scratch = folder / "scratch";
  const Error error(ErrorKind::malformed, "what", {"file", "element"}, "advice");
  write(folder / "stream/error", stream_of('\0', scratch, [&](auto& writer) { put_error(writer, error); }));
  for (const auto& [name, scene] : scenes()) {
    write(folder / "stream" / name,
          stream_of('\1', scratch, [&, &scene = scene](auto& writer) { put_scene(writer, scene); }));
    for (const bool bvh : {false, true}) {
      UploadOptions options;
      options.bvh = bvh;
      options.raster = {300, 100, 6};
      write_cache_file(scratch, {}, scene, options);
      write(folder / "cache" / (name + (bvh ? "_bvh" : "")), 'f' + bytes_in(scratch));
    }
    if (const std::string sections = sections_of(scratch); !sections.empty())
      write(folder / "cache" / (name + "_sections"), sections);
  }
  fs::remove(scratch);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    make_seeds(argv[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fuzz_seeds: %s\n", error.what());
    return 1;
  }
  return 0;
}
