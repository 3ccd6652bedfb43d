// SPDX-License-Identifier: Apache-2.0
#include "remote_photons.h"

#include <fmt/format.h>
#include <raylift/geometry/error.h>
#include <raylift/photon/load_source.h>
#include <raylift/photon/parse_source.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <deque>
#include <functional>
#include <optional>
#include <utility>

#include "base/json.h"
#include "batch/actions/photon_files.h"
#include "batch/actions/run_photons.h"
#include "geometry/src/stage.h"

namespace raylift::batch {
namespace {

using cli::Json;
using Clock = std::chrono::steady_clock;

/// Photons of a request, and requests at once: the server is never idle, and results stay small.
constexpr std::uint64_t kPiece = std::uint64_t{1} << 22;
constexpr std::size_t kAtOnce = 4;

/// The source as the server gets it, but for the range of photons.
struct RemoteSource {
  client::Request request;
  std::optional<std::uint64_t> photons;  ///< in all; nullopt: endless, or the server draws the number
  bool is_endless = false;
};

/// A source with the points of the spectrum that its text names a file of: the server opens no file.
client::Request spectral_source(std::string text, std::uint64_t seed) {
  const std::string file = photon::spectrum_file(text);
  if (file.empty()) return client::source(std::move(text), 0, 0, seed);
  const photon::Source::Spectrum spectrum = photon::parse_source(text).spectrum;
  const std::string key = ":wavelength=" + file;
  text.erase(text.find(key), key.size());
  std::vector<protocol::SpectrumPoint> points;
  for (std::uint32_t i = 0; i != spectrum.count; ++i) points.push_back({spectrum.points[i].x, spectrum.points[i].y});
  return client::source(std::move(text), 0, 0, seed, points);
}

RemoteSource read_source(const PhotonOptions& options) {
  RemoteSource source;
  const std::string& text = options.source;
  const auto after = [&](std::string_view prefix) { return text.substr(prefix.size()); };
  if (text.starts_with("photons:")) {
    std::vector<photon::StartPhoton> start = photon::read_photons(after("photons:"), options.load.limits);
    if (start.empty()) throw Error(ErrorKind::malformed, "it has no photons", {after("photons:"), ""});
    source.photons = start.size();
    source.request = client::photons(std::move(start), 0, options.seed);
  } else if (text.starts_with("gensteps:")) {
    std::vector<photon::Genstep> steps = photon::read_gensteps(after("gensteps:"));
    std::uint64_t sum = 0;
    bool is_known = true;
    for (const photon::Genstep& step : steps) {
      is_known = is_known && step.photons != photon::kPhotonsOfPhysics;
      sum += step.photons;
    }
    if (is_known) source.photons = sum;
    source.request = client::gensteps(std::move(steps), 0, options.seed);
  } else {
    source.request = spectral_source(text, options.seed);
    source.is_endless = true;
  }
  source.request.max_steps = options.most_steps;
  source.request.max_time = std::isinf(options.latest) ? 0 : options.latest;
  source.request.finals = options.final;
  source.request.sequences = options.sequences;
  return source;
}

/// Empty counts with the scene's materials, surfaces and channels, from a server's `welcome`, which is not trusted.
photon::Tally tally_of(const Json& welcome, const PhotonOptions& options) {
  photon::Tally tally;
  const auto refuse = [] {
    throw Error(ErrorKind::malformed, "the server does not say what its scene has", {},
                "use the same version of raylift");
  };
  for (const char* member : {"materials", "surfaces", "channels"})
    if (!welcome.is_object() || !welcome.contains(member) || !welcome[member].is_array()) refuse();
  for (const Json& channel : welcome["channels"]) {
    if (!channel.is_number_integer()) refuse();
    tally.channels.push_back(channel.get<std::int32_t>());
  }
  if (!std::ranges::is_sorted(tally.channels)) refuse();
  tally.layout = {static_cast<std::uint32_t>(welcome["materials"].size()),
                  static_cast<std::uint32_t>(welcome["surfaces"].size()),
                  static_cast<std::uint32_t>(tally.channels.size()),
                  options.time_bins,
                  options.time_from,
                  options.time_to};
  tally.counts.resize(tally.layout.size());
  return tally;
}

/// A copy: bytes of a client are aligned to 8, and PhotonRow to 16.
std::vector<photon::PhotonRow> rows_of(const client::Bytes& bytes) {
  std::vector<photon::PhotonRow> rows(bytes.size() / sizeof(photon::PhotonRow));
  if (!rows.empty()) std::memcpy(rows.data(), bytes.data(), rows.size() * sizeof(photon::PhotonRow));
  return rows;
}

/// Adds a result to the counts. Ends are counted for no material: the server does not say of which they are.
void add(const client::Result& result, photon::Tally& tally) {
  const photon::Tally::Layout& layout = tally.layout;
  std::vector<std::uint64_t>& counts = tally.counts;
  counts.front() += result.counts.steps;
  for (std::size_t i = 0; i != 3; ++i) counts[1 + i] += result.counts.births[i];
  for (std::uint32_t kind = 0; kind != photon::kStepKinds; ++kind)
    counts[layout.material(layout.materials, kind)] += result.counts.ends[kind];
  for (const photon::PhotonRow& row : rows_of(result.bytes)) {
    if (row.sensor == 0) continue;
    const auto number = static_cast<std::int32_t>(row.sensor - 1);
    const auto place = std::ranges::lower_bound(tally.channels, number);
    if (place == tally.channels.end() || *place != number)
      throw Error(ErrorKind::malformed,
                  fmt::format("the server's hits have a channel {}, which its scene lacks", number));
    const auto channel = static_cast<std::uint32_t>(place - tally.channels.begin());
    ++counts[layout.channel(channel)];
    if (layout.time_bins != 0) ++counts[layout.time(channel, row.time)];
  }
}

/// Waits for a result, and calls meanwhile() several times a second, which an interrupt leaves by an exception.
client::Result result_of(client::Client& client, client::Ticket ticket, const std::function<void()>& meanwhile) {
  for (;;) {
    meanwhile();
    try {
      return client.wait(ticket, std::chrono::milliseconds(200));
    } catch (const client::Error& error) {
      if (error.code() != client::ErrorCode::timeout) throw;
    }
  }
}

}  // namespace

Json follow_photons_remotely(client::Client& client, PhotonOptions& options, std::optional<std::uint64_t> count,
                             const Json& head, PhotonSummary& summary, const Progress& progress) {
  RemoteSource source = read_source(options);
  const Json welcome = base::parse_json<Json>(client.welcome());
  const photon::Tally nothing = tally_of(welcome, options);
  const bool is_drawn = !source.photons && !source.is_endless;
  if (source.photons) {
    const std::uint64_t there = *source.photons - std::min(*source.photons, options.first);
    if (count.value_or(0) > there)
      throw Error(ErrorKind::usage,
                  fmt::format("the source has {} photons, and numbers {} to {} were asked for", *source.photons,
                              options.first, options.first + *count - 1),
                  {}, "leave out --photons");
    options.photons = count.value_or(there);
  } else if (count) {
    options.photons = *count;
  }
  // Where the server draws the number, it is known with the first result: all in one request.
  const bool is_one = is_drawn && !count;
  if (is_one) options.photons = 0;
  Json own_head = head;
  own_head["photons"] = is_one ? Json() : Json(options.photons);
  PhotonFiles files(options, own_head, nothing);
  summary.resumed_at = files.checkpoint().done;
  summary.tally = files.checkpoint().tally;
  summary.device = welcome.value("device", std::string("server"));
  summary.by_server = true;
  const photon::Simulation::Results results = files.results();
  const Stage stage(progress, "photons", is_one ? 0 : options.photons);
  const Clock::time_point start = Clock::now();
  Clock::time_point saved = start;
  std::uint64_t done = summary.resumed_at, sent = done;
  std::deque<client::Ticket> tickets;
  const std::uint64_t piece = options.batch != 0 ? options.batch : kPiece;
  bool is_over = false;
  while (!is_over && (is_one || done != options.photons || options.photons == 0)) {
    while (tickets.size() != kAtOnce && (is_one ? tickets.empty() : sent != options.photons)) {
      source.request.first = options.first + sent;
      source.request.photons = is_one ? client::kAll : std::min(piece, options.photons - sent);
      sent += is_one ? 0 : source.request.photons;
      tickets.push_back(client.submit(source.request));
    }
    if (tickets.empty()) break;
    const client::Result result = result_of(client, tickets.front(), [&] { stage.advance(done); });
    tickets.pop_front();
    if (!is_one && result.photons != std::min(piece, options.photons - done))
      throw Error(ErrorKind::malformed, "the server simulated another number of photons than it was asked for");
    if (results.hits) results.hits(rows_of(result.bytes));
    if (results.finals) results.finals(rows_of(result.finals));
    if (results.sequences)
      results.sequences({static_cast<const photon::Sequence*>(result.sequences.data()),
                         result.sequences.size() / sizeof(photon::Sequence)});
    add(result, summary.tally);
    done += result.photons;
    is_over = is_one;
    summary.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    if (!is_one && std::chrono::duration<double>(Clock::now() - saved).count() >= options.checkpoint_seconds) {
      files.save(done, summary.tally);
      saved = Clock::now();
    }
    stage.advance(done);
  }
  options.photons = done;
  if (!is_one) files.save(done, summary.tally);
  files.finish();
  summary.files = files.names();
  write_photon_counts(options.output, summary.tally, summary.files);
  if (wants_record(options)) {
    client::Request& wanted = source.request;
    wanted.layout = client::Layout::none;
    wanted.finals = wanted.sequences = false;
    wanted.records = true;
    write_record(options, progress, [&](std::uint64_t first, std::size_t photons, const auto& advance) {
      wanted.first = first;
      wanted.photons = photons;
      return rows_of(result_of(client, client.submit(wanted), [&] { advance(0); }).records);
    });
    summary.files.emplace_back("record.npy");
  }
  own_head["photons"] = done;
  Json json = photon_json(own_head, summary);
  write_photon_summary(options.output, json);
  return json;
}

}  // namespace raylift::batch
