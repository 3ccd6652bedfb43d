// SPDX-License-Identifier: Apache-2.0
#include "light/photon_set.h"

#include <fmt/format.h>
#include <raylift/geometry/error.h>
#include <raylift/photon/npy.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "cli/text.h"
#include "geometry/src/stage.h"
#include "light/chroma_photons.h"

namespace raylift::viewer {
namespace {

namespace fs = std::filesystem;
using photon::History;
using photon::NpyReader;
using photon::NpyType;
using photon::PhotonRow;

constexpr std::array<std::uint64_t, 2> kPhoton{4, 4};
constexpr std::uint64_t kMaxEvents = 4096;                                       // of a path in a file
constexpr std::uint64_t kPiece = std::uint64_t{1} << 24;                         // bytes that are read at once
constexpr std::uint64_t kMaxRows = kNone;                                        // rows have numbers of 32 bits
constexpr std::uint32_t kTransmit = 12, kAbsorb = 4, kReemit = 5, kScatter = 6;  // numbers of events

bool finite(const Float3& v) {
  return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z);
}

/// Throws where the row is no photon's. Directions and polarisations are not drawn.
void check_row(const PhotonRow& row, const std::string& name, std::uint64_t number, std::size_t event) {
  const char* problem = nullptr;
  if (!finite(row.position))
    problem = "its place is not finite";
  else if (!std::isfinite(row.time))
    problem = "its time is not finite";
  else if (!std::isfinite(row.wavelength) || row.wavelength < 0)
    problem = "its wavelength is no length";
  else if (photon::event_of_flag(row.flag) == 0)
    problem = "its flag is no event's";
  if (problem == nullptr) return;
  throw Error(ErrorKind::malformed, problem, {name, fmt::format("photon {}, event {}", number, event)},
              "is it an array of photons, as 'raylift photons' writes them?");
}

void add_range(PhotonSet& set, const PhotonRow& row) {
  set.times.add(row.time);
  set.wavelengths.add(row.wavelength);
}

/// The solid in which light goes on after each event. Rows have the solid that was met: light that is reflected stays
/// in the one before.
void find_media(std::span<const PhotonRow> path, std::vector<std::uint32_t>& media) {
  std::uint32_t in = path.empty() ? kNone : path.front().solid;
  for (std::size_t i = 0; i != path.size(); ++i) {
    const std::uint32_t event = photon::event_of_flag(path[i].flag);
    const auto in_bulk = [](const PhotonRow& row) {
      const std::uint32_t what = photon::event_of_flag(row.flag);
      return row.surface == kNoSurface && (what == kAbsorb || what == kReemit || what == kScatter);
    };
    if (event == kTransmit || in_bulk(path[i]))
      in = path[i].solid;
    else if (event == kReemit && i + 1 != path.size() && in_bulk(path[i + 1]))
      in = path[i + 1].solid;  // a surface shifts light to either side
    media.push_back(in);
  }
}

/// Calls take(rows, first) for pieces of a file's first `count` photons of `events` rows.
template <class Take>
void read_pieces(const NpyReader& file, std::uint64_t count, std::uint64_t events, const Progress& progress,
                 const Take& take) {
  const std::uint64_t at_once = std::max<std::uint64_t>(1, kPiece / (events * sizeof(PhotonRow)));
  std::vector<PhotonRow> rows;
  for (std::uint64_t first = 0; first < count; first += at_once) {
    progress.report("photons", first, count);
    rows.resize(static_cast<std::size_t>(std::min(at_once, count - first) * events));
    file.read(std::as_writable_bytes(std::span(rows)), first);
    take(std::span<const PhotonRow>(rows), first);
  }
}

std::uint64_t kept(PhotonSet& set, std::uint64_t there, std::uint64_t most, const std::string& name) {
  if (there > most)
    set.notes.push_back(fmt::format("{}: the first {} of {} photons are drawn; --photon-limit takes more", name,
                                    cli::grouped(most), cli::grouped(there)));
  return std::min(there, most);
}

void read_record(PhotonSet& set, const NpyReader& file, const std::string& name, std::uint64_t most,
                 const Progress& progress) {
  const std::uint64_t events = file.shape()[1];
  if (events == 0 || events > kMaxEvents)
    throw Error(ErrorKind::malformed,
                fmt::format("has {} events for each photon, and 1 to {} are possible", events, kMaxEvents), {name, {}});
  const std::uint64_t count = kept(set, file.rows(), most, name);
  read_pieces(file, count, events, progress, [&](std::span<const PhotonRow> rows, std::uint64_t first) {
    add_paths(set, rows, static_cast<std::size_t>(events), name, first);
  });
}

void read_points(PhotonSet& set, const fs::path& path, std::uint64_t most, const Progress& progress) {
  const NpyReader file(path);
  file.expect(NpyType::float32, kPhoton);
  const std::uint64_t count = kept(set, file.rows(), most, path.string());
  set.points.reserve(static_cast<std::size_t>(count));
  read_pieces(file, count, 1, progress, [&](std::span<const PhotonRow> rows, std::uint64_t first) {
    add_points(set, rows, path.string(), first);
  });
}

void add_chroma(PhotonSet& set, const fs::path& folder, std::uint64_t most) {
  const auto [rows, there] = read_chroma_photons(folder, most);
  (void)kept(set, there, most, folder.string());
  add_points(set, rows, folder.string(), 0);
}

/// The number of the run's first photon.
std::uint64_t first_photon(const fs::path& folder) {
  std::ifstream file(folder / "summary.json", std::ios::binary);
  const auto json = base::parse_json(std::string{std::istreambuf_iterator<char>(file), {}});
  return json.is_object() && json.contains("first") && json["first"].is_number_unsigned()
             ? json["first"].get<std::uint64_t>()
             : 0;
}

/// The histories of points by their numbers, whose upper bits follow from their order.
void read_histories(PhotonSet& set, const fs::path& folder, const Progress& progress) {
  const NpyReader file(folder / "seq.npy");
  file.expect(NpyType::uint64, std::array<std::uint64_t, 2>{2, 2});
  const std::uint64_t first = first_photon(folder);
  std::vector<History> histories;
  std::vector<photon::Sequence> piece;
  constexpr std::uint64_t kAtOnce = kPiece / sizeof(photon::Sequence);
  std::uint64_t from = 0, to = 0, place = 0;
  auto before = static_cast<std::uint32_t>(first);
  for (const PhotonRow& point : set.points) {
    place += static_cast<std::uint32_t>(point.number - before);
    before = point.number;
    if (place >= file.rows())
      throw Error(ErrorKind::malformed, "has fewer rows than the photons' numbers promise",
                  {(folder / "seq.npy").string(), fmt::format("photon {}", first + place)}, "is it of the same run?");
    if (place >= to) {
      progress.report("photons", place, file.rows());
      from = place;
      to = std::min(file.rows(), from + kAtOnce);
      piece.resize(static_cast<std::size_t>(to - from));
      file.read(std::as_writable_bytes(std::span(piece)), from);
    }
    const photon::Sequence& row = piece[static_cast<std::size_t>(place - from)];
    histories.push_back({row.events[0], row.events[1]});
  }
  set.histories = std::move(histories);
}

void note_unknown_solids(PhotonSet& set, const Scene& scene) {
  std::uint64_t unknown = 0;
  const auto count = [&](const PhotonRow& row) {
    unknown += row.solid >= scene.instances.size() && row.solid != kNone ? 1 : 0;
  };
  std::for_each(set.rows.begin(), set.rows.end(), count);
  std::for_each(set.points.begin(), set.points.end(), count);
  if (unknown != 0)
    set.notes.push_back(fmt::format("{} solids that this scene has not: is it another scene's run?",
                                    cli::counted(unknown, "row of photons names", "rows of photons name")));
}

/// Whether load_photons() finds something in a folder.
bool is_run(const fs::path& folder) {
  std::error_code ignored;
  for (const char* name : {"record.npy", "final.npy", "hits.npy"})
    if (fs::is_regular_file(folder / name, ignored)) return true;
  return has_chroma_photons(folder) || has_chroma_photons(folder / "final") || has_chroma_photons(folder / "hits");
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// The digits that a name ends with, without leading zeros: "17" of "run-0017" and of "run-0017.npy".
std::string number_of(std::string_view name) {
  if (name.ends_with(".npy")) name.remove_suffix(4);
  std::size_t begin = name.size();
  while (begin != 0 && is_digit(name[begin - 1])) --begin;
  while (begin + 1 < name.size() && name[begin] == '0') ++begin;
  return std::string(name.substr(begin));
}

/// Numbers in names count as numbers: "run-9" comes before "run-10".
bool comes_before(const std::string& a, const std::string& b) {
  std::size_t i = 0, j = 0;
  const auto end_of_number = [](const std::string& text, std::size_t from) {
    while (from != text.size() && is_digit(text[from])) ++from;
    return from;
  };
  while (i != a.size() && j != b.size()) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      const std::size_t end_a = end_of_number(a, i), end_b = end_of_number(b, j);
      const std::string first = number_of(a.substr(i, end_a - i)), second = number_of(b.substr(j, end_b - j));
      if (first != second) return first.size() != second.size() ? first.size() < second.size() : first < second;
      i = end_a;
      j = end_b;
    } else {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i;
      ++j;
    }
  }
  return a.size() - i != b.size() - j ? a.size() - i < b.size() - j : a < b;
}

}  // namespace

std::vector<std::string> photon_events(const fs::path& folder) {
  std::vector<std::string> events;
  std::error_code failed;
  if (!fs::is_directory(folder, failed) || is_run(folder)) return events;
  for (fs::directory_iterator one(folder, failed), end; !failed && one != end; one.increment(failed)) {
    std::error_code ignored;
    const bool array = one->path().extension() == ".npy" && one->is_regular_file(ignored);
    if (array || (one->is_directory(ignored) && is_run(one->path()))) events.push_back(one->path().filename().string());
  }
  std::sort(events.begin(), events.end(), comes_before);
  return events;
}

std::size_t find_event(const std::vector<std::string>& events, const std::string& text) {
  if (text.empty()) return 0;
  const auto find = [&](const auto& is_it) {
    return static_cast<std::size_t>(std::find_if(events.begin(), events.end(), is_it) - events.begin());
  };
  std::size_t found = find([&](const std::string& name) { return name == text; });
  if (found == events.size() && std::all_of(text.begin(), text.end(), is_digit))
    found = find([number = number_of(text)](const std::string& name) { return number_of(name) == number; });
  if (found != events.size()) return found;
  throw Error(ErrorKind::usage, "no event has the name or number '" + cli::printable(text) + "'", {},
              events.empty() ? "the photons are those of a single run"
                             : "name one from '" + cli::printable(events.front()) + "' to '" +
                                   cli::printable(events.back()) + "'");
}

void ValueRange::add(float value) {
  low = std::min(low, value);
  high = std::max(high, value);
}

std::size_t PhotonSet::path_of(std::uint32_t row) const {
  return static_cast<std::size_t>(std::upper_bound(first.begin(), first.end(), row) - first.begin()) - 1;
}

void add_paths(PhotonSet& set, std::span<const PhotonRow> rows, std::size_t events, const std::string& name,
               std::uint64_t number, bool padded) {
  for (std::size_t begin = 0; begin + events <= rows.size(); begin += events, ++number) {
    std::size_t count = 0;
    for (; count != events && rows[begin + count].flag != 0; ++count) {
      check_row(rows[begin + count], name, number, count);
      add_range(set, rows[begin + count]);
    }
    const std::span<const PhotonRow> path = rows.subspan(begin, count),
                                     kept = padded ? rows.subspan(begin, events) : path;
    if (set.rows.size() + kept.size() >= kMaxRows)
      throw Error(ErrorKind::limit, "has more steps than can be drawn", {name, {}}, "draw fewer: --photon-limit");
    set.rows.insert(set.rows.end(), kept.begin(), kept.end());
    find_media(path, set.media);
    set.media.resize(set.rows.size(), kNone);
    set.first.push_back(static_cast<std::uint32_t>(set.rows.size()));
  }
}

std::span<const PhotonRow> PhotonSet::path(std::size_t i) const {
  std::size_t count = first[i + 1] - first[i];
  while (count != 0 && rows[first[i] + count - 1].flag == 0) --count;
  return std::span(rows).subspan(first[i], count);
}

void add_points(PhotonSet& set, std::span<const PhotonRow> rows, const std::string& name, std::uint64_t number) {
  for (const PhotonRow& row : rows) {
    check_row(row, name, number++, 0);
    add_range(set, row);
    set.points.push_back(row);
  }
}

History history_of(std::span<const PhotonRow> path) {
  History history{0, 0};
  for (std::size_t i = 0; i != std::min<std::size_t>(path.size(), photon::kSequenceEvents); ++i)
    history[i / 16] |= std::uint64_t{photon::event_of_flag(path[i].flag)} << (4 * (i % 16));
  return history;
}

PhotonSet load_photons(const fs::path& path, const Scene& scene, std::uint64_t most, const Progress& progress) {
  const Stage stage(progress, "photons");
  PhotonSet set;
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) {
    const NpyReader file(path);
    const std::span<const std::uint64_t> shape(file.shape());
    if (file.type() == NpyType::float32 && shape.size() == 4 && shape[2] == 4 && shape[3] == 4) {
      read_record(set, file, path.string(), most, progress);
    } else {
      read_points(set, path, most, progress);
    }
    note_unknown_solids(set, scene);
    return set;
  }
  const auto there = [&](const char* name) { return fs::is_regular_file(path / name, ignored); };
  if (there("record.npy")) {
    const NpyReader file(path / "record.npy");
    const std::string name = (path / "record.npy").string();
    if (file.shape().size() != 4)
      file.expect(NpyType::float32, std::array<std::uint64_t, 3>{photon::kSequenceEvents, 4, 4});
    file.expect(NpyType::float32, std::array<std::uint64_t, 3>{file.shape()[1], 4, 4});
    read_record(set, file, name, most, progress);
  }
  bool points = false;
  // Final photons go before hits, which are among them.
  for (const char* name : {"final", "hits"}) {
    const fs::path file = path / (std::string(name) + ".npy");
    if (points) break;
    points = fs::is_regular_file(file, ignored);
    if (points)
      read_points(set, file, most, progress);
    else if ((points = has_chroma_photons(path / name)))
      add_chroma(set, path / name, most);
  }
  if (!points && (points = has_chroma_photons(path))) add_chroma(set, path, most);
  if (points && there("seq.npy")) read_histories(set, path, progress);
  if (!points && set.paths() == 0)
    throw Error(ErrorKind::io, "has no record.npy, final.npy or hits.npy", {path.string(), {}},
                "name the folder that 'raylift photons --output' wrote, one of its arrays, or a folder with a run for "
                "each event");
  note_unknown_solids(set, scene);
  return set;
}

}  // namespace raylift::viewer
