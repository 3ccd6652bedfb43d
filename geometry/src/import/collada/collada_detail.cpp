// SPDX-License-Identifier: Apache-2.0
#include "collada_detail.h"

#include <cstring>

#include "base/parse_number.h"

namespace raylift::collada {

std::uint64_t unsigned_attribute(pugi::xml_node element, const char* name, std::uint64_t missing,
                                 const Source& source) {
  const pugi::xml_attribute attribute = element.attribute(name);
  if (!attribute) return missing;
  std::string_view text = attribute.value();
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  const auto value = base::parse_number<std::uint64_t>(text);
  if (!value || *value > kMaxPoints)
    fail(ErrorKind::malformed,
         std::string(name) + "='" + attribute.value() + "' is no number from 0 to " + std::to_string(kMaxPoints),
         source, element);
  return *value;
}

bool is(pugi::xml_node element, const char* name) {
  return std::strcmp(element.name(), name) == 0;
}

}  // namespace raylift::collada
