// SPDX-License-Identifier: Apache-2.0
// load, from .dae.gz and .zae: whole, cut off, corrupted, and bombs.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <raylift/geometry/import/load.h>
#include <sys/resource.h>
#include <zip.h>
#include <zlib.h>

#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "collada_documents.h"
#include "import/input_file.h"
#include "support/expect_error.h"
#include "support/paths.h"

namespace raylift {
namespace {

using test::expect_error;
using ::testing::HasSubstr;

class LoadArchive : public ::testing::Test {
 protected:
  std::filesystem::path gzip(const std::string& name, const std::string& text) {
    const auto path = folder_.path() / name;
    const gzFile file = gzopen(path.c_str(), "wb");
    EXPECT_EQ(gzwrite(file, text.data(), static_cast<unsigned>(text.size())), static_cast<int>(text.size()));
    EXPECT_EQ(gzclose(file), Z_OK);
    return path;
  }

  std::filesystem::path zip(const std::string& name, const std::vector<std::pair<std::string, std::string>>& entries) {
    const auto path = folder_.path() / name;
    zip_t* archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr);
    for (const auto& [entry, text] : entries) {
      zip_source_t* source = zip_source_buffer(archive, text.data(), text.size(), 0);
      EXPECT_GE(zip_file_add(archive, entry.c_str(), source, ZIP_FL_ENC_UTF_8), 0);
    }
    EXPECT_EQ(zip_close(archive), 0);
    return path;
  }

  /// A valid document that packs well: a cube, and blanks.
  static std::string bomb(std::size_t blanks = 50'000'000) {
    return test::document(test::cube("cube") + std::string(blanks, ' '), test::node("n", "cube"));
  }

  test::TemporaryFolder folder_;
};

TEST_F(LoadArchive, ReadsGzip) {
  EXPECT_EQ(load(gzip("cube.dae.gz", test::cube_document())).unique_triangles(), 12U);
}

TEST_F(LoadArchive, GivesAssimpWhatIsPackedUnderTheSameLimits) {
  LoadOptions options;
  options.reader = LoadOptions::Reader::assimp;
  for (const auto& path :
       {gzip("cube.dae.gz", test::cube_document()), zip("cube.zae", {{"parts/cube.dae", test::cube_document()}})}) {
    const Scene scene = load(path, options);
    EXPECT_EQ(scene.unique_triangles(), 12U) << path;
    EXPECT_EQ(scene.format, "Collada Importer") << path;
    LoadOptions strict = options;
    strict.limits.text_bytes = 100;
    const Error error = expect_error(ErrorKind::limit, [&] { (void)load(path, strict); });
    EXPECT_THAT(error.advice(), HasSubstr("LoadLimits::text_bytes"));
  }
  const Error bombed =
      expect_error(ErrorKind::limit, [&] { (void)load(gzip("b.dae.gz", bomb(100'000'000)), options); });
  EXPECT_THAT(bombed.advice(), HasSubstr("LoadLimits::expansion"));
}

TEST_F(LoadArchive, ReadsGzipOfSeveralMembers) {
  const std::string text = test::cube_document();
  const std::string first = test::bytes_in(gzip("first.gz", text.substr(0, 100)));
  const std::string second = test::bytes_in(gzip("second.gz", text.substr(100)));
  EXPECT_EQ(load(folder_.write("cube.dae.gz", first + second)).unique_triangles(), 12U);
}

TEST_F(LoadArchive, RefusesBytesBehindGzip) {
  const std::string whole = test::bytes_in(gzip("whole.dae.gz", test::cube_document()));
  EXPECT_EQ(load(folder_.write("padded.dae.gz", whole + std::string(100, '\0'))).unique_triangles(), 12U);
  for (const char* rest : {"x", "garbage", "\x1F", "\x1F\x8B\x08 and no more"}) {
    const Error error =
        expect_error(ErrorKind::malformed, [&] { (void)load(folder_.write("more.dae.gz", whole + rest)); });
    EXPECT_THAT(error.what(), HasSubstr("the gzip data is corrupted"));
  }
  expect_error(ErrorKind::malformed, [&] { (void)load(folder_.write("plain.dae.gz", test::cube_document())); });
}

TEST_F(LoadArchive, RefusesGzipThatIsCutOff) {
  const std::string whole = test::bytes_in(gzip("whole.dae.gz", test::cube_document()));
  for (std::size_t length = 1; length < whole.size(); length += 13)
    expect_error(ErrorKind::malformed, [&] { (void)load(folder_.write("cut.dae.gz", whole.substr(0, length))); });
  // All data there, checksum or length cut.
  expect_error(ErrorKind::malformed,
               [&] { (void)load(folder_.write("cut.dae.gz", whole.substr(0, whole.size() - 1))); });
  expect_error(ErrorKind::malformed,
               [&] { (void)load(folder_.write("cut.dae.gz", whole.substr(0, whole.size() - 8))); });
}

TEST_F(LoadArchive, RefusesGzipThatIsCorrupted) {
  std::string damaged = test::bytes_in(gzip("whole.dae.gz", test::cube_document()));
  damaged[damaged.size() - 6] = static_cast<char>(damaged[damaged.size() - 6] ^ 1);  // the checksum
  const Error error = expect_error(ErrorKind::malformed, [&] { (void)load(folder_.write("bad.dae.gz", damaged)); });
  EXPECT_THAT(error.what(), HasSubstr("gzip"));
}

TEST_F(LoadArchive, StopsUnpackingGzipAtTheLimit) {
  const auto path = gzip("bomb.dae.gz", bomb());
  ASSERT_LT(std::filesystem::file_size(path), 100'000U);
  LoadOptions options;
  options.limits.text_bytes = 10'000'000;
  const Error error = expect_error(ErrorKind::limit, [&] { (void)load(path, options); });
  EXPECT_THAT(error.what(), HasSubstr("10000000"));
}

TEST_F(LoadArchive, ReadsTheDocumentThatTheManifestNames) {
  const std::string other = test::document(test::cube("other"), test::node("a", "other") + test::node("b", "other"));
  for (const std::string root :
       {"./scene/main%20scene.dae", "scene/main scene.dae", "\n  scene/main scene.dae#thing \n"}) {
    const auto path = zip("s.zae", {{"a.dae", other},
                                    {"manifest.xml", "<?xml version=\"1.0\"?><dae_root>" + root + "</dae_root>"},
                                    {"scene/main scene.dae", test::cube_document()}});
    EXPECT_EQ(load(path).instances.size(), 1U) << root;
  }
}

TEST_F(LoadArchive, ReadsTheFirstDocumentWithoutAManifest) {
  EXPECT_EQ(load(zip("s.zae", {{"readme.txt", "hello"}, {"SCENE.DAE", test::cube_document()}})).instances.size(), 1U);
}

TEST_F(LoadArchive, RefusesAnArchiveWithoutADocument) {
  expect_error(ErrorKind::malformed, [&] { (void)load(zip("s.zae", {{"readme.txt", "hello"}})); });
}

TEST_F(LoadArchive, NamesTheEntryThatTheManifestMisses) {
  const auto path = zip("s.zae", {{"manifest.xml", "<dae_root>gone.dae</dae_root>"}, {"a.dae", test::cube_document()}});
  const Error error = expect_error(ErrorKind::malformed, [&] { (void)load(path); });
  EXPECT_THAT(error.element(), HasSubstr("gone.dae"));
}

TEST_F(LoadArchive, RefusesAManifestThatIsNoXml) {
  expect_error(ErrorKind::malformed, [&] {
    (void)load(zip("s.zae", {{"manifest.xml", "<dae_root>a.dae"}, {"a.dae", test::cube_document()}}));
  });
}

TEST_F(LoadArchive, RefusesAnArchiveThatIsNone) {
  expect_error(ErrorKind::malformed, [&] { (void)load(folder_.write("s.zae", "this is no zip archive")); });
}

TEST_F(LoadArchive, NoDamageToAnArchiveGoesUnnoticed) {
  const std::string whole = test::bytes_in(zip("whole.zae", {{"cube.dae", test::cube_document()}}));
  const Scene expected = load(folder_.write("same.zae", whole));
  for (std::size_t i = 0; i < whole.size(); i += 7) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x55);
    // Time stamps and the like may change without harm; otherwise it is an Error.
    try {
      const Scene scene = load(folder_.write("damaged.zae", damaged));
      EXPECT_EQ(scene.meshes.at(0).vertices, expected.meshes.at(0).vertices) << "byte " << i;
      EXPECT_EQ(scene.meshes.at(0).triangles, expected.meshes.at(0).triangles) << "byte " << i;
    } catch (const Error& error) {
      EXPECT_THAT(error.file(), HasSubstr("damaged.zae")) << "byte " << i;
    }
    if (i % 3 == 0) {
      try {
        (void)load(folder_.write("cut.zae", whole.substr(0, i + 1)));
        FAIL() << "cut at " << i;
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::malformed);
      }
    }
  }
}

TEST_F(LoadArchive, StopsUnpackingZipAtTheLimit) {
  LoadOptions options;
  options.limits.text_bytes = 10'000'000;
  const auto path = zip("bomb.zae", {{"cube.dae", bomb()}});
  ASSERT_LT(std::filesystem::file_size(path), 100'000U);
  expect_error(ErrorKind::limit, [&] { (void)load(path, options); });
}

TEST_F(LoadArchive, StopsWhereAFileExpandsTooMuch) {
  for (const auto& path : {gzip("bomb.dae.gz", bomb(80'000'000)), zip("bomb.zae", {{"cube.dae", bomb(80'000'000)}})}) {
    ASSERT_LT(std::filesystem::file_size(path), 800'000U);
    const Error error = expect_error(ErrorKind::limit, [&] { (void)load(path); });
    EXPECT_THAT(error.what(), AllOf(HasSubstr("100 times"), HasSubstr("LoadLimits::expansion")));
    LoadOptions options;
    options.limits.expansion = 100'000;
    EXPECT_EQ(load(path, options).unique_triangles(), 12U);
  }
  // Small ones may.
  EXPECT_EQ(load(gzip("blanks.dae.gz", bomb(10'000'000))).unique_triangles(), 12U);
}

TEST_F(LoadArchive, StopsWhereTheDocumentOutgrowsTheImportsMemory) {
  LoadOptions options;
  options.limits.isolate_bytes = 60'000'000;
  for (const auto& path : {folder_.write("large.dae", bomb()), gzip("large.dae.gz", bomb())}) {
    const Error error = expect_error(ErrorKind::limit, [&] { (void)load(path, options); });
    EXPECT_THAT(error.what(), AllOf(HasSubstr("20000000"), HasSubstr("LoadLimits::isolate_bytes")));
  }
}

TEST_F(LoadArchive, ReadsNoFileThatIsHoles) {
  for (const char* name : {"sparse.dae", "sparse.stl", "sparse.obj"}) {
    const auto path = folder_.write(name, "<COLLADA>");
    std::filesystem::resize_file(path, 300'000'000);
    const Error error = expect_error(ErrorKind::limit, [&] { (void)load(path); });
    EXPECT_THAT(error.what(), AllOf(HasSubstr("100 times"), HasSubstr("holes"), HasSubstr("LoadLimits::expansion")));
  }
}

TEST_F(LoadArchive, StopsAtZerosInADocument) {
  const std::string zeros = "<COLLADA>\n" + std::string(1'000'000, '\0');
  for (const auto& path : {folder_.write("zeros.dae", zeros), gzip("zeros.dae.gz", zeros)}) {
    const Error error = expect_error(ErrorKind::malformed, [&] { (void)load(path); });
    EXPECT_THAT(error.what(), HasSubstr("zeros follow byte 10"));
  }
}

TEST_F(LoadArchive, StopsAtTheLimitInAManifestToo) {
  LoadOptions options;
  options.limits.text_bytes = 10'000'000;
  const auto path =
      zip("bomb.zae", {{"manifest.xml", std::string(50'000'000, ' ')}, {"cube.dae", test::cube_document()}});
  expect_error(ErrorKind::limit, [&] { (void)load(path, options); });
}

// A disk that fails is not the file's fault ---------------------------------------------------------------------------

TEST_F(LoadArchive, ReportsAFailingReadAsAnErrorOfTheSystem) {
  // The memory of this process at address 0, which nothing can read.
  const InputFile memory("/proc/self/mem", ::open("/proc/self/mem", O_RDONLY | O_CLOEXEC));
  char byte = 0;
  const Error error = expect_error(ErrorKind::system, [&] { (void)memory.read(0, &byte, 1); });
  EXPECT_THAT(error.problem(), HasSubstr("Input/output error"));
}

TEST_F(LoadArchive, ReportsAMissingDescriptorAsAnErrorOfTheSystem) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer ends where it has no descriptor for itself";
#endif
  const auto path = zip("scene.zae", {{"scene.dae", test::cube_document()}});
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{0, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  std::optional<ErrorKind> kind;
  try {
    (void)InputFile(path, LoadLimits{});
  } catch (const Error& error) {
    kind = error.kind();
  }
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(kind, ErrorKind::system);
}

}  // namespace
}  // namespace raylift
