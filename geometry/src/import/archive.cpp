// SPDX-License-Identifier: Apache-2.0
#include "archive.h"

#include <raylift/geometry/error.h>
#include <unistd.h>
#include <zip.h>
#include <zlib.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <pugixml.hpp>
#include <string_view>
#include <utility>

#include "collada/collada_detail.h"

namespace raylift {
namespace {

namespace fs = std::filesystem;

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

struct EndInflate {
  void operator()(z_stream* stream) const { inflateEnd(stream); }
};
struct CloseZip {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
struct CloseEntry {
  void operator()(zip_file_t* entry) const { zip_fclose(entry); }
};

class Archive {
 public:
  Archive(const InputFile& file, const LoadLimits& limits) : path_(file.path()), limits_(limits), packed_(file.size()) {
    int code = 0;
    const int copy = file.duplicate();
    archive_.reset(zip_fdopen(copy, 0, &code));
    if (archive_) return;  // and the copy is closed
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    ::close(copy);
    fail("no readable zip archive", error, {path_.string(), ""});
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
    const Error::Where where{path_.string(), "entry '" + name + "'"};
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
  [[noreturn]] static void fail(const std::string& what, zip_error_t error, const Error::Where& where) {
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

std::string read_gzip(const InputFile& input, const LoadLimits& limits) {
  const fs::path& path = input.path();
  const auto fail = [&path](const std::string& what) -> void {
    throw Error(ErrorKind::malformed, "the gzip data is corrupted: " + what, {path.string(), ""});
  };
  z_stream stream{};
  constexpr int kGzip = 15 + 16;  // the largest window, and gzip's header
  if (inflateInit2(&stream, kGzip) != Z_OK)
    throw Error(ErrorKind::out_of_host_memory, "no memory left to unpack the file", {path.string(), ""});
  const std::unique_ptr<z_stream, EndInflate> end(&stream);
  constexpr std::size_t kIn = 1U << 18, kOut = 1U << 20;
  const std::unique_ptr<unsigned char[]> in(new unsigned char[kIn]);
  const std::unique_ptr<char[]> out(new char[kOut]);
  Unpacked text(path, input.size(), limits);
  std::uint64_t offset = 0;
  bool between = false;  // behind the end of a member
  for (;;) {
    if (stream.avail_in == 0) {
      stream.next_in = in.get();
      stream.avail_in = static_cast<unsigned>(input.read(offset, in.get(), kIn));
      offset += stream.avail_in;
    }
    if (stream.avail_in == 0) {
      if (!between) fail("it ends too early");
      return std::move(text.bytes);
    }
    if (between) {  // another member, or zeros that fill a block
      constexpr unsigned char kFirst = 0x1F;
      if (*stream.next_in == 0) {
        ++stream.next_in, --stream.avail_in;
        continue;
      }
      if (*stream.next_in != kFirst)
        fail(std::to_string(input.size() - offset + stream.avail_in) + " bytes behind its end");
      between = false;
      inflateReset(&stream);
    }
    stream.next_out = reinterpret_cast<unsigned char*>(out.get());
    stream.avail_out = static_cast<unsigned>(kOut);
    const int code = inflate(&stream, Z_NO_FLUSH);
    if (code == Z_MEM_ERROR)
      throw Error(ErrorKind::out_of_host_memory, "no memory left to unpack the file", {path.string(), ""});
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
      fail(stream.msg != nullptr ? stream.msg : "no gzip");
    between = code == Z_STREAM_END;
    const std::string_view piece(out.get(), kOut - stream.avail_out);
    check_text(path, piece, text.bytes.size());
    text.append(piece);
  }
}

std::optional<std::string> read_zip_entry(const fs::path& path, const std::string& entry, const LoadLimits& limits) {
  const Archive archive(InputFile(path, limits), limits);
  return archive.locate(entry) < 0 ? std::nullopt : std::optional(archive.read(entry, false));
}

std::string read_zae_entry(const fs::path& path, const std::string& entry, const LoadLimits& limits) {
  return Archive(InputFile(path, limits), limits).read(entry);
}

ZaeDocument read_zae(const InputFile& file, const LoadLimits& limits) {
  const fs::path& path = file.path();
  const Archive archive(file, limits);
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

ZaeDocument read_collada(const InputFile& file, const LoadLimits& limits) {
  if (file.extension() == "zae") return read_zae(file, limits);
  return {file.extension() == "dae.gz" ? read_gzip(file, limits) : file.text(), {}};
}

}  // namespace raylift
