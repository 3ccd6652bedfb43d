// SPDX-License-Identifier: Apache-2.0
// Keys of the cache: what the source holds, and how it is asked to be read.
#include "cache_key.h"

#include <fcntl.h>
#include <raylift/geometry/error.h>
#include <sys/stat.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <memory>
#include <set>
#include <span>
#include <sstream>

#include "base/descriptor.h"
#include "base/parse_number.h"
#include "cache_files.h"
#include "cache_format.h"
#include "geometry/src/import/importer.h"
#include "geometry/src/scene/source_files.h"
#include "geometry/src/stage.h"
#include "hash.h"

namespace raylift {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kSliceBytes = std::uint64_t{1} << 20;

class File {
 public:
  explicit File(const fs::path& path)
      : path_(path), file_(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)) {
    if (file_.get() < 0) fail("the file can't be opened", errno);
  }

  [[nodiscard]] std::uint64_t size() const {
    struct stat status {};
    if (::fstat(file_.get(), &status) != 0) fail("the file's size is unknown", errno);
    if (!S_ISREG(status.st_mode)) throw Error(ErrorKind::io, "this is no file", {path_.string(), ""});
    return static_cast<std::uint64_t>(status.st_size);
  }
  void read(std::uint64_t offset, char* target, std::size_t bytes) const {
    std::size_t done = 0;
    if (const int code = base::read_all(file_.get(), std::as_writable_bytes(std::span(target, bytes)), offset, done);
        code != 0)
      fail("the file can't be read", code);
    if (done != bytes) throw Error(ErrorKind::io, "the file became shorter while it was read", {path_.string(), ""});
  }

 private:
  [[noreturn]] void fail(const std::string& what, int code) const {
    throw Error(kind_of_errno(code), what + ": " + std::strerror(code), {path_.string(), ""});
  }
  fs::path path_;
  base::Descriptor file_;
};

/// Over the hashes of slices, so that all threads can take part.
Hash256 hash_of(const File& file, std::uint64_t size, const Progress& progress) {
  constexpr std::size_t kStep = 256;  // slices between two reports
  const std::size_t slices = (size + kSliceBytes - 1) / kSliceBytes;
  std::vector<Hash256> hashes(slices);
  const Stage stage(progress, "hash", size);
  for (std::size_t begin = 0; begin < slices; begin += kStep) {
    tbb::parallel_for(begin, std::min(begin + kStep, slices), [&](std::size_t slice) {
      thread_local const auto buffer = std::make_unique_for_overwrite<char[]>(kSliceBytes);
      const std::size_t bytes = std::min(kSliceBytes, size - slice * kSliceBytes);
      file.read(slice * kSliceBytes, buffer.get(), bytes);
      hashes[slice] = detail::sha256(buffer.get(), bytes);
    });
    stage.advance(std::min((begin + kStep) * kSliceBytes, size));
  }
  return detail::sha256(hashes.data(), hashes.size() * sizeof(Hash256));
}

std::string lower_extension(const fs::path& path) {
  std::string name = path.filename().string();
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (name.ends_with(".dae.gz")) return "dae.gz";
  const std::size_t point = name.rfind('.');
  return point == std::string::npos ? "" : name.substr(point + 1);
}

/// A number as C's printf() writes it in the locale "C": the caller's locale is no part of a key.
template <class... Format>
std::string digits(double value, Format... format) {
  char text[64];
  return {text, std::to_chars(text, text + sizeof text, value, format...).ptr};
}

/// Text, so that a key can be worked out by hand; numbers as C's %a writes them, which is exact.
class OptionText {
 public:
  void add(const char* name, const std::string& value) { text_ += std::string(name) + '=' + value + '\n'; }
  void add(const char* name, std::uint64_t value) { add(name, std::to_string(value)); }
  void add(const char* name, double value) { add(name, exact(value)); }
  static std::string exact(double value) {
    return (std::signbit(value) ? "-0x" : "0x") + digits(std::abs(value), std::chars_format::hex);
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// A line of the text, with its number as people write it, and an axis by its name.
std::string for_people(const std::string& line) {
  const std::size_t value = line.find('=') + 1;
  if (line.starts_with("up=")) return std::string("up=") + "xyz"[line[value] - '0'];
  if (line.compare(value, 2, "0x") != 0) return line;
  const auto number = base::parse_number<double>(std::string_view(line).substr(value + 2), std::chars_format::hex);
  return number ? line.substr(0, value) + digits(*number, std::chars_format::general, 9) : line;
}

std::string option_text(const fs::path& source, const LoadOptions& load, const UploadOptions& upload) {
  OptionText text;
  text.add("extension", lower_extension(source));
  text.add("importer", importer_version());
  text.add("reader", std::string(load.reader == LoadOptions::Reader::assimp ? "assimp" : "raylift"));
  text.add("unit", load.unit_mm ? OptionText::exact(*load.unit_mm) : "file");
  text.add("up", load.up_axis ? std::to_string(static_cast<int>(*load.up_axis)) : "file");
  text.add("weld", load.weld.enabled ? OptionText::exact(load.weld.tolerance) : "off");
  text.add("external", std::uint64_t{load.external});
  text.add("repair", std::uint64_t{load.repair});
  text.add("drop_degenerate", std::uint64_t{load.drop_degenerate});
  text.add("optics", optics_hash(source, load));
  text.add("sensor_materials", std::uint64_t{load.sensor_materials});
  text.add("compute_rayleigh", std::uint64_t{load.compute_rayleigh});
  const std::string extension = lower_extension(source);
  if (extension == "gdml" || extension == "step" || extension == "stp") {  // of which the solids are tessellated
    text.add("chord", load.fineness.chord);
    text.add("steps", std::uint64_t{load.fineness.steps});
    text.add("fit", std::string(to_string(load.fineness.fit)));
    text.add("setup", load.setup);
    text.add("skip_failed_solids", std::uint64_t{load.skip_failed_solids});
  }
  text.add("strict_optics", std::uint64_t{load.strict_optics});
  // A file that a limit refuses is refused though the cache has it under another limit.
  text.add("max_file_size", load.limits.file_bytes);
  text.add("max_text_size", load.limits.text_bytes);
  text.add("max_expansion", std::uint64_t{load.limits.expansion});
  text.add("max_documents", std::uint64_t{load.limits.documents});
  text.add("max_depth", std::uint64_t{load.limits.node_depth});
  text.add("max_instances", load.limits.instances);
  text.add("max_nodes", load.limits.nodes);
  text.add("max_triangles", load.limits.triangles);
  text.add("max_polygon", std::uint64_t{load.limits.polygon_vertices});
  text.add("rests", std::uint64_t{load.rests});
  text.add("flatten", std::uint64_t{upload.flatten});
  std::string origin = "default";
  if (upload.origin)
    origin = OptionText::exact(upload.origin->x) + ' ' + OptionText::exact(upload.origin->y) + ' ' +
             OptionText::exact(upload.origin->z);
  text.add("origin", origin);
  const auto nine = [](float value) { return digits(value, std::chars_format::general, 9); };  // all of a float
  text.add("raster",
           nine(upload.raster.start) + ' ' + nine(upload.raster.step) + ' ' + std::to_string(upload.raster.count));
  text.add("positions", std::uint64_t{static_cast<std::uint8_t>(upload.positions)});
  text.add("bvh", std::uint64_t{upload.bvh});
  if (upload.bvh) {
    text.add("builder", std::string(upload.bvh_builder == UploadOptions::BvhBuilder::host ? "host" : "device"));
    text.add("pair_triangles", std::uint64_t{upload.bvh_options.pair_triangles});
    text.add("leaf_pairs", std::uint64_t{upload.bvh_options.leaf_pairs});
  }
  return text.text();
}

}  // namespace

std::string detail::changed_options(const fs::path& source, const LoadOptions& load, const UploadOptions& upload) {
  UploadOptions plain;
  plain.bvh = true;  // as `raylift cache` makes files
  plain.bvh_builder = upload.bvh_builder;
  std::istringstream given(option_text(source, load, upload)), usual(option_text(source, {}, plain));
  std::set<std::string> expected;
  for (std::string line; std::getline(usual, line);) expected.insert(line);
  std::string changed;
  for (std::string line; std::getline(given, line);)
    if (!expected.contains(line)) changed += (changed.empty() ? "" : " ") + for_people(line);
  return changed;
}

std::array<std::int64_t, 7> detail::stamp_of(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return {};
  return {static_cast<std::int64_t>(status.st_dev),
          static_cast<std::int64_t>(status.st_ino),
          status.st_size,
          status.st_mtim.tv_sec,
          status.st_mtim.tv_nsec,
          status.st_ctim.tv_sec,
          status.st_ctim.tv_nsec};
}

Hash128 detail::options_hash(const fs::path& source, const LoadOptions& load, const UploadOptions& upload) {
  const std::string text = option_text(source, load, upload);
  return hash128(text.data(), text.size());
}

bool can_be_cached(const fs::path& source) {
  const std::string extension = lower_extension(source);
  for (const char* one : {"dae", "zae", "dae.gz", "gdml", "step", "stp", "stl", "ply", "off"})
    if (extension == one) return true;
  return false;
}

std::string contents_hash(std::span<const fs::path> files) {
  std::vector<Hash256> hashes;
  for (const fs::path& path : files) {
    const File file(path);
    hashes.push_back(hash_of(file, file.size(), {}));
  }
  return hashes.empty() ? "none" : detail::sha256(hashes.data(), hashes.size() * sizeof(Hash256)).hex();
}

std::string optics_hash(const fs::path& source, const LoadOptions& load) {
  try {
    return contents_hash(optics_files(source, load));
  } catch (const Error&) {
    return "unreadable";  // load() says why
  }
}

SourceHash hash_source(const fs::path& source, const Progress& progress) {
  SourceHash result{source, {}, 0, detail::stamp_of(source)};
  const File file(source);
  result.bytes = file.size();
  result.hash = hash_of(file, result.bytes, progress);
  return result;
}

bool detail::is_hashed(const fs::path& source, const LoadOptions& load) {
  std::error_code error;
  return can_be_cached(source) && fs::is_regular_file(source, error) &&
         fs::file_size(source, error) <= load.limits.file_bytes;
}

SourceHashAhead::SourceHashAhead(SourceHash hash) : hash_(std::make_shared<SourceHash>(std::move(hash))) {}

const SourceHash& SourceHashAhead::get() const {
  if (done_.valid()) done_.get();
  return *hash_;
}

SourceHashAhead hash_source_ahead(const fs::path& source, const LoadOptions& load) {
  constexpr std::uint64_t kMax = std::uint64_t{1} << 30;
  std::error_code error;
  if (!detail::is_hashed(source, load) || fs::file_size(source, error) > kMax) return {};
  SourceHashAhead ahead{SourceHash{}};
  ahead.done_ = std::async(std::launch::async, [source, hash = ahead.hash_] { *hash = hash_source(source); }).share();
  return ahead;
}

CacheKey cache_key(const fs::path& source, const LoadOptions& load, const UploadOptions& upload,
                   const Progress& progress) {
  const SourceHash hash = hash_source(source, progress);
  return {hash.hash, detail::options_hash(source, load, upload), hash.bytes};
}

std::vector<Hash256> file_hashes(const fs::path& source, std::span<const Scene::SourceFile> files,
                                 const Progress& progress) {
  std::vector<Hash256> hashes;
  for (const Scene::SourceFile& file : files) {
    std::error_code error;
    const fs::path path = detail::beneath(source.parent_path(), file.path, error);
    if (path.empty())
      throw Error(ErrorKind::io, "a file that the scene was read from is not there any more",
                  {(source.parent_path() / file.path).string(), ""});
    const File opened(path);
    hashes.push_back(hash_of(opened, opened.size(), progress));
    const Scene::SourceFile now = detail::source_file(path, file.path);
    if (now.bytes != file.bytes || now.changed != file.changed)
      throw Error(ErrorKind::io, "the file was changed since the scene was read from it", {path.string(), ""});
  }
  return hashes;
}

std::string cache_file_name(const CacheKey& key) {
  return key.source.hex() + '-' + key.options.hex() + ".raylift";
}

}  // namespace raylift
