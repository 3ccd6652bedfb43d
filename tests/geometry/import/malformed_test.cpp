// SPDX-License-Identifier: Apache-2.0
// Every file of tests/data/malformed ends in the error that its table names, in the same process and in an isolated
// one.
#include <gtest/gtest.h>
#include <raylift/geometry/error.h>
#include <raylift/geometry/import/load.h>

#include <cctype>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "support/paths.h"

namespace raylift {
namespace {

std::filesystem::path folder() {
  return test::source_dir() / "tests/data/malformed";
}

struct Case {
  std::string file;
  std::string options;  // "name=value" of a limit, or "-"
  std::string kind;
  std::string fragment;
};
void PrintTo(const Case& one, std::ostream* out) {
  *out << one.file;
}

std::vector<Case> cases() {
  std::vector<Case> result;
  std::ifstream table(folder() / "expected.tsv");
  for (std::string line; std::getline(table, line);) {
    if (line.empty() || line.front() == '#') continue;
    std::istringstream cells(line);
    Case one;
    std::getline(cells, one.file, '\t');
    std::getline(cells, one.options, '\t');
    std::getline(cells, one.kind, '\t');
    std::getline(cells, one.fragment, '\t');
    result.push_back(one);
  }
  return result;
}

LoadOptions options_of(const Case& one) {
  LoadOptions options;
  if (one.options == "-") return options;
  const auto equals = one.options.find('=');
  const std::string name = one.options.substr(0, equals);
  const std::uint64_t value = std::stoull(one.options.substr(equals + 1));
  if (name == "file_bytes") options.limits.file_bytes = value;
  if (name == "text_bytes") options.limits.text_bytes = value;
  if (name == "triangles") options.limits.triangles = value;
  if (name == "instances") options.limits.instances = value;
  return options;
}

class Malformed : public testing::TestWithParam<Case> {
 protected:
  static void expect_error(const LoadOptions& options) {
    const Case& one = GetParam();
    try {
      (void)load(folder() / one.file, options);
      FAIL() << one.file << " was loaded";
    } catch (const Error& error) {
      EXPECT_EQ(to_string(error.kind()), one.kind) << error.what();
      EXPECT_NE(std::string(error.what()).find(one.fragment), std::string::npos) << error.what();
      EXPECT_NE(error.file().find(one.file), std::string::npos) << "the error does not name the file: " << error.what();
    }
  }
};

TEST_P(Malformed, EndsInItsError) {
  expect_error(options_of(GetParam()));
}

TEST_P(Malformed, EndsInItsErrorWhenIsolated) {
  LoadOptions options = options_of(GetParam());
  options.isolate = true;
  options.limits.isolate_seconds = 60;
  expect_error(options);
}

std::string test_name(const testing::TestParamInfo<Case>& info) {
  std::string text = info.param.file;
  for (char& c : text)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return text;
}

INSTANTIATE_TEST_SUITE_P(Files, Malformed, testing::ValuesIn(cases()), test_name);

TEST(MalformedTable, HoldsEveryFileOfItsFolder) {
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder()))
    files += entry.path().filename() != "expected.tsv" ? 1 : 0;
  EXPECT_EQ(files, cases().size());
  EXPECT_GE(files, 40U);
}

}  // namespace
}  // namespace raylift
