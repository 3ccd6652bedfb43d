// SPDX-License-Identifier: Apache-2.0
#include "model/settings/overlap_marks.h"

#include <raylift/geometry/error.h>
#include <raylift/geometry/scene/eigen.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "base/json.h"
#include "cli/text.h"
#include "geometry/src/scene/names.h"

namespace raylift::viewer {
namespace {

using Json = nlohmann::ordered_json;

std::string sentence(Overlap::Kind kind, const std::string& first, const std::string& second) {
  switch (kind) {
    case Overlap::Kind::crosses_mother:
      return first + " lies partly outside of its mother " + second;
    case Overlap::Kind::outside_mother:
      return first + " lies outside of its mother " + second;
    case Overlap::Kind::siblings_cross:
      return first + " and " + second + " share space";
    case Overlap::Kind::contains_sibling:
      return first + " contains " + second;
    case Overlap::Kind::siblings_coincide:
      return first + " and " + second + " have the same surface";
  }
  return first + " and " + second;
}

OverlapMark mark_of(const Scene& scene, Overlap::Kind kind, std::uint32_t first, std::uint32_t second) {
  OverlapMark mark;
  const auto name = [&](std::uint32_t i) { return std::string(base_name(scene.solid_name(scene.instances[i]))); };
  mark.words = sentence(kind, name(first), name(second));
  mark.first = first;
  mark.second = second;
  return mark;
}

constexpr const char* kAdvice = "make it by: raylift check --json SCENE > report.json";

Overlap::Kind kind_of(const std::string& word, const std::string& file) {
  for (std::size_t k = 0; k != Overlap::kKinds; ++k)
    if (to_string(static_cast<Overlap::Kind>(k)) == word) return static_cast<Overlap::Kind>(k);
  throw Error(ErrorKind::malformed, "there is no kind of overlap '" + cli::printable(word) + "'", {file, ""}, kAdvice);
}

std::string file_name(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

/// The part of a report that is about a scene.
const Json& report_of(const Json& report, const Scene& scene) {
  const Json* found = nullptr;
  const auto look_at = [&](const Json& one) {
    if (one.is_object() && file_name(one.value("file", "")) == file_name(scene.source)) found = &one;
  };
  if (report.is_array())
    for (const Json& one : report) look_at(one);
  else
    look_at(report);
  if (found == nullptr)
    throw Error(ErrorKind::usage, "the report is not of this scene, " + cli::printable(scene.source));
  return *found;
}

}  // namespace

OverlapMarks overlap_marks(const Scene& scene, const OverlapReport& report) {
  OverlapMarks marks;
  for (const Overlap& overlap : report.overlaps) {
    OverlapMark mark = mark_of(scene, overlap.kind, overlap.first, overlap.second);
    mark.place = to_eigen(overlap.place);
    mark.depth = overlap.depth;
    mark.pairs = overlap.pairs;
    marks.push_back(std::move(mark));
  }
  return marks;
}

OverlapMarks read_overlap_marks(const std::string& file, const Scene& scene) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw Error(ErrorKind::io, "the report can't be opened", {file, ""}, kAdvice);
  const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  const Json report = base::parse_json<Json>(text);
  if (!report.is_structured()) throw Error(ErrorKind::malformed, "not a report of raylift check", {file, ""}, kAdvice);
  const Json& of_scene = report_of(report, scene);
  const auto overlaps = of_scene.find("overlaps");
  if (overlaps == of_scene.end() || !overlaps->is_object())
    throw Error(ErrorKind::usage, "the report has no overlaps: it was made with --no-overlaps", {file, ""}, kAdvice);
  std::unordered_map<std::string, std::uint32_t> by_path;
  for (std::uint32_t i = 0; i != scene.instances.size(); ++i) by_path.emplace(scene.path(scene.instances[i]), i);
  OverlapMarks marks;
  try {
    for (const Json& one : overlaps->at("found")) {
      const auto solid = [&](const char* key) {
        const std::string path = one.at(key).get<std::string>();
        const auto found = by_path.find(path);
        if (found == by_path.end())
          throw Error(ErrorKind::usage, "the scene has no solid '" + cli::printable(path) + "' of the report",
                      {file, ""}, "check the scene again");
        return found->second;
      };
      OverlapMark mark =
          mark_of(scene, kind_of(one.at("kind").get<std::string>(), file), solid("first"), solid("second"));
      const auto place = one.at("place_mm").get<std::array<double, 3>>();
      mark.place = {place[0], place[1], place[2]};
      mark.depth = one.at("depth_mm").get<double>();
      mark.pairs = one.value("pairs", std::uint64_t{1});
      marks.push_back(std::move(mark));
    }
  } catch (const nlohmann::json::exception& error) {
    throw Error(ErrorKind::malformed, std::string("not a report of raylift check: ") + error.what(), {file, ""},
                kAdvice);
  }
  std::stable_sort(marks.begin(), marks.end(), [](const auto& a, const auto& b) { return a.depth > b.depth; });
  return marks;
}

}  // namespace raylift::viewer
