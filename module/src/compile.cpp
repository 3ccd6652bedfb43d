// SPDX-License-Identifier: Apache-2.0
#include "compile.h"

#include <raylift/geometry/error.h>

#include <algorithm>
#include <span>

#include "compile_cache.h"

namespace raylift::detail {
namespace {

/// A program of NVRTC's.
class Program {
 public:
  Program(const Nvrtc& nvrtc, const std::string& source, const std::string& name) : nvrtc_(nvrtc) {
    std::vector<const char*> texts, names;
    for (const BuiltInHeader& header : std::span(kBuiltInHeaders, kBuiltInHeaderCount)) {
      texts.push_back(header.text);
      names.push_back(header.name);
    }
    check(nvrtc.create(&program_, source.c_str(), name.c_str(), static_cast<int>(texts.size()), texts.data(),
                       names.data()));
  }
  ~Program() { nvrtc_.destroy(&program_); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  [[nodiscard]] int compile(const std::vector<std::string>& options) {
    std::vector<const char*> words;
    for (const std::string& option : options) words.push_back(option.c_str());
    return nvrtc_.compile(program_, static_cast<int>(words.size()), words.data());
  }
  [[nodiscard]] std::string log() const { return text(nvrtc_.log_bytes, nvrtc_.log, 1); }
  [[nodiscard]] std::string ptx() const { return text(nvrtc_.ptx_bytes, nvrtc_.ptx, 1); }
  [[nodiscard]] std::string cubin() const { return text(nvrtc_.cubin_bytes, nvrtc_.cubin, 0); }
  void check(int code) const {
    if (code != 0) throw Error(ErrorKind::device, std::string("NVRTC failed: ") + nvrtc_.error_string(code));
  }

 private:
  /// Without the zero at a text's end.
  template <class Size, class Get>
  [[nodiscard]] std::string text(Size size, Get get, std::size_t zeros) const {
    std::size_t bytes = 0;
    check(size(program_, &bytes));
    std::string result(bytes, '\0');
    if (bytes != 0) check(get(program_, result.data()));
    if (bytes >= zeros) result.resize(bytes - zeros);
    return result;
  }
  const Nvrtc& nvrtc_;
  NvrtcProgram* program_ = nullptr;
};

/// The architecture to compile for, and whether the device takes that code as it is.
struct Target {
  std::string architecture;
  bool exact;
};

Target target_of(const Nvrtc& nvrtc, int capability) {
  const auto above = std::upper_bound(nvrtc.supported.begin(), nvrtc.supported.end(), capability);
  if (above == nvrtc.supported.begin())
    throw Error(ErrorKind::device,
                "NVRTC " + std::to_string(nvrtc.major) + '.' + std::to_string(nvrtc.minor) +
                    " does not compile for compute capability " + std::to_string(capability / 10) + '.' +
                    std::to_string(capability % 10),
                {}, "set RAYLIFT_NVRTC to an older one");
  const int best = *(above - 1);
  return {(best == capability ? "sm_" : "compute_") + std::to_string(best), best == capability};
}

/// Throws for a source that does not compile: the first error decides where.
[[noreturn]] void fail(int code, const std::string& log, const std::string& name, const Nvrtc& nvrtc) {
  if (code == Nvrtc::kInvalidOption) throw Error(ErrorKind::usage, "NVRTC refuses an option: " + log);
  if (code != Nvrtc::kCompilation)
    throw Error(ErrorKind::device, std::string("NVRTC failed: ") + nvrtc.error_string(code) + "\n" + log);
  Error::Where where{name, ""};
  // "kernel.cu(12): error: ..."
  std::size_t at = log.find("): error");
  at = std::min(at, log.find("): catastrophic error"));
  if (at != std::string::npos) {
    const std::size_t begin = log.rfind('\n', at) + 1, open = log.rfind('(', at);
    if (open != std::string::npos && open >= begin)
      where = {log.substr(begin, open - begin), "line " + log.substr(open + 1, at - open - 1)};
  }
  throw Error(ErrorKind::malformed, "the kernel does not compile:\n" + log, where);
}

}  // namespace

Compiled compile(const Nvrtc& nvrtc, std::string_view source, int capability, const ModuleOptions& options) {
  const Target target = target_of(nvrtc, capability);
  std::vector<std::string> words{"--gpu-architecture=" + target.architecture, "--std=c++20"};
  for (const std::filesystem::path& folder : options.include_folders)
    words.push_back("--include-path=" + folder.string());
  words.insert(words.end(), options.compiler.begin(), options.compiler.end());

  const CompileCache cache(nvrtc, source, words, options);
  if (std::optional<Compiled> found = cache.read()) return std::move(*found);

  Program program(nvrtc, std::string(source), options.name);
  const int code = program.compile(words);
  if (code != 0) fail(code, program.log(), options.name, nvrtc);
  Compiled compiled;
  const std::string ptx = program.ptx();
  compiled.kernels = kernels_of_ptx(ptx);
  compiled.image = target.exact ? program.cubin() : ptx;
  cache.write(compiled);
  return compiled;
}

void check_arguments(const Kernel& kernel, std::span<const std::size_t> bytes) {
  const std::vector<std::size_t>& wanted = kernel.parameters;
  if (bytes.size() != wanted.size())
    throw Error(ErrorKind::usage, "the kernel '" + kernel.name + "' takes " + std::to_string(wanted.size()) +
                                      " arguments, and was given " + std::to_string(bytes.size()));
  for (std::size_t i = 0; i != wanted.size(); ++i)
    if (bytes[i] != wanted[i])
      throw Error(ErrorKind::usage,
                  "argument " + std::to_string(i + 1) + " of the kernel '" + kernel.name + "' has " +
                      std::to_string(wanted[i]) + " bytes, and was given " + std::to_string(bytes[i]),
                  {}, "give it the type that the kernel has");
}

}  // namespace raylift::detail
