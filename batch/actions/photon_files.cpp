// SPDX-License-Identifier: Apache-2.0
#include "photon_files.h"

#include <fmt/format.h>
#include <raylift/geometry/error.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include "base/json.h"
#include "base/trust.h"
#include "cli/output_file.h"
#include "photon/src/chroma_flags.h"

namespace raylift::batch {
using namespace cli;
using photon::NpyType;
using photon::NpyWriter;
using photon::PhotonRow;
namespace fs = std::filesystem;
namespace {

constexpr const char* kCheckpoint = "resume.json";
constexpr const char* kSummary = "summary.json";

/// Chroma's arrays of a row. What it has besides (weights, evidx, last_hit_triangles), its Photons() fills in.
struct ChromaArray {
  const char* name;
  NpyType type;
  std::vector<std::uint64_t> row;
  void (*put)(const PhotonRow& row, float* to);
};

void put(Float3 vector, float* to) {
  to[0] = vector.x;
  to[1] = vector.y;
  to[2] = vector.z;
}
void put_bits(std::uint32_t bits, float* to) {
  std::memcpy(to, &bits, sizeof bits);
}

const std::vector<ChromaArray>& chroma_arrays() {
  static const std::vector<ChromaArray> arrays{
      {"pos", NpyType::float32, {3}, [](const PhotonRow& row, float* to) { put(row.position, to); }},
      {"dir", NpyType::float32, {3}, [](const PhotonRow& row, float* to) { put(row.direction, to); }},
      {"pol", NpyType::float32, {3}, [](const PhotonRow& row, float* to) { put(row.polarization, to); }},
      {"wavelengths", NpyType::float32, {}, [](const PhotonRow& row, float* to) { *to = row.wavelength; }},
      {"t", NpyType::float32, {}, [](const PhotonRow& row, float* to) { *to = row.time; }},
      {"flags",
       NpyType::uint32,
       {},
       [](const PhotonRow& row, float* to) { put_bits(photon::chroma_flags(row.flags), to); }},
      {"channel", NpyType::int32, {}, [](const PhotonRow& row, float* to) { put_bits(row.sensor - 1, to); }},
      {"solid", NpyType::uint32, {}, [](const PhotonRow& row, float* to) { put_bits(row.solid, to); }},
      {"number", NpyType::uint32, {}, [](const PhotonRow& row, float* to) { put_bits(row.number, to); }}};
  return arrays;
}

void make_folder(const fs::path& folder) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed)
    throw Error(ErrorKind::io, "the folder can't be made: " + failed.message(), {folder.string(), {}},
                "name a folder that is there, or one beneath a folder that you may write to");
}

/// What decides how a run goes on must be the user's own.
void expect_trusted(const fs::path& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return;  // opening it says why
  const std::string why = S_ISREG(status.st_mode) ? base::mistrust(status) : "is no regular file";
  if (!why.empty())
    throw Error(ErrorKind::io, "the checkpoint " + why, {path.string(), {}},
                "leave out --resume, or take away that right by chmod go-w if you trust what it holds");
}

/// Takes the right to write from other users, whatever the umask: the file decides how a run goes on.
void withhold_from_others(const fs::path& path) {
  std::error_code ignored;
  fs::permissions(path, fs::perms::group_write | fs::perms::others_write, fs::perm_options::remove, ignored);
}

/// Whether each of `done` photons has one end, and no more were hits.
bool are_counts_of(const photon::Tally& tally, std::uint64_t done, std::uint64_t hits) {
  const auto begin = tally.counts.begin() + static_cast<std::ptrdiff_t>(tally.layout.material(0, 0));
  const auto end = tally.counts.begin() + static_cast<std::ptrdiff_t>(tally.layout.surface(0, 0));
  // Each alone first: their sum may overflow.
  return std::all_of(begin, end, [&](std::uint64_t count) { return count <= done; }) && tally.photons() == done &&
         tally.of(photon::StepKind::detected) == hits;
}

}  // namespace

PhotonArrays::PhotonArrays(const fs::path& folder, const std::string& name, PhotonFormat format,
                           std::optional<std::uint64_t> resume)
    : format_(format) {
  const auto add = [&](const fs::path& path, NpyType type, const std::vector<std::uint64_t>& row) {
    if (resume)
      writers_.emplace_back(path, type, row, NpyWriter::Resume{*resume});
    else
      writers_.emplace_back(path, type, row);
  };
  if (format == PhotonFormat::opticks) {
    add(folder / (name + ".npy"), NpyType::float32, {4, 4});
    return;
  }
  make_folder(folder / name);
  for (const ChromaArray& array : chroma_arrays())
    add(folder / name / (std::string(array.name) + ".npy"), array.type, array.row);
}

void PhotonArrays::append(std::span<const PhotonRow> rows) {
  if (format_ == PhotonFormat::opticks) return writers_.front().append(rows);
  std::vector<float> values;
  for (std::size_t i = 0; i != writers_.size(); ++i) {
    const ChromaArray& array = chroma_arrays()[i];
    const std::size_t wide = array.row.empty() ? 1 : 3;
    values.resize(rows.size() * wide);
    for (std::size_t row = 0; row != rows.size(); ++row) array.put(rows[row], values.data() + row * wide);
    writers_[i].append(std::span<const float>(values));
  }
}

void PhotonArrays::sync() const {
  for (const NpyWriter& writer : writers_) writer.sync();
}
void PhotonArrays::keep() {
  for (NpyWriter& writer : writers_) writer.keep();
}
void PhotonArrays::finish() {
  for (NpyWriter& writer : writers_) writer.finish();
}

PhotonFiles::PhotonFiles(const PhotonOptions& options, Json head, const photon::Tally& nothing)
    : options_(options), folder_(options.output), head_(std::move(head)) {
  checkpoint_.tally = nothing;
  make_folder(folder_);
  if (options.resume)
    load();
  else
    clear_photon_files(folder_);
  const auto rows = [&](std::uint64_t count) { return saved_ ? std::optional(count) : std::nullopt; };
  const std::string suffix = options.format == PhotonFormat::opticks ? ".npy" : "/";
  hits_.emplace(folder_, "hits", options.format, rows(checkpoint_.hits));
  names_.push_back("hits" + suffix);
  if (options.final) {
    finals_.emplace(folder_, "final", options.format, rows(checkpoint_.done));
    names_.push_back("final" + suffix);
  }
  if (options.sequences) {
    const std::vector<std::uint64_t> row{2, 2};
    if (saved_)
      sequences_.emplace(folder_ / "seq.npy", NpyType::uint64, row, NpyWriter::Resume{checkpoint_.done});
    else
      sequences_.emplace(folder_ / "seq.npy", NpyType::uint64, row);
    names_.emplace_back("seq.npy");
  }
  if (saved_) save(checkpoint_.done, checkpoint_.tally);  // what is there stays, whatever happens
}

fs::path PhotonFiles::counts_file(std::uint64_t done) const {
  return folder_ / fmt::format("resume-{}.npy", done);
}

void PhotonFiles::load() {
  const fs::path path = folder_ / kCheckpoint;
  expect_trusted(path);
  std::ifstream file(path, std::ios::binary);
  if (!file) check_not_complete(folder_);
  if (!file) return clear_photon_files(folder_);  // it was stopped before it had anything, or has not begun
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const Json json = base::parse_json<Json>(text);
  const auto is_count = [&](const char* name) { return json.contains(name) && json[name].is_number_unsigned(); };
  if (!json.is_object() || !json.contains("head") || !is_count("done") || !is_count("hits"))
    throw Error(ErrorKind::malformed, "is no checkpoint of raylift photons", {path.string(), {}}, "leave out --resume");
  for (const auto& [name, value] : head_.items()) {
    const bool known = json["head"].is_object() && json["head"].contains(name);
    const Json there = known ? json["head"][name] : Json("unknown");
    if (there != value)
      throw Error(
          ErrorKind::usage,
          fmt::format("the run to go on with has another {}: {} there, {} here", name, there.dump(), value.dump()),
          {options_.output, {}}, "give the same scene and options, or leave out --resume");
  }
  checkpoint_.done = json["done"].get<std::uint64_t>();
  checkpoint_.hits = json["hits"].get<std::uint64_t>();
  expect_trusted(counts_file(checkpoint_.done));
  std::vector<std::uint64_t> counts =
      photon::read_npy<std::uint64_t>(counts_file(checkpoint_.done), NpyType::uint64, {});
  if (counts.size() != checkpoint_.tally.counts.size() || checkpoint_.done > options_.photons)
    throw Error(ErrorKind::malformed, "is no checkpoint of this run", {path.string(), {}}, "leave out --resume");
  checkpoint_.tally.counts = std::move(counts);
  if (!are_counts_of(checkpoint_.tally, checkpoint_.done, checkpoint_.hits))
    throw Error(ErrorKind::malformed, "the checkpoint's counts are not those of its photons",
                {counts_file(checkpoint_.done).string(), {}}, "leave out --resume");
  saved_ = true;
}

photon::Simulation::Results PhotonFiles::results() {
  photon::Simulation::Results results;
  results.hits = [this](std::span<const PhotonRow> rows) { hits_->append(rows); };
  if (finals_) results.finals = [this](std::span<const PhotonRow> rows) { finals_->append(rows); };
  if (sequences_) results.sequences = [this](std::span<const photon::Sequence> rows) { sequences_->append(rows); };
  return results;
}

void PhotonFiles::save(std::uint64_t done, const photon::Tally& tally) {
  hits_->sync();
  if (finals_) finals_->sync();
  if (sequences_) sequences_->sync();
  NpyWriter counts(counts_file(done), NpyType::uint64, {});
  counts.append(std::span<const std::uint64_t>(tally.counts));
  counts.sync();
  counts.finish();
  withhold_from_others(counts_file(done));
  write_file(folder_ / kCheckpoint, Json({{"head", head_}, {"done", done}, {"hits", hits_->rows()}}).dump(1) + '\n',
             "the checkpoint");
  withhold_from_others(folder_ / kCheckpoint);
  std::error_code ignored;
  if (done != checkpoint_.done) fs::remove(counts_file(checkpoint_.done), ignored);
  checkpoint_.done = done;
  hits_->keep();
  if (finals_) finals_->keep();
  if (sequences_) sequences_->keep();
}

void PhotonFiles::finish() {
  hits_->finish();
  if (finals_) finals_->finish();
  if (sequences_) sequences_->finish();
}

void forget_photon_checkpoint(const fs::path& folder) {
  std::error_code ignored;
  fs::remove(folder / kCheckpoint, ignored);
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored))
    if (entry.path().filename().string().starts_with("resume-")) fs::remove(entry.path(), ignored);
}

void check_not_complete(const fs::path& folder) {
  if (fs::exists(folder / kSummary))
    throw Error(ErrorKind::usage, "the run here is complete", {folder.string(), {}},
                "leave out --resume to do it again, or name another folder");
}

std::vector<fs::path> photon_files_of(const fs::path& folder) {
  std::vector<fs::path> files{folder / kSummary, folder / kCheckpoint};
  const auto add = [&](const fs::path& file) {
    for (const char* suffix : {".npy", ".npy.part"}) files.push_back(file.string() + suffix);
  };
  for (const char* name : {"hits", "final"})
    for (const ChromaArray& array : chroma_arrays()) add(folder / name / array.name);
  for (const char* name : {"hits", "final", "seq", "record", "channels", "times"}) add(folder / name);
  return files;
}

void clear_photon_files(const fs::path& folder) {
  std::error_code ignored;
  forget_photon_checkpoint(folder);
  for (const fs::path& file : photon_files_of(folder)) fs::remove(file, ignored);
  for (const char* name : {"hits", "final"}) fs::remove(folder / name, ignored);  // where it is empty now
}

void write_photon_counts(const fs::path& folder, const photon::Tally& tally, std::vector<std::string>& names) {
  if (tally.channels.empty()) return;
  NpyWriter channels(folder / "channels.npy", NpyType::uint64, {2});
  for (std::size_t i = 0; i != tally.channels.size(); ++i) {
    const std::array<std::uint64_t, 2> row{static_cast<std::uint64_t>(tally.channels[i]), tally.in_channel(i)};
    channels.append(std::span<const std::uint64_t>(row));
  }
  channels.finish();
  names.emplace_back("channels.npy");
  if (tally.layout.time_bins == 0) return;
  NpyWriter times(folder / "times.npy", NpyType::uint64, {tally.layout.time_bins});
  times.append(std::span(tally.counts)
                   .subspan(tally.layout.channel(tally.layout.channels),
                            std::size_t{tally.layout.channels} * tally.layout.time_bins));
  times.finish();
  names.emplace_back("times.npy");
}

void write_photon_summary(const fs::path& folder, const Json& summary) {
  write_file(folder / kSummary, base::json_text(summary, 1) + '\n', "the summary");
}

void join_photon_files(std::span<const fs::path> parts, const fs::path& folder) {
  constexpr std::uint64_t kPiece = 1U << 24;  // bytes
  std::vector<std::byte> bytes;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(parts.front())) {
    const fs::path name = entry.path().lexically_relative(parts.front());
    if (entry.is_directory()) make_folder(folder / name);
    if (name.extension() != ".npy" || name.string().starts_with("resume-")) continue;
    const photon::NpyReader first(entry.path());
    NpyWriter joined(folder / name, first.type(), {first.shape().begin() + 1, first.shape().end()});
    for (const fs::path& part : parts) {
      const photon::NpyReader file(part / name);
      file.expect(first.type(), std::span(first.shape()).subspan(1));
      const std::uint64_t rows_at_once = kPiece / file.row_bytes();
      for (std::uint64_t row = 0; row < file.rows(); row += rows_at_once) {
        bytes.resize(static_cast<std::size_t>(std::min(rows_at_once, file.rows() - row) * file.row_bytes()));
        file.read(bytes, row);
        joined.append(std::span<const std::byte>(bytes));
      }
    }
    joined.finish();
  }
}

}  // namespace raylift::batch
