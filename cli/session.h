// SPDX-License-Identifier: Apache-2.0
// What all commands share while they run: what was asked for in general, messages on standard error, progress, and the
// rule by which several files end in one exit code.
#pragma once

#include <raylift/geometry/error.h>
#include <raylift/geometry/progress.h>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "output.h"
#include "progress_bar.h"

namespace spdlog {
class logger;
}

namespace raylift::cli {

struct GeneralOptions {
  std::string verbosity = "warning";  ///< debug, info, warning, error or quiet
  bool no_progress = false;
  bool json = false;
};

/// Exit code of a negative answer: `check` found a mesh that is not watertight.
inline constexpr int kNegative = 1;

class Session {
 public:
  /// `program` is what messages begin with.
  explicit Session(const GeneralOptions& options, const std::string& program = "raylift");
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  [[nodiscard]] const GeneralOptions& options() const { return options_; }

  /// One line each on standard error, made printable.
  void debug(const std::string& message);
  void warn(const std::string& message);
  void report(const Error& error);

  /// What long work gets: draws the bar, and cancels after an interrupt. Ended stages go to `times`, where given.
  [[nodiscard]] Progress progress(std::vector<StageTime>* times = nullptr);
  /// Draws how far a batch is, `label` saying it in words.
  void show(std::string_view label, std::uint64_t done, std::uint64_t total) { bar_.show("batch", label, done, total); }
  /// Throws Error(cancelled) after an interrupt.
  void stop_if_interrupted() const;
  /// Writes to standard output, beside the bar.
  void write(const std::string& text);

  /// Does `work` on every file, also on those after one that failed, but not after an interrupt. `work` returns an exit
  /// code and, where JSON was asked for, fills in the value; for a file that failed it is an object with file and
  /// error. Returns the first error's code, else kNegative if any file had that, else 0.
  using Work = std::function<int(const std::string& file, Json& json)>;
  [[nodiscard]] int for_each_file(const std::vector<std::string>& files, const Work& work);

 private:
  GeneralOptions options_;
  ProgressBar bar_;
  std::shared_ptr<spdlog::logger> log_;
};

/// "SIGSEGV".
[[nodiscard]] std::string signal_name(int number);

/// An error as it stands in JSON documents. `signal` is null but for an import that a signal ended.
[[nodiscard]] Json to_json(const Error& error);

/// The exit code of a program that ends with this error: that of its kind, or for one that a signal cancelled,
/// 128 + the signal's number, as shells have it.
[[nodiscard]] int exit_code_of(const Error& error) noexcept;

/// Runs `work` and turns what it throws into raylift's exception.
int with_raylift_errors(const std::function<int()>& work);

/// A program's main(): runs `work`, writes on standard error what it throws, and returns the exit code.
[[nodiscard]] int run_program(const std::string& program, const std::function<int()>& work);

}  // namespace raylift::cli
