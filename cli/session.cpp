// SPDX-License-Identifier: Apache-2.0
#include "session.h"

#include <raylift/geometry/scene/scene.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <system_error>

#include "base/json.h"
#include "interrupt.h"
#include "option_words.h"
#include "output_file.h"
#include "text.h"

namespace raylift::cli {
namespace {

bool wants_progress(const GeneralOptions& options) {
  const char* terminal = std::getenv("TERM");
  return !options.no_progress && options.verbosity != "quiet" && options.verbosity != "error" &&
         ::isatty(STDERR_FILENO) == 1 && terminal != nullptr && std::strcmp(terminal, "dumb") != 0;
}

std::shared_ptr<spdlog::logger> make_logger(const std::string& verbosity, const std::string& program) {
  // no-color.org: any value that is not empty.
  const char* no_color = std::getenv("NO_COLOR");
  const bool plain = no_color != nullptr && *no_color != '\0';
  auto sink = std::make_shared<spdlog::sinks::stderr_color_sink_st>(plain ? spdlog::color_mode::never
                                                                          : spdlog::color_mode::automatic);
  auto log = std::make_shared<spdlog::logger>(program, std::move(sink));
  log->set_pattern("%n: %^%l:%$ %v");
  log->set_level(verbosity == "quiet" ? spdlog::level::off : spdlog::level::from_str(verbosity));
  log->flush_on(spdlog::level::trace);
  return log;
}

}  // namespace

Session::Session(const GeneralOptions& options, const std::string& program)
    : options_(options),
      program_(program),
      bar_(wants_progress(options)),
      log_(make_logger(options.verbosity, program)) {}

Session::~Session() = default;

void Session::debug(const std::string& message) {
  if (!log_->should_log(spdlog::level::debug)) return;
  bar_.clear();
  log_->debug(printable(in_option_words(message)));
}

void Session::warn(const std::string& message) {
  bar_.clear();
  log_->warn(printable(in_option_words(message)));
}

void Session::report(const Error& error) {
  bar_.clear();
  if (*error.what() == '\0') return;  // the reader closed the pipe
  log_->error("{}: {}", to_string(error.kind()), printable(in_option_words(error.what())));
}

void Session::say(const std::string& message) {
  if (options_.verbosity == "quiet" || options_.verbosity == "error") return;
  bar_.clear();
  std::fprintf(stderr, "%s: %s\n", program_.c_str(), printable(in_option_words(message)).c_str());
}

bool Session::says_progress() const {
  return !options_.no_progress && ::isatty(STDERR_FILENO) != 1;
}

Progress Session::progress(std::vector<Progress::StageTime>* times) {
  return Progress(
      [this](std::string_view stage, std::uint64_t done, std::uint64_t total) {
        bar_.show(stage, done, total);
        return interrupted_by() == 0;
      },
      times);
}

void Session::stop_if_interrupted() const {
  if (interrupted_by() != 0) throw Error(ErrorKind::cancelled, "interrupted");
}

void Session::write(const std::string& text) {
  bar_.clear();
  write_output(text);
}

int Session::for_each_file(const std::vector<std::string>& files, const Work& work) {
  std::size_t written = 0;  // elements of the array for --json
  int first_error = 0;
  int negative = 0;
  for (const std::string& file : files) {
    Json json;
    try {
      const int code = with_raylift_errors([&] {
        stop_if_interrupted();
        return work(file, json);
      });
      if (code != 0) negative = code;
    } catch (const OutputError&) {
      throw;
    } catch (const Error& error) {
      report(error);
      if (first_error == 0) first_error = exit_code_of(error);
      json = {{"file", file}, {"error", to_json(error)}};
    }
    bar_.clear();
    if (options_.json) write_output((written++ == 0 ? "[\n" : ",\n") + base::json_text(json, 2));
    if (interrupted_by() != 0) break;
  }
  if (options_.json) write_output(written == 0 ? "[]\n" : "\n]\n");
  return first_error != 0 ? first_error : negative;
}

void report_loaded(Session& session, const std::string& file, const Scene& scene) {
  for (const std::string& warning : scene.report.warnings) session.warn(file + ": " + warning);
  protect_files_of(scene);
}

std::string signal_name(int number) {
  const char* abbreviation = ::sigabbrev_np(number);
  return abbreviation != nullptr ? std::string("SIG") + abbreviation : "signal " + std::to_string(number);
}

Json to_json(const Error& error) {
  return {{"kind", to_string(error.kind())},
          {"message", in_option_words(error.what())},
          {"problem", in_option_words(error.problem())},
          {"element", error.element()},
          {"signal", error.signal() == 0 ? Json() : Json(signal_name(error.signal()))},
          {"advice", in_option_words(error.advice())}};
}

int exit_code_of(const Error& error) noexcept {
  if (error.kind() == ErrorKind::cancelled && interrupted_by() != 0) return 128 + interrupted_by();
  return exit_code(error.kind());
}

int with_raylift_errors(const std::function<int()>& work) {
  try {
    return work();
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::out_of_host_memory, "no memory left");
  } catch (const std::system_error& error) {
    throw Error(kind_of_errno(error.code().value()), error.what());  // no thread, for instance
  }
}

int run_program(const std::string& program, const std::function<int()>& work) {
  guard_standard_descriptors();
  catch_interrupts();
  try {
    const int code = with_raylift_errors(work);
    finish_output();
    return code;
  } catch (const Error& error) {
    // An error that ends the program is written at any verbosity.
    Session(GeneralOptions{}, program).report(error);
    return exit_code_of(error);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: error: %s\n", program.c_str(), error.what());
    return kInternalError;
  }
}

}  // namespace raylift::cli
