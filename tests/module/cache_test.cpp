// SPDX-License-Identifier: Apache-2.0
// What is kept on disk of kernels that were compiled: when it is used, and when not.
#include <gmock/gmock.h>
#include <raylift/geometry/error.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "compile.h"
#include "support/paths.h"

namespace raylift {
namespace {

namespace fs = std::filesystem;
using detail::Compiled;
using detail::Nvrtc;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kOneKernel = "__global__ void k(float* p, int n) { if (threadIdx.x < n) p[threadIdx.x] = 1; }\n";

class KernelCache : public testing::Test {
 protected:
  void SetUp() override {
    try {
      (void)Nvrtc::get();
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
    options_.cache_folder = folder_.path() / "kernels";
    options_.warn = [this](const std::string& line) { warnings_.push_back(line); };
  }
  [[nodiscard]] Compiled compile(const std::string& source = kOneKernel, int capability = 90) {
    return detail::compile(Nvrtc::get(), source, capability, options_);
  }
  [[nodiscard]] std::vector<fs::path> files() const {
    std::vector<fs::path> result;
    if (fs::exists(options_.cache_folder))
      for (const fs::directory_entry& entry : fs::directory_iterator(options_.cache_folder))
        result.push_back(entry.path());
    return result;
  }
  static mode_t mode_of(const fs::path& path) {
    struct stat status {};
    EXPECT_EQ(::lstat(path.c_str(), &status), 0);
    return status.st_mode & 07777;
  }

  test::TemporaryFolder folder_;
  ModuleOptions options_;
  std::vector<std::string> warnings_;
};

TEST_F(KernelCache, HasWhatWasCompiled) {
  const Compiled first = compile();
  EXPECT_FALSE(first.cached);
  ASSERT_THAT(files(), SizeIs(1));
  EXPECT_EQ(mode_of(options_.cache_folder), 0700U);
  EXPECT_EQ(mode_of(files()[0]), 0600U);
  const Compiled again = compile();
  EXPECT_TRUE(again.cached);
  EXPECT_EQ(again.image, first.image);
  EXPECT_EQ(again.kernels, first.kernels);
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(KernelCache, KnowsWhatDiffers) {
  (void)compile();
  EXPECT_FALSE(compile(std::string(kOneKernel) + "\n").cached);
  EXPECT_FALSE(compile(kOneKernel, 80).cached);
  options_.compiler = {"-DN=1"};
  EXPECT_FALSE(compile().cached);
  options_.compiler.clear();
  options_.name = "other.cu";  // it stands in line information
  EXPECT_FALSE(compile().cached);
  EXPECT_THAT(files(), SizeIs(5));
  Nvrtc other = Nvrtc::get();
  ++other.minor;
  EXPECT_FALSE(detail::compile(other, kOneKernel, 90, options_).cached);
}

TEST_F(KernelCache, KnowsIncludedFiles) {
  const std::string source = "#include \"outer.h\"\n__global__ void k(float* p) { *p = VALUE; }\n";
  (void)folder_.write("outer.h", "# include \"inner.h\"\n");
  (void)folder_.write("inner.h", "#define VALUE 1\n");
  options_.include_folders = {folder_.path()};
  const Compiled first = compile(source);
  EXPECT_TRUE(compile(source).cached);
  (void)folder_.write("inner.h", "#define VALUE 2\n");
  const Compiled second = compile(source);
  EXPECT_FALSE(second.cached);
  EXPECT_NE(first.image, second.image);
  // A file that only the preprocessor can name is not looked for: nothing is kept.
  const std::string computed =
      "#define FILE_ \"inner.h\"\n#include FILE_\n__global__ void k(float* p) { *p = VALUE; }\n";
  (void)compile(computed);
  EXPECT_FALSE(compile(computed).cached);
  options_.include_folders.clear();
  options_.compiler = {"-I" + folder_.path().string()};
  (void)compile(source);
  EXPECT_FALSE(compile(source).cached);
}

TEST_F(KernelCache, DamageIsFoundAndRepaired) {
  const Compiled first = compile();
  const fs::path file = files()[0];
  const std::string good = test::bytes_in(file);
  std::vector<std::string> damaged{good.substr(0, 40), good.substr(0, good.size() - 1), good + "x", ""};
  for (const std::size_t at :
       {std::size_t{0}, std::size_t{9}, std::size_t{50}, std::size_t{72}, std::size_t{81}, good.size() - 1}) {
    damaged.push_back(good);
    damaged.back()[at] = static_cast<char>(damaged.back()[at] ^ 1);
  }
  for (const std::string& bytes : damaged) {
    warnings_.clear();
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
    const Compiled again = compile();
    EXPECT_FALSE(again.cached);
    EXPECT_EQ(again.image, first.image);
    ASSERT_THAT(warnings_, SizeIs(1));
    EXPECT_THAT(warnings_[0], HasSubstr("damaged"));
    EXPECT_TRUE(compile().cached);
  }
}

TEST_F(KernelCache, TrustsNobodyElse) {
  (void)compile();
  const fs::path file = files()[0];
  fs::permissions(file, fs::perms::group_write, fs::perm_options::add);
  EXPECT_FALSE(compile().cached);
  ASSERT_THAT(warnings_, SizeIs(1));
  EXPECT_THAT(warnings_[0], HasSubstr("others can write to the cache file"));
  EXPECT_TRUE(compile().cached) << "it was written again";
  fs::permissions(options_.cache_folder, fs::perms::others_write, fs::perm_options::add);
  warnings_.clear();
  EXPECT_FALSE(compile().cached);
  EXPECT_THAT(warnings_, SizeIs(2)) << "not read, and not written";
  fs::permissions(options_.cache_folder, fs::perms::owner_all);
  fs::rename(file, folder_.path() / "elsewhere");
  fs::create_symlink(folder_.path() / "elsewhere", file);
  EXPECT_FALSE(compile().cached) << "a link is not followed";
}

TEST_F(KernelCache, ServesSeveralProcesses) {
  std::vector<pid_t> children;
  for (int child = 0; child != 4; ++child) {
    const pid_t pid = ::fork();
    ASSERT_GE(pid, 0);
    if (pid == 0) {
      int failures = 0;
      for (int i = 0; i != 6; ++i) {
        const Compiled compiled = compile(std::string(kOneKernel) + std::string(static_cast<std::size_t>(i / 2), '\n'));
        failures += compiled.kernels.size() == 1 && warnings_.empty() ? 0 : 1;
      }
      ::_exit(failures);
    }
    children.push_back(pid);
  }
  for (const pid_t pid : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(pid, &status, 0), pid);
    EXPECT_EQ(status, 0);
  }
  EXPECT_THAT(files(), SizeIs(3)) << "and no temporary file is left";
  EXPECT_TRUE(compile().cached);
}

TEST_F(KernelCache, IsInTheUsersFolder) {
  options_.cache_folder.clear();
  const char* before = std::getenv("RAYLIFT_CACHE_DIR");
  const std::string kept = before != nullptr ? before : "";
  ::setenv("RAYLIFT_CACHE_DIR", (folder_.path() / "of-the-user").c_str(), 1);
  (void)compile();
  EXPECT_TRUE(compile().cached);
  EXPECT_TRUE(fs::is_directory(folder_.path() / "of-the-user" / "kernels"));
  before != nullptr ? ::setenv("RAYLIFT_CACHE_DIR", kept.c_str(), 1) : ::unsetenv("RAYLIFT_CACHE_DIR");
}

}  // namespace
}  // namespace raylift
