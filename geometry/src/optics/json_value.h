// SPDX-License-Identifier: Apache-2.0
// JSON that a person wrote: every value holds its place, which errors name ("materials.Water.RINDEX.values[3]").
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace raylift::detail {

/// Keeps the order of members.
using Json = nlohmann::ordered_json;

/// The events of a text's parsing, of which a visitor overrides what it needs.
class JsonEvents : public Json::json_sax_t {
 public:
  bool null() override { return true; }
  bool boolean(bool /*value*/) override { return true; }
  bool number_integer(std::int64_t /*value*/) override { return true; }
  bool number_unsigned(std::uint64_t /*value*/) override { return true; }
  bool number_float(double /*value*/, const std::string& /*text*/) override { return true; }
  bool string(std::string& /*text*/) override { return true; }
  bool binary(Json::binary_t& /*bytes*/) override { return true; }
  bool start_object(std::size_t /*members*/) override { return true; }
  bool key(std::string& /*name*/) override { return true; }
  bool end_object() override { return true; }
  bool start_array(std::size_t /*elements*/) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t /*byte*/, const std::string& /*token*/, const Json::exception& /*error*/) override {
    return false;
  }
};

/// Parses a text for its events alone, in memory that does not grow with it. Throws Error: malformed (no JSON), limit
/// (those of base::JsonLimits), and what the visitor throws.
void visit_json(const std::string& text, const std::string& file, JsonEvents& visitor);

/// Throws Error: malformed (no JSON, a member that occurs twice), limit (those of base::JsonLimits, more than 20,000
/// members of one object). `file` is for messages.
[[nodiscard]] Json parse_json(const std::string& text, const std::string& file);

/// A member's place below that of its object.
[[nodiscard]] std::string json_path(const std::string& object, std::string_view member);

/// A value in a document, which must outlive it. Every look throws Error(malformed) where the value is not of that
/// kind.
class JsonValue {
 public:
  JsonValue(const Json& json, std::string path, const std::string& file)
      : json_(&json), path_(std::move(path)), file_(&file) {}

  [[nodiscard]] bool is_null() const { return json_->is_null(); }
  [[nodiscard]] bool is_object() const { return json_->is_object(); }
  [[nodiscard]] bool is_array() const { return json_->is_array(); }
  [[nodiscard]] bool is_number() const { return json_->is_number(); }
  [[nodiscard]] bool is_string() const { return json_->is_string(); }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const std::string& file() const { return *file_; }

  [[nodiscard]] std::string text() const;
  [[nodiscard]] double number() const;
  [[nodiscard]] std::int64_t integer() const;
  [[nodiscard]] std::vector<double> numbers() const;
  [[nodiscard]] std::vector<JsonValue> elements() const;
  [[nodiscard]] std::vector<std::pair<std::string, JsonValue>> members() const;

  [[nodiscard]] bool has(std::string_view member) const { return json_->contains(member); }
  /// A member that must be there.
  [[nodiscard]] JsonValue at(std::string_view member) const;
  /// Throws unless this is an object without other members than these and "comment".
  void allow(std::initializer_list<std::string_view> members) const;

  /// `what` follows the value's place.
  [[noreturn]] void fail(const std::string& what, std::string_view advice = {}) const;

 private:
  void expect(bool is, const char* what) const;

  const Json* json_;
  std::string path_;
  const std::string* file_;
};

}  // namespace raylift::detail
