// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <raylift/geometry/error.h>
#include <raylift/photon/npy.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <limits>
#include <string_view>
#include <utility>

#include "base/descriptor.h"
#include "npy_header.h"

namespace raylift::photon {
namespace {

static_assert(std::endian::native == std::endian::little);
constexpr std::uint64_t kMaxRows = std::numeric_limits<std::uint64_t>::max();

/// Reads up to the end of the range or of the file. Returns how much.
std::size_t read_all(int file, std::span<std::byte> bytes, std::uint64_t at, const std::string& path) {
  std::size_t done = 0;
  if (const int code = base::read_all(file, bytes, at, done); code != 0)
    throw Error(kind_of_errno(code), std::string("can't be read: ") + std::strerror(code), {path, {}});
  return done;
}

std::uint64_t row_bytes_of(NpyType type, std::span<const std::uint64_t> row_shape) {
  std::uint64_t bytes = bytes_of(type);
  for (const std::uint64_t axis : row_shape) bytes *= axis;
  return bytes;
}

}  // namespace

class NpyFile : public base::Descriptor {
 public:
  using base::Descriptor::Descriptor;
};

NpyWriter::NpyWriter(std::filesystem::path path, NpyType type, std::vector<std::uint64_t> row_shape)
    : path_(std::move(path)),
      part_(path_.string() + ".part"),
      type_(type),
      row_shape_(std::move(row_shape)),
      row_bytes_(row_bytes_of(type_, row_shape_)) {
  open(O_CREAT | O_TRUNC);
}

NpyWriter::NpyWriter(std::filesystem::path path, NpyType type, std::vector<std::uint64_t> row_shape, Resume resume)
    : path_(std::move(path)),
      part_(path_.string() + ".part"),
      type_(type),
      row_shape_(std::move(row_shape)),
      row_bytes_(row_bytes_of(type_, row_shape_)) {
  // A run that was killed between the renames of its files has this one whole.
  std::error_code error;
  if (!std::filesystem::exists(part_, error) && std::filesystem::exists(path_, error))
    std::filesystem::rename(path_, part_, error);
  open(0);
  const std::uint64_t wanted = header().size() + resume.rows * row_bytes_;
  struct stat status {};
  if (::fstat(file_->get(), &status) != 0) fail(errno);
  if (static_cast<std::uint64_t>(status.st_size) < wanted) {
    throw Error(ErrorKind::malformed, "has fewer rows than the run that is to be resumed had written",
                {part_.string(), {}}, "start the run again without NpyWriter::Resume");
  }
  if (::ftruncate(file_->get(), static_cast<std::int64_t>(wanted)) != 0) fail(errno);
  rows_ = resume.rows;
}

void NpyWriter::open(int flags) {
  file_ = std::make_unique<NpyFile>(::open(part_.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW | flags, 0666));
  if (file_->get() < 0) fail(errno);
  if ((flags & O_TRUNC) != 0) write(header(), 0);
}

NpyWriter::~NpyWriter() {
  if (file_->get() >= 0 && !keep_) ::unlink(part_.c_str());
}

void NpyWriter::write(std::string_view bytes, std::uint64_t at) const {
  if (const int code = base::write_all(file_->get(), bytes, static_cast<std::int64_t>(at)); code != 0) fail(code);
}

void NpyWriter::fail(int code) const {
  throw Error(ErrorKind::io, std::string("can't be written: ") + std::strerror(code), {part_.string(), {}},
              "check the folder, its permissions and the disk's space");
}

/// As long for any number of rows, so that the number can be written last.
std::string NpyWriter::header() const {
  const std::size_t longest = npy_header(type_, row_shape_, kMaxRows, 0).size();
  return npy_header(type_, row_shape_, rows_, longest);
}

void NpyWriter::append(std::span<const std::byte> rows) {
  if (rows.empty()) return;
  if (row_bytes_ == 0 || rows.size() % row_bytes_ != 0)
    throw Error(ErrorKind::usage, "these bytes are not whole rows of the array", {path_.string(), {}});
  const std::uint64_t at = header().size() + rows_ * row_bytes_;
  write({reinterpret_cast<const char*>(rows.data()), rows.size()}, at);
  rows_ += rows.size() / row_bytes_;
  // The disk begins with what there is, so that sync() waits for less. Where it can't, sync() says why.
  constexpr std::uint64_t kAtOnce = std::uint64_t{1} << 25;
  if (const std::uint64_t end = at + rows.size(); end - begun_ >= kAtOnce) {
    (void)::sync_file_range(file_->get(), static_cast<std::int64_t>(begun_), static_cast<std::int64_t>(end - begun_),
                            SYNC_FILE_RANGE_WRITE);
    begun_ = end;
  }
}

void NpyWriter::sync() const {
  if (::fdatasync(file_->get()) != 0) fail(errno);
}

void NpyWriter::finish() {
  write(header(), 0);
  if (const int code = file_->close(); code != 0) fail(code);
  if (::rename(part_.c_str(), path_.c_str()) != 0) fail(errno);
}

NpyReader::~NpyReader() = default;
NpyReader::NpyReader(NpyReader&& other) noexcept = default;
NpyReader& NpyReader::operator=(NpyReader&& other) noexcept = default;

NpyReader::NpyReader(std::filesystem::path path) : path_(std::move(path)) {
  const auto io = [this] {
    const int code = errno;
    throw Error(kind_of_errno(code), std::string("can't be opened: ") + std::strerror(code), {path_.string(), {}});
  };
  file_ = std::make_unique<NpyFile>(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (file_->get() < 0 || ::fstat(file_->get(), &status) != 0) io();
  if (!S_ISREG(status.st_mode)) throw Error(ErrorKind::io, "is no file", {path_.string(), {}});
  parse(static_cast<std::uint64_t>(status.st_size));
}

NpyReader::NpyReader(std::string bytes, std::filesystem::path path) : path_(std::move(path)), bytes_(std::move(bytes)) {
  parse(bytes_.size());
}

std::size_t NpyReader::read_at(std::span<std::byte> to, std::uint64_t at) const {
  if (file_) return read_all(file_->get(), to, at, path_.string());
  return bytes_.copy(reinterpret_cast<char*>(to.data()), to.size(), static_cast<std::size_t>(at));
}

void NpyReader::parse(std::uint64_t size) {
  const NpyHeader header = parse_npy_header(read_header(size), path_.string());
  type_ = header.type;
  shape_ = header.shape;
  std::uint64_t elements = 1;
  row_bytes_ = bytes_of(type_);
  const auto multiply = [&](std::uint64_t& a, std::uint64_t b) {
    if (b != 0 && a > std::numeric_limits<std::int64_t>::max() / b)
      throw Error(ErrorKind::malformed, "the header's shape has more elements than a file can have",
                  {path_.string(), {}});
    a *= b;
  };
  for (std::size_t i = 1; i != shape_.size(); ++i) multiply(row_bytes_, shape_[i]);
  elements = row_bytes_;
  multiply(elements, shape_.front());
  const std::uint64_t there = size - begin_;
  if (there != elements)
    throw Error(ErrorKind::malformed,
                std::string(there < elements ? "is truncated: " : "is too long: ") + std::to_string(there) +
                    " bytes follow the header, which promises " + std::to_string(elements),
                {path_.string(), {}}, "write the file again");
}

/// Up to where the array begins. Sets that.
std::string NpyReader::read_header(std::uint64_t size) {
  const auto malformed = [this](const std::string& problem) {
    throw Error(ErrorKind::malformed, problem, {path_.string(), {}}, "write the file with numpy.save");
  };
  std::array<unsigned char, 12> start{};
  const std::size_t got = read_at(std::as_writable_bytes(std::span(start)), 0);
  if (got < 10 || std::memcmp(start.data(), "\x93NUMPY", 6) != 0) malformed("is no .npy file");
  if ((start[6] != 1 && start[6] != 2) || start[7] != 0)
    throw Error(ErrorKind::unsupported,
                "has version " + std::to_string(start[6]) + '.' + std::to_string(start[7]) + " of the format",
                {path_.string(), {}}, "versions 1.0 and 2.0 are read");
  const bool wide = start[6] == 2;
  const std::uint64_t length =
      wide ? std::uint64_t{start[8]} | start[9] << 8U | start[10] << 16U | std::uint64_t{start[11]} << 24U
           : std::uint64_t{start[8]} | start[9] << 8U;
  begin_ = (wide ? 12 : 10) + length;
  constexpr std::uint64_t kLongest = 1 << 16;
  if (begin_ > size || length > kLongest) malformed("the header is truncated, or too long");
  std::string text(static_cast<std::size_t>(length), '\0');
  if (read_at(std::as_writable_bytes(std::span(text)), begin_ - length) != length) malformed("the header is truncated");
  return text;
}

void NpyReader::expect(NpyType type, std::span<const std::uint64_t> row_shape) const {
  const std::span<const std::uint64_t> here = std::span(shape_).subspan(1);
  if (type == type_ && std::equal(here.begin(), here.end(), row_shape.begin(), row_shape.end())) return;
  throw Error(ErrorKind::malformed,
              "is an array of " + npy_text(type_, here) + ", and " + npy_text(type, row_shape) + " is wanted",
              {path_.string(), {}});
}

void NpyReader::read(std::span<std::byte> bytes, std::uint64_t first) const {
  if (bytes.empty()) return;
  if (row_bytes_ == 0 || bytes.size() % row_bytes_ != 0 || first > rows() || bytes.size() / row_bytes_ > rows() - first)
    throw Error(ErrorKind::usage, "these are not rows of the array", {path_.string(), {}});
  if (read_at(bytes, begin_ + first * row_bytes_) != bytes.size())
    throw Error(ErrorKind::io, "has been truncated since it was opened", {path_.string(), {}});
}

void NpyReader::check_rows(std::size_t bytes_of_row) const {
  if (row_bytes_ != bytes_of_row) throw Error(ErrorKind::usage, "a row has another size", {path_.string(), {}});
  if (rows() > std::numeric_limits<std::size_t>::max() / 2 / bytes_of_row)
    throw Error(ErrorKind::limit, "has more rows than memory can hold", {path_.string(), {}});
}

}  // namespace raylift::photon
