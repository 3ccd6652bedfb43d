// SPDX-License-Identifier: Apache-2.0
#include "error_kinds.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace raylift {
namespace {

// Exit codes above 128 are left to signals, as shells read them; 130 is what an interrupted program returns anyway.
constexpr std::array<ErrorKindRow, 11> kRows{{
    {ErrorKind::io, "io", 3, "a file can't be opened, read or written"},
    {ErrorKind::malformed, "malformed", 4, "the input violates its own format, or has invalid numbers"},
    {ErrorKind::unsupported, "unsupported", 5, "valid input that raylift does not read"},
    {ErrorKind::limit, "limit", 6, "a limit was reached: size, depth, count, time or memory of the import"},
    {ErrorKind::out_of_host_memory, "out_of_host_memory", 7, "the machine's memory ran out"},
    {ErrorKind::out_of_device_memory, "out_of_device_memory", 8, "the device's memory, or its --budget, ran out"},
    {ErrorKind::device, "device", 9, "no usable device, or a device call failed"},
    {ErrorKind::no_display, "no_display", 10, "no OpenGL context could be made"},
    {ErrorKind::usage, "usage", 2, "a wrong option or argument"},
    {ErrorKind::cancelled, "cancelled", 130, "interrupted: 128 and the number of the signal"},
    {ErrorKind::system, "system", 11, "the machine lacks a process, a file descriptor or a file system"},
}};

const ErrorKindRow& row(ErrorKind kind) noexcept {
  return kRows[static_cast<std::size_t>(kind)];
}

std::string message(std::string_view problem, const Error::Where& where, std::string_view advice) {
  std::string text(problem);
  if (!where.file.empty() || !where.element.empty()) {
    text += " [";
    text += where.file;
    if (!where.file.empty() && !where.element.empty()) text += ": ";
    text += where.element;
    text += ']';
  }
  if (!advice.empty()) {
    text += "; ";
    text += advice;
  }
  return text;
}

}  // namespace

std::span<const ErrorKindRow> error_kinds() noexcept {
  return kRows;
}

std::string_view to_string(ErrorKind kind) noexcept {
  return row(kind).name;
}

ErrorKind error_kind(std::string_view name) {
  for (const ErrorKindRow& candidate : kRows) {
    if (candidate.name == name) return candidate.kind;
  }
  throw Error(ErrorKind::usage, "no error kind is called '" + std::string(name) + "'");
}

ErrorKind kind_of_errno(int code) noexcept {
  constexpr std::array kMachine{EAGAIN, EMFILE, ENFILE, EIO, ESTALE, ENODEV, ENXIO, ENOTCONN, ETIMEDOUT};
  return std::find(kMachine.begin(), kMachine.end(), code) != kMachine.end() ? ErrorKind::system : ErrorKind::io;
}

int exit_code(ErrorKind kind) noexcept {
  return row(kind).exit_code;
}

Error::Error(ErrorKind kind, std::string_view problem, Error::Where where, std::string_view advice, int signal)
    : std::runtime_error(message(problem, where, advice)),
      kind_(kind),
      problem_(problem),
      where_(std::move(where)),
      advice_(advice),
      signal_(signal) {}

}  // namespace raylift
