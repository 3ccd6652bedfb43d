// SPDX-License-Identifier: Apache-2.0
#include "report.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <raylift/geometry/error.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include "base/descriptor.h"
#include "base/file_beside.h"
#include "base/json.h"
#include "base/parse_number.h"
#include "base/trust.h"
#include "base/utf8.h"
#include "geometry/src/scene/source_files.h"
#include "gpu/src/cache/cache_files.h"
#include "inputs.h"
#include "report_head.h"

namespace raylift::batch {
using namespace cli;
namespace {

std::string unhex(const std::string& text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const auto byte = base::parse_number<unsigned char>(std::string_view(text).substr(i, 2), 16);
    if (!byte || i + 1 == text.size()) throw Error(ErrorKind::malformed, "a file's name is not in hexadecimal digits");
    bytes += static_cast<char>(*byte);
  }
  return bytes;
}

constexpr std::string_view kRowBegin = R"({"file":")";
constexpr std::string_view kHeadBegin = R"({"report":")";

std::string text_of(const Json& line) {
  return base::json_text(line) + '\n';
}

/// Waits until a file's name is on the disk, as its contents are.
void sync_folder_of(const std::filesystem::path& file) {
  const std::filesystem::path parent = file.parent_path();
  const base::Descriptor folder(::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.get() >= 0) (void)::fsync(folder.get());
}

}  // namespace

void set_file(Json& row, const std::string& path, const std::string& member) {
  row[member] = path;
  if (base::is_utf8(path)) return;
  std::string hex;
  for (const char c : path) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
  row[member + "_hex"] = hex;
}

std::string file_of(const Json& row, const std::string& member) {
  try {
    return row.contains(member + "_hex") ? unhex(row.at(member + "_hex").get<std::string>())
                                         : row.at(member).get<std::string>();
  } catch (const std::exception&) {
    throw Error(ErrorKind::malformed, "a row names no file");
  }
}

void set_files(Json& row, const std::string& scene, std::span<const Scene::SourceFile> files,
               const Progress& progress) {
  const std::vector<Hash256> hashes = file_hashes(scene, files, progress);
  for (std::size_t i = 0; i != files.size(); ++i) {
    Json& entry = row["files"].emplace_back();
    set_file(entry, files[i].path);
    entry["source"] = hashes[i].hex();
  }
}

bool same_files(const Json& row, const std::string& scene, const Progress& progress) {
  const Json files = row.value("files", Json::array());
  return std::all_of(files.begin(), files.end(), [&](const Json& entry) {
    std::error_code error;
    const std::filesystem::path file =
        raylift::detail::beneath(std::filesystem::path(scene).parent_path(), file_of(entry), error);
    return !file.empty() && source_hash(file.string(), UINT64_MAX, progress) == entry["source"].get<std::string>();
  });
}

bool is_row(const Json& row) {
  if (!row.is_object()) return false;
  const auto actions = row.find("do");
  const auto status = row.find("status");
  if (actions == row.end() || !actions->is_array() || status == row.end()) return false;
  if (!std::all_of(actions->begin(), actions->end(), [](const Json& one) { return one.is_string(); })) return false;
  try {
    (void)file_of(row);
    const Json files = row.value("files", Json::array());
    if (!files.is_array()) return false;
    for (const Json& entry : files) {
      (void)file_of(entry);
      (void)entry.at("source").get<std::string>();
    }
    if (*status == "failed") (void)error_kind(row.at("error").at("kind").get<std::string>());
  } catch (const std::exception&) {
    return false;
  }
  return *status == "ok" || *status == "negative" || *status == "failed";
}

Report::Report(const std::string& path, Mode mode, Json head, const Earlier& earlier)
    : path_(path), head_(std::move(head)) {
  const bool existed = ::access(path.c_str(), F_OK) == 0;
  descriptor_ = base::Descriptor(::open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0644));
  // A pipe or a terminal may be open to writers alone.
  if (descriptor_.get() < 0 && errno != ENOENT && std::filesystem::exists(path) &&
      !std::filesystem::is_regular_file(path))
    descriptor_ = base::Descriptor(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  if (descriptor_.get() < 0) fail("can't open the report", errno);
  struct stat info {};
  if (::fstat(descriptor_.get(), &info) != 0) fail("can't open the report", errno);
  regular_ = S_ISREG(info.st_mode);
  if (!regular_) {
    if (mode == Mode::resume)
      throw Error(ErrorKind::usage, "only a report in a regular file can be resumed", {path, ""});
    return;
  }
  struct stat output {};
  if (::fstat(STDOUT_FILENO, &output) == 0 && output.st_dev == info.st_dev && output.st_ino == info.st_ino)
    throw Error(ErrorKind::usage, "the report can't be the file that standard output goes to: the summary does",
                {path, ""}, "use two files");
  if (::flock(descriptor_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    throw Error(ErrorKind::io, "another batch is writing this report", {path, ""}, "wait for it, or use another one");
  if (::fstat(descriptor_.get(), &info) != 0) fail("can't open the report", errno);
  bytes_ = static_cast<std::uint64_t>(info.st_size);
  if (mode == Mode::resume) {
    if (const std::string why = base::mistrust(info); !why.empty())
      throw Error(ErrorKind::io, "the report to resume " + why, {path, ""},
                  "check its rows and take away that right by chmod go-w, or use another report");
    read_rows(earlier);
  } else if (existed && bytes_ != 0) {
    throw Error(ErrorKind::usage, "the report is there already", {path, ""},
                "go on with it by --resume, or remove it first");
  }
}

void Report::fail(const std::string& what, int code) const {
  throw Error(ErrorKind::io, what + ": " + std::strerror(code), {path_, ""},
              code == ENOSPC || code == EDQUOT || code == EFBIG ? "make room, and go on with --resume" : "");
}

void Report::read_rows(const Earlier& earlier) {
  std::uint64_t number = 0;
  read_lines([&](std::string_view line) {
    const bool first = ++number == 1;
    const Json json = base::parse_json<Json>(line);
    if (first ? !is_head(json) : !is_row(json))
      throw Error(
          ErrorKind::malformed,
          std::string("what is to be resumed is no report of a batch: no ") + (first ? "head" : "row") +
              " in this line",
          {path_, "line " + std::to_string(number)},
          first ? "start afresh with another report" : "take the line out, or start afresh with another report");
    if (first) {
      check_head(json, head_, path_);
      head_ = json;
    } else if (earlier) {
      earlier(head_, json);
    }
  });
}

/// Calls use(line) for each line that has an end, without that, and cuts off what comes behind the last one.
void Report::read_lines(const std::function<void(std::string_view)>& use) {
  std::string arrived;
  std::uint64_t whole = 0;
  std::string chunk(std::size_t{1} << 20, '\0');
  for (std::uint64_t at = 0; at < bytes_;) {
    const ssize_t got = ::pread(descriptor_.get(), chunk.data(), chunk.size(), static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("can't read the report", errno);
    if (got == 0) break;
    at += static_cast<std::uint64_t>(got);
    arrived.append(chunk, 0, static_cast<std::size_t>(got));
    std::size_t begin = 0;
    for (std::size_t end = arrived.find('\n'); end != std::string::npos; end = arrived.find('\n', begin)) {
      use(std::string_view(arrived).substr(begin, end - begin));
      whole += end + 1 - begin;
      begin = end + 1;
    }
    arrived.erase(0, begin);
  }
  if (whole == bytes_) return;
  // A batch that was killed while a row was on its way to the disk: the row does not count. Anything else is another
  // program's file, and no report.
  const std::string_view begin = whole == 0 ? kHeadBegin : kRowBegin;
  const std::size_t known = std::min(arrived.size(), begin.size());
  if (std::string_view(arrived).substr(0, known) != begin.substr(0, known))
    throw Error(ErrorKind::malformed, "what is to be resumed is no report of a batch: it does not end in a row",
                {path_, ""}, "take out what is behind the last row, or start afresh with another report");
  if (::ftruncate(descriptor_.get(), static_cast<off_t>(whole)) != 0) fail("can't cut off a torn row", errno);
  bytes_ = whole;
}

void Report::rewrite(const RowPlace& place) {
  if (!regular_) return;
  std::vector<std::pair<std::size_t, std::string>> lines;
  bool first = true;
  read_lines([&](std::string_view line) {
    if (std::exchange(first, false)) return;  // the head
    if (const auto where = place(base::parse_json<Json>(line))) lines.emplace_back(*where, line);
  });
  std::stable_sort(lines.begin(), lines.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  // A link keeps pointing to its file.
  const std::filesystem::path target = std::filesystem::canonical(path_);
  std::string text = lines.empty() ? "" : text_of(head_);
  for (const auto& [number, line] : lines) text += line + '\n';
  base::FileBeside sorted;
  const auto check = [this](int code) {
    if (code != 0) fail("can't replace the report by one in order", code);
  };
  check(sorted.open(AT_FDCWD, target, 0666));
  const int file = sorted.file().get();
  struct stat own {};
  if (::fstat(descriptor_.get(), &own) == 0) (void)!::fchmod(file, own.st_mode & 07777U);
  (void)::flock(file, LOCK_EX | LOCK_NB);
  check(base::write_all(file, text));
  check(::fsync(file) == 0 ? 0 : errno);
  check(::fcntl(file, F_SETFL, O_APPEND) == 0 ? 0 : errno);
  check(sorted.rename());
  descriptor_ = std::move(sorted.file());
  bytes_ = text.size();
  sync_folder_of(target);
}

void Report::append(const Json& row) {
  write(text_of(row));
}

void Report::write(std::string_view line) {
  std::string text(line);
  if (bytes_ == 0) text.insert(0, text_of(head_));
  if (const int code = base::write_all(descriptor_.get(), text); code != 0) {
    // Best effort: what stays is cut off by the next --resume.
    if (regular_) (void)!::ftruncate(descriptor_.get(), static_cast<off_t>(bytes_));
    fail("can't write the report", code);
  }
  bytes_ += text.size();
}

void Report::finish() {
  if (!regular_) return;
  if (::fsync(descriptor_.get()) != 0) fail("can't write the report to the disk", errno);
  sync_folder_of(path_);
}

}  // namespace raylift::batch
