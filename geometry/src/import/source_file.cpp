// SPDX-License-Identifier: Apache-2.0
#include "source_file.h"

#include <raylift/geometry/error.h>
#include <zip.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <pugixml.hpp>

#include "collada_detail.h"
#include "huge_pages.h"

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

class Archive {
 public:
  Archive(const fs::path& path, const LoadLimits& limits) : path_(path), limits_(limits) {
    int code = 0;
    archive_.reset(zip_open(path.c_str(), ZIP_RDONLY, &code));
    if (archive_) return;
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    const std::string text = zip_error_strerror(&error);
    zip_error_fini(&error);
    throw Error(ErrorKind::malformed, "no readable zip archive: " + text, {path.string(), ""});
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

  [[nodiscard]] std::string read(const std::string& name) const {
    const Where where{path_.string(), "entry '" + name + "'"};
    const zip_int64_t index = locate(name);
    if (index < 0) throw Error(ErrorKind::malformed, "the archive's manifest names an entry that is not there", where);
    const std::unique_ptr<zip_file_t, CloseEntry> entry(
        zip_fopen_index(archive_.get(), static_cast<zip_uint64_t>(index), 0));
    if (!entry)
      throw Error(ErrorKind::malformed, std::string("the entry can't be read: ") + zip_strerror(archive_.get()), where);
    // The size that the archive states is not trusted: what is counted is what comes out.
    std::string text;
    std::unique_ptr<char[]> block(new char[kBlock]);
    for (;;) {
      const zip_int64_t got = zip_fread(entry.get(), block.get(), kBlock);
      if (got < 0) throw Error(ErrorKind::malformed, "the entry is corrupted", where);
      if (got == 0) return text;
      text.append(block.get(), static_cast<std::size_t>(got));
      if (text.size() > limits_.text_bytes)
        fail_too_large(path_, "the document in the archive", limits_.text_bytes, "--max-text-size");
    }
  }

 private:
  static constexpr std::size_t kBlock = 1U << 20;
  fs::path path_;
  const LoadLimits& limits_;
  std::unique_ptr<zip_t, CloseZip> archive_;
};

}  // namespace

std::string extension_of(const fs::path& path) {
  const std::string last = lower(path.extension().string());
  if (last == ".gz") return lower(path.stem().extension().string() + last).substr(path.stem().has_extension() ? 1 : 0);
  return last.empty() ? last : last.substr(1);
}

void check_file(const fs::path& path, const LoadLimits& limits) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (error || !fs::exists(status)) fail_io(path, "the file can't be opened", error ? error.value() : ENOENT);
  if (fs::is_directory(status)) throw Error(ErrorKind::io, "this is a folder, not a file", {path.string(), ""});
  if (!fs::is_regular_file(status))
    throw Error(ErrorKind::io, "this is no regular file", {path.string(), ""}, "copy it to a file first");
  const std::uint64_t size = fs::file_size(path, error);
  if (error) fail_io(path, "the file's size is unknown", error.value());
  if (size == 0) throw Error(ErrorKind::malformed, "the file is empty", {path.string(), ""});
  if (size > limits.file_bytes) fail_too_large(path, "the file", limits.file_bytes, "--max-file-size");
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "rb"));
  if (!file) fail_io(path, "the file can't be opened", errno);
}

std::string read_file(const fs::path& path) {
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "rb"));
  if (!file) fail_io(path, "the file can't be opened", errno);
  std::string text;
  std::error_code error;
  const std::uint64_t size = fs::file_size(path, error);
  if (error) fail_io(path, "the file's size is unknown", error.value());
  reserve_huge(text, size);
  text.resize(size);
  const std::size_t got = std::fread(text.data(), 1, text.size(), file.get());
  if (got != text.size())
    std::ferror(file.get()) != 0
        ? fail_io(path, "the file can't be read", errno)
        : throw Error(ErrorKind::io, "the file became shorter while it was read", {path.string(), ""});
  return text;
}

std::string read_gzip(const fs::path& path, const LoadLimits& limits) {
  const std::unique_ptr<gzFile_s, CloseGzip> file(gzopen(path.c_str(), "rb"));
  if (!file) fail_io(path, "the file can't be opened", errno != 0 ? errno : ENOMEM);
  gzbuffer(file.get(), 1U << 18);
  std::string text;
  constexpr unsigned kBlock = 1U << 20;
  std::unique_ptr<char[]> block(new char[kBlock]);
  for (;;) {
    const int got = gzread(file.get(), block.get(), kBlock);
    if (got > 0) text.append(block.get(), static_cast<std::size_t>(got));
    if (text.size() > limits.text_bytes)
      fail_too_large(path, "the unpacked document", limits.text_bytes, "--max-text-size");
    if (got == static_cast<int>(kBlock)) continue;
    int code = Z_OK;
    const char* message = gzerror(file.get(), &code);
    if (code == Z_BUF_ERROR) message = "it ends too early";
    if (got < 0 || (code != Z_OK && code != Z_STREAM_END))
      throw Error(ErrorKind::malformed, std::string("the gzip data is corrupted: ") + message, {path.string(), ""});
    if (got == 0 || gzeof(file.get()) != 0) return text;
  }
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
