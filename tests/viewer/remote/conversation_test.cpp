// SPDX-License-Identifier: Apache-2.0
// JSON-RPC 2.0 as the viewer speaks it, without a socket: its rules, its limits, and messages that mean harm.
#include "remote/conversation.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "support/paths.h"
#include "with_outside.h"

namespace raylift::viewer {
namespace {

using Messages = Outside;

TEST_F(Messages, AnswersWithTheRequestsId) {
  for (const Json& id :
       {Json(1), Json("a"), Json(1.5), Json(nullptr), Json(std::numeric_limits<std::uint64_t>::max())}) {
    const Json answer = ask(request("state", Json::object(), id));
    EXPECT_EQ(answer["id"], id);
    EXPECT_EQ(answer["jsonrpc"], "2.0");
    EXPECT_EQ(answer["result"]["solids"], 3);
  }
}

TEST_F(Messages, DoesNotAnswerANotification) {
  const Json answer = ask(R"({"jsonrpc": "2.0", "method": "hide", "params": {"solids": "pmt_1"}})");
  EXPECT_TRUE(answer["lines"].empty()) << answer;
  EXPECT_EQ(state_.solids()->visible(), (std::vector<std::uint8_t>{1, 0, 1})) << "but does it";
  EXPECT_TRUE(ask(R"({"jsonrpc": "2.0", "method": "nothing"})")["lines"].empty());
}

TEST_F(Messages, TakesParametersByNameAlone) {
  EXPECT_EQ(call("clip", {{"planes", Json::array({"x", "z=5"})}})["planes"], Json::array({"1,0,0", "0,0,1=5"}));
  EXPECT_EQ(call("clip", {{"planes", "x"}, {"box", nullptr}})["planes"], Json::array({"1,0,0"})) << "null: left out";
  const std::uint64_t before = state_.revision();
  EXPECT_EQ(code(ask(request("clip", Json::array({"y"})))), kInvalid);
  EXPECT_EQ(state_.revision(), before);
}

TEST_F(Messages, RefusesABatchAndDoesNothingOfIt) {
  const std::uint64_t before = state_.revision();
  const Json answer = ask("[" + request("select", {{"solid", "pmt_2"}}, 1) + "," + request("undo", {}, 2) + "]");
  EXPECT_EQ(code(answer), kInvalid) << answer;
  EXPECT_EQ(answer["id"], nullptr);
  EXPECT_EQ(state_.revision(), before);
}

TEST_F(Messages, EndsHostileMessagesInErrors) {
  const std::vector<std::pair<std::string, int>> hostile{
      {"{", kParse},
      {"[1,2", kParse},
      {"nul", kParse},
      {R"({"jsonrpc": "2.0", "method": "foobar, "params": "bar", "baz])", kParse},
      {R"({"jsonrpc": "2.0", "id": 1, "method": "look", "params": {"fov": NaN}})", kParse},
      {R"({"jsonrpc": "2.0", "id": 1, "method": "look", "params": {"fov": 1e999}})", kParse},
      {"{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"\xC3\x28\"}", kParse},
      {"{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"\xED\xA0\x80\"}", kParse},
      {std::string("{\0}", 3), kParse},
      {"\xFF\xFE{}", kParse},
      {"\"", kParse},
      {R"({"a": "\)", kParse},
      {"]]]]", kParse},
      {"[]", kInvalid},
      {"1", kInvalid},
      {"null", kInvalid},
      {"{}", kInvalid},
      {R"({"method": "state", "id": 1})", kInvalid},
      {R"({"jsonrpc": "1.0", "method": "state", "id": 1})", kInvalid},
      {R"({"jsonrpc": 2.0, "method": "state", "id": 1})", kInvalid},
      {R"({"jsonrpc": "2.0", "method": 1, "id": 1})", kInvalid},
      {R"({"jsonrpc": "2.0", "method": "state", "id": {}})", kInvalid},
      {R"({"jsonrpc": "2.0", "method": "state", "id": true})", kInvalid},
      {R"({"jsonrpc": "2.0", "method": "state", "id": 1, "params": "x"})", kInvalid},
      {R"({"jsonrpc": "2.0", "method": "state", "id": 1, "params": null})", kInvalid},
      {R"({"jsonrpc": "2.0", "method": "", "id": 1})", kMethod},
      {R"({"jsonrpc": "2.0", "method": "rpc.shutdown", "id": 1})", kMethod},
      {R"({"jsonrpc": "2.0", "method": "stat", "id": 1})", kMethod},
      {request(std::string(100000, 'x')), kMethod},
      {request("state", {{"x", 1}}), kParams},
      {request("hide"), kParams},
      {std::string(10000, '['), kInvalid},
      {std::string(10000, '{'), kInvalid},
      {R"({"a":)" + std::string(10000, '[') + std::string(10000, ']') + "}", kInvalid},
      {"[" + std::string(20000, ',') + "]", kInvalid}};
  const std::uint64_t before = state_.revision();
  for (const auto& [text, wanted] : hostile) {
    const Json answer = ask(text);
    EXPECT_EQ(code(answer), wanted) << text.substr(0, 200) << ": " << answer.dump().substr(0, 400);
    EXPECT_LT(answer.dump().size(), 1000U) << "nothing large comes back";
  }
  EXPECT_EQ(state_.revision(), before) << "none of it changes anything";
}

/// Requests with bytes changed, taken away and doubled, by a generator of its own.
TEST_F(Messages, SurvivesAnyBytes) {
  std::vector<std::string> requests{request("rpc.discover")};
  for (const Verb& verb : verbs()) {
    Json params = Json::object();
    for (const Parameter& one : verb.parameters)
      params[std::string(one.name)] = one.type == Parameter::Type::number  ? Json(2)
                                      : one.type == Parameter::Type::flag  ? Json(true)
                                      : one.type == Parameter::Type::point ? Json::array({1, 2, 3})
                                      : one.choices.empty()                ? Json("pmt_*")
                                                                           : Json(one.choices.front());
    if (verb.name != "open" && verb.name != "reload" && verb.name != "ready")
      requests.push_back(request(std::string(verb.name), params));
  }
  std::uint64_t random = 17;
  const auto next = [&](std::size_t below) {
    random = random * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::size_t>((random >> 33U) % below);
  };
  for (int i = 0; i != 20000; ++i) {
    std::string text = requests[next(requests.size())];
    for (std::size_t changes = next(5); changes != 0 && !text.empty(); --changes) {
      const std::size_t at = next(text.size()), count = next(8);
      switch (next(4)) {
        case 0:
          text[at] = static_cast<char>(next(256));
          break;
        case 1:
          text.erase(at, count);
          break;
        case 2:
          text.insert(at, text.substr(next(text.size()), 8 * count));
          break;
        default:
          text[at] = "[]{}\",:\\0-e."[next(13)];
      }
    }
    Conversation talk(target_);
    talk.receive(text);
    talk.end_input();
    while (talk.work(Conversation::Clock::time_point::max())) continue;
    talk.notify();
    for (const Json& line : said(talk)) ASSERT_TRUE(line.is_structured()) << text;
    ASSERT_TRUE(talk.finished() || talk.pending()) << text;
  }
}

TEST_F(Messages, ReadsWhatIsWithinTheLimits) {
  const auto nested = [&](int depth) {
    return R"({"jsonrpc": "2.0", "id": 1, "method": "state", "x": )" +
           std::string(static_cast<std::size_t>(depth), '[') + std::string(static_cast<std::size_t>(depth), ']') + "}";
  };
  EXPECT_EQ(code(ask(nested(rpc::kMaxDepth - 1))), 0);
  EXPECT_EQ(code(ask(nested(rpc::kMaxDepth))), kInvalid);
  // Brackets in texts are no nesting.
  EXPECT_EQ(
      code(ask(R"({"jsonrpc": "2.0", "id": 1, "method": "state", "x": ")" + std::string(1000, '[') + R"(\"[[["})")), 0);
}

/// As the server gives it: pieces, as long as they are wanted.
void receive_all(Conversation& talk, std::string_view text) {
  constexpr std::size_t kPiece = std::size_t{64} << 10;
  while (!text.empty() && talk.wants_input()) {
    talk.receive(text.substr(0, kPiece));
    text.remove_prefix(std::min(kPiece, text.size()));
    (void)talk.work(Conversation::Clock::time_point::max());
  }
}

TEST_F(Messages, EndsWithAMessageThatIsTooLarge) {
  for (const char* end : {"", "\n", "\"}\n{}\n"}) {
    Conversation talk(target_);
    receive_all(talk, R"({"jsonrpc": "2.0", "id": 1, "method": ")" + std::string(std::size_t{2} << 20, 'x') + end);
    const std::vector<Json> lines = said(talk);
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_EQ(code(lines[0]), kInvalid);
    EXPECT_FALSE(talk.wants_input());
    EXPECT_TRUE(talk.finished());
  }
  // Just small enough.
  Conversation talk(target_);
  const std::string request = R"({"jsonrpc": "2.0", "id": 1, "method": "state", "x": ")";
  receive_all(talk, request + std::string(rpc::kMaxBytes - request.size() - 2, 'x') + "\"}\n");
  ASSERT_EQ(said(talk).size(), 1U);
  EXPECT_TRUE(talk.wants_input());
}

TEST_F(Messages, PutsHalfMessagesTogether) {
  Conversation talk(target_);
  const std::string text = "\n \r\n" + request("state", {}, 1) + "\r\n" + request("state", {}, 2);
  for (const char c : text) {
    talk.receive({&c, 1});
    (void)talk.work(Conversation::Clock::time_point::max());
  }
  EXPECT_EQ(said(talk).size(), 1U) << "the second has no end yet";
  EXPECT_FALSE(talk.has_work());
  talk.end_input();
  EXPECT_TRUE(talk.has_work());
  EXPECT_FALSE(talk.finished());
  (void)talk.work(Conversation::Clock::time_point::max());
  EXPECT_EQ(said(talk).size(), 1U);
  EXPECT_TRUE(talk.finished());
  Conversation torn(target_);
  torn.receive(R"({"jsonrpc": "2.0", "id": 1, "meth)");
  torn.end_input();
  (void)torn.work(Conversation::Clock::time_point::max());
  const std::vector<Json> lines = said(torn);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(code(lines[0]), kParse);
}

TEST_F(Messages, AnswersAThousandMessagesAtOnceInOrder) {
  Conversation talk(target_);
  std::string text;
  for (int i = 0; i != 1000; ++i) text += request("state", {}, i) + '\n';
  talk.receive(text);
  int next = 0;
  while (talk.has_work()) {
    EXPECT_TRUE(talk.work(Conversation::Clock::time_point::max()));
    EXPECT_LT(talk.output().size(), Conversation::kMaxOutput + 4000) << "no more than this waits to be read";
    EXPECT_FALSE(talk.has_work() && talk.output().size() <= Conversation::kMaxOutput) << "all of it, or a full output";
    for (const Json& line : said(talk)) EXPECT_EQ(line["id"], next++);
  }
  EXPECT_EQ(next, 1000);
  // A short time: one message, so that the window can draw.
  talk.receive(text);
  EXPECT_TRUE(talk.work({}));
  EXPECT_EQ(said(talk).size(), 1U);
  EXPECT_TRUE(talk.has_work());
}

TEST_F(Messages, TellsSubscribersOfTheLastStateAlone) {
  Conversation talk(target_);
  EXPECT_EQ(ask(talk, request("subscribe"))["result"]["to"].size(), 4U);
  talk.notify();
  EXPECT_TRUE(said(talk).empty()) << "nothing has changed";
  for (int i = 0; i != 50; ++i) state_.viewpoint().move([](Camera& camera) { camera.zoom(0.99); });
  state_.selection().select(1);
  state_.selection().select(2);
  talk.notify();
  std::vector<Json> lines = said(talk);
  ASSERT_EQ(lines.size(), 2U);
  for (const Json& line : lines) EXPECT_FALSE(line.contains("id"));
  EXPECT_EQ(lines[0]["method"], "selection");
  EXPECT_EQ(lines[0]["params"]["selection"]["name"], "pmt_2");
  EXPECT_EQ(lines[1]["method"], "camera");
  EXPECT_EQ(lines[1]["params"]["fov"], 40.0);
  talk.notify();
  EXPECT_TRUE(said(talk).empty());
  // A client that has not read yet gets one notification, later.
  state_.selection().select(std::nullopt);
  talk.notify();
  state_.selection().select(0);
  talk.notify();
  state_.selection().select(1);
  talk.notify();
  lines = said(talk);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0]["params"]["selection"], nullptr);
  talk.notify();
  lines = said(talk);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0]["params"]["selection"]["name"], "pmt_1");
  // One topic, and none.
  (void)ask(talk, request("subscribe", {{"to", "opened"}}));
  state_.selection().select(0);
  talk.notify();
  EXPECT_TRUE(said(talk).empty());
  state_.open("/other.dae");
  state_.show(three_boxes());
  talk.notify();
  lines = said(talk);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0]["method"], "opened");
  EXPECT_EQ(lines[0]["params"]["solids"], 3);
  // Work that goes on is said without a change of the state.
  (void)ask(talk, request("subscribe", {{"to", "progress"}}));
  talk.notify();
  EXPECT_TRUE(said(talk).empty()) << "there is none";
  state_.open(test::data("detector.dae").string());
  loader_.poll(state_);
  ASSERT_TRUE(loader_.loading());
  talk.notify();
  lines = said(talk);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0]["method"], "progress");
  EXPECT_TRUE(lines[0]["params"]["progress"]["what"].is_string()) << lines[0];
  (void)ask(talk, request("unsubscribe"));
  state_.reload();
  state_.show(three_boxes());
  talk.notify();
  EXPECT_TRUE(said(talk).empty());
}

/// Answers what is pending, as the window does.
std::vector<Json> wait_for_answers(Conversation& talk, ViewerState& state, SceneLoader& loader, std::size_t count) {
  std::vector<Json> lines;
  const auto until = Conversation::Clock::now() + std::chrono::seconds(30);
  while (lines.size() < count && Conversation::Clock::now() < until) {
    (void)talk.work(Conversation::Clock::time_point::max());
    loader.poll(state);
    for (std::size_t end; (end = talk.output().find('\n')) != std::string_view::npos; talk.sent(end + 1))
      lines.push_back(Json::parse(talk.output().substr(0, end)));
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return lines;
}

TEST_F(Messages, AnswersOnceAFileIsShownAndThenWhatFollows) {
  Conversation talk(target_), other(target_);
  const std::string cube = test::data("cube.dae").string();
  talk.receive(request("open", {{"file", cube}}, 1) + '\n' + request("state", {}, 2) + '\n' +
               request("open", {{"file", "/nowhere.dae"}}, 3) + '\n' +
               request("open", {{"file", (test::source_dir() / "tests/data/malformed/array_nan.dae").string()}}, 4) +
               '\n' + request("ready", {}, 5) + '\n' + request("state", {}, 6) + '\n' + request("reload", {}, 7) +
               '\n');
  (void)talk.work(Conversation::Clock::time_point::max());
  EXPECT_TRUE(talk.output().empty()) << "it is not shown yet";
  EXPECT_TRUE(talk.pending());
  EXPECT_FALSE(talk.has_work()) << "or the window would never rest";
  EXPECT_EQ(ask(other, request("state"))["result"]["loading"], true) << "others are answered meanwhile";
  const std::vector<Json> lines = wait_for_answers(talk, state_, loader_, 7);
  ASSERT_EQ(lines.size(), 7U);
  EXPECT_EQ(lines[0]["result"]["file"], cube);
  EXPECT_EQ(lines[0]["result"]["triangles"], 12);
  EXPECT_EQ(lines[1]["result"]["file"], cube);
  EXPECT_EQ(lines[1]["result"]["loading"], false);
  EXPECT_EQ(code(lines[2]), kRaylift);
  EXPECT_EQ(lines[2]["error"]["data"]["kind"], "io");
  EXPECT_EQ(lines[2]["error"]["data"]["file"], "/nowhere.dae");
  EXPECT_EQ(lines[3]["error"]["data"]["kind"], "malformed");
  EXPECT_EQ(lines[4]["error"]["data"]["kind"], "malformed");
  EXPECT_EQ(lines[5]["result"]["file"], cube) << "a file that was not read leaves the one that is shown";
  EXPECT_NE(lines[5]["result"]["error"], nullptr);
  EXPECT_EQ(lines[6]["result"]["file"], cube) << "which is read again";
  // A file that is opened before the other one is read.
  talk.receive(request("open", {{"file", cube}}) + '\n');
  (void)talk.work(Conversation::Clock::time_point::max());
  other.receive(request("open", {{"file", cube}}) + '\n');
  (void)other.work(Conversation::Clock::time_point::max());
  const std::vector<Json> first = wait_for_answers(talk, state_, loader_, 1);
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first[0]["error"]["data"]["kind"], "cancelled");
  const std::vector<Json> second = wait_for_answers(other, state_, loader_, 1);
  ASSERT_EQ(second.size(), 1U);
  EXPECT_EQ(second[0]["result"]["solids"], 1);
}

TEST_F(Messages, ForgetsWhoLeavesBeforeTheResult) {
  Conversation talk(target_);
  talk.receive(request("open", {{"file", "/nowhere.dae"}}) + '\n');
  (void)talk.work(Conversation::Clock::time_point::max());
  EXPECT_FALSE(talk.finished());
  talk.end_input();
  EXPECT_FALSE(talk.finished()) << "it may still read";
  talk.close_output();
  EXPECT_TRUE(talk.finished());
}

}  // namespace
}  // namespace raylift::viewer
