// SPDX-License-Identifier: Apache-2.0
#include "loops.h"

#include <raylift/geometry/error.h>

#include <string_view>

namespace raylift::gdml {

void Loops::each(const pugi::xml_node& parent, const std::function<void(pugi::xml_node)>& read) {
  for (const pugi::xml_node element : parent.children()) {
    if (element.type() != pugi::node_element) continue;
    if (inside()) count();
    if (std::string_view(element.name()) == "loop")
      run(element, read);
    else
      read(element);
  }
}

void Loops::run(const pugi::xml_node& loop, const std::function<void(pugi::xml_node)>& read) {
  const std::string variable = loop.attribute("for").value();
  const std::string where = "loop '" + variable + "'";
  const auto bound = [&](const char* name) {
    if (const pugi::xml_attribute given = loop.attribute(name)) return values_.evaluate_integer(given.value(), where);
    throw Error(ErrorKind::malformed, std::string("it lacks '") + name + "'", {file_, where});
  };
  const std::int64_t to = bound("to"), step = bound("step");
  std::int64_t value = loop.attribute("from") ? bound("from") : values_.evaluate_integer(variable, where);
  if (step <= 0 || value > to)
    throw Error(ErrorKind::malformed,
                "from " + std::to_string(value) + " to " + std::to_string(to) + " by " + std::to_string(step) +
                    (value > to ? ", it never runs" : ", it never ends"),
                {file_, where}, "'to' is included, and steps are above 0");
  if (static_cast<std::uint64_t>(to - value) / static_cast<std::uint64_t>(step) >= most_ - counted_) fail_limit();
  ++inside_;
  for (; value <= to; value += step) {
    count();
    values_.set(variable, static_cast<double>(value), where);
    each(loop, read);
  }
  --inside_;
}

void Loops::count() {
  if (counted_++ == most_) fail_limit();
}

void Loops::fail_limit() const {
  throw Error(ErrorKind::limit, "the loops run over more than " + std::to_string(most_) + " elements", {file_, ""},
              "raise the limit with LoadLimits::instances");
}

}  // namespace raylift::gdml
