// SPDX-License-Identifier: Apache-2.0
#include "json_value.h"

#include <raylift/geometry/error.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "base/json.h"
#include "base/suggest.h"

namespace raylift::detail {
namespace {

// A member takes a look at those before it.
constexpr std::size_t kMaxMembers = 20'000;  // of one object
constexpr std::uint64_t kMaxLooks = std::uint64_t{1} << 30;

/// Refuses members that occur twice, and too many.
class MemberCheck : public JsonEvents {
 public:
  explicit MemberCheck(const std::string& file) : file_(file) {}

  bool start_object(std::size_t /*members*/) override {
    open_.emplace_back();
    return true;
  }
  bool end_object() override {
    open_.pop_back();
    return true;
  }
  bool key(std::string& name) override {
    std::set<std::string>& members = open_.back();
    if (!members.insert(name).second)
      throw Error(ErrorKind::malformed, "'" + name + "' occurs twice in one object", {file_, ""}, "keep one of them");
    if (members.size() > kMaxMembers)
      throw Error(ErrorKind::limit, "an object has more than " + std::to_string(kMaxMembers) + " members", {file_, ""});
    looks_ += members.size();
    if (looks_ > kMaxLooks) throw Error(ErrorKind::limit, "too many objects have thousands of members", {file_, ""});
    return true;
  }

 private:
  const std::string& file_;
  std::vector<std::set<std::string>> open_;
  std::uint64_t looks_ = 0;
};

}  // namespace

void visit_json(const std::string& text, const std::string& file, JsonEvents& visitor) {
  base::JsonFault fault{true, base::json_excess(text)};
  if (fault.what.empty()) {
    if (Json::sax_parse(text, &visitor)) return;
    (void)base::parse_json<Json>(text, &fault);
  }
  throw fault.exceeds_limit ? Error(ErrorKind::limit, "the JSON is " + fault.what, {file, ""})
                            : Error(ErrorKind::malformed, "no valid JSON: " + fault.what, {file, ""});
}

Json parse_json(const std::string& text, const std::string& file) {
  MemberCheck check(file);
  visit_json(text, file, check);
  return base::parse_json<Json>(text);
}

std::string json_path(const std::string& object, std::string_view member) {
  const bool plain = !member.empty() && std::all_of(member.begin(), member.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '*' || c == '$';
  });
  if (!plain) return object + "[\"" + std::string(member) + "\"]";
  return object + (object.empty() ? "" : ".") + std::string(member);
}

void JsonValue::fail(const std::string& what, std::string_view advice) const {
  throw Error(ErrorKind::malformed, (path_.empty() ? "the document" : path_) + " " + what, {*file_, ""}, advice);
}

void JsonValue::expect(bool is, const char* what) const {
  if (!is) fail(std::string("is ") + json_->type_name() + ", and " + what + " is expected");
}

std::string JsonValue::text() const {
  expect(json_->is_string(), "a text");
  return json_->get<std::string>();
}

double JsonValue::number() const {
  expect(json_->is_number(), "a number");
  return json_->get<double>();
}

std::int64_t JsonValue::integer() const {
  expect(json_->is_number_integer(), "a whole number");
  if (json_->is_number_unsigned() && json_->get<std::uint64_t>() > INT64_MAX) fail("is too large");
  return json_->get<std::int64_t>();
}

std::vector<double> JsonValue::numbers() const {
  expect(json_->is_array(), "a list of numbers");
  std::vector<double> result;
  result.reserve(json_->size());
  for (const Json& one : *json_) {
    if (!one.is_number())
      JsonValue(one, path_ + '[' + std::to_string(result.size()) + ']', *file_).expect(false, "a number");
    result.push_back(one.get<double>());
  }
  return result;
}

std::vector<JsonValue> JsonValue::elements() const {
  expect(json_->is_array(), "a list");
  std::vector<JsonValue> result;
  for (const Json& one : *json_) result.emplace_back(one, path_ + '[' + std::to_string(result.size()) + ']', *file_);
  return result;
}

std::vector<std::pair<std::string, JsonValue>> JsonValue::members() const {
  expect(json_->is_object(), "an object");
  std::vector<std::pair<std::string, JsonValue>> result;
  for (const auto& [name, value] : json_->items())
    result.emplace_back(name, JsonValue(value, json_path(path_, name), *file_));
  return result;
}

JsonValue JsonValue::at(std::string_view member) const {
  expect(json_->is_object(), "an object");
  const auto found = json_->find(member);
  if (found == json_->end()) fail("lacks '" + std::string(member) + "'");
  return {*found, json_path(path_, member), *file_};
}

void JsonValue::allow(std::initializer_list<std::string_view> members) const {
  expect(json_->is_object(), "an object");
  for (const auto& [name, value] : json_->items()) {
    if (name == "comment" || std::find(members.begin(), members.end(), name) != members.end()) continue;
    fail("has an unknown field '" + name + "'" +
         base::did_you_mean(name, std::vector<std::string>(members.begin(), members.end())));
  }
}

}  // namespace raylift::detail
