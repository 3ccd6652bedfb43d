// SPDX-License-Identifier: Apache-2.0
#include "state/shown/remembered.h"

#include <raylift/geometry/error.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "model/json_file.h"

namespace raylift::viewer {
namespace {

/// Reads and checks the whole file; an empty object where there is none.
KeptJson read_kept(const std::filesystem::path& file) {
  constexpr const char* kWhat = "what the window keeps";
  const auto malformed = [&] {
    return Error(ErrorKind::malformed, std::string("not a file of ") + kWhat, {file.string(), ""},
                 "move or correct the file");
  };
  KeptJson json = read_json_file(file, kWhat);
  if (const auto speed = json.find("fly-speed"); speed != json.end() && !speed->is_number()) throw malformed();
  if (const auto files = json.find("recent"); files != json.end()) {
    if (!files->is_array()) throw malformed();
    for (const KeptJson& one : *files)
      if (!one.is_string()) throw malformed();
  }
  return json;
}

}  // namespace

void Remembered::open(std::filesystem::path file) {
  *this = Remembered();
  const KeptJson json = read_kept(file);
  file_ = std::move(file);
  fly_speed_ = std::clamp(json.value("fly-speed", 1.0), kSlowestFly, kFastestFly);
  files_ = json.value("recent", std::vector<std::string>());
  if (files_.size() > kMaxFiles) files_.resize(kMaxFiles);
}

/// Reads the file again before the change: another window may have saved since.
template <class Change>
void Remembered::save(const Change& change) {
  if (file_.empty()) return;
  KeptJson json = read_kept(file_);
  files_ = json.value("recent", std::vector<std::string>());
  change(*this);
  if (files_.size() > kMaxFiles) files_.resize(kMaxFiles);
  json["recent"] = files_;
  json["fly-speed"] = fly_speed_;
  write_json_file(file_, json);
}

void Remembered::note_file(const std::string& file) {
  save([&](Remembered& kept) {
    std::erase(kept.files_, file);
    kept.files_.insert(kept.files_.begin(), file);
  });
}

void Remembered::set_fly_speed(double speed) {
  if (speed == fly_speed_) return;
  fly_speed_ = speed;  // before it is saved, so that a failure is not repeated with each image
  save([](Remembered&) {});
}

std::string why_not_opened(const std::string& file) {
  std::error_code failed;
  const std::filesystem::file_status status = std::filesystem::status(file, failed);
  if (status.type() == std::filesystem::file_type::not_found) return "there is no such file";
  if (failed) return failed.message();
  if (std::filesystem::is_directory(status)) return "it is a folder";
  return ::access(file.c_str(), R_OK) == 0 ? "" : std::strerror(errno);
}

}  // namespace raylift::viewer
