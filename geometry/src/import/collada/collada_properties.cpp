// SPDX-License-Identifier: Apache-2.0
// Tables and constants as G4DAE writes them: <matrix> or <constant>, and a <property> that gives it a key.
#include <algorithm>
#include <cmath>

#include "collada_optics.h"
#include "collada_text.h"
#include "optics/property_table.h"

namespace raylift::collada {
namespace {

constexpr std::size_t kMaxProperties = 1000;    // of one material or surface
constexpr std::size_t kMaxNumbers = 2'000'000;  // of one table
constexpr std::size_t kCutOff = 255;  // characters of an attribute: all that the exporter's older variant writes
constexpr double kEvPerMeV = 1e6;

class Reader {
 public:
  Reader(const Source& source, Scene& scene, PropertyOf of, const std::string& owner)
      : source_(source), scene_(scene), of_(of), owner_(owner) {}

  OpticalProperties read(const std::vector<pugi::xml_node>& parents) {
    for (const pugi::xml_node parent : parents)
      for (const pugi::xml_node child : parent.children())
        if (is(child, "matrix") || is(child, "constant")) define(child);
    for (const pugi::xml_node parent : parents)
      for (const pugi::xml_node property : parent.children("property")) add(property);
    for (const pugi::xml_node element : order_)
      if (!definitions_.at(element.attribute("name").value()).used)
        warn("no property refers to " + describe(element) + ", which is left out");
    return std::move(result_);
  }

 private:
  struct Definition {
    pugi::xml_node element;
    bool used = false;
  };

  void warn(const std::string& text) { scene_.report.warnings.push_back(owner_ + ": " + text); }

  [[noreturn]] void fail_at(pugi::xml_node element, const std::string& problem, std::string_view advice) const {
    fail(ErrorKind::malformed, problem, source_, element, advice);
  }

  void define(pugi::xml_node element) {
    const std::string_view name = required(source_, element, "name");
    if (!definitions_.try_emplace(name, Definition{element}).second)
      fail_at(element, "two tables or constants are called '" + std::string(name) + "'", "keep one of them");
    order_.push_back(element);
    check_count(element, definitions_.size());
  }

  void check_count(pugi::xml_node element, std::size_t count) const {
    if (count > kMaxProperties)
      fail(ErrorKind::limit, owner_ + " has more than " + std::to_string(kMaxProperties) + " properties", source_,
           element);
  }

  void add(pugi::xml_node property) {
    const std::string key(required(source_, property, "name"));
    const std::string_view ref = required(source_, property, "ref");
    check_count(property, result_.tables.size() + result_.constants.size() + 1);
    const auto found = definitions_.find(ref);
    if (found == definitions_.end()) {
      warn("the property " + key + " refers to '" + std::string(ref) + "', which is not there");
      return;
    }
    found->second.used = true;
    const pugi::xml_node element = found->second.element;
    if (is(element, "constant"))
      result_.constants.push_back({key, number(source_, element, "value")});
    else
      add_matrix(key, element);
  }

  void add_matrix(const std::string& key, pugi::xml_node matrix) {
    const std::vector<double> numbers = read_numbers(key, matrix);
    const std::uint64_t columns = unsigned_attribute(matrix, "coldim", 2, source_);
    if (columns == 1 && numbers.size() == 1) {
      result_.constants.push_back({key, numbers.front()});
      return;
    }
    if (columns != 2)
      fail_at(matrix, key + " has " + std::to_string(columns) + " columns, and a table has two: energy and value",
              "export it again");
    if (numbers.size() % 2 != 0)
      fail_at(matrix, key + " has " + std::to_string(numbers.size()) + " numbers, and they must be pairs",
              "the table may have been cut off; export it again");
    OpticalTable table{key, OpticalTable::Axis::energy_ev, {}, {}};
    for (std::size_t i = 0; i != numbers.size(); i += 2) {
      table.at.push_back(kEvPerMeV * numbers[i]);
      table.values.push_back(numbers[i + 1]);
    }
    add_table(std::move(table));
  }

  /// The numbers of a <matrix>: its text, or in the older variant an attribute.
  std::vector<double> read_numbers(const std::string& key, pugi::xml_node matrix) {
    const pugi::xml_attribute attribute = matrix.attribute("values");
    std::string joined;
    const std::string_view text = attribute ? attribute.value() : text_of(matrix, joined);
    if (attribute && text.size() == kCutOff)
      fail_at(matrix, key + " is cut off: its attribute has " + std::to_string(kCutOff) + " characters",
              "older exporters write no more; export it again with one that writes tables as text");
    const Floats scan = read_floats(text);
    if (scan.bad) fail_at(matrix, key + ": '" + *scan.bad + "' is no number", "correct the table");
    if (scan.values.size() > kMaxNumbers)
      fail(ErrorKind::limit,
           key + " has " + std::to_string(scan.values.size()) + " numbers, and the limit is " +
               std::to_string(kMaxNumbers),
           source_, matrix);
    std::vector<double> numbers = read_reals(text).value_or(std::vector<double>());
    const auto bad = std::find_if(numbers.begin(), numbers.end(), [](double value) { return !std::isfinite(value); });
    if (bad != numbers.end())
      fail_at(matrix,
              key + ": " + std::to_string(*bad) + " (number " + std::to_string(bad - numbers.begin() + 1) +
                  ") is not finite",
              "correct the table");
    return numbers;
  }

  /// Experiments write constants as tables of one value, some from -1 to 1 MeV; and 0 for an index that is not used.
  void add_table(OpticalTable table) {
    const std::vector<double>& values = table.values;
    const bool one_value = !values.empty() && std::all_of(values.begin(), values.end(),
                                                          [&](double value) { return value == values.front(); });
    const PropertyInfo* info = find_property(of_, table.key);
    const bool positive = std::all_of(table.at.begin(), table.at.end(), [](double at) { return at > 0; });
    if (one_value && (info == nullptr ? !positive : !info->table)) {
      result_.constants.push_back({std::move(table.key), values.front()});
    } else if (of_ == PropertyOf::surface && table.key == "RINDEX" && one_value && values.front() == 0) {
      warn("RINDEX is 0 at all energies, and is left out");
    } else {
      result_.tables.push_back(std::move(table));
    }
  }

  const Source& source_;
  Scene& scene_;
  PropertyOf of_;
  const std::string& owner_;
  std::unordered_map<std::string_view, Definition> definitions_;
  std::vector<pugi::xml_node> order_;
  OpticalProperties result_;
};

}  // namespace

OpticalProperties read_properties(const Source& source, Scene& scene, const std::vector<pugi::xml_node>& parents,
                                  PropertyOf of, const std::string& owner) {
  return Reader(source, scene, of, owner).read(parents);
}

std::string_view required(const Source& source, pugi::xml_node element, const char* attribute) {
  const std::string_view text = element.attribute(attribute).value();
  if (text.empty())
    fail(ErrorKind::malformed, std::string("the attribute '") + attribute + "' is missing", source, element);
  if (text.size() > kMaxName)
    fail(ErrorKind::limit,
         std::string("the attribute '") + attribute + "' has " + std::to_string(text.size()) +
             " characters, and the limit is " + std::to_string(kMaxName),
         source, element.parent());
  return text;
}

double number(const Source& source, pugi::xml_node element, const char* attribute) {
  const std::string_view text = required(source, element, attribute);
  const auto value = read_reals(text);
  if (!value || value->size() != 1 || !std::isfinite(value->front()))
    fail(ErrorKind::malformed, std::string(attribute) + "='" + std::string(text) + "' is no finite number", source,
         element);
  return value->front();
}

}  // namespace raylift::collada
