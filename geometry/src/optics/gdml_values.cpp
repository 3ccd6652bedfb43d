// SPDX-License-Identifier: Apache-2.0
#include "gdml_values.h"

#include <raylift/geometry/error.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <numbers>

#include "base/parse_number.h"
#include "base/suggest.h"
#include "base/units.h"

namespace raylift::detail {
namespace {

constexpr std::size_t kMaxDepth = 64;

using base::Unit;

constexpr auto kLengths = std::to_array<Unit>({{"mm", 1},
                                               {"cm", 10},
                                               {"m", 1e3},
                                               {"km", 1e6},
                                               {"um", 1e-3},
                                               {"nm", 1e-6},
                                               {"angstrom", 1e-7},
                                               {"millimeter", 1},
                                               {"centimeter", 10},
                                               {"meter", 1e3},
                                               {"micrometer", 1e-3},
                                               {"nanometer", 1e-6}});
constexpr auto kAngles = std::to_array<Unit>(
    {{"rad", 1}, {"radian", 1}, {"mrad", 1e-3}, {"deg", std::numbers::pi / 180}, {"degree", std::numbers::pi / 180}});
constexpr auto kOtherUnits = std::to_array<Unit>({{"ns", 1},
                                                  {"ps", 1e-3},
                                                  {"us", 1e3},
                                                  {"ms", 1e6},
                                                  {"s", 1e9},
                                                  {"nanosecond", 1},
                                                  {"second", 1e9},
                                                  {"MeV", 1},
                                                  {"keV", 1e-3},
                                                  {"eV", 1e-6},
                                                  {"GeV", 1e3},
                                                  {"TeV", 1e6},
                                                  {"perCent", 0.01},
                                                  {"mm2", 1},
                                                  {"cm2", 1e2},
                                                  {"m2", 1e6},
                                                  {"mm3", 1},
                                                  {"cm3", 1e3},
                                                  {"m3", 1e9},
                                                  {"kelvin", 1},
                                                  {"pi", std::numbers::pi},
                                                  {"e", std::numbers::e}});

constexpr const char* kAdvice =
    "write it with numbers, + - * / ^, parentheses, functions, names of constants, and units";

/// The functions of Geant4's evaluator (CLHEP's), by the number of their arguments.
using OneArgument = double (*)(double);
using TwoArguments = double (*)(double, double);
template <class Function>
struct Named {
  std::string_view name;
  Function function;
};
constexpr auto kOneArgument = std::to_array<Named<OneArgument>>({{"abs", std::abs},
                                                                 {"sqrt", std::sqrt},
                                                                 {"sin", std::sin},
                                                                 {"cos", std::cos},
                                                                 {"tan", std::tan},
                                                                 {"asin", std::asin},
                                                                 {"acos", std::acos},
                                                                 {"atan", std::atan},
                                                                 {"sinh", std::sinh},
                                                                 {"cosh", std::cosh},
                                                                 {"tanh", std::tanh},
                                                                 {"exp", std::exp},
                                                                 {"log", std::log},
                                                                 {"log10", std::log10}});
constexpr auto kTwoArguments =
    std::to_array<Named<TwoArguments>>({{"min", [](double x, double y) { return std::min(x, y); }},
                                        {"max", [](double x, double y) { return std::max(x, y); }},
                                        {"pow", std::pow},
                                        {"atan2", std::atan2}});

template <class Table>
auto function_of(const Table& table, std::string_view name) -> decltype(table.front().function) {
  const auto found = std::find_if(table.begin(), table.end(), [&](const auto& one) { return one.name == name; });
  return found == table.end() ? nullptr : found->function;
}

std::vector<std::string> names_of(const std::unordered_map<std::string, pugi::xml_node>& definitions) {
  std::vector<std::string> names;
  for (const auto& [name, node] : definitions) names.push_back(name);
  return names;
}

}  // namespace

bool is_length_unit(std::string_view name) {
  return base::value_of(name, kLengths).has_value();
}

bool is_angle_unit(std::string_view name) {
  return base::value_of(name, kAngles).has_value();
}

/// While one exists, a definition is being read: variables have the values of their definitions.
class GdmlValues::Definition {
 public:
  Definition(GdmlValues& values, const std::string& where) : values_(values) {
    if (values_.depth_ == kMaxDepth)
      throw Error(ErrorKind::malformed,
                  "definitions refer to each other in a circle, or more than " + std::to_string(kMaxDepth) + " deep",
                  {values_.file_, where});
    ++values_.depth_;
  }
  ~Definition() { --values_.depth_; }
  Definition(const Definition&) = delete;
  Definition& operator=(const Definition&) = delete;

 private:
  GdmlValues& values_;
};

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
    throw Error(ErrorKind::malformed, "in '" + std::string(text_) + "', " + what, {values_.file_, element_}, kAdvice);
  }

  void skip() {
    while (at_ != text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }

  [[nodiscard]] bool follows(std::string_view text) const { return text_.substr(at_).starts_with(text); }

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
      if (!follows("**") && take('*'))
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
    const double result = power();
    return negative ? -result : result;
  }

  /// Before signs, and from left to right, as in Geant4.
  double power() {
    double result = atom();
    skip();
    while (follows("^") || follows("**")) {
      at_ += follows("^") ? 1 : 2;
      skip();
      if (follows("-") || follows("+")) fail("an exponent has a sign, for which Geant4 computes another number");
      result = std::pow(result, atom());
      skip();
    }
    return result;
  }

  /// What stands between parentheses or brackets of which the first was taken, separated by commas.
  std::vector<double> list(char end) {
    if (++open_ > kMaxDepth) fail("parentheses are nested deeper than " + std::to_string(kMaxDepth));
    std::vector<double> values;
    do values.push_back(sum());
    while (take(','));
    if (!take(end)) fail(std::string("a '") + end + "' is missing");
    --open_;
    return values;
  }

  double call(const std::string& name) {
    const std::vector<double> arguments = list(')');
    const OneArgument one = function_of(kOneArgument, name);
    const TwoArguments two = function_of(kTwoArguments, name);
    if (one != nullptr && arguments.size() == 1) return one(arguments[0]);
    if (two != nullptr && arguments.size() == 2) return two(arguments[0], arguments[1]);
    if (one != nullptr || two != nullptr)
      fail(name + "() has " + std::to_string(arguments.size()) + " arguments, and takes " +
           (one != nullptr ? "1" : "2"));
    fail("there is no function '" + name + "()'");
  }

  double atom() {
    if (take('(')) {
      const std::vector<double> inside = list(')');
      if (inside.size() != 1) fail("a ',' stands outside of a function");
      return inside.front();
    }
    const auto letter = [&](std::size_t at) {
      return at != text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at])) != 0 || text_[at] == '_');
    };
    if (letter(at_) && std::isdigit(static_cast<unsigned char>(text_[at_])) == 0) {
      const std::size_t begin = at_;
      while (letter(at_)) ++at_;
      const std::string name(text_.substr(begin, at_ - begin));
      if (take('(')) return call(name);
      if (take('[')) return values_.element_of(name, list(']'), element_);
      return values_.named(name, std::string(text_), element_);
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
  add(define);
}

void GdmlValues::add(const pugi::xml_node& define) {
  for (const pugi::xml_node node : define.children()) {
    const std::string_view kind = node.name();
    const std::string name = node.attribute("name").value();
    // Geant4 ends the program at the second one.
    if ((kind == "constant" || kind == "quantity" || kind == "variable" || kind == "expression") &&
        !numbers_.emplace(name, node).second)
      throw Error(ErrorKind::malformed, "two constants, quantities or variables are called '" + name + "'",
                  {file_, "<define>"}, "keep one of them");
    if (kind == "matrix" && !matrices_.emplace(name, node).second)
      throw Error(ErrorKind::malformed, "two matrices are called '" + name + "'", {file_, "<define>"},
                  "keep one of them");
  }
}

double GdmlValues::evaluate(std::string_view expression, const std::string& element) {
  return Expression(*this, expression, element).value();
}

double GdmlValues::evaluate_defined(std::string_view expression, const std::string& element) {
  const Definition within(*this, element);
  return evaluate(expression, element);
}

std::int64_t GdmlValues::evaluate_integer(std::string_view expression, const std::string& element) {
  const double value = evaluate(expression, element);
  constexpr double kMax = 9007199254740992.0;  // the integers up to here are doubles
  if (value != std::floor(value) || std::abs(value) > kMax)
    throw Error(ErrorKind::malformed, "'" + std::string(expression) + "' is no whole number", {file_, element});
  return static_cast<std::int64_t>(value);
}

void GdmlValues::set(const std::string& name, double value, const std::string& element) {
  const auto definition = numbers_.find(name);
  if (definition == numbers_.end() || std::string_view(definition->second.name()) != "variable") {
    std::vector<std::string> variables;
    for (const auto& [known, node] : numbers_)
      if (std::string_view(node.name()) == "variable") variables.push_back(known);
    throw Error(ErrorKind::malformed, "no <variable> is called '" + name + "'" + base::did_you_mean(name, variables),
                {file_, element}, "define it in <define>");
  }
  set_[name] = value;
}

std::string GdmlValues::expand_name(std::string_view name, const std::string& element) {
  std::string result;
  while (true) {
    const std::size_t open = name.find('[');
    const std::size_t close = name.find(']', open == std::string_view::npos ? 0 : open);
    result += name.substr(0, open);
    if (open == std::string_view::npos && close == std::string_view::npos) return result;
    if (open == std::string_view::npos || close == std::string_view::npos)
      throw Error(ErrorKind::malformed, "the brackets of '" + std::string(name) + "' do not match", {file_, element});
    std::string_view indices = name.substr(open + 1, close - open - 1);
    while (true) {
      const std::size_t comma = indices.find(',');
      result += '_' + std::to_string(evaluate_integer(indices.substr(0, comma), element) - 1);
      if (comma == std::string_view::npos) break;
      indices.remove_prefix(comma + 1);
    }
    name.remove_prefix(close + 1);
  }
}

double GdmlValues::named(const std::string& name, const std::string& expression, const std::string& element) {
  if (depth_ == 0)
    if (const auto found = set_.find(name); found != set_.end()) return found->second;
  if (const auto found = known_.find(name); found != known_.end()) return found->second;
  const auto definition = numbers_.find(name);
  if (definition == numbers_.end()) {
    for (const std::span<const Unit> units : {std::span<const Unit>(kLengths), {kAngles}, {kOtherUnits}})
      if (const auto unit = base::value_of(name, units)) return *unit;
    throw Error(
        ErrorKind::malformed,
        "in '" + expression + "', nothing is called '" + name + "'" + base::did_you_mean(name, names_of(numbers_)),
        {file_, element}, kAdvice);
  }
  const pugi::xml_node node = definition->second;
  const std::string where = std::string("<") + node.name() + "> '" + name + "'";
  const Definition reading(*this, where);
  const bool in_text = std::string_view(node.name()) == "expression";
  double value = evaluate(in_text ? node.child_value() : node.attribute("value").value(), where);
  if (const pugi::xml_attribute unit = node.attribute("unit")) value *= evaluate(unit.value(), where);
  known_[name] = value;
  return value;
}

double GdmlValues::element_of(const std::string& name, const std::vector<double>& indices, const std::string& element) {
  const auto [entry, inserted] = elements_.try_emplace(name);
  GdmlMatrix& matrix = entry->second;
  if (matrix.columns == 0) {
    const auto found = matrices_.find(name);
    if (found == matrices_.end())
      throw Error(
          ErrorKind::malformed,
          "it refers to '" + name + "', and no matrix is called so" + base::did_you_mean(name, names_of(matrices_)),
          {file_, element});
    matrix = read_matrix(found->second, "<matrix> '" + name + "'");
  }
  const std::size_t rows = matrix.values.size() / matrix.columns;
  const bool line = rows == 1 || matrix.columns == 1;
  const auto fail = [&](const std::string& what) {
    throw Error(ErrorKind::malformed,
                what + ": matrix '" + name + "' has " + std::to_string(rows) + " rows and " +
                    std::to_string(matrix.columns) + " columns",
                {file_, element}, "indices count from 1; a matrix of one row or column takes one");
  };
  if (indices.size() != (line ? 1U : 2U)) fail(std::to_string(indices.size()) + " indices");
  const auto index = [&](double value, std::size_t most) {
    if (!(value >= 1 && value <= static_cast<double>(most)) || value != std::floor(value))
      fail("an index is out of range");
    return static_cast<std::size_t>(value) - 1;
  };
  if (line) return matrix.values[index(indices[0], matrix.values.size())];
  return matrix.values[index(indices[0], rows) * matrix.columns + index(indices[1], matrix.columns)];
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
  GdmlMatrix matrix = read_matrix(found->second, where);
  if (matrix.columns > 2)
    throw Error(
        ErrorKind::malformed,
        "coldim is " + std::string(found->second.attribute("coldim").value()) + ", and optical properties have 1 or 2",
        {file_, where});
  return matrix;
}

GdmlMatrix GdmlValues::read_matrix(const pugi::xml_node& node, const std::string& where) {
  const Definition reading(*this, where);
  const std::string coldim = node.attribute("coldim").as_string("1");
  const double columns = evaluate(coldim, where);
  constexpr double kMaxColumns = 1e6;
  if (!(columns >= 1 && columns <= kMaxColumns) || columns != std::floor(columns))
    throw Error(ErrorKind::malformed, "coldim is " + coldim + ", no number of columns", {file_, where});
  GdmlMatrix matrix{static_cast<std::size_t>(columns), {}};
  constexpr std::string_view kBlank = " \t\r\n";
  const std::string_view text = node.attribute("values").value();
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
