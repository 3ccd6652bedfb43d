// SPDX-License-Identifier: Apache-2.0
// raylift photons: the same bytes for any batch and after a kill, whole files or none, and what it refuses.
// check_photons.py looks into the files with NumPy.
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <map>
#include <thread>

#include "run_program.h"
#include "support/effort.h"
#include "support/thin_scene.h"

namespace raylift::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class Photons : public testing::Test {
 protected:
  [[nodiscard]] std::string at(const std::string& name) const { return (folder_.path() / name).string(); }

  /// The arguments of a run into a folder.
  [[nodiscard]] std::vector<std::string> into(const std::string& name, std::vector<std::string> more) const {
    std::vector<std::string> all{"photons", data_file("detector.dae"), "--output", at(name)};
    const auto or_else = [&](const std::string& option, const std::string& value) {
      if (std::find(more.begin(), more.end(), option) == more.end()) all.insert(all.end(), {option, value});
    };
    or_else("--device", "host");
    or_else("--source", "ball:0,0,0,500");
    or_else("--seed", "7");
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  void run(const std::string& name, std::vector<std::string> more) const {
    const Ended ended = raylift(into(name, std::move(more)));
    ASSERT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.err, IsEmpty());
  }
  [[nodiscard]] json summary(const std::string& name) const {
    return json::parse(bytes_in(at(name + "/summary.json")));
  }
  /// What a folder holds, by the files' names, without the summary's figures that are the machine's.
  [[nodiscard]] std::map<std::string, std::string> contents(const std::string& name) const {
    std::map<std::string, std::string> result;
    const std::filesystem::path folder = at(name);
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
      if (entry.is_regular_file()) result[entry.path().lexically_relative(folder)] = bytes_in(entry.path());
    if (result.contains("summary.json")) {
      json all = json::parse(result["summary.json"]);
      for (const char* member : {"batch", "seconds", "photons_per_second", "resumed_at", "record"}) all.erase(member);
      result["summary.json"] = all.dump();
    }
    return result;
  }
  /// Waits until a run has a checkpoint with photons.
  void wait_for_checkpoint(const std::string& name) const {
    for (int i = 0; i != 5000; ++i) {
      const json now = json::parse(bytes_in(at(name + "/resume.json")), nullptr, false);
      if (now.is_object() && now["done"] > 0) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    FAIL() << "no checkpoint came";
  }

 private:
  TemporaryFolder folder_;
};

const std::vector<std::string> kEverything{"--photons", "10k", "--final", "--seq",
                                           "--record",  "50",  "--times", "20,0,100"};

std::vector<std::string> with(std::vector<std::string> all, const std::vector<std::string>& more) {
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

TEST_F(Photons, GiveTheSameFilesForAnyBatch) {
  run("all", kEverything);
  const auto all = contents("all");
  EXPECT_EQ(all.size(), 7U) << "hits, final, seq, record, channels, times, summary";
  for (const char* batch : {"1000", "4096"}) {
    run(batch, with(kEverything, {"--batch", batch}));
    EXPECT_EQ(contents(batch), all) << batch;
  }
  run("all", {"--photons", "100"});  // over an earlier run
  EXPECT_EQ(contents("all").size(), 3U) << "hits, channels, summary";
}

TEST_F(Photons, GiveTheSameFilesOnSeveralDevices) {
  run("one", kEverything);
  run("three", with(kEverything, {"--device", "host,host,host", "--batch", "700"}));
  EXPECT_EQ(summary("three")["device"], "host,host,host");
  auto one = contents("one"), three = contents("three");
  one.erase("summary.json");
  three.erase("summary.json");
  EXPECT_EQ(one, three);
  const Ended ended = raylift(into("none", with(kEverything, {"--device", "host,host", "--batch", "500M"})));
  EXPECT_EQ(ended.code, 0) << "a batch is never larger than the run: " << ended.err;
}

TEST_F(Photons, GiveTheHostsFilesOnCuda) {
  run("host", kEverything);
  const Ended ended = raylift(into("cuda", with(kEverything, {"--device", "cuda:0"})));
  if (ended.code == 9) GTEST_SKIP() << ended.err;
  ASSERT_EQ(ended.code, 0) << ended.err;
  auto host = contents("host"), cuda = contents("cuda");
  host.erase("summary.json");
  cuda.erase("summary.json");
  EXPECT_EQ(cuda, host);
}

TEST_F(Photons, GiveTheSameFilesOnSeveralRanks) {
  if (!std::filesystem::exists(program("raylift-mpi.so"))) GTEST_SKIP() << "raylift was built without MPI";
  for (const std::string format : test::some_of({"opticks", "chroma"})) {
    const std::vector<std::string> options = with(kEverything, {"--format", format});
    run("one", options);
    const auto under_mpirun = [&](const std::string& more) {
      std::string command =
          "ASAN_OPTIONS=detect_leaks=0 HWLOC_COMPONENTS=-gl OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
          "timeout 100 mpirun "
          "--oversubscribe --bind-to none -n 3 " +
          program("raylift").string();
      for (const std::string& argument : into("ranks", options)) command += ' ' + argument;
      return std::system((command + more + " > " + at("said") + " 2>&1").c_str());
    };
    // What rank 0 can't join stays, and is gone on with.
    std::filesystem::create_directories(at("ranks/seq.npy.part/in the way"));
    EXPECT_NE(under_mpirun(""), 0);
    EXPECT_FALSE(std::filesystem::exists(at("ranks/summary.json")));
    EXPECT_TRUE(std::filesystem::exists(at("ranks/rank-2/resume.json"))) << bytes_in(at("said"));
    std::filesystem::remove_all(at("ranks/seq.npy.part"));
    ASSERT_EQ(under_mpirun(" --resume"), 0) << bytes_in(at("said"));
    EXPECT_NE(under_mpirun(" --resume"), 0) << "it is complete";
    EXPECT_EQ(summary("ranks")["ranks"], 3);
    EXPECT_EQ(summary("ranks")["ends"], summary("one")["ends"]);
    EXPECT_EQ(summary("ranks")["materials"], summary("one")["materials"]);
    auto one = contents("one"), ranks = contents("ranks");
    one.erase("summary.json");
    ranks.erase("summary.json");
    EXPECT_EQ(one, ranks);
  }
}

TEST_F(Photons, HaveNumbersThatRunsCanDivide) {
  run("all", {"--photons", "5k", "--final"});
  run("first", {"--photons", "2k", "--final"});
  run("second", {"--photons", "3k", "--final", "--first", "2k"});
  constexpr std::size_t kHeader = 128;
  for (const char* name : {"hits.npy", "final.npy"}) {
    const auto rows = [&](const char* folder) { return contents(folder)[name].substr(kHeader); };
    EXPECT_GT(rows("second").size(), 0U);
    EXPECT_EQ(rows("first") + rows("second"), rows("all")) << name;
  }
}

TEST_F(Photons, PrintTheSummaryTheyWrite) {
  const Ended ended = raylift(into("a", {"--photons", "2k", "--json"}));
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.json(), summary("a"));
  std::uint64_t sum = 0;
  const json ends = ended.json()["ends"];
  for (const auto& [kind, count] : ends.items()) sum += count.get<std::uint64_t>();
  EXPECT_EQ(sum, 2000U);
  EXPECT_EQ(ended.json()["ends"]["cut"], 0);
  EXPECT_EQ(ended.json()["seed"], 7);
  run("cut", {"--photons", "2k", "--max-steps", "1"});
  EXPECT_EQ(summary("cut")["steps"], 2000);
  EXPECT_GT(summary("cut")["ends"]["cut"], 1000);
  run("late", {"--photons", "2k", "--max-time", "0"});
  EXPECT_GT(summary("late")["ends"]["cut"], 1000) << "after their first step";
}

// Photons that start where others ended: in the same place, for they are cut before their first step.
TEST_F(Photons, StartFromFilesOfPhotons) {
  for (const char* format : {"opticks", "chroma"}) {
    const std::string suffix = format == std::string("opticks") ? ".npy" : "";
    run("first", {"--photons", "500", "--final", "--max-steps", "2", "--format", format});
    const std::string start = "photons:" + at("first/final" + suffix);
    run("second", {"--source", start, "--max-steps", "0", "--final"});
    EXPECT_EQ(summary("second")["photons"], 500);
    EXPECT_EQ(summary("second")["ends"]["cut"], 500);
    run("opticks", {"--photons", "500", "--final", "--max-steps", "2"});
    const std::string before = contents("opticks")["final.npy"], after = contents("second")["final.npy"];
    ASSERT_EQ(before.size(), after.size());
    for (std::size_t row = 128; row != before.size(); row += 64)
      EXPECT_EQ(before.substr(row, 16), after.substr(row, 16)) << "position and time";
    run("rest", {"--source", start, "--first", "400", "--final"});
    EXPECT_EQ(summary("rest")["photons"], 100);
    EXPECT_EQ(raylift(into("more", {"--source", start, "--first", "400", "--photons", "101"})).code, 2);
  }
  EXPECT_EQ(raylift(into("none", {"--source", "photons:" + at("absent.npy")})).code, 2);
}

TEST_F(Photons, GoOnAfterAKillWithTheSameFiles) {
  const std::vector<std::string> options{"--photons", "12k",      "--final", "--seq",
                                         "--times",   "20,0,100", "--batch", "500"};
  run("whole", options);
  const auto whole = contents("whole");
  for (const int signal : {SIGKILL, SIGINT}) {
    const std::string name = signal == SIGKILL ? "killed" : "interrupted";
    Running running(into(name, with(options, {"--checkpoint", "0.001"})));
    wait_for_checkpoint(name);
    running.signal(signal);
    const Ended ended = running.wait();
    ASSERT_EQ(ended.code, 128 + signal) << ended.err;
    for (const auto& [file, bytes] : contents(name))
      EXPECT_TRUE(file.ends_with(".part") || file.starts_with("resume")) << file << " looks whole";
    const Ended other = raylift(into(name, with(options, {"--resume", "--seed", "8"})));
    EXPECT_EQ(other.code, 2);
    EXPECT_THAT(other.err, HasSubstr("has another seed: 7 there, 8 here"));
    const Ended larger = raylift(into(name, with(options, {"--resume", "--unit", "5"})));
    EXPECT_EQ(larger.code, 2);
    EXPECT_THAT(larger.err, HasSubstr("has another load: \"\" there, \"unit=5\" here"));
    run(name, with(options, {"--resume"}));
    EXPECT_EQ(contents(name), whole);
    const std::uint64_t resumed_at = summary(name)["resumed_at"];
    EXPECT_GT(resumed_at, 0U);
    EXPECT_LT(resumed_at, 12'000U);
    EXPECT_EQ(raylift(into(name, with(options, {"--resume"}))).code, 2) << "it is complete";
  }
}

// What a source's files hold belongs to the run as their names do.
TEST_F(Photons, GoOnOnlyWithTheFilesTheyBeganWith) {
  run("first", {"--photons", "3k", "--final", "--max-steps", "2"});
  run("other", {"--photons", "3k", "--final", "--max-steps", "2", "--seed", "8"});
  const auto spectrum = [&](const char* ends_at) {
    std::ofstream(at("spectrum.csv")) << "400,1\n420,2\n" << ends_at << ",0\n";
  };
  spectrum("450");
  std::filesystem::copy_file(at("first/final.npy"), at("start.npy"));
  for (const std::string& source : {"photons:" + at("start.npy"), "point:0,0,0:wavelength=" + at("spectrum.csv")}) {
    const std::vector<std::string> options{"--source", source, "--photons", "3k", "--batch", "100"};
    std::filesystem::remove_all(at("run"));
    Running running(into("run", with(options, {"--checkpoint", "0.001"})));
    wait_for_checkpoint("run");
    running.signal(SIGKILL);
    ASSERT_EQ(running.wait().code, 128 + SIGKILL);
    spectrum("451");
    std::filesystem::copy_file(at("other/final.npy"), at("start.npy"),
                               std::filesystem::copy_options::overwrite_existing);
    const Ended refused = raylift(into("run", with(options, {"--resume"})));
    EXPECT_EQ(refused.code, 2);
    EXPECT_THAT(refused.err, HasSubstr("has another source_files"));
    spectrum("450");
    std::filesystem::copy_file(at("first/final.npy"), at("start.npy"),
                               std::filesystem::copy_options::overwrite_existing);
    run("run", with(options, {"--resume"}));
    EXPECT_NE(summary("run")["source_files"], "none");
  }
  EXPECT_EQ(summary("first")["source_files"], "none");
}

// Between the last photon and the summary, a kill leaves some files that have their names.
TEST_F(Photons, GoOnWhereSomeFilesAreComplete) {
  run("a", {"--photons", "4k", "--final", "--format", "chroma"});
  const auto whole = contents("a");
  Running running(
      into("b", {"--photons", "4k", "--final", "--format", "chroma", "--batch", "1k", "--checkpoint", "0.001"}));
  wait_for_checkpoint("b");
  running.signal(SIGKILL);
  (void)running.wait();
  if (std::filesystem::exists(at("b/hits/pos.npy.part")))
    std::filesystem::rename(at("b/hits/pos.npy.part"), at("b/hits/pos.npy"));
  if (!std::filesystem::exists(at("b/summary.json")))
    run("b", {"--photons", "4k", "--final", "--format", "chroma", "--resume"});
  EXPECT_EQ(contents("b"), whole);
}

// A checkpoint is checked before its counts become a result's.
TEST_F(Photons, GoOnFromNoForgedCheckpoint) {
  const std::vector<std::string> options{"--photons", "30k", "--batch", "100"};
  Running running(into("run", with(options, {"--checkpoint", "0.001"})));
  wait_for_checkpoint("run");
  running.signal(SIGKILL);
  ASSERT_EQ(running.wait().code, 128 + SIGKILL);
  const auto refused = [&](int code, const char* what) {
    const Ended ended = raylift(into("run", with(options, {"--resume", "--json"})));
    EXPECT_EQ(ended.code, code) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr(what));
    EXPECT_EQ(json::parse(ended.out, nullptr, false)["error"]["kind"], code == 4 ? "malformed" : "io");
  };
  const std::filesystem::path checkpoint = at("run/resume.json");
  std::filesystem::permissions(checkpoint, std::filesystem::perms::others_write, std::filesystem::perm_options::add);
  refused(3, "can be written by others");
  std::filesystem::permissions(checkpoint, std::filesystem::perms::others_write, std::filesystem::perm_options::remove);
  std::ifstream in(checkpoint);
  const json state = json::parse(in);
  const std::filesystem::path counts = at("run/resume-" + std::to_string(state["done"].get<std::uint64_t>()) + ".npy");
  const auto shift_last_end = [&](std::int64_t by) {
    // The detector's photons end absorbed, so this count is not 0: the first one from the material's rows on.
    std::fstream file(counts, std::ios::in | std::ios::out | std::ios::binary);
    const auto size = static_cast<std::int64_t>(std::filesystem::file_size(counts));
    constexpr std::int64_t kHeader = 128, kFirst = 4;
    for (std::int64_t at = kHeader + 8 * kFirst; at + 8 <= size; at += 8) {
      std::uint64_t count = 0;
      file.seekg(at).read(reinterpret_cast<char*>(&count), 8);
      if (count == 0) continue;
      count += static_cast<std::uint64_t>(by);
      file.seekp(at).write(reinterpret_cast<const char*>(&count), 8);
      return;
    }
  };
  shift_last_end(1);
  refused(4, "counts are not those of its photons");
  shift_last_end(-1);
  std::filesystem::rename(checkpoint, at("kept"));
  std::ofstream(checkpoint) << std::string(400'000, '[');
  refused(4, "no checkpoint");
  std::filesystem::rename(at("kept"), checkpoint);
  run("run", with(options, {"--resume"}));
}

TEST_F(Photons, GoOverNoInput) {
  run("run", {"--photons", "100", "--final"});
  const auto before = contents("run");
  const Ended ended = raylift(into("run", {"--source", "photons:" + at("run/final.npy")}));
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, HasSubstr("which would be lost"));
  EXPECT_EQ(contents("run"), before);
}

TEST_F(Photons, BeginWhereThereIsNothingToResume) {
  run("a", {"--photons", "1k", "--resume"});
  EXPECT_EQ(summary("a")["resumed_at"], 0);
  std::filesystem::remove(at("a/summary.json"));
  std::ofstream(at("a/resume.json")) << "{\"done\": 1";
  EXPECT_EQ(raylift(into("a", {"--photons", "1k", "--resume"})).code, 4);
  run("a", {"--photons", "1k"});
}

TEST_F(Photons, RefuseWhatCannotBe) {
  const auto refused = [&](std::vector<std::string> more, int code, const std::string& what) {
    const Ended ended = raylift(into("refused", std::move(more)));
    EXPECT_EQ(ended.code, code) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr(what));
    EXPECT_FALSE(std::filesystem::exists(at("refused/summary.json")));
  };
  refused({"--source", "pint:0,0,0"}, 2, "pint");
  refused({"--source", "point:0,0"}, 2, "point");
  refused({"--times", "0,1,2"}, 2, "BINS,FROM,TO");
  refused({"--times", "5,2,2"}, 2, "BINS,FROM,TO");
  refused({"--max-time", "-1"}, 2, "no time");
  refused({"--first", "18446744073709551615", "--photons", "2"}, 2, "exceed");
  refused({data_file("cube.dae")}, 2, "2 scenes");
  const Ended nowhere = raylift({"photons", data_file("detector.dae")});
  EXPECT_EQ(nowhere.code, 2);
  EXPECT_THAT(nowhere.err, HasSubstr("--output"));
  const auto warned = [&](const char* source_text) {
    return raylift({"photons", data_file("detector.dae"), "--device", "host", "--photons", "10", "--source",
                    source_text, "--output", at("warned")})
        .err;
  };
  EXPECT_THAT(warned("point:0,0,99m"), HasSubstr("10 of 10 photons (100 %) began outside of every solid"));
  EXPECT_THAT(warned("point:0,0,0:wavelength=420um"),
              AllOf(HasSubstr("the points of ABSLENGTH, RAYLEIGH, RINDEX are from 199.975 to 799.898 nm, and there is "
                              "light of 420000 nm (the source)"),
                    HasSubstr("CathodeSurface")));
  EXPECT_THAT(warned("point:0,0,0:wavelength=400-500"), IsEmpty());
  const Ended dark = raylift({"photons", data_file("cube.dae"), "--device", "host", "--output", at("dark")});
  EXPECT_EQ(dark.code, 4);
  EXPECT_THAT(dark.err, AllOf(HasSubstr("no optics"), HasSubstr("cube.dae"), HasSubstr("--optics FILE")));
  std::ofstream(at("file")) << "a file";
  EXPECT_EQ(raylift(into("file", {"--photons", "10"})).code, 3);
  EXPECT_EQ(raylift({"photons", at("absent.dae"), "--output", at("refused")}).code, 3);
}

TEST_F(Photons, NamesSolidsThatAreThinnerThanCanBeResolved) {
  const TemporaryFolder scenes;
  const std::string optics = scenes.write("thin.json", kThinOptics);
  const auto photons = [&](const std::string& scene, std::vector<std::string> more) {
    more.insert(more.begin(), {"photons", scene, "--optics", optics, "--photons", "100", "--source", "point:50,0,0",
                               "--output", at("thin")});
    return raylift(std::move(more));
  };
  const std::string fine = scenes.write("fine.dae", thin_film(0.002));
  EXPECT_THAT(photons(fine, {"--device", "host", "--strict"}).err, IsEmpty());
  const std::string thin = scenes.write("thin.dae", thin_film(2e-7, 25));
  // In any way to the triangles: read, on several devices, written to a cache, read from it, and read flattened.
  const std::vector<std::string> plain{"--device", "host"}, several{"--device", "host,host"},
      cached{"--device", "host", "--cache=" + at("cache")},
      flat{"--device", "host", "--cache=" + at("cache"), "--flatten"};
  for (const std::vector<std::string>& way : {plain, several, cached, cached, flat, flat}) {
    const Ended warned = photons(thin, way);
    EXPECT_EQ(warned.code, 0) << warned.err;
    // Flattened scenes have floats.
    const std::string resolution = way.back() == "--flatten" ? "0.000524521" : "4.54747e-09";
    EXPECT_THAT(warned.err,
                AllOf(HasSubstr("solid '/s/world/film19' is thinner than can be resolved: 2e-07 mm thick, and "
                                "resolved to " +
                                resolution + " mm"),
                      Not(HasSubstr("film20")), HasSubstr("5 other solids are thinner")));
    std::vector<std::string> strictly = way;
    strictly.emplace_back("--strict");
    const Ended refused = photons(thin, strictly);
    EXPECT_EQ(refused.code, 5);
    EXPECT_THAT(refused.err, AllOf(HasSubstr("solid '/s/world/film0'"), HasSubstr("and 24 other solids are too"),
                                   HasSubstr("or leave out --strict")));
  }
}

TEST(SlowPhotonBatch, IsHalvedWithAWarningWhereMemoryDoesNotSuffice) {
  const TemporaryFolder folder;
  const std::string said = (folder.path() / "said").string();
  // Beside the scene, so that they end at once.
  const std::string command =
      "/bin/bash -c 'ulimit -v 1500000; exec " + program("raylift").string() + " photons " + data_file("detector.dae") +
      " --device host --no-isolate --source point:100000,0,0 --photons 16M --batch 16M --output " +
      (folder.path() / "run").string() + "' 2>" + said + " >/dev/null";
  EXPECT_EQ(std::system(command.c_str()), 0);
  EXPECT_THAT(bytes_in(said), HasSubstr("memory does not suffice for --batch 16,000,000: the photons were simulated "));
}

}  // namespace
}  // namespace raylift::test
