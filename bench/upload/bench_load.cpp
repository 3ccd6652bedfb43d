// SPDX-License-Identifier: Apache-2.0
// Loading and welding a COLLADA file against Assimp alone and pycollada: time and peak memory, each in a process of its
// own, in turns, as ratios to Assimp's raw read.
//
//   bench_load FILE [--rounds N]
#include <assimp/postprocess.h>
#include <assimp/scene.h>
#include <raylift/geometry/error.h>
#include <raylift/geometry/import/load.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <assimp/Importer.hpp>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

struct Result {
  double seconds = std::numeric_limits<double>::infinity();
  double megabytes = std::numeric_limits<double>::infinity();  // peak resident memory, of the largest process
  unsigned long long vertices = 0;
  unsigned long long triangles = 0;
};

/// The child process: prints seconds, vertices and triangles.
int child(const std::string& way, const std::string& file) {
  const auto start = Clock::now();
  unsigned long long vertices = 0;
  unsigned long long triangles = 0;
  if (way == "raw" || way == "join") {
    Assimp::Importer importer;
    const aiScene* scene =
        importer.ReadFile(file, way == "raw" ? 0U : unsigned{aiProcess_Triangulate | aiProcess_JoinIdenticalVertices});
    if (scene == nullptr) return 1;
    for (unsigned i = 0; i != scene->mNumMeshes; ++i) {
      vertices += scene->mMeshes[i]->mNumVertices;
      triangles += scene->mMeshes[i]->mNumFaces;
    }
    std::printf("%.6f %llu %llu\n", std::chrono::duration<double>(Clock::now() - start).count(), vertices, triangles);
  } else {
    raylift::LoadOptions options;
    options.isolate = way == "isolated";
    const raylift::Scene scene = raylift::load(file, options);
    std::printf("%.6f %llu %llu\n", std::chrono::duration<double>(Clock::now() - start).count(),
                static_cast<unsigned long long>(scene.unique_vertices()),
                static_cast<unsigned long long>(scene.unique_triangles()));
  }
  std::fflush(stdout);
  ::_exit(0);
}

constexpr const char* kPython =
    "import sys, time\n"
    "start = time.time()\n"
    "import collada, resource\n"
    "document = collada.Collada(sys.argv[1])\n"
    "primitives = [p for g in document.geometries for p in g.primitives]\n"
    "print('%.6f %d %d' % (time.time() - start, sum(len(p.vertex) for p in primitives), sum(len(p) for p in "
    "primitives)))\n";

/// Runs one method in a new process. The result's fields are infinite or 0 if it failed.
Result run(const std::string& way, const std::string& file) {
  int ends[2];
  Result result;
  if (::pipe(ends) != 0) return result;
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::dup2(ends[1], 1);
    ::close(ends[0]);
    if (way == "pycollada") {
      ::execl("/usr/bin/python3", "python3", "-c", kPython, file.c_str(), nullptr);
    } else {
      ::execl("/proc/self/exe", "bench_load", file.c_str(), "--child", way.c_str(), nullptr);
    }
    ::_exit(127);
  }
  ::close(ends[1]);
  std::FILE* pipe = ::fdopen(ends[0], "r");
  const bool read = std::fscanf(pipe, "%lf %llu %llu", &result.seconds, &result.vertices, &result.triangles) == 3;
  std::fclose(pipe);
  int status = 0;
  rusage usage{};
  // ru_maxrss of a process that was waited for covers its own children too: the isolated import is one.
  ::wait4(pid, &status, 0, &usage);
  if (read && status == 0) {
    result.megabytes = static_cast<double>(usage.ru_maxrss) / 1024;
  } else {
    result = {};
  }
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  std::string file;
  std::string way;
  int rounds = 5;
  CLI::App app{"Loading and welding a COLLADA file against Assimp alone and pycollada."};
  app.add_option("file", file, "A COLLADA file")->required()->check(CLI::ExistingFile);
  app.add_option("--rounds", rounds, "Repetitions; the best counts");
  app.add_option("--child", way)->group("");
  CLI11_PARSE(app, argc, argv);
  try {
    if (!way.empty()) return child(way, file);
  } catch (const raylift::Error& error) {
    std::fprintf(stderr, "bench_load: %s\n", error.what());
    return raylift::exit_code(error.kind());
  }
  const std::vector<std::pair<std::string, std::string>> ways{
      {"raw", "Assimp, flags 0 (raw read)"},
      {"join", "Assimp, Triangulate | JoinIdenticalVertices"},
      {"pycollada", "pycollada"},
      {"raylift", "raylift::load (preflight, read, checks, weld)"},
      {"isolated", "the same, isolated in a child process"}};
  std::vector<Result> best(ways.size());
  for (int round = 0; round != rounds; ++round)
    for (std::size_t i = 0; i != ways.size(); ++i) {
      if (ways[i].first == "pycollada" && round > 0) continue;  // slow, and no close race
      const Result result = run(ways[i].first, file);
      best[i].seconds = std::min(best[i].seconds, result.seconds);
      best[i].megabytes = std::min(best[i].megabytes, result.megabytes);
      best[i].vertices = result.vertices;
      best[i].triangles = result.triangles;
    }
  std::printf("%s, %.1f MB; best of %d\n\n%-50s %8s %7s %9s %7s %11s %11s\n", file.c_str(),
              static_cast<double>(std::filesystem::file_size(file)) / 1e6, rounds, "", "s", "/ raw", "peak MB", "/ raw",
              "vertices", "triangles");
  for (std::size_t i = 0; i != ways.size(); ++i)
    std::printf("%-50s %8.3f %7.2f %9.0f %7.2f %11llu %11llu\n", ways[i].second.c_str(), best[i].seconds,
                best[i].seconds / best[0].seconds, best[i].megabytes, best[i].megabytes / best[0].megabytes,
                best[i].vertices, best[i].triangles);
  std::printf("isolation costs %.1f %%\n", 100 * (best[4].seconds / best[3].seconds - 1));
  return 0;
}
