// SPDX-License-Identifier: Apache-2.0
#include "remembered.h"

#include <raylift/geometry/error.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/output_file.h"

namespace raylift::viewer {
namespace {

using KeptJson = nlohmann::ordered_json;

/// The whole file, checked; an empty object where there is none.
KeptJson read_kept(const std::filesystem::path& file) {
  const auto malformed = [&] {
    return Error(ErrorKind::malformed, "not a file of what the window keeps", {file.string(), ""},
                 "move or correct the file");
  };
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return KeptJson::object();
  std::ifstream in(file);
  if (!in) throw Error(ErrorKind::io, std::string("can't be read: ") + std::strerror(errno), {file.string(), ""});
  KeptJson json = KeptJson::parse(in, nullptr, false);
  if (!json.is_object()) throw malformed();
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
  if (files_.size() > kMostFiles) files_.resize(kMostFiles);
}

/// Reads the file again before the change: another window may have saved since.
template <class Change>
void Remembered::save(const Change& change) {
  if (file_.empty()) return;
  KeptJson json = read_kept(file_);
  files_ = json.value("recent", std::vector<std::string>());
  change(*this);
  if (files_.size() > kMostFiles) files_.resize(kMostFiles);
  json["recent"] = files_;
  json["fly-speed"] = fly_speed_;
  std::error_code ignored;
  std::filesystem::create_directories(file_.parent_path(), ignored);
  cli::write_file(file_, json.dump(2, ' ', false, KeptJson::error_handler_t::replace) + '\n');
}

void Remembered::note_file(const std::string& file) {
  save([&](Remembered& kept) {
    std::erase(kept.files_, file);
    kept.files_.insert(kept.files_.begin(), file);
  });
}

void Remembered::set_fly_speed(double speed) {
  if (speed == fly_speed_) return;
  fly_speed_ = speed;  // once: what can't be saved is not tried again with each image
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
