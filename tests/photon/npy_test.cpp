// SPDX-License-Identifier: Apache-2.0
// NumPy's array files: what is written is what numpy.save writes, what is read is what it says, and nothing else is
// read.
#include <gtest/gtest.h>
#include <raylift/geometry/error.h>
#include <raylift/photon/npy.h>

#include <array>
#include <cstdlib>
#include <iterator>
#include <numeric>

#include "support/paths.h"

namespace raylift::photon {
namespace {

using namespace std::string_literals;

/// Version 1.0 with this dictionary, as numpy pads it, and some bytes.
std::string file_with(const std::string& dictionary, std::size_t bytes) {
  std::string text = "\x93NUMPY\x01\x00  "s + dictionary;
  text.resize((text.size() + 64) / 64 * 64 - 1, ' ');
  text += '\n';
  text[8] = static_cast<char>((text.size() - 10) & 0xFF);
  text[9] = static_cast<char>((text.size() - 10) >> 8);
  return text + std::string(bytes, '\0');
}

class Npy : public testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path at(const std::string& name) const { return folder_.path() / name; }
  [[nodiscard]] const test::TemporaryFolder& folder() const { return folder_; }
  /// The error that reading such a file gives.
  [[nodiscard]] Error error_of(const std::string& bytes) const {
    const std::filesystem::path path = folder_.write("hostile.npy", bytes);
    try {
      const NpyReader file(path);
    } catch (const Error& error) {
      EXPECT_EQ(error.file(), path.string());
      try {
        const NpyReader same(bytes, path);
        ADD_FAILURE() << "it was read from memory";
      } catch (const Error& again) {
        EXPECT_STREQ(again.what(), error.what());
      }
      return error;
    }
    return {ErrorKind::usage, "it was read"};
  }
  void run_numpy(const std::string& code) const {
    const auto script =
        folder_.write("script.py", "import numpy\nimport os\nos.chdir('" + folder_.path().string() + "')\n" + code);
    ASSERT_EQ(std::system(("/usr/bin/python3 " + script.string()).c_str()), 0)
        << code;  // NOLINT(concurrency-mt-unsafe)
  }

 private:
  test::TemporaryFolder folder_;
};

TEST_F(Npy, IsReadByNumpy) {
  NpyWriter photons(at("photons.npy"), NpyType::float32, {4, 4});
  std::vector<float> values(48);
  std::iota(values.begin(), values.end(), 0.5F);
  photons.append(std::span<const float>(values).first(16));
  photons.append(std::span<const float>(values).subspan(16));
  EXPECT_EQ(photons.rows(), 3U);
  EXPECT_FALSE(std::filesystem::exists(at("photons.npy")));
  photons.finish();
  NpyWriter sequences(at("seq.npy"), NpyType::uint64, {2, 2});
  const std::array<std::uint64_t, 4> sequence{1, 2, ~std::uint64_t{0}, 4};
  sequences.append(std::span<const std::uint64_t>(sequence));
  sequences.finish();
  NpyWriter(at("none.npy"), NpyType::int32, {}).finish();
  NpyWriter flags(at("flags.npy"), NpyType::uint32, {});
  flags.append(std::span<const std::uint32_t>(std::array<std::uint32_t, 2>{7, 0xFFFFFFFF}));
  flags.finish();
  run_numpy(R"(
a = numpy.load('photons.npy')
assert a.dtype == numpy.float32 and a.shape == (3, 4, 4), a
assert (a.reshape(-1) == numpy.arange(48) + 0.5).all()
b = numpy.load('seq.npy')
assert b.dtype == numpy.uint64 and b.tolist() == [[[1, 2], [2**64 - 1, 4]]]
assert numpy.load('none.npy').shape == (0,) and numpy.load('none.npy').dtype == numpy.int32
assert numpy.load('flags.npy', mmap_mode='r').tolist() == [7, 2**32 - 1]
assert os.path.getsize('photons.npy') % 64 == 0
)");
}

TEST_F(Npy, ReadsWhatNumpyWrites) {
  run_numpy(R"(
numpy.save('a.npy', (numpy.arange(48, dtype='f4') + 0.5).reshape(3, 4, 4))
numpy.save('i.npy', numpy.array([-1, 2], dtype='i4'))
numpy.save('s.npy', numpy.full((5, 2, 2), 2**64 - 1, dtype='u8'))
with open('two.npy', 'wb') as f: numpy.lib.format.write_array(f, numpy.arange(3, dtype='u4'), version=(2, 0))
numpy.save('empty.npy', numpy.zeros((0, 4, 4), dtype='f4'))
)");
  const std::array<std::uint64_t, 2> square{4, 4};
  using Photon = std::array<float, 16>;
  const std::vector<Photon> photons = read_npy<Photon>(at("a.npy"), NpyType::float32, square);
  ASSERT_EQ(photons.size(), 3U);
  EXPECT_EQ(photons[2][15], 47.5F);
  EXPECT_EQ(read_npy<Photon>(NpyReader(test::bytes_in(at("a.npy")), "a"), NpyType::float32, square), photons);
  EXPECT_EQ(read_npy<std::int32_t>(at("i.npy"), NpyType::int32, {}), (std::vector<std::int32_t>{-1, 2}));
  const NpyReader sequences(at("s.npy"));
  EXPECT_EQ(sequences.shape(), (std::vector<std::uint64_t>{5, 2, 2}));
  std::array<std::uint64_t, 4> last{};
  sequences.read(std::as_writable_bytes(std::span(last)), 4);
  EXPECT_EQ(last[3], ~std::uint64_t{0});
  EXPECT_THROW(sequences.read(std::as_writable_bytes(std::span(last)), 5), Error);
  EXPECT_EQ(read_npy<std::uint32_t>(at("two.npy"), NpyType::uint32, {}), (std::vector<std::uint32_t>{0, 1, 2}));
  EXPECT_TRUE(read_npy<Photon>(at("empty.npy"), NpyType::float32, square).empty());
  try {
    sequences.expect(NpyType::float32, square);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::malformed);
    EXPECT_EQ(error.problem(), "is an array of uint64 in rows of (2, 2), and float32 in rows of (4, 4) is wanted");
  }
}

TEST_F(Npy, RefusesWhatIsBroken) {
  const std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }";
  EXPECT_EQ(error_of(file_with(good, 48)).problem(), "it was read");
  const struct {
    std::string bytes, problem;
    ErrorKind kind = ErrorKind::malformed;
  } cases[] = {
      {"", "is no .npy file"},
      {"\x93NUMPY", "is no .npy file"},
      {"PK\x03\x04 an archive of arrays", "is no .npy file"},
      {"\x93NUMPY\x04\x00\x40\x00"s + std::string(64, ' '), "has version 4.0 of the format", ErrorKind::unsupported},
      {"\x93NUMPY\x01\x00\xFF\xFF"s, "the header is truncated, or too long"},
      {"\x93NUMPY\x02\x00\xFF\xFF\xFF\xFF"s + std::string(200, ' '), "the header is truncated, or too long"},
      {file_with(good, 47), "is truncated: 47 bytes follow the header, which promises 48"},
      {file_with(good, 49), "is too long: 49 bytes follow the header, which promises 48"},
      {file_with("", 0), "the header lacks a '{'"},
      {file_with("{'descr': '<f4'", 0), "the header is no dictionary"},
      {file_with("{'descr': '<f4", 0), "the header has text without an end"},
      {file_with("{'descr': '<f4', 'shape': (1,), }", 4),
       "the header lacks one of 'descr', 'fortran_order' and 'shape'"},
      {file_with("{'descr': '<f4', 'descr': '<f4', }", 4), "the header has a key twice"},
      {file_with("{'descr': '<f4', 'order': 'C', }", 4), "the header has the unknown key 'order'"},
      {file_with("{'descr': '<f4', 'fortran_order': 0, 'shape': (1,), }", 4),
       "'fortran_order' is neither True nor False"},
      {file_with("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", 4),
       "'shape' is no tuple of up to 32 counts"},
      {file_with("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }", 4),
       "'shape' is no tuple of up to 32 counts"},
      {file_with("{'descr': '<f4', 'fortran_order': False, 'shape': (1 1), }", 4),
       "'shape' is no tuple of up to 32 counts"},
      {file_with("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }", 0),
       "the header's shape has more elements than a file can have"},
      {file_with("{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807, 3), }", 0),
       "the header's shape has more elements than a file can have"},
      {file_with(good + " + 1", 48), "the header goes on after its dictionary"},
      {file_with("{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }", 4), "is an array of '>f4'",
       ErrorKind::unsupported},
      {file_with("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1,), }", 4), "is an array of records",
       ErrorKind::unsupported},
      {file_with("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }", 16), "is in Fortran's order",
       ErrorKind::unsupported},
      {file_with("{'descr': '<f4', 'fortran_order': False, 'shape': (), }", 4), "is an array without an axis",
       ErrorKind::unsupported},
  };
  for (const auto& one : cases) {
    const Error error = error_of(one.bytes);
    EXPECT_EQ(error.problem(), one.problem);
    EXPECT_EQ(error.kind(), one.kind) << one.problem;
  }
  EXPECT_THROW(NpyReader(at("absent.npy")), Error);
  EXPECT_THROW(NpyReader(folder().path()), Error);
}

// Every file that is shorter, or in which one byte of the header differs, is read or refused, and never crashes.
TEST_F(Npy, SurvivesAnyHeader) {
  const std::string good = file_with("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }", 48);
  for (std::size_t length = 0; length != good.size(); ++length)
    EXPECT_NE(error_of(good.substr(0, length)).problem(), "it was read") << length;
  for (std::size_t i = 0; i != good.size() - 48; ++i)
    for (const char c : {'\0', '\xFF', '(', '9', '\''}) {
      std::string bytes = good;
      bytes[i] = c;
      (void)error_of(bytes);
    }
}

TEST_F(Npy, IsThereWholeOrNotAtAll) {
  const std::array<std::uint32_t, 3> rows{1, 2, 3};
  const std::span<const std::uint32_t> all(rows);
  {
    NpyWriter left(at("left.npy"), NpyType::uint32, {});
    left.append(all);
  }
  EXPECT_FALSE(std::filesystem::exists(at("left.npy")));
  EXPECT_FALSE(std::filesystem::exists(at("left.npy.part")));
  EXPECT_THROW(NpyWriter(at("absent/a.npy"), NpyType::uint32, {}), Error);
  NpyWriter pairs(at("pairs.npy"), NpyType::uint32, {2});
  EXPECT_THROW(pairs.append(all), Error);
}

TEST_F(Npy, IsResumedAtARow) {
  const std::array<std::uint32_t, 4> rows{1, 2, 3, 4};
  const std::span<const std::uint32_t> all(rows);
  NpyWriter whole(at("whole.npy"), NpyType::uint32, {});
  whole.append(all);
  whole.finish();
  {
    NpyWriter first(at("a.npy"), NpyType::uint32, {});
    first.append(all.first(3));
    first.sync();
    first.keep();
  }
  EXPECT_THROW(NpyWriter(at("a.npy"), NpyType::uint32, {}, NpyWriter::Resume{4}), Error);
  ASSERT_TRUE(std::filesystem::exists(at("a.npy.part"))) << "what can't be resumed is not lost";
  NpyWriter second(at("a.npy"), NpyType::uint32, {}, NpyWriter::Resume{2});  // the third was not promised
  second.append(all.subspan(2));
  second.finish();
  EXPECT_EQ(test::bytes_in(at("a.npy")), test::bytes_in(at("whole.npy")));
  EXPECT_THROW(NpyWriter(at("b.npy"), NpyType::uint32, {}, NpyWriter::Resume{0}), Error);
}

}  // namespace
}  // namespace raylift::photon
