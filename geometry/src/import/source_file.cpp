// SPDX-License-Identifier: Apache-2.0
#include "source_file.h"

#include <raylift/geometry/error.h>
#include <unistd.h>
#include <zip.h>
#include <zlib.h>
#include "base/huge_pages.h"
#include "process.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <pugixml.hpp>

#include "collada_detail.h"

namespace raylift {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_io(const fs::path& path, const std::string& what, int code) {
  throw Error(kind_of_errno(code), what + ": " + std::strerror(code), {path.string(), ""});
}

[[noreturn]] void fail_too_large(const fs::path& path, const std::string& what, std::uint64_t limit,
                                 const char* option) {
  throw Error(ErrorKind::limit, what + " is larger than the limit of " + std::to_string(limit) + " bytes",
              {path.string(), ""}, std::string("raise it with ") + option);
}

/// An import takes three times a document's size at least: its text, what it is parsed into, and its geometries.
constexpr std::uint64_t kMemoryPerByte = 3;

void check_memory(const fs::path& path, const std::string& what, std::uint64_t bytes, const LoadLimits& limits) {
  const std::uint64_t memory = import_memory(limits);
  if (bytes > memory / kMemoryPerByte)
    throw Error(ErrorKind::limit,
                what + " is larger than " + std::to_string(memory / kMemoryPerByte) +
                    " bytes, a third of the memory that an import may take",
                {path.string(), ""}, "raise that with LoadLimits::isolate_bytes");
}

/// Whether so many bytes are too much for what is stored of them.
bool expands(std::uint64_t bytes, std::uint64_t stored, const LoadLimits& limits) {
  constexpr std::uint64_t kHarmless = std::uint64_t{64} << 20;
  return bytes > kHarmless && bytes / std::max<std::uint64_t>(stored, 1) > limits.expansion;
}

/// How much of a file is not holes, counted up to `enough`.
std::uint64_t stored_bytes(int file, std::uint64_t enough) {
  std::uint64_t stored = 0;
  for (off_t at = 0; stored < enough;) {
    const off_t data = ::lseek(file, at, SEEK_DATA);
    if (data < 0) return errno == ENXIO ? stored : enough;  // the rest is a hole; or the file system doesn't know
    at = ::lseek(file, data, SEEK_HOLE);
    if (at < 0) return enough;
    stored += static_cast<std::uint64_t>(at - data);
  }
  return enough;
}

/// A piece of a document, and the number of bytes before it: refused where it is certain that it can't be one.
void check_text(const fs::path& path, std::string_view piece, std::size_t before) {
  // What a full disk or a crash left of a file, for one. XML in UTF-32 has at most five in a row.
  constexpr std::string_view kZeros("\0\0\0\0\0\0\0\0", 8);
  const std::size_t zeros = piece.find(kZeros);
  if (zeros != std::string_view::npos)
    throw Error(ErrorKind::malformed, "no XML: zeros follow byte " + std::to_string(before + zeros),
                {path.string(), ""}, "was the file copied whole?");
}

/// What is packed into a file of `packed` bytes, piece by piece, within the limits.
class Unpacked {
 public:
  Unpacked(const fs::path& path, std::uint64_t packed, const LoadLimits& limits)
      : path_(path), packed_(packed), limits_(limits) {}

  void append(std::string_view piece) {
    bytes += piece;
    if (bytes.size() > limits_.text_bytes)
      fail_too_large(path_, "what is packed into it", limits_.text_bytes, "LoadLimits::text_bytes");
    if (expands(bytes.size(), packed_, limits_))
      throw Error(ErrorKind::limit,
                  "what is packed into it is larger than " + std::to_string(limits_.expansion) + " times the file",
                  {path_.string(), ""}, "raise that with LoadLimits::expansion");
    check_memory(path_, "what is packed into it", bytes.size(), limits_);
  }

  std::string bytes;

 private:
  const fs::path& path_;
  std::uint64_t packed_;
  const LoadLimits& limits_;
};

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
struct CloseGzip {
  void operator()(gzFile file) const { gzclose(file); }
};
struct CloseZip {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
struct CloseEntry {
  void operator()(zip_file_t* entry) const { zip_fclose(entry); }
};

std::uint64_t size_of(const fs::path& path) {
  std::error_code error;
  const std::uint64_t size = fs::file_size(path, error);
  if (error) fail_io(path, "the file's size is unknown", error.value());
  return size;
}

class Archive {
 public:
  Archive(const fs::path& path, const LoadLimits& limits) : path_(path), limits_(limits), packed_(size_of(path)) {
    int code = 0;
    archive_.reset(zip_open(path.c_str(), ZIP_RDONLY, &code));
    if (archive_) return;
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    fail("no readable zip archive", error, {path.string(), ""});
  }

  [[nodiscard]] zip_int64_t locate(const std::string& name) const {
    return zip_name_locate(archive_.get(), name.c_str(), ZIP_FL_ENC_GUESS);
  }

  [[nodiscard]] std::string first_document() const {
    for (zip_int64_t i = 0; i < zip_get_num_entries(archive_.get(), 0); ++i) {
      const char* name = zip_get_name(archive_.get(), static_cast<zip_uint64_t>(i), 0);
      if (name != nullptr && lower(name).ends_with(".dae")) return name;
    }
    throw Error(ErrorKind::malformed, "the archive holds no .dae document", {path_.string(), ""});
  }

  [[nodiscard]] std::string read(const std::string& name, bool is_text = true) const {
    const Where where{path_.string(), "entry '" + name + "'"};
    const zip_int64_t index = locate(name);
    if (index < 0) throw Error(ErrorKind::malformed, "the archive has no such entry", where);
    const std::unique_ptr<zip_file_t, CloseEntry> entry(
        zip_fopen_index(archive_.get(), static_cast<zip_uint64_t>(index), 0));
    if (!entry) fail("the entry can't be read", *zip_get_error(archive_.get()), where);
    // The size that the archive states is not trusted: what is counted is what comes out.
    Unpacked unpacked(path_, packed_, limits_);
    std::unique_ptr<char[]> block(new char[kBlock]);
    for (;;) {
      const zip_int64_t got = zip_fread(entry.get(), block.get(), kBlock);
      if (got < 0) fail("the entry is corrupted", *zip_file_get_error(entry.get()), where);
      if (got == 0) return std::move(unpacked.bytes);
      const std::string_view piece(block.get(), static_cast<std::size_t>(got));
      if (is_text) check_text(path_, piece, unpacked.bytes.size());
      unpacked.append(piece);
    }
  }

 private:
  /// The archive's fault, or that of the system that reads it.
  [[noreturn]] static void fail(const std::string& what, zip_error_t error, const Where& where) {
    const std::string why = zip_error_strerror(&error);
    zip_error_fini(&error);
    const bool system = zip_error_system_type(&error) == ZIP_ET_SYS;
    throw Error(system ? kind_of_errno(zip_error_code_system(&error)) : ErrorKind::malformed, what + ": " + why, where);
  }

  static constexpr std::size_t kBlock = 1U << 20;
  fs::path path_;
  const LoadLimits& limits_;
  std::uint64_t packed_;
  std::unique_ptr<zip_t, CloseZip> archive_;
};

}  // namespace

std::string extension_of(const fs::path& path) {
  const std::string last = lower(path.extension().string());
  if (last == ".gz") return lower(path.stem().extension().string() + last).substr(path.stem().has_extension() ? 1 : 0);
  return last.empty() ? last : last.substr(1);
}

bool is_collada(const std::string& extension) {
  return extension == "dae" || extension == "zae" || extension == "dae.gz" || extension == "xml";
}

std::uint64_t import_memory(const LoadLimits& limits) {
  return limits.isolate_bytes != 0 ? limits.isolate_bytes : detail::usable_memory() / 4 * 3;
}

void check_memory(const fs::path& path, std::uint64_t bytes, const LoadLimits& limits) {
  check_memory(path, "what is read of the scene", bytes, limits);
}

void check_file(const fs::path& path, const LoadLimits& limits) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (error || !fs::exists(status)) fail_io(path, "the file can't be opened", error ? error.value() : ENOENT);
  if (fs::is_directory(status)) throw Error(ErrorKind::io, "this is a folder, not a file", {path.string(), ""});
  if (!fs::is_regular_file(status))
    throw Error(ErrorKind::io, "this is no regular file", {path.string(), ""}, "copy it to a file first");
  const std::uint64_t size = size_of(path);
  if (size == 0) throw Error(ErrorKind::malformed, "the file is empty", {path.string(), ""});
  if (size > limits.file_bytes) fail_too_large(path, "the file", limits.file_bytes, "LoadLimits::file_bytes");
  check_memory(path, "the file", size, limits);
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "rb"));
  if (!file) fail_io(path, "the file can't be opened", errno);
  if (expands(size, stored_bytes(::fileno(file.get()), size / std::max(limits.expansion, 1U)), limits))
    throw Error(
        ErrorKind::limit,
        "the file is larger than " + std::to_string(limits.expansion) + " times what is stored of it: it is holes",
        {path.string(), ""}, "raise that with LoadLimits::expansion");
}

std::string read_file(const fs::path& path) {
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "rb"));
  if (!file) fail_io(path, "the file can't be opened", errno);
  std::string text;
  const std::uint64_t size = size_of(path);
  base::reserve_huge(text, size);
  constexpr std::size_t kBlock = std::size_t{4} << 20;
  std::unique_ptr<char[]> block(new char[kBlock]);
  while (text.size() < size) {
    const std::size_t got = std::fread(block.get(), 1, std::min<std::size_t>(kBlock, size - text.size()), file.get());
    if (got == 0)
      std::ferror(file.get()) != 0
          ? fail_io(path, "the file can't be read", errno)
          : throw Error(ErrorKind::io, "the file became shorter while it was read", {path.string(), ""});
    check_text(path, {block.get(), got}, text.size());
    text.append(block.get(), got);
  }
  return text;
}

std::string read_gzip(const fs::path& path, const LoadLimits& limits) {
  const std::unique_ptr<gzFile_s, CloseGzip> file(gzopen(path.c_str(), "rb"));
  if (!file) fail_io(path, "the file can't be opened", errno != 0 ? errno : ENOMEM);
  gzbuffer(file.get(), 1U << 18);
  Unpacked text(path, size_of(path), limits);
  constexpr unsigned kBlock = 1U << 20;
  std::unique_ptr<char[]> block(new char[kBlock]);
  for (;;) {
    const int got = gzread(file.get(), block.get(), kBlock);
    if (got > 0) {
      const std::string_view piece(block.get(), static_cast<std::size_t>(got));
      check_text(path, piece, text.bytes.size());
      text.append(piece);
    }
    if (got == static_cast<int>(kBlock)) continue;
    int code = Z_OK;
    const char* message = gzerror(file.get(), &code);
    if (code == Z_ERRNO) fail_io(path, "the file can't be read", errno);
    if (code == Z_BUF_ERROR) message = "it ends too early";
    if (got < 0 || (code != Z_OK && code != Z_STREAM_END))
      throw Error(ErrorKind::malformed, std::string("the gzip data is corrupted: ") + message, {path.string(), ""});
    if (got == 0 || gzeof(file.get()) != 0) return std::move(text.bytes);
  }
}

std::optional<std::string> read_zip_entry(const fs::path& path, const std::string& entry, const LoadLimits& limits) {
  check_file(path, limits);
  const Archive archive(path, limits);
  return archive.locate(entry) < 0 ? std::nullopt : std::optional(archive.read(entry, false));
}

std::string read_zae_entry(const fs::path& path, const std::string& entry, const LoadLimits& limits) {
  return Archive(path, limits).read(entry);
}

ZaeDocument read_zae(const fs::path& path, const LoadLimits& limits) {
  const Archive archive(path, limits);
  const auto document = [&](std::string entry) {
    std::string text = archive.read(entry);
    return ZaeDocument{std::move(text), std::move(entry)};
  };
  // COLLADA's packaging rule: manifest.xml holds <dae_root> with the document's place in the archive.
  if (archive.locate("manifest.xml") < 0) return document(archive.first_document());
  const std::string manifest = archive.read("manifest.xml");
  pugi::xml_document xml;
  if (!xml.load_buffer(manifest.data(), manifest.size()))
    throw Error(ErrorKind::malformed, "the manifest is not well-formed XML", {path.string(), "entry 'manifest.xml'"});
  std::string name = xml.child_value("dae_root");
  name.erase(0, name.find_first_not_of(" \t\r\n"));
  name.erase(name.find_last_not_of(" \t\r\n") + 1);
  if (name.starts_with("./")) name.erase(0, 2);
  if (name.empty()) return document(archive.first_document());
  const std::string decoded = collada::percent_decoded(name);
  return document(decoded.substr(0, decoded.find('#')));
}

}  // namespace raylift
