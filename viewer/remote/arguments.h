// SPDX-License-Identifier: Apache-2.0
// The parameters of a request, from JSON or from the words of a command line, checked against the table of verbs.
#pragma once

#include <Eigen/Core>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "remote/verbs.h"

namespace raylift::viewer {

inline constexpr std::size_t kLongestText = 4096;  ///< of a parameter, in bytes
inline constexpr std::size_t kMaxTexts = 100;      ///< of a list

class Arguments {
 public:
  /// `given`: an object; a null counts as left out. Throws Error(usage) that names the parameter.
  Arguments(const Verb& verb, const Json& given);
  /// Reads words of --send: "name=value", or a value alone for the verb's first parameter. Files become absolute.
  /// Throws Error(usage).
  static Arguments of_words(const Verb& verb, std::span<const std::string> words);

  [[nodiscard]] std::string_view verb() const { return verb_; }
  [[nodiscard]] bool has(std::string_view name) const { return values_.contains(name); }
  [[nodiscard]] bool empty() const { return values_.empty(); }
  // None where the parameter is left out.
  [[nodiscard]] std::optional<std::string> text(std::string_view name) const { return value<std::string>(name); }
  [[nodiscard]] std::optional<double> number(std::string_view name) const { return value<double>(name); }
  [[nodiscard]] std::optional<bool> flag(std::string_view name) const { return value<bool>(name); }
  [[nodiscard]] std::optional<Eigen::Vector3d> point(std::string_view name) const;
  // Empty where the parameter is left out. `find`: the point that a text of the list means.
  [[nodiscard]] std::vector<Eigen::Vector3d> points(
      std::string_view name, const std::function<Eigen::Vector3d(const std::string&)>& find) const;
  [[nodiscard]] std::vector<std::string> texts(std::string_view name) const {
    return value<std::vector<std::string>>(name).value_or(std::vector<std::string>());
  }

  /// All parameters as an object. Lists are arrays.
  [[nodiscard]] const Json& json() const { return values_; }

 private:
  template <class T>
  [[nodiscard]] std::optional<T> value(std::string_view name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? std::nullopt : std::optional(found->get<T>());
  }

  std::string_view verb_;
  Json values_ = Json::object();
};

}  // namespace raylift::viewer
