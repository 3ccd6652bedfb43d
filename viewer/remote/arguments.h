// SPDX-License-Identifier: Apache-2.0
// The parameters of a request, checked by the table of verbs; and the same from the words of a command line.
#pragma once

#include <Eigen/Core>
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
  /// `given`: an object, by names, or an array, in the table's order; null is as if left out. Throws Error(usage) that
  /// names the parameter.
  Arguments(const Verb& verb, const Json& given);
  /// Of words as --send takes them: "name=value", or a value alone for the verb's first parameter; or one JSON object.
  /// Files become absolute. Throws Error(usage).
  static Arguments of_words(const Verb& verb, std::span<const std::string> words);

  [[nodiscard]] bool has(std::string_view name) const { return values_.contains(name); }
  [[nodiscard]] bool empty() const { return values_.empty(); }
  // Nothing where the parameter is left out.
  [[nodiscard]] std::optional<std::string> text(std::string_view name) const;
  [[nodiscard]] std::optional<double> number(std::string_view name) const;
  [[nodiscard]] std::optional<bool> flag(std::string_view name) const;
  [[nodiscard]] std::optional<Eigen::Vector3d> point(std::string_view name) const;
  // Empty where it is left out.
  [[nodiscard]] std::vector<Eigen::Vector3d> points(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> texts(std::string_view name) const;

  /// An object by names. Lists are arrays.
  [[nodiscard]] const Json& json() const { return values_; }

 private:
  Json values_ = Json::object();
};

}  // namespace raylift::viewer
