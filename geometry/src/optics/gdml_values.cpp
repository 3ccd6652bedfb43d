// SPDX-License-Identifier: Apache-2.0
#include "gdml_values.h"

#include <raylift/geometry/error.h>

#include <array>
#include <cctype>
#include <cmath>
#include <numbers>
#include <optional>

#include "base/parse_number.h"
#include "base/suggest.h"
#include "base/units.h"

namespace raylift::detail {
namespace {

constexpr std::size_t kMaxDepth = 64;

using base::Unit;

constexpr std::array kUnits{Unit{"mm", 1},
                            Unit{"cm", 10},
                            Unit{"m", 1e3},
                            Unit{"km", 1e6},
                            Unit{"um", 1e-3},
                            Unit{"nm", 1e-6},
                            Unit{"angstrom", 1e-7},
                            Unit{"millimeter", 1},
                            Unit{"centimeter", 10},
                            Unit{"meter", 1e3},
                            Unit{"micrometer", 1e-3},
                            Unit{"nanometer", 1e-6},
                            Unit{"ns", 1},
                            Unit{"ps", 1e-3},
                            Unit{"us", 1e3},
                            Unit{"ms", 1e6},
                            Unit{"s", 1e9},
                            Unit{"nanosecond", 1},
                            Unit{"second", 1e9},
                            Unit{"MeV", 1},
                            Unit{"keV", 1e-3},
                            Unit{"eV", 1e-6},
                            Unit{"GeV", 1e3},
                            Unit{"rad", 1},
                            Unit{"radian", 1},
                            Unit{"mrad", 1e-3},
                            Unit{"deg", std::numbers::pi / 180},
                            Unit{"degree", std::numbers::pi / 180},
                            Unit{"perCent", 0.01},
                            Unit{"pi", std::numbers::pi}};

std::vector<std::string> names_of(const std::unordered_map<std::string, pugi::xml_node>& definitions) {
  std::vector<std::string> names;
  for (const auto& [name, node] : definitions) names.push_back(name);
  return names;
}

}  // namespace

/// One expression, from left to right.
class GdmlValues::Expression {
 public:
  Expression(GdmlValues& values, std::string_view text, const std::string& element)
      : values_(values), text_(text), element_(element) {}

  double value() {
    const double result = sum();
    if (at_ != text_.size()) fail("'" + std::string(text_.substr(at_)) + "' is not understood");
    if (!std::isfinite(result)) fail("it is no finite number");
    return result;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorKind::malformed, "in '" + std::string(text_) + "', " + what, {values_.file_, element_},
                "write it with numbers, + - * /, parentheses, names of constants, and units");
  }

  void skip() {
    while (at_ != text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }

  bool take(char wanted) {
    skip();
    if (at_ == text_.size() || text_[at_] != wanted) return false;
    ++at_;
    skip();
    return true;
  }

  double sum() {
    double result = product();
    while (true) {
      if (take('+'))
        result += product();
      else if (take('-'))
        result -= product();
      else
        return result;
    }
  }

  double product() {
    double result = factor();
    while (true) {
      if (take('*'))
        result *= factor();
      else if (take('/'))
        result /= factor();
      else
        return result;
    }
  }

  double factor() {
    bool negative = false;
    while (true) {
      if (take('-'))
        negative = !negative;
      else if (!take('+'))
        break;
    }
    const double result = atom();
    skip();
    return negative ? -result : result;
  }

  double atom() {
    if (take('(')) {
      if (++open_ > kMaxDepth) fail("parentheses are nested deeper than " + std::to_string(kMaxDepth));
      const double result = sum();
      if (!take(')')) fail("a ')' is missing");
      --open_;
      return result;
    }
    const auto letter = [&](std::size_t at) {
      return at != text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at])) != 0 || text_[at] == '_');
    };
    if (letter(at_) && std::isdigit(static_cast<unsigned char>(text_[at_])) == 0) {
      const std::size_t begin = at_;
      while (letter(at_)) ++at_;
      return values_.named(std::string(text_.substr(begin, at_ - begin)), std::string(text_), element_);
    }
    double result = 0;
    std::string_view rest = text_.substr(at_);
    const std::errc error = base::read_number(rest, result);
    if (error == std::errc::result_out_of_range) fail("a number is out of range");
    if (error != std::errc())
      fail(at_ == text_.size() ? "a value is missing" : "'" + std::string(text_.substr(at_)) + "' is not understood");
    at_ = text_.size() - rest.size();
    return result;
  }

  GdmlValues& values_;
  std::string_view text_;
  const std::string& element_;
  std::size_t at_ = 0;
  std::size_t open_ = 0;
};

GdmlValues::GdmlValues(const pugi::xml_node& define, std::string file) : file_(std::move(file)) {
  for (const pugi::xml_node node : define.children()) {
    const std::string_view kind = node.name();
    const std::string name = node.attribute("name").value();
    // A variable that is set again has its last value, as all uses of optics come after <define>.
    if (kind == "constant" || kind == "quantity" || kind == "variable") numbers_[name] = node;
    if (kind == "matrix" && !matrices_.emplace(name, node).second)
      throw Error(ErrorKind::malformed, "two matrices are called '" + name + "'", {file_, "<define>"},
                  "keep one of them");
  }
}

double GdmlValues::evaluate(std::string_view expression, const std::string& element) {
  return Expression(*this, expression, element).value();
}

double GdmlValues::named(const std::string& name, const std::string& expression, const std::string& element) {
  if (const auto found = known_.find(name); found != known_.end()) return found->second;
  const auto definition = numbers_.find(name);
  if (definition == numbers_.end()) {
    if (const auto unit = base::value_of(name, kUnits)) return *unit;
    throw Error(
        ErrorKind::malformed,
        "in '" + expression + "', nothing is called '" + name + "'" + base::did_you_mean(name, names_of(numbers_)),
        {file_, element}, "write it with numbers, + - * /, parentheses, names of constants, and units");
  }
  const pugi::xml_node node = definition->second;
  const std::string where = std::string("<") + node.name() + "> '" + name + "'";
  if (++depth_ > kMaxDepth)
    throw Error(ErrorKind::malformed,
                "definitions refer to each other in a circle, or more than " + std::to_string(kMaxDepth) + " deep",
                {file_, where});
  double value = evaluate(node.attribute("value").value(), where);
  if (const pugi::xml_attribute unit = node.attribute("unit")) value *= evaluate(unit.value(), where);
  --depth_;
  known_[name] = value;
  return value;
}

GdmlMatrix GdmlValues::matrix(const std::string& name, const std::string& element) {
  const auto found = matrices_.find(name);
  if (found == matrices_.end()) {
    if (numbers_.contains(name)) return {1, {named(name, name, element)}};
    throw Error(
        ErrorKind::malformed,
        "it refers to '" + name + "', and no matrix is called so" + base::did_you_mean(name, names_of(matrices_)),
        {file_, element});
  }
  const std::string where = "<matrix> '" + name + "'";
  const double columns = evaluate(found->second.attribute("coldim").as_string("1"), where);
  if (columns != 1 && columns != 2)
    throw Error(
        ErrorKind::malformed,
        "coldim is " + std::string(found->second.attribute("coldim").value()) + ", and optical properties have 1 or 2",
        {file_, where});
  GdmlMatrix matrix{static_cast<std::size_t>(columns), {}};
  constexpr std::string_view kBlank = " \t\r\n";
  const std::string_view text = found->second.attribute("values").value();
  for (std::size_t at = text.find_first_not_of(kBlank); at != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(kBlank, at), text.size());
    matrix.values.push_back(evaluate(text.substr(at, end - at), where));
    at = text.find_first_not_of(kBlank, end);
  }
  if (matrix.values.empty() || matrix.values.size() % matrix.columns != 0)
    throw Error(
        ErrorKind::malformed,
        "it has " + std::to_string(matrix.values.size()) + " values in " + std::to_string(matrix.columns) + " columns",
        {file_, where}, "was the file cut off?");
  return matrix;
}

}  // namespace raylift::detail
