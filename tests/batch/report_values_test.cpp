// SPDX-License-Identifier: Apache-2.0
// A report with any value in any place: it is resumed, or refused by an Error.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "batch/run/batch_summary.h"
#include "batch/run/earlier_rows.h"
#include "batch/run/report.h"
#include "reports.h"
#include "support/effort.h"

namespace raylift::test {
namespace {

using nlohmann::json;

/// Every place in a document: of its members and elements, and of those in them.
std::vector<json::json_pointer> places_of(const json& document, const json::json_pointer& at = json::json_pointer()) {
  std::vector<json::json_pointer> places{at};
  const auto add = [&](const json::json_pointer& place) {
    const auto below = places_of(document, place);
    places.insert(places.end(), below.begin(), below.end());
  };
  const json& here = document[at];
  if (here.is_object())
    for (const auto& [name, value] : here.items()) add(at / name);
  if (here.is_array())
    for (std::size_t i = 0; i != here.size(); ++i) add(at / i);
  return places;
}

/// What `raylift batch --resume` does with a report before it starts.
void resume(const std::string& path, const std::vector<batch::Input>& inputs, const batch::BatchOptions& options,
            const json& head) {
  batch::EarlierRows earlier(inputs, options, inputs.size());
  batch::Report report(path, batch::Report::Mode::resume, head,
                       [&](const json& theirs, const json& row) { earlier.add(theirs, row); });
  earlier.check_sources({});
  if (earlier.any_again())
    report.rewrite([&](const json& row) { return earlier.again(row) ? std::nullopt : std::optional<std::size_t>(0); });
  batch::Summary summary(inputs.size());
  for (const auto& [scene, row] : earlier.done()) summary.add(scene, row, true);
  (void)summary.exit_code();
  (void)summary.json(std::chrono::seconds(1)).dump();
}

TEST(BatchReport, MayHoldAnyValueInAnyPlace) {
  const TemporaryFolder folder;
  const std::string scenes = folder.path() / "scenes";
  std::filesystem::create_directory(scenes);
  copy_scenes(scenes, 2);
  std::ofstream(scenes + "/broken.dae") << "<COLLADA";
  const std::string path = folder.path() / "report.jsonl";
  (void)raylift({"batch", "--report", path, scenes});
  const std::vector<json> lines = lines_of(path);
  ASSERT_EQ(lines.size(), 4U);
  const std::vector<batch::Input> inputs = batch::expand_inputs({scenes});
  const std::vector<json> values{nullptr,
                                 true,
                                 -1,
                                 1e300,
                                 18446744073709551615U,
                                 "",
                                 "failed",
                                 std::string("a\0b", 3),
                                 json::array(),
                                 json::object(),
                                 std::string(5000, 'x')};
  std::size_t resumed = 0, refused = 0;
  int tried = 0;
  for (const std::vector<std::string>& retry : {std::vector<std::string>{}, {"malformed", batch::kChanged}}) {
    batch::BatchOptions options;
    options.report = path;
    options.resume = true;
    options.retry = retry;
    for (std::size_t line = 0; line != lines.size(); ++line)
      for (const json::json_pointer& place : places_of(lines[line]))
        for (int change = -1; change != static_cast<int>(values.size()); ++change) {
          if (tried++ % test::kStride != 0) continue;
          std::vector<json> changed = lines;
          if (change >= 0)
            changed[line][place] = values[static_cast<std::size_t>(change)];
          else if (!place.empty() && changed[line][place.parent_pointer()].is_object())
            changed[line][place.parent_pointer()].erase(place.back());
          std::ofstream file(path);
          for (const json& one : changed) file << one.dump() << '\n';
          file.close();
          try {
            resume(path, inputs, options, lines.front());
            ++resumed;
          } catch (const Error&) {
            ++refused;
          } catch (const std::exception& error) {
            ADD_FAILURE() << "line " << line << ", " << place << ", value " << change << ": " << error.what();
          }
        }
  }
  EXPECT_GT(resumed, 100U);
  EXPECT_GT(refused, 100U);
}

TEST(ReportFile, IsNotResumedWhereOthersCanWriteToIt) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "report.jsonl").string();
  const json head = {{"report", "raylift batch"},
                     {"version", "0"},
                     {"folder", "/"},
                     {"do", json::array()},
                     {"options", json::object()}};
  const mode_t umask = ::umask(0);
  batch::Report(path, batch::Report::Mode::fresh, head)
      .append({{"file", "a"}, {"do", json::array()}, {"status", "ok"}});
  ::umask(umask);
  int rows = 0;
  const auto resume = [&] {
    batch::Report(path, batch::Report::Mode::resume, head, [&](const json&, const json&) { ++rows; });
  };
  resume();
  EXPECT_EQ(rows, 1);
  std::filesystem::permissions(path, std::filesystem::perms::group_write, std::filesystem::perm_options::add);
  EXPECT_THROW(resume(), Error);
  std::filesystem::permissions(path, std::filesystem::perms::group_write, std::filesystem::perm_options::remove);
  if (::geteuid() != 0) return;
  ASSERT_EQ(::chown(path.c_str(), 4242, 4242), 0);
  EXPECT_THROW(resume(), Error);
  EXPECT_EQ(rows, 1);
}

TEST(ReportFile, OfBracketsIsNone) {
  const TemporaryFolder folder;
  const std::string path = folder.write("report.jsonl", std::string(400'000, '[') + '\n');
  EXPECT_THROW(batch::Report(path, batch::Report::Mode::resume, json::object()), Error);
}

TEST(ReportFile, IsPutInOrderThroughNoPlantedLink) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "report.jsonl").string();
  batch::Report report(path, batch::Report::Mode::fresh, {{"report", "test"}});
  for (const char* file : {"b", "a", "gone"}) report.append({{"file", file}});
  std::filesystem::permissions(path, std::filesystem::perms{0640});
  std::filesystem::create_symlink("victim", path + ".sorted-" + std::to_string(::getpid()));
  report.rewrite([](const json& row) {
    return row["file"] == "gone" ? std::nullopt : std::optional<std::size_t>(row["file"] == "b");
  });
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "victim"));
  report.append({{"file", "c"}});
  std::vector<std::string> files;
  for (const json& row : lines_of(path)) files.push_back(row.value("file", ""));
  EXPECT_THAT(files, ::testing::ElementsAre("", "a", "b", "c"));
  EXPECT_EQ(std::filesystem::status(path).permissions(), std::filesystem::perms{0640});
}

}  // namespace
}  // namespace raylift::test
