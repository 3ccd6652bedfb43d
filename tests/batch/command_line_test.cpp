// SPDX-License-Identifier: Apache-2.0
// raylift's command line: help, mistyped words, and what is said of them.
#include <gmock/gmock.h>

#include "geometry/src/error_kinds.h"
#include "run_program.h"

namespace raylift::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

void expect_usage_error(const std::vector<std::string>& arguments, const std::string& message) {
  const Ended ended = raylift(arguments);
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.out, IsEmpty());
  EXPECT_THAT(ended.err, AllOf(StartsWith("raylift: error: usage: "), HasSubstr(message)));
  EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
}

TEST(CommandLine, HelpNamesCommandsAndExitCodes) {
  const Ended help = raylift({"--help"});
  EXPECT_EQ(help.code, 0);
  EXPECT_THAT(help.err, IsEmpty());
  for (const char* word : {"info", "check", "upload", "trace", "devices", "Exit codes", "Examples"})
    EXPECT_THAT(help.out, HasSubstr(word));
  for (const ErrorKindRow& row : error_kinds())
    EXPECT_THAT(help.out, testing::ContainsRegex("\n  " + std::to_string(row.exit_code) + "  +" +
                                                 std::string(row.name) + ": [a-z]"));
  EXPECT_THAT(help.out, HasSubstr("\n  70   an internal error"));
}

TEST(CommandLine, HelpOfACommandShowsItsOptionsWithDefaults) {
  const Ended help = raylift({"upload", "--help"});
  EXPECT_EQ(help.code, 0);
  for (const char* word :
       {"--device", "--reserve", "300MB", "--policy", "--max-instances", "COUNT=5M", "8GiB", "600", "Examples"})
    EXPECT_THAT(help.out, HasSubstr(word));
  EXPECT_EQ(raylift({"-h"}).code, 0);
}

TEST(CommandLine, PrintsItsVersion) {
  const Ended version = raylift({"--version"});
  EXPECT_EQ(version.code, 0);
  EXPECT_THAT(version.out, testing::MatchesRegex("raylift [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

TEST(CommandLine, SuggestsWhatWasMeant) {
  expect_usage_error({"ifno", "x.dae"}, "unknown command 'ifno': did you mean 'info'?");
  expect_usage_error({"upload", "--devcie", "host", "x.dae"}, "unknown option '--devcie': did you mean '--device'?");
  expect_usage_error({"upload", "x.dae", "--devcie=host"}, "unknown option '--devcie': did you mean '--device'?");
  expect_usage_error({"upload", "--devcie"}, "did you mean '--device'?");  // although FILE is missing too
  expect_usage_error({"--vrebose=debug", "info", "x.dae"}, "unknown option '--vrebose'");
  expect_usage_error({"upload", "--policy", "chorma", "x.dae"}, "did you mean 'chroma'?");
  expect_usage_error({"info", "--verbose=deubg", "x.dae"}, "did you mean 'debug'?");
  expect_usage_error({"upload", "--device", "hots", "x.dae"}, "did you mean 'host'?");
}

TEST(CommandLine, SaysWhatIsMissingOrTooMuch) {
  expect_usage_error({}, "a command is missing: info, optics, convert, check, upload");
  expect_usage_error({"info"}, "FILE");
  expect_usage_error({"info"}, "see 'raylift info --help'");
  expect_usage_error({"upload", "x.dae", "--budget"}, "--budget");
  expect_usage_error({"devices", "x.dae"}, "one argument too many");
}

TEST(CommandLine, RefusesValuesThatMakeNoSense) {
  expect_usage_error({"info", "--unit", "mk", "x.dae"}, "--unit: 'mk' is not a unit");
  expect_usage_error({"info", "--unit", "0", "x.dae"}, "--unit");
  expect_usage_error({"info", "--up", "w", "x.dae"}, "--up: 'w' is not an axis");
  expect_usage_error({"info", "--weld", "-1", "x.dae"}, "--weld");
  expect_usage_error({"upload", "--budget", "1XB", "x.dae"}, "--budget: '1XB' is not a size");
  expect_usage_error({"info", "--max-depth", "5G", "x.dae"}, "--max-depth");
  expect_usage_error({"info", "--import-timeout", "0", "x.dae"}, "--import-timeout");
}

TEST(CommandLine, TakesNamesBehindTwoDashes) {
  EXPECT_EQ(raylift({"info", "--", data_file("cube.dae")}).code, 0);
  EXPECT_EQ(raylift({"batch", "--", data_file("cube.dae")}).code, 0);
  const Ended missing = raylift({"info", "--", "-nothing-here.dae"});
  EXPECT_EQ(missing.code, 3) << missing.err;
  expect_usage_error({"info", "--odd", "--", "x.dae"}, "unknown option '--odd'");
}

TEST(CommandLine, TakesFilesNamedAsCommands) {  // neither file is there
  EXPECT_THAT(raylift({"info", data_file("cube.dae"), "check"}).err, HasSubstr("[check]"));
  EXPECT_THAT(raylift({"--no-progress", "info", "photons", "check"}).err, HasSubstr("[check]"));
}

TEST(CommandLine, RefusesEmptyNamesOfOutputs) {
  expect_usage_error({"batch", "--report", "", data_file("cube.dae")}, "--report");
  expect_usage_error({"trace", "--image", "", data_file("cube.dae")}, "--image");
}

TEST(CommandLine, RefusesEmptyValues) {
  const std::string cube = data_file("cube.dae");
  // CLI11 would take the file for the value.
  expect_usage_error({"upload", "--device=", cube}, "--device has an empty value");
  expect_usage_error({"upload", "--to=", cube}, "--to has an empty value");
  expect_usage_error({"upload", "--cache=", cube}, "--cache has an empty value");
  expect_usage_error({"upload", "--to", "", cube}, "--to has an empty value");
  expect_usage_error({"info", "--verbose=", cube}, "--verbose has an empty value");
  expect_usage_error({"info", ""}, "an argument is empty");
}

TEST(CommandLine, RefusesNamesThatAreNoneOfSuchFiles) {
  const std::string cube = data_file("cube.dae");
  expect_usage_error({"batch", "--report", "-", cube}, "--report: '-' is not the name of a file");
  expect_usage_error({"trace", "--image", "-", cube}, "--image: '-' is not the name of a file");
  expect_usage_error({"trace", "--image", "x.JPG", cube},
                     "--image: 'x.JPG' is not the name of a file that ends in .png");
}

TEST(CommandLine, OffersTheWordsOfAnOptionInCompletions) {
  EXPECT_THAT(raylift({"--generate", "bash"}).out,
              AllOf(HasSubstr("--policy) choices=\"auto chroma mapped device\""),
                    HasSubstr("--pattern) choices=\"isotropic camera surface\""),
                    HasSubstr("--do) choices=\"info check cache upload trace render\"")));
  EXPECT_THAT(raylift({"--generate", "zsh"}).out, HasSubstr(":POLICY:(auto chroma mapped device)"));
  EXPECT_THAT(raylift({"--generate", "fish"}).out, testing::ContainsRegex("-l device -x -a 'auto host cuda:0' -d"));
  EXPECT_THAT(raylift({"trace", "--help"}).out, AllOf(HasSubstr("--policy POLICY"), Not(HasSubstr("POLICY:"))));
}

TEST(CommandLine, TakesGeneralOptionsBeforeAndAfterTheCommand) {
  EXPECT_EQ(raylift({"-q", "info", data_file("cube.dae")}).code, 0);
  EXPECT_EQ(raylift({"info", "-q", data_file("cube.dae")}).code, 0);
  EXPECT_EQ(raylift({"info", "--verbose=quiet", data_file("cube.dae")}).code, 0);
}

}  // namespace
}  // namespace raylift::test
