// SPDX-License-Identifier: Apache-2.0
// What the window keeps from one run to the next, in a JSON file: recent files and the speed of flying. No GL.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace raylift::viewer {

inline constexpr double kSlowestFly = 0.01, kFastestFly = 100;  ///< times the usual speed

class Remembered {
 public:
  static constexpr std::size_t kMaxFiles = 10;

  /// Reads the file, which need not exist. Errors: io, malformed; after one of them nothing is
  /// saved, so that the file stays as it is. By default nothing is kept.
  void open(std::filesystem::path file);

  /// Absolute paths, the last one shown first.
  [[nodiscard]] const std::vector<std::string>& files() const { return files_; }
  [[nodiscard]] double fly_speed() const { return fly_speed_; }

  /// Puts a file first, and saves. Errors: io, malformed.
  void note_file(const std::string& file);
  /// Saves a speed that has changed. Errors: io, malformed.
  void set_fly_speed(double speed);

 private:
  template <class Change>  // void(Remembered&)
  void save(const Change& change);

  std::filesystem::path file_;
  std::vector<std::string> files_;
  double fly_speed_ = 1;
};

/// Why a file can't be opened: "there is no such file", "it is a folder", "permission denied"; empty where it can.
[[nodiscard]] std::string why_not_opened(const std::string& file);

}  // namespace raylift::viewer
