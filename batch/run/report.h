// SPDX-License-Identifier: Apache-2.0
// The report of a batch: one line of JSON for each scene, written whole, so that a batch that was killed at any moment
// goes on where it was.
#pragma once

#include <raylift/geometry/progress.h>
#include <raylift/geometry/scene/scene.h>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/descriptor.h"
#include "cli/output.h"

namespace raylift::batch {

/// Puts a file's name into a row: as "file", and where the name is not UTF-8, also as "file_hex", its bytes.
void set_file(cli::Json& row, const std::string& path, const std::string& member = "file");
/// The name that set_file put there; throws Error(malformed) where there is none.
[[nodiscard]] std::string file_of(const cli::Json& row, const std::string& member = "file");

/// Puts what a scene was read from beside the row's own file into a row, as "files": names, which are relative to its
/// folder, and hashes. Nothing where there is no such file. Throws Error(io) where one has changed since.
void set_files(cli::Json& row, const std::string& scene, std::span<const Scene::SourceFile> files,
               const Progress& progress);
/// Whether they are as the row says. Throws Error: io, cancelled.
[[nodiscard]] bool same_files(const cli::Json& row, const std::string& scene, const Progress& progress);

/// Whether it is a row as a batch writes it.
[[nodiscard]] bool is_row(const cli::Json& row);

/// The file that rows go to. Each is one write() of one line at the file's end; the first one comes with the head.
class Report {
 public:
  enum class Mode { fresh, resume };
  using Earlier = std::function<void(const cli::Json& head, const cli::Json& row)>;
  /// Opens the report, alone: a second batch on the same one is an Error(io). A fresh one must not hold anything yet:
  /// Error(usage). Of one that is resumed, `earlier` gets each row; a last row without an end is cut off, and where
  /// there is something else than a head and rows, it is left alone: Error(malformed). A head that is not of the same
  /// batch is an Error(usage), and a report that others can write to, or that is another user's, an Error(io).
  Report(const std::string& path, Mode mode, cli::Json head, const Earlier& earlier = {});

  /// Throws Error(io): then nothing of this row is in the file.
  void append(const cli::Json& row);
  /// Brings the rows into the order of their places, and takes out those that have none. The file is replaced as a
  /// whole, so that it is never without its rows. Throws Error(io).
  using RowPlace = std::function<std::optional<std::size_t>(const cli::Json& row)>;
  void rewrite(const RowPlace& place);
  /// That of the file: the folder may be another one than that of this batch.
  [[nodiscard]] const cli::Json& head() const { return head_; }
  /// Makes sure that all rows are on the disk. Throws Error(io).
  void finish();

 private:
  void read_lines(const std::function<void(std::string_view)>& use);
  void read_rows(const Earlier& earlier);
  void write(std::string_view text);
  [[noreturn]] void fail(const std::string& what, int code) const;

  std::string path_;
  cli::Json head_;
  base::Descriptor descriptor_;
  bool regular_ = false;
  std::uint64_t bytes_ = 0;
};

}  // namespace raylift::batch
