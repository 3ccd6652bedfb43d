// SPDX-License-Identifier: Apache-2.0
// The kernels of a PTX text, and the sizes of their parameters. The compiler writes
//
//   .visible .entry _Z3addPKfi(
//   	.param .u64 .ptr .align 1 _Z3addPKfi_param_0,
//   	.param .align 8 .b8 _Z3addPKfi_param_1[504]
//   )
#include <cxxabi.h>
#include <raylift/geometry/error.h>

#include <cstdlib>
#include <memory>

#include "base/parse_number.h"
#include "compile.h"

namespace raylift::detail {
namespace {

[[noreturn]] void refuse(std::string_view what) {
  throw Error(ErrorKind::device, "NVRTC made PTX whose kernels can't be read: " + std::string(what));
}

/// "_Z3addPKfi" is "add", "_Z5scaleIfEvPT_i" is "scale<float>".
std::string name_of(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status),
                                                         &std::free);
  if (status != 0 || !text) return symbol;  // extern "C"
  // A template's name has the return type too. The first bracket outside of <> begins the parameters.
  std::string_view name(text.get());
  if (name.starts_with("void ")) name.remove_prefix(5);
  int depth = 0;
  for (std::size_t i = 0; i != name.size(); ++i) {
    if (name[i] == '<') ++depth;
    if (name[i] == '>') --depth;
    if (name[i] == '(' && depth == 0 && !name.substr(i).starts_with("(anonymous namespace)"))
      return std::string(name.substr(0, i));
  }
  return std::string(name);
}

/// The bytes of a parameter such as ".u64 .ptr .align 1 name" or ".align 8 .b8 name[504]".
std::size_t parameter_bytes(std::string_view text) {
  std::size_t bits = 0, elements = 1;
  for (std::size_t at = text.find('.'); at != std::string_view::npos; at = text.find('.', at + 1)) {
    if (at + 2 >= text.size() || std::string_view("busf").find(text[at + 1]) == std::string_view::npos) continue;
    std::size_t value = 0;
    std::string_view rest = text.substr(at + 2);
    if (base::read_number(rest, value) == std::errc() && (rest.starts_with(' ') || rest.starts_with('\t')))
      bits = value;
  }
  if (const std::size_t bracket = text.find('['); bracket != std::string_view::npos) {
    std::string_view rest = text.substr(bracket + 1);
    base::read_number(rest, elements);
  }
  if (bits == 0 || bits % 8 != 0) refuse(text);
  return bits / 8 * elements;
}

std::vector<std::size_t> parameters_of(std::string_view list) {
  std::vector<std::size_t> result;
  constexpr std::string_view kWord = ".param";
  for (std::size_t at = list.find(kWord); at != std::string_view::npos;) {
    const std::size_t next = list.find(kWord, at + kWord.size());
    result.push_back(parameter_bytes(list.substr(at + kWord.size(), next - at - kWord.size())));
    at = next;
  }
  return result;
}

}  // namespace

std::vector<Kernel> kernels_of_ptx(std::string_view ptx) {
  std::vector<Kernel> kernels;
  constexpr std::string_view kWord = ".entry ";
  for (std::size_t at = ptx.find(kWord); at != std::string_view::npos; at = ptx.find(kWord, at + 1)) {
    const std::size_t begin = at + kWord.size();
    const std::size_t end = ptx.find_first_of("( \t\r\n", begin);
    if (end == std::string_view::npos) refuse(ptx.substr(at, 80));
    Kernel kernel;
    kernel.symbol = ptx.substr(begin, end - begin);
    // A kernel without parameters has no brackets, or empty ones.
    const std::size_t open = ptx.find_first_not_of(" \t\r\n", end);
    if (open != std::string_view::npos && ptx[open] == '(') {
      const std::size_t close = ptx.find(')', open);
      if (close == std::string_view::npos) refuse(ptx.substr(at, 80));
      kernel.parameters = parameters_of(ptx.substr(open, close - open));
    }
    kernel.name = name_of(kernel.symbol);
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

}  // namespace raylift::detail
