// SPDX-License-Identifier: Apache-2.0
// The isolated import: the same results as in process, and whatever happens to the child, an Error and nothing left
// behind.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <raylift/geometry/import/load.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <sstream>
#include <thread>

#include "expect_error.h"
#include "import/sanitized.h"
#include "small_scenes.h"
#include "support/paths.h"

namespace raylift {
namespace {

namespace fs = std::filesystem;
using test::expect_error;
using ::testing::HasSubstr;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::size_t open_descriptors() {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator()));
}

/// Child processes of `parent`, those that ended but were not waited for included.
std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> result;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream file(entry.path() / "stat");
    std::string text;
    std::getline(file, text);
    if (text.rfind(')') == std::string::npos) continue;
    std::istringstream rest(text.substr(text.rfind(')') + 1));
    char state = 0;
    pid_t above = 0;
    if (rest >> state >> above && above == parent) result.push_back(static_cast<pid_t>(std::stol(name)));
  }
  return result;
}

/// Waits up to ten seconds for something to become true.
template <class Condition>
bool eventually(const Condition& condition) {
  const auto start = Clock::now();
  while (!condition()) {
    if (seconds_since(start) > 10) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

class Isolate : public ::testing::Test {
 protected:
  Isolate() {
    if (!fs::exists(test::program("raylift-import"))) return;
    options_.isolate = true;
    options_.import_program = test::program("raylift-import");
    path_ = folder_.write("scene.dae", test::cube_document());
    descriptors_ = open_descriptors();
  }
  void SetUp() override {
    if (!options_.isolate) GTEST_SKIP() << "raylift-import is not beside this program";
  }
  void TearDown() override {
    ::unsetenv("RAYLIFT_IMPORT_FAULT");
    if (!options_.isolate) return;
    EXPECT_EQ(open_descriptors(), descriptors_) << "descriptors leaked";
    EXPECT_TRUE(children_of(::getpid()).empty()) << "a process was left behind";
  }

  static void fault(const char* name) { ::setenv("RAYLIFT_IMPORT_FAULT", name, 1); }
  Error error_of(ErrorKind kind, const Progress& progress = {}) {
    Error error = expect_error(kind, [&] { (void)load(path_, options_, progress); });
    EXPECT_EQ(error.file(), path_.string()) << error.what();
    return error;
  }

  test::TemporaryFolder folder_;
  LoadOptions options_;
  fs::path path_;
  std::size_t descriptors_ = 0;
};

void expect_same(const Scene& a, const Scene& b) {
  EXPECT_EQ(a.source, b.source);
  EXPECT_EQ(a.format, b.format);
  EXPECT_EQ(a.generator, b.generator);
  EXPECT_EQ(a.unit_mm, b.unit_mm);
  EXPECT_EQ(a.unit_from, b.unit_from);
  EXPECT_EQ(a.up_axis, b.up_axis);
  EXPECT_EQ(a.up_from, b.up_from);
  ASSERT_EQ(a.meshes.size(), b.meshes.size());
  for (std::size_t i = 0; i != a.meshes.size(); ++i) {
    EXPECT_EQ(a.meshes[i].name, b.meshes[i].name);
    EXPECT_EQ(a.meshes[i].vertices, b.meshes[i].vertices);
    EXPECT_EQ(a.meshes[i].triangles, b.meshes[i].triangles);
    ASSERT_EQ(a.meshes[i].parts.size(), b.meshes[i].parts.size());
    for (std::size_t part = 0; part != a.meshes[i].parts.size(); ++part) {
      EXPECT_EQ(a.meshes[i].parts[part].first_triangle, b.meshes[i].parts[part].first_triangle);
      EXPECT_EQ(a.meshes[i].parts[part].triangle_count, b.meshes[i].parts[part].triangle_count);
    }
  }
  ASSERT_EQ(a.materials.size(), b.materials.size());
  for (std::size_t i = 0; i != a.materials.size(); ++i) {
    EXPECT_EQ(a.materials[i].name, b.materials[i].name);
    EXPECT_EQ(a.materials[i].color, b.materials[i].color);
  }
  EXPECT_EQ(a.bindings, b.bindings);
  ASSERT_EQ(a.nodes.size(), b.nodes.size());
  for (std::size_t i = 0; i != a.nodes.size(); ++i) {
    EXPECT_EQ(a.nodes[i].name, b.nodes[i].name);
    EXPECT_EQ(a.nodes[i].parent, b.nodes[i].parent);
    EXPECT_EQ(a.nodes[i].copy_number, b.nodes[i].copy_number);
  }
  ASSERT_EQ(a.instances.size(), b.instances.size());
  for (std::size_t i = 0; i != a.instances.size(); ++i) {
    EXPECT_EQ(a.instances[i].mesh, b.instances[i].mesh);
    EXPECT_EQ(a.instances[i].node, b.instances[i].node);
    EXPECT_EQ(a.instances[i].binding, b.instances[i].binding);
    EXPECT_EQ(a.instances[i].outside, b.instances[i].outside);
    EXPECT_EQ(a.instances[i].transform.matrix(), b.instances[i].transform.matrix());
  }
  EXPECT_EQ(a.bounds.min, b.bounds.min);
  EXPECT_EQ(a.bounds.max, b.bounds.max);
  EXPECT_EQ(a.report.degenerate_triangles, b.report.degenerate_triangles);
  EXPECT_EQ(a.report.dropped_triangles, b.report.dropped_triangles);
  EXPECT_EQ(a.report.repaired_vertices, b.report.repaired_vertices);
  EXPECT_EQ(a.report.ignored_primitives, b.report.ignored_primitives);
  EXPECT_EQ(a.report.vertices_before_weld, b.report.vertices_before_weld);
  EXPECT_EQ(a.report.warnings, b.report.warnings);
}

// The same results --------------------------------------------------------------------------------------------------

TEST_F(Isolate, GivesTheSameSceneAsInProcess) {
  const std::string materials =
      "<library_materials><material id=\"Gl\" name=\"Glass\"/><material id=\"St\" name=\"Steel\"/></library_materials>";
  const std::string bound =
      "<node id=\"in\"><extra><meta id=\"m\"><copyNo>-17</copyNo></meta></extra><matrix>0.1 0 0 5 0 -2 0 6 0 0 3 7 0 0 "
      "0 1</matrix>"
      "<instance_geometry url=\"#two\"><bind_material><technique_common><instance_material symbol=\"a\" "
      "target=\"#Gl\"/>"
      "<instance_material symbol=\"b\" target=\"#St\"/></technique_common></bind_material></instance_geometry></node>";
  const std::string two = test::geometry(
      "two", "0 0 0 1 0 0 0 1 0 NaN 0 0 1 0 0", 5,
      test::triangles("0 1 2 0 2 3", 2, "a") + test::triangles("0 1 4", 1, "b") +
          "<lines count=\"1\"><input semantic=\"VERTEX\" source=\"#v\" offset=\"0\"/><p>0 1</p></lines>");
  const std::string text = test::document(
      test::cube("cube") + two, test::node("out", "cube", "<scale>1 0 1</scale>" + bound),
      "<contributor><authoring_tool>a test</authoring_tool></contributor><unit meter=\"0.01\"/><up_axis>Z_UP</up_axis>",
      materials);
  path_ = folder_.write("rich.dae", text);
  options_.repair = true;
  const Scene isolated = load(path_, options_);
  options_.isolate = false;
  const Scene direct = load(path_, options_);
  expect_same(isolated, direct);
  // The options got there, and the scene is as rich as it was meant to be.
  EXPECT_EQ(direct.report.dropped_triangles, 1U);
  EXPECT_FALSE(direct.report.warnings.empty());
  EXPECT_EQ(direct.instances.size(), 2U);
  options_.isolate = true;
}

TEST_F(Isolate, PassesEveryOptionOn) {
  options_.unit_mm = 25.4;
  options_.up_axis = UpAxis::x;
  options_.weld.tolerance = 1.5;  // makes one point of the whole cube
  options_.drop_degenerate = false;
  const Scene scene = load(path_, options_);
  EXPECT_EQ(scene.unit_mm, 25.4);
  EXPECT_EQ(scene.unit_from, Provenance::option);
  EXPECT_EQ(scene.up_axis, UpAxis::x);
  EXPECT_EQ(scene.report.degenerate_triangles, 12U);
  options_.weld = {};
  options_.weld.enabled = false;
  EXPECT_EQ(load(path_, options_).unique_vertices(), 36U);
  options_.limits.triangles = 11;
  error_of(ErrorKind::limit);
}

TEST_F(Isolate, ReadsALargerSceneTheSame) {
  path_ = folder_.write("grid.dae", test::grid_document(150));
  const Scene isolated = load(path_, options_);
  options_.isolate = false;
  expect_same(isolated, load(path_, options_));
  options_.isolate = true;
}

TEST_F(Isolate, FindsFilesBesideARelativePath) {
  (void)folder_.write("paint.mtl", "newmtl Red\nKd 1 0 0\n");
  (void)folder_.write("scene.obj", "mtllib paint.mtl\nv 0 0 0\nv 1 0 0\nv 1 1 0\nusemtl Red\nf 1 2 3\n");
  const fs::path before = fs::current_path();
  fs::current_path(folder_.path());
  const Scene scene = load("scene.obj", options_);
  fs::current_path(before);
  EXPECT_EQ(scene.materials.at(scene.material(scene.instances.at(0), 0)).name, "Red");
}

TEST_F(Isolate, GivesTheSameErrorsAsInProcess) {
  const std::vector<std::pair<std::string, std::string>> files = {
      {"a.dae", "<COLLADA"},
      {"b.dae", test::document(test::geometry("m", "0 0 0 1 0 0 0 NaN 0", 3, test::triangles("0 1 2", 1)),
                               test::node("n", "m"))},
      {"c.dae", test::document(test::cube("cube"), test::node("n", "gone"))},
      {"d.stl", "nothing of the sort"},
      {"e.zae", "nothing of the sort"}};
  for (const auto& [name, text] : files) {
    path_ = folder_.write(name, text);
    const Error isolated = expect_error(ErrorKind::malformed, [&] { (void)load(path_, options_); });
    LoadOptions direct = options_;
    direct.isolate = false;
    const Error expected = expect_error(ErrorKind::malformed, [&] { (void)load(path_, direct); });
    EXPECT_STREQ(isolated.what(), expected.what());
    EXPECT_EQ(isolated.element(), expected.element());
    EXPECT_EQ(isolated.advice(), expected.advice());
  }
}

TEST_F(Isolate, CollectsTheStagesOfTheChild) {
  std::vector<StageTime> times;
  const Progress progress([](auto, auto, auto) { return true; }, &times);
  (void)load(path_, options_, progress);
  std::vector<std::string> names;
  for (const StageTime& time : times) names.push_back(time.stage);
  for (const char* stage : {"preflight", "import", "convert", "weld"}) EXPECT_THAT(names, ::testing::Contains(stage));
}

TEST_F(Isolate, PassesProgressOn) {
  path_ = folder_.write("grid.dae", test::grid_document(200));
  std::vector<std::string> stages;
  const Progress progress([&](std::string_view stage, auto, auto) {
    stages.emplace_back(stage);
    return true;
  });
  (void)load(path_, options_, progress);
  for (const char* stage : {"preflight", "import", "convert", "weld"}) EXPECT_THAT(stages, ::testing::Contains(stage));
}

// What may become of the child --------------------------------------------------------------------------------------

TEST_F(Isolate, NamesTheSignalOfACrash) {
  fault("segv");
  const Error crash = error_of(ErrorKind::malformed);
  fault("abort");
  const Error abort = error_of(ErrorKind::malformed);
  if (kSanitized) return;
  EXPECT_THAT(crash.what(), HasSubstr("SIGSEGV"));
  EXPECT_THAT(abort.what(), HasSubstr("SIGABRT"));
}

TEST_F(Isolate, DoesNotBlameTheFileForASignalThatAsksToEnd) {
  fault("term");
  EXPECT_EQ(error_of(ErrorKind::cancelled).signal(), SIGTERM);
}

TEST_F(Isolate, EndsAHangAtTheTimeLimit) {
  fault("hang");
  options_.limits.isolate_seconds = 0.3;
  const auto start = Clock::now();
  const Error error = error_of(ErrorKind::limit);
  EXPECT_GE(seconds_since(start), 0.3);
  EXPECT_LT(seconds_since(start), 5);
  EXPECT_THAT(error.what(), HasSubstr("0.3"));
}

TEST_F(Isolate, EndsAMemoryBombAtTheMemoryLimit) {
  fault("memory");
  options_.limits.isolate_bytes = std::uint64_t{1} << 30;
  const Error error = error_of(ErrorKind::limit);
  EXPECT_THAT(error.what(), HasSubstr("memory"));
}

/// Wherever memory runs out, in raylift or in an importer, it is no fault of the file.
TEST_F(Isolate, BlamesNoFileForTheMemoryLimit) {
  path_ = folder_.write("grid.dae", test::grid_document(700));
  const auto loads = [&](std::uint64_t limit) {
    options_.limits.isolate_bytes = limit;
    try {
      (void)load(path_, options_);
      return true;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::limit) << limit << ": " << error.what();
      EXPECT_THAT(error.what(), HasSubstr("LoadLimits::isolate_bytes")) << limit;
      return false;
    }
  };
  // The least that is enough, and then down from there, past all that is taken one after the other.
  const std::uint64_t bytes = std::filesystem::file_size(path_);
  std::uint64_t little = 3 * bytes;
  std::uint64_t enough = std::uint64_t{1} << 30;
  ASSERT_TRUE(loads(enough));
  while (enough - little > bytes / 4) {
    const std::uint64_t middle = little + (enough - little) / 2;
    (loads(middle) ? enough : little) = middle;
  }
  for (std::uint64_t limit = little; limit + 8 * bytes > enough && limit > 3 * bytes; limit -= bytes / 3) loads(limit);
}

TEST_F(Isolate, ReportsAnEndWithoutAResult) {
  fault("exit");
  const Error error = error_of(ErrorKind::malformed);
  EXPECT_THAT(error.what(), HasSubstr("42"));
}

TEST_F(Isolate, RefusesGarbage) {
  fault("garbage");
  error_of(ErrorKind::malformed);
}

TEST_F(Isolate, SurvivesAResultThatIsTakenFromUnderIt) {
  path_ = folder_.write("grid.dae", test::grid_document(200));
  fault("keep");
  for (int i = 0; i != 5; ++i) EXPECT_THAT(error_of(ErrorKind::malformed).what(), HasSubstr("does not let go"));
}

TEST_F(Isolate, EndsAFloodOfMessagesAtTheTimeLimit) {
  fault("flood");
  options_.limits.isolate_seconds = 0.3;
  const auto start = Clock::now();
  // Slower than the messages come.
  const Progress progress([&](auto, auto, auto) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return seconds_since(start) < 8;
  });
  error_of(ErrorKind::limit, progress);
}

TEST_F(Isolate, TakesNoErrorThatIsNotAFiles) {
  fault("forge");
  EXPECT_THAT(error_of(ErrorKind::malformed).what(), HasSubstr("usage"));
}

TEST_F(Isolate, CanBeCancelled) {
  fault("hang");
  const auto start = Clock::now();
  const Progress progress([&](auto, auto, auto) { return seconds_since(start) < 0.2; });
  expect_error(ErrorKind::cancelled, [&] { (void)load(path_, options_, progress); });
  EXPECT_LT(seconds_since(start), 5);
}

TEST_F(Isolate, FaultsStayInTheChild) {
  fault("segv");
  options_.isolate = false;
  EXPECT_EQ(load(path_, options_).unique_triangles(), 12U);
  options_.isolate = true;
}

// The program -------------------------------------------------------------------------------------------------------

TEST_F(Isolate, SaysWhereItLookedForTheProgram) {
  options_.import_program = "/nowhere/raylift-import";
  const Error error = expect_error(ErrorKind::usage, [&] { (void)load(path_, options_); });
  EXPECT_THAT(error.what(), HasSubstr("/nowhere/raylift-import"));
  EXPECT_THAT(error.what(), HasSubstr("RAYLIFT_IMPORT"));
}

TEST_F(Isolate, FindsTheProgramInTheEnvironmentAndBesideItself) {
  options_.import_program.clear();
  EXPECT_NO_THROW((void)load(path_, options_)) << "beside this program";
  ::setenv("RAYLIFT_IMPORT", "/nowhere/raylift-import", 1);
  const Error error = expect_error(ErrorKind::usage, [&] { (void)load(path_, options_); });
  EXPECT_THAT(error.what(), HasSubstr("/nowhere/raylift-import"));
  ::setenv("RAYLIFT_IMPORT", test::program("raylift-import").c_str(), 1);
  EXPECT_NO_THROW((void)load(path_, options_));
  ::unsetenv("RAYLIFT_IMPORT");
}

TEST_F(Isolate, SurvivesAProgramThatIsAnotherOne) {
  options_.import_program = "/bin/true";
  error_of(ErrorKind::malformed);
  options_.import_program = "/bin/false";
  error_of(ErrorKind::malformed);
  options_.import_program = folder_.write("script", "not even a program");
  fs::permissions(options_.import_program, fs::perms::owner_all);
  expect_error(ErrorKind::io, [&] { (void)load(path_, options_); });
}

// The process -------------------------------------------------------------------------------------------------------

TEST_F(Isolate, WorksWhereTheParentIgnoresItsChildrensEnds) {
  const auto before = ::signal(SIGCHLD, SIG_IGN);
  EXPECT_EQ(load(path_, options_).unique_triangles(), 12U);
  fault("segv");
  error_of(ErrorKind::malformed);
  fault("hang");
  options_.limits.isolate_seconds = 0.2;
  error_of(ErrorKind::limit);
  ::signal(SIGCHLD, before);
}

TEST_F(Isolate, WorksInManyThreadsAtOnce) {
  std::vector<std::thread> threads;
  std::atomic<int> good = 0;
  for (int i = 0; i != 8; ++i)
    threads.emplace_back([&] {
      for (int k = 0; k != 4; ++k) good += load(path_, options_).unique_triangles() == 12 ? 1 : 0;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 32);
}

TEST_F(Isolate, GivesTheChildNoDescriptorsButItsOwn) {
  fault("hang");
  const int leaky = ::open("/dev/null", O_RDONLY);  // without close-on-exec
  std::vector<std::string> found;
  std::atomic<bool> looked = false;
  std::thread watcher([&] {
    looked = eventually([&] {
      found.clear();
      for (const pid_t child : children_of(::getpid())) {
        std::error_code error;
        for (fs::directory_iterator entry("/proc/" + std::to_string(child) + "/fd", error), end; !error && entry != end;
             entry.increment(error))
          found.push_back(entry->path().filename().string() + " " + fs::read_symlink(entry->path(), error).string());
        if (error) found.clear();
      }
      return found.size() == 6;
    });
  });
  options_.limits.isolate_seconds = 12;
  const auto progress = Progress([&](auto, auto, auto) { return !looked; });
  EXPECT_THROW((void)load(path_, options_, progress), Error);
  watcher.join();
  ::close(leaky);
  if (::geteuid() != 0 && !looked) GTEST_SKIP() << "may not look at the child";
  ASSERT_TRUE(looked) << ::testing::PrintToString(found);
  for (const std::string& one : found) {
    if (one.starts_with("0 ") || one.starts_with("1 ")) {
      EXPECT_THAT(one, HasSubstr("/dev/null"));
    }
  }
}

TEST_F(Isolate, TheChildEndsWithItsParent) {
  fault("hang");
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const pid_t parent = ::fork();
  if (parent == 0) {
    try {
      (void)load(path_, options_);
    } catch (...) {
    }
    ::_exit(0);
  }
  std::vector<pid_t> grandchildren;
  EXPECT_TRUE(eventually([&] { return !(grandchildren = children_of(parent)).empty(); }));
  // Give it the time to become raylift-import and to ask for its end.
  EXPECT_TRUE(eventually([&] {
    std::ifstream name("/proc/" + std::to_string(grandchildren.at(0)) + "/comm");
    std::string text;
    return std::getline(name, text) && text.starts_with("raylift-import");
  }));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  ::kill(parent, SIGKILL);
  ::waitpid(parent, nullptr, 0);
  int status = 0;
  pid_t reaped = 0;
  EXPECT_TRUE(eventually([&] { return (reaped = ::waitpid(-1, &status, WNOHANG)) > 0; })) << "it lives on";
  EXPECT_EQ(reaped, grandchildren.at(0));
  EXPECT_TRUE(WIFSIGNALED(status));
  for (const pid_t left : children_of(::getpid())) {
    ::kill(left, SIGKILL);
    ::waitpid(left, nullptr, 0);
  }
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
}

TEST_F(Isolate, LeavesNothingInSharedMemoryOrTheTemporaryFolder) {
  const auto count = [](const char* folder) {
    return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
  };
  // Other programs put files there at the same time. What a load left would be there once for each.
  constexpr std::ptrdiff_t kLoads = 40;
  const auto before = count("/dev/shm");
  for (std::ptrdiff_t i = 0; i != kLoads; ++i) (void)load(path_, options_);
  fault("segv");
  for (std::ptrdiff_t i = 0; i != kLoads; ++i) error_of(ErrorKind::malformed);
  EXPECT_LT(count("/dev/shm"), before + kLoads);
  EXPECT_EQ(count(folder_.path().c_str()), 1);
}

}  // namespace
}  // namespace raylift
