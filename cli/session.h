// SPDX-License-Identifier: Apache-2.0
// The run of a command: general options, messages on standard error, progress, and the exit code of several files.
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

namespace raylift {
struct Scene;
}

namespace raylift::cli {

struct GeneralOptions {
  std::string verbosity = "warning";  ///< debug, info, warning, error or quiet
  bool no_progress = false;
  bool json = false;
};

/// Exit code of a negative answer: `check` found a mesh that is not watertight.
inline constexpr int kNegative = 1;
/// Exit code after an exception that is not raylift's.
inline constexpr int kInternalError = 70;

class Session {
 public:
  /// Messages begin with `program`.
  explicit Session(const GeneralOptions& options, const std::string& program = "raylift");
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  [[nodiscard]] const GeneralOptions& options() const { return options_; }

  /// Each writes one printable line on standard error.
  void debug(const std::string& message);
  void warn(const std::string& message);
  void report(const Error& error);
  /// A line that is no warning, for those who wait; not at --verbose=error or quiet.
  void say(const std::string& message);
  /// Whether the progress of a batch comes as lines: where no bar is drawn for want of a terminal.
  [[nodiscard]] bool says_progress() const;

  /// The Progress for long work: draws the bar, and cancels after an interrupt. Appends ended stages to `times`, if
  /// given.
  [[nodiscard]] Progress progress(std::vector<Progress::StageTime>* times = nullptr);
  /// Draws the progress of a batch, with `label` as its text.
  void show(std::string_view label, std::uint64_t done, std::uint64_t total) { bar_.show("batch", label, done, total); }
  /// Throws Error(cancelled) after an interrupt.
  void stop_if_interrupted() const;
  /// Clears the bar and writes to standard output.
  void write(const std::string& text);

  /// Calls `work` for each file, until an interrupt. A failure does not end the loop. `work` returns an exit code, and
  /// fills in the value for --json, one element of an array; after a failure, it is an object with file and error.
  /// Returns the exit code of the first error, else kNegative if any file returned it, else 0.
  using Work = std::function<int(const std::string& file, Json& json)>;
  [[nodiscard]] int for_each_file(const std::vector<std::string>& files, const Work& work);

 private:
  GeneralOptions options_;
  std::string program_;
  ProgressBar bar_;
  std::shared_ptr<spdlog::logger> log_;
};

/// Writes a loaded scene's warnings, and protects the files that it was read from: protect_files_of().
void report_loaded(Session& session, const std::string& file, const Scene& scene);

/// "SIGSEGV".
[[nodiscard]] std::string signal_name(int number);

/// An error in JSON documents. `signal` is null unless a signal ended the import.
[[nodiscard]] Json to_json(const Error& error);

/// The exit code of a program that ends with this error: that of its kind; after a signal 128 + its number, as in
/// shells.
[[nodiscard]] int exit_code_of(const Error& error) noexcept;

/// Runs `work`; turns std::bad_alloc into raylift's Error.
int with_raylift_errors(const std::function<int()>& work);

/// A program's main(): runs `work`, writes on standard error what it throws, and returns the exit code.
[[nodiscard]] int run_program(const std::string& program, const std::function<int()>& work);

}  // namespace raylift::cli
