// SPDX-License-Identifier: Apache-2.0
// Cache files by themselves: what is written comes back, and of a file that is damaged in any way nothing does.
#include <gmock/gmock.h>
#include <raylift/geometry/error.h>
#include <sys/resource.h>

#include <atomic>
#include <csignal>
#include <cstring>
#include <fstream>
#include <random>
#include <thread>

#include "cache/cache_format.h"
#include "cache/hash.h"
#include "gpu/src/cache/cache_file.h"
#include "support/paths.h"

namespace raylift {
namespace {

namespace fs = std::filesystem;
using test::TemporaryFolder;

std::vector<std::byte> random_bytes(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> bytes(count);
  for (std::byte& b : bytes) b = static_cast<std::byte>(random());
  return bytes;
}

ArraySource source_of(std::string name, std::size_t element_bytes, const std::vector<std::byte>& bytes) {
  return {std::move(name), ArrayRank::triangles, element_bytes, bytes.size() / element_bytes,
          [&bytes, element_bytes](std::size_t first, std::size_t count, std::byte* target, StoreMode mode) {
            copy_bytes(bytes.data() + first * element_bytes, target, count * element_bytes, mode);
          }};
}

const CacheKey kKey{{1, 2}, {3, 4}, 5};

void overwrite(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

/// The kind of error that using the file ends in; none where all of it is well.
std::optional<ErrorKind> failure_of(const fs::path& path) {
  try {
    const CacheFile file(path);
    for (const CacheSection& section : file.sections()) {
      std::vector<std::byte> all(section.bytes());
      file.read(section, 0, all.size(), all.data(), StoreMode::cached);
    }
    file.verify();
  } catch (const Error& error) {
    EXPECT_EQ(error.file(), path.string());
    return error.kind();
  }
  return {};
}

std::size_t files_in(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

/// Three small sections, one of them empty, and one of metadata.
class SmallCacheFile : public testing::Test {
 protected:
  void SetUp() override {
    const std::vector<ArraySource> arrays{source_of("first", 12, first_), source_of("empty", 4, nothing_),
                                          source_of("second", 1, second_)};
    const std::vector<CacheMetadata> metadata{{"about", random_bytes(100, 3)}};
    write_cache_file(path_, kKey, arrays, metadata);
  }
  TemporaryFolder folder_;
  fs::path path_ = folder_.path() / "file.raylift";
  std::vector<std::byte> first_ = random_bytes(1200, 1);
  std::vector<std::byte> nothing_;
  std::vector<std::byte> second_ = random_bytes(4096, 2);
};

TEST(CacheFiles, GiveBackWhatWasWritten) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "deeper" / "still" / "file.raylift";
  std::vector<std::vector<std::byte>> bytes;
  std::vector<ArraySource> arrays;
  const std::size_t sizes[] = {0, 12, 4092, 4096, 4104, 131064, 131072, 131076, 1048572, 1048584, 12'000'012};
  for (const std::size_t size : sizes) bytes.push_back(random_bytes(size, static_cast<unsigned>(size)));
  for (std::size_t i = 0; i != bytes.size(); ++i)
    arrays.push_back(source_of("a" + std::to_string(i), sizes[i] % 12 == 0 ? 12 : 4, bytes[i]));
  write_cache_file(path, kKey, arrays, std::vector<CacheMetadata>{{"about", random_bytes(777, 9)}});

  const CacheFile file(path);
  EXPECT_EQ(file.key(), kKey);
  EXPECT_EQ(file.file_bytes(), fs::file_size(path));
  ASSERT_EQ(file.sections().size(), arrays.size() + 1);
  for (std::size_t i = 0; i != arrays.size(); ++i) {
    const CacheSection& section = file.sections()[i];
    EXPECT_EQ(section.name, arrays[i].name);
    EXPECT_EQ(section.kind, CacheSection::Kind::array);
    EXPECT_EQ(section.rank, ArrayRank::triangles);
    EXPECT_EQ(section.element_bytes, arrays[i].element_bytes);
    EXPECT_EQ(section.count, arrays[i].count);
    EXPECT_EQ(section.offset % 4096, 0U);
    std::vector<std::byte> back(section.bytes());
    file.read(section, 0, back.size(), back.data(), StoreMode::cached);
    EXPECT_EQ(back, bytes[i]) << i;
  }
  EXPECT_EQ(file.section("about").kind, CacheSection::Kind::metadata);
  EXPECT_EQ(file.read_all<std::byte>("about"), random_bytes(777, 9));
  EXPECT_EQ(file.read_all<UInt3>("a10").size(), 1'000'001U);
  EXPECT_THROW((void)file.read_all<std::uint16_t>("a10"), Error);
  EXPECT_THROW((void)file.section("none"), Error);
  file.verify();
  EXPECT_EQ(files_in(path.parent_path()), 1U);
}

TEST(CacheFiles, MayBeEmpty) {
  const TemporaryFolder folder;
  write_cache_file(folder.path() / "none", kKey, {}, {});
  EXPECT_TRUE(CacheFile(folder.path() / "none").sections().empty());
  EXPECT_EQ(failure_of(folder.path() / "none"), std::nullopt);
  const std::vector<std::byte> nothing;
  write_cache_file(folder.path() / "empty", kKey, std::vector{source_of("empty", 12, nothing)}, {});
  EXPECT_EQ(CacheFile(folder.path() / "empty").read_all<Float3>("empty").size(), 0U);
  EXPECT_EQ(failure_of(folder.path() / "empty"), std::nullopt);
}

TEST(CacheFiles, ReadAnyRangeIntoAnyMemory) {
  const TemporaryFolder folder;
  const std::vector<std::byte> bytes = random_bytes(1'000'003, 4);
  write_cache_file(folder.path() / "f", kKey, std::vector<ArraySource>{source_of("all", 1, bytes)}, {});
  const CacheFile file(folder.path() / "f");
  const CacheSection& section = file.section("all");
  std::mt19937 random(5);
  for (int round = 0; round != 200; ++round) {
    const std::size_t first = random() % bytes.size();
    const std::size_t count = round % 5 == 0 ? random() % 3 : random() % (bytes.size() - first + 1);
    const std::size_t used = std::min(count, bytes.size() - first);
    std::vector<std::byte> back(used + 1, std::byte{0xAA});
    file.read(section, first, used, back.data(), round % 2 == 0 ? StoreMode::cached : StoreMode::write_combined);
    EXPECT_EQ(std::memcmp(back.data(), bytes.data() + first, used), 0);
    EXPECT_EQ(back[used], std::byte{0xAA});
  }
  std::byte one{};
  EXPECT_THROW(file.read(section, bytes.size(), 1, &one, StoreMode::cached), Error);
  EXPECT_THROW(file.read(section, 1, static_cast<std::size_t>(-1), &one, StoreMode::cached), Error);
  EXPECT_THROW(file.read(section, 0, 1, nullptr, StoreMode::cached), Error);
}

TEST_F(SmallCacheFile, IsNotBelievedWithAnyOneByteChanged) {
  ASSERT_EQ(failure_of(path_), std::nullopt);
  const std::string good = test::bytes_in(path_);
  std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
  for (std::size_t at = 0; at != good.size(); ++at) {
    file.seekp(static_cast<std::streamoff>(at)).put(static_cast<char>(good[at] ^ (1 << at % 8))).flush();
    const auto failure = failure_of(path_);
    EXPECT_TRUE(failure == ErrorKind::malformed || failure == ErrorKind::unsupported) << "byte " << at;
    file.seekp(static_cast<std::streamoff>(at)).put(good[at]).flush();
  }
  EXPECT_EQ(failure_of(path_), std::nullopt);
}

TEST_F(SmallCacheFile, IsNotBelievedWhenItIsCutOffOrLonger) {
  const std::string good = test::bytes_in(path_);
  std::vector<std::size_t> sizes{0, 1, 7, 8, 15, 16, 127, good.size() - 1, good.size() + 1, good.size() + 4096};
  for (std::size_t boundary = 4096; boundary < good.size(); boundary += 4096)
    for (const std::size_t size : {boundary - 1, boundary, boundary + 1}) sizes.push_back(size);
  for (const std::size_t size : sizes) {
    overwrite(path_, good);
    fs::resize_file(path_, size);
    EXPECT_NE(failure_of(path_), std::nullopt) << size;
  }
}

TEST_F(SmallCacheFile, IsNotBelievedWithSectionsOfAnotherFile) {
  const std::string good = test::bytes_in(path_);
  // Whole pages swapped: each is well by itself.
  for (std::size_t a = 0; a < good.size(); a += 4096)
    for (std::size_t b = a + 4096; b < good.size(); b += 4096) {
      std::string swapped = good;
      std::swap_ranges(swapped.begin() + a, swapped.begin() + a + 4096, swapped.begin() + b);
      overwrite(path_, swapped);
      EXPECT_NE(failure_of(path_), std::nullopt) << a << ' ' << b;
    }
}

/// Puts a value into the header at `offset`, and the right checksum behind it.
template <class T>
void patch_header(const fs::path& path, std::size_t offset, T value) {
  std::string bytes = test::bytes_in(path);
  std::memcpy(bytes.data() + offset, &value, sizeof value);
  const Hash128 hash = detail::hash128(bytes.data(), 4080);
  std::memcpy(bytes.data() + 4080, &hash, sizeof hash);
  overwrite(path, bytes);
}

TEST_F(SmallCacheFile, OfAnotherVersionOrMachineIsNotRead) {
  const std::string good = test::bytes_in(path_);
  const auto expect = [&](auto offset, auto value, ErrorKind kind) {
    overwrite(path_, good);
    patch_header(path_, offset, value);
    EXPECT_EQ(failure_of(path_), kind) << offset;
  };
  expect(offsetof(detail::CacheHeader, version), std::uint32_t{0}, ErrorKind::unsupported);
  expect(offsetof(detail::CacheHeader, version), std::uint32_t{detail::kCacheVersion + 1}, ErrorKind::unsupported);
  expect(offsetof(detail::CacheHeader, contents), std::uint32_t{0}, ErrorKind::unsupported);
  expect(offsetof(detail::CacheHeader, contents), std::uint32_t{99}, ErrorKind::unsupported);
  expect(offsetof(detail::CacheHeader, byte_order), std::uint32_t{0x04030201}, ErrorKind::unsupported);
  expect(offsetof(detail::CacheHeader, writer), std::uint32_t{0}, ErrorKind::unsupported);
  expect(offsetof(detail::CacheHeader, page_bytes), std::uint32_t{65536}, ErrorKind::unsupported);
  expect(offsetof(detail::CacheHeader, sections), std::uint32_t{5}, ErrorKind::malformed);
  expect(offsetof(detail::CacheHeader, sections), std::uint32_t{3}, ErrorKind::malformed);
  expect(offsetof(detail::CacheHeader, sections), std::uint32_t{0xFFFFFFFF}, ErrorKind::malformed);
  expect(offsetof(detail::CacheHeader, table_bytes), ~std::uint64_t{0} & ~std::uint64_t{4095}, ErrorKind::malformed);
  expect(offsetof(detail::CacheHeader, table_bytes), std::uint64_t{8192}, ErrorKind::malformed);
  expect(offsetof(detail::CacheHeader, file_bytes), std::uint64_t{4096}, ErrorKind::malformed);
}

TEST_F(SmallCacheFile, WithARightChecksumOverAWrongTableIsNotRead) {
  const std::string good = test::bytes_in(path_);
  const auto expect_refused = [&](std::size_t entry, auto offset, auto value) {
    std::string bytes = good;
    std::memcpy(bytes.data() + 4096 + entry * sizeof(detail::CacheEntry) + offset, &value, sizeof value);
    const Hash128 hash = detail::hash128(bytes.data() + 4096, 4096 - sizeof hash);
    std::memcpy(bytes.data() + 8192 - sizeof hash, &hash, sizeof hash);
    overwrite(path_, bytes);
    EXPECT_EQ(failure_of(path_), ErrorKind::malformed) << entry << ' ' << offset;
  };
  using Entry = detail::CacheEntry;
  for (const std::size_t entry : {0, 2, 3}) {
    expect_refused(entry, offsetof(Entry, name), '\0');
    expect_refused(entry, offsetof(Entry, name), '/');
    expect_refused(entry, offsetof(Entry, kind), std::uint32_t{2});
    expect_refused(entry, offsetof(Entry, rank), std::uint32_t{4});
    expect_refused(entry, offsetof(Entry, element_bytes), std::uint32_t{0});
    expect_refused(entry, offsetof(Entry, element_bytes), std::uint32_t{0xFFFFFFFF});
    expect_refused(entry, offsetof(Entry, count), ~std::uint64_t{0});
    expect_refused(entry, offsetof(Entry, count), std::uint64_t{1} << 63);
    expect_refused(entry, offsetof(Entry, count), std::uint64_t{1'000'000});
    expect_refused(entry, offsetof(Entry, offset), std::uint64_t{0});
    expect_refused(entry, offsetof(Entry, offset), std::uint64_t{20480});
    expect_refused(entry, offsetof(Entry, offset), ~std::uint64_t{4095});
    expect_refused(entry, offsetof(Entry, first_block), std::uint64_t{77});
    expect_refused(entry, offsetof(Entry, hash), std::uint64_t{77});
  }
}

TEST(CacheFiles, RefuseWhatIsNone) {
  const TemporaryFolder folder;
  EXPECT_EQ(failure_of(folder.path() / "none"), ErrorKind::io);
  EXPECT_EQ(failure_of(folder.path()), ErrorKind::unsupported);
  EXPECT_EQ(failure_of(folder.write("empty", "")), ErrorKind::unsupported);
  EXPECT_EQ(failure_of(folder.write("text", std::string(10'000, 'x'))), ErrorKind::unsupported);
  EXPECT_EQ(failure_of(folder.write("zeros", std::string(10'000, '\0'))), ErrorKind::unsupported);
  EXPECT_EQ(failure_of("/dev/zero"), ErrorKind::unsupported);
}

TEST_F(SmallCacheFile, CutOffWhileItIsReadIsAnError) {
  const CacheFile file(path_);
  fs::resize_file(path_, 9000);
  std::vector<std::byte> back(4096);
  EXPECT_THROW(file.read(file.section("second"), 0, back.size(), back.data(), StoreMode::cached), Error);
}

TEST_F(SmallCacheFile, StaysReadableWhenItIsReplacedOrRemoved) {
  const CacheFile file(path_);
  SetUp();
  fs::remove(path_);
  EXPECT_EQ(file.read_all<std::byte>("second"), second_);
}

TEST(CacheFiles, LeaveNothingBehindWhenWritingFails) {
  const TemporaryFolder folder;
  const std::vector<std::byte> bytes = random_bytes(3'000'000, 1);
  ArraySource broken = source_of("broken", 1, bytes);
  broken.fill = [](std::size_t first, std::size_t, std::byte*, StoreMode) {
    if (first > 2'000'000) throw Error(ErrorKind::malformed, "no such number");
  };
  EXPECT_THROW(write_cache_file(folder.path() / "f", kKey, std::vector{broken}, {}), Error);
  const Progress cancel([](std::string_view, std::uint64_t, std::uint64_t) { return false; });
  EXPECT_THROW(write_cache_file(folder.path() / "f", kKey, std::vector{source_of("fine", 1, bytes)}, {}, cancel),
               Error);
  EXPECT_EQ(files_in(folder.path()), 0U);

  // An older file stays as it was.
  write_cache_file(folder.path() / "f", kKey, std::vector{source_of("fine", 1, bytes)}, {});
  EXPECT_THROW(write_cache_file(folder.path() / "f", kKey, std::vector{broken}, {}), Error);
  EXPECT_EQ(failure_of(folder.path() / "f"), std::nullopt);
  EXPECT_EQ(files_in(folder.path()), 1U);
}

TEST(CacheFiles, LeaveNothingBehindWhereTheDiskIsFull) {
  const TemporaryFolder folder;
  const std::vector<std::byte> bytes = random_bytes(3'000'000, 1);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{1'000'000, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  std::optional<ErrorKind> kind;
  try {
    write_cache_file(folder.path() / "f", kKey, std::vector{source_of("fine", 1, bytes)}, {});
  } catch (const Error& error) {
    kind = error.kind();
  }
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(kind, ErrorKind::io);
  EXPECT_EQ(files_in(folder.path()), 0U);
}

TEST(CacheFiles, RefuseNamesThatNobodyCouldRead) {
  const TemporaryFolder folder;
  const std::vector<std::byte> bytes = random_bytes(100, 1);
  for (const std::vector<std::string>& names :
       {std::vector<std::string>{""}, {"A"}, {"a-b"}, {std::string(48, 'a')}, {"a", "b", "a"}}) {
    std::vector<ArraySource> arrays;
    for (const std::string& name : names) arrays.push_back(source_of(name, 1, bytes));
    EXPECT_THROW(write_cache_file(folder.path() / "f", kKey, arrays, {}), Error);
  }
  write_cache_file(folder.path() / "f", kKey, std::vector{source_of(std::string(47, 'a'), 1, bytes)}, {});
  EXPECT_EQ(failure_of(folder.path() / "f"), std::nullopt);
}

TEST(CacheFiles, CannotBeWrittenWhereNoFolderCanBe) {
  const TemporaryFolder folder;
  const fs::path file = folder.write("a file", "x");
  for (const fs::path& path : {file / "f", file / "deeper" / "f", fs::path("/proc/raylift/f")}) {
    try {
      write_cache_file(path, kKey, {}, {});
      ADD_FAILURE() << path;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::io);
      EXPECT_FALSE(error.file().empty());
      EXPECT_TRUE(path.string().starts_with(error.file())) << error.file();  // the folder that can't be made
    }
  }
}

TEST(CacheFiles, MayBeWrittenBySeveralAtOnceWhileOthersRead) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "f";
  const std::vector<std::byte> bytes = random_bytes(500'000, 1);
  const auto write = [&] { write_cache_file(path, kKey, std::vector{source_of("fine", 4, bytes)}, {}); };
  write();
  std::atomic<int> writing{3};
  std::vector<std::thread> threads;
  for (int i = 0; i != 3; ++i)
    threads.emplace_back([&] {
      for (int round = 0; round != 10; ++round) write();
      --writing;
    });
  while (writing != 0) EXPECT_EQ(failure_of(path), std::nullopt);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failure_of(path), std::nullopt);
  EXPECT_EQ(files_in(folder.path()), 1U);
}

}  // namespace
}  // namespace raylift
