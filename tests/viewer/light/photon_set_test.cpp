// SPDX-License-Identifier: Apache-2.0
// Photons as they are read and chosen: files of all kinds, filters, times and colours. No GL.
#include "light/photon_set.h"

#include <gtest/gtest.h>
#include <raylift/geometry/error.h>
#include <raylift/geometry/import/load.h>

#include <functional>
#include <iterator>
#include <random>

#include "light/light_statistics.h"
#include "light/photon_colors.h"
#include "light/photons.h"
#include "model/colors/palette.h"
#include "photon_rows.h"
#include "support/paths.h"

namespace raylift::viewer {
namespace {

using namespace test_photons;

const Scene& detector() {
  static const Scene scene = load(test::data("detector.dae"));
  return scene;
}

/// Torch, into another solid, scattered, reflected at a third solid, detected.
std::vector<PhotonRow> long_path(std::uint32_t number) {
  std::vector<PhotonRow> path{event(flags::kTorch, {0, 0, 0}, 1, number, 420, 5),
                              event(flags::kBoundaryTransmit, {100, 0, 0}, 2, number, 420, 4),
                              event(flags::kBulkReemit, {200, 0, 0}, 3, number, 500, 4),
                              event(flags::kBoundaryReflect, {300, 0, 0}, 4, number, 500, 3),
                              event(flags::kSurfaceDetect, {200, 50, 0}, 5, number, 500, 9)};
  path.back().sensor = 13;
  return path;
}
std::vector<PhotonRow> short_path(std::uint32_t number) {
  return {event(flags::kTorch, {0, 0, 0}, 0, number, 350, 5), event(flags::kBulkAbsorb, {0, 10, 0}, 9, number, 350, 5)};
}

PhotonSet read(const std::filesystem::path& path, std::uint64_t most = 1000) {
  return load_photons(path, detector(), most, {});
}

void expect_error(ErrorKind kind, const char* words, const std::function<void()>& work) {
  try {
    work();
    ADD_FAILURE() << "no error: " << words;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
  }
}

class PhotonFiles : public testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path file(const char* name) const { return folder_.path() / name; }
  test::TemporaryFolder folder_;
};

TEST_F(PhotonFiles, OfARunAreStepsAndEnds) {
  write_record(file("record.npy"), {long_path(0), short_path(1)});
  write_points(file("hits.npy"), {long_path(0).back()});
  const PhotonSet set = read(folder_.path());
  ASSERT_EQ(set.paths(), 2U);
  EXPECT_EQ(set.path(0).size(), 5U);
  EXPECT_EQ(set.path(1).size(), 2U);
  EXPECT_EQ(set.path(1)[1].position.y, 10);
  EXPECT_EQ(set.points.size(), 1U);
  EXPECT_EQ(set.times.low, 0);
  EXPECT_EQ(set.times.high, 9);
  EXPECT_EQ(set.wavelengths.low, 350);
  EXPECT_EQ(photon::history_text(history_of(set.path(0))), "TO BT RE BR SD");
  EXPECT_EQ(set.path_of(0), 0U);
  EXPECT_EQ(set.path_of(4), 0U);
  EXPECT_EQ(set.path_of(5), 1U);
  EXPECT_TRUE(set.notes.empty());
}

TEST_F(PhotonFiles, TellTheMediumBehindAReflection) {
  write_record(file("record.npy"), {long_path(0)});
  const PhotonSet set = read(folder_.path());
  // Light that meets solid 3 and is reflected stays in 4.
  EXPECT_EQ(set.media, (std::vector<std::uint32_t>{5, 4, 4, 4, 4}));
}

TEST_F(PhotonFiles, MayHaveFewerEventsAndNoFolder) {
  write_record(file("opticks.npy"), {long_path(0), short_path(1)}, 5);
  const PhotonSet paths = read(file("opticks.npy"));
  EXPECT_EQ(paths.paths(), 2U);
  EXPECT_EQ(paths.path(0).size(), 5U) << "a path that fills its row";
  write_points(file("photons.npy"), {long_path(0).back(), short_path(1).back()});
  EXPECT_EQ(read(file("photons.npy")).points.size(), 2U);
}

TEST_F(PhotonFiles, FinalPhotonsGoBeforeHits) {
  write_points(file("hits.npy"), {long_path(0).back()});
  write_points(file("final.npy"), {long_path(0).back(), short_path(1).back(), short_path(2).back()});
  EXPECT_EQ(read(folder_.path()).points.size(), 3U);
}

TEST_F(PhotonFiles, HaveTheHistoriesOfHitsByTheirNumbers) {
  // Numbers are the lowest 32 bits: the second has passed a multiple of 2^32.
  const std::uint64_t first = (std::uint64_t{7} << 32) - 3;
  (void)folder_.write("summary.json", R"({"first": )" + std::to_string(first) + "}");
  std::vector<photon::Sequence> sequences(6, {{0x4D, 0}, {0, 0}});  // TO AB
  sequences[1].events[0] = 0x7CD;                                   // TO BT SD
  sequences[4].events[0] = 0x75D;                                   // TO RE SD
  photon::NpyWriter writer(file("seq.npy"), photon::NpyType::uint64, {2, 2});
  writer.append(std::span<const photon::Sequence>(sequences));
  writer.finish();
  write_points(file("hits.npy"), {event(flags::kSurfaceDetect, {0, 0, 0}, 1, static_cast<std::uint32_t>(first + 1)),
                                  event(flags::kSurfaceDetect, {0, 0, 0}, 1, static_cast<std::uint32_t>(first + 4))});
  const PhotonSet set = read(folder_.path());
  ASSERT_EQ(set.histories.size(), 2U);
  EXPECT_EQ(photon::history_text(set.histories[0]), "TO BT SD");
  EXPECT_EQ(photon::history_text(set.histories[1]), "TO RE SD");
  (void)folder_.write("summary.json", "{}");
  expect_error(ErrorKind::malformed, "fewer rows", [&] { (void)read(folder_.path()); });
}

TEST_F(PhotonFiles, AreCutAtTheLimitAndThatIsSaid) {
  write_record(file("record.npy"), {long_path(0), short_path(1), short_path(2)});
  write_points(file("hits.npy"), {long_path(0).back(), long_path(3).back()});
  const PhotonSet set = read(folder_.path(), 1);
  EXPECT_EQ(set.paths(), 1U);
  EXPECT_EQ(set.points.size(), 1U);
  ASSERT_EQ(set.notes.size(), 2U);
  EXPECT_NE(set.notes[0].find("the first 1 of 3"), std::string::npos) << set.notes[0];
}

TEST_F(PhotonFiles, OfAnotherSceneAreDrawnWithAWarning) {
  std::vector<PhotonRow> path = short_path(0);
  path[1].solid = 1'000'000;
  write_record(file("record.npy"), {path});
  const PhotonSet set = read(folder_.path());
  ASSERT_EQ(set.notes.size(), 1U);
  EXPECT_NE(set.notes[0].find("another scene"), std::string::npos);
}

TEST_F(PhotonFiles, ThatAreNoneAreRefusedWithTheirPlace) {
  expect_error(ErrorKind::io, "no record.npy", [&] { (void)read(folder_.path()); });
  expect_error(ErrorKind::io, "can't be opened", [&] { (void)read(file("none.npy")); });
  (void)folder_.write("text.npy", "nothing");
  expect_error(ErrorKind::malformed, "no .npy", [&] { (void)read(file("text.npy")); });

  using Break = std::function<void(PhotonRow&)>;
  const float nan = std::nanf("");
  const std::pair<const char*, Break> breaks[] = {{"place", [&](PhotonRow& r) { r.position.y = nan; }},
                                                  {"place", [&](PhotonRow& r) { r.position.z = 1e38F * 100; }},
                                                  {"time", [&](PhotonRow& r) { r.time = nan; }},
                                                  {"wavelength", [&](PhotonRow& r) { r.wavelength = -1; }},
                                                  {"wavelength", [&](PhotonRow& r) { r.wavelength = nan; }},
                                                  {"flag", [&](PhotonRow& r) { r.flag = 3; }},
                                                  {"flag", [&](PhotonRow& r) { r.flag = 0x8000; }}};
  for (const auto& [words, change] : breaks) {
    std::vector<PhotonRow> path = long_path(1);
    change(path[2]);
    write_record(file("bad.npy"), {short_path(0), path});
    expect_error(ErrorKind::malformed, words, [&] { (void)read(file("bad.npy")); });
    expect_error(ErrorKind::malformed, "photon 1, event 2", [&] { (void)read(file("bad.npy")); });
    write_points(file("bad.npy"), {short_path(0).back(), path[2]});
    expect_error(ErrorKind::malformed, "photon 1", [&] { (void)read(file("bad.npy")); });
  }
  std::vector<PhotonRow> no_end = short_path(0);
  no_end[1].flag = 0;
  write_points(file("bad.npy"), {no_end[1]});
  expect_error(ErrorKind::malformed, "flag", [&] { (void)read(file("bad.npy")); });

  photon::NpyWriter flat(file("flat.npy"), photon::NpyType::float32, {3});
  flat.finish();
  expect_error(ErrorKind::malformed, "is wanted", [&] { (void)read(file("flat.npy")); });
  photon::NpyWriter integers(file("integers.npy"), photon::NpyType::uint32, {32, 4, 4});
  integers.finish();
  expect_error(ErrorKind::malformed, "is wanted", [&] { (void)read(file("integers.npy")); });
  photon::NpyWriter wide(file("wide.npy"), photon::NpyType::float32, {100'000, 4, 4});
  wide.finish();
  expect_error(ErrorKind::malformed, "100000 events", [&] { (void)read(file("wide.npy")); });
}

/// A file with any byte changed, or cut anywhere, is read or refused.
TEST_F(PhotonFiles, ThatAreDamagedEndInAnError) {
  write_record(file("record.npy"), {long_path(0), short_path(1)}, 6);
  const std::string good = test::bytes_in(file("record.npy"));
  std::mt19937 random(3);
  int refused = 0;
  for (int i = 0; i != 600; ++i) {
    std::string bad = good;
    const std::size_t at = random() % (i % 2 == 0 ? 128 : bad.size());
    bad[at] = static_cast<char>(random());
    if (i % 5 == 0) bad.resize(random() % bad.size());
    (void)folder_.write("bad.npy", bad);
    try {
      const PhotonSet set = read(file("bad.npy"));
      EXPECT_LE(set.rows.size(), 12U);
    } catch (const Error& error) {
      ++refused;
      EXPECT_NE(std::string(error.what()).find("bad.npy"), std::string::npos) << error.what();
    }
  }
  EXPECT_GT(refused, 150);
}

TEST(PhotonChoice, TakesWhatTheFilterLeaves) {
  PhotonSet set = set_of({long_path(0), short_path(1)}, {long_path(0).back(), short_path(1).back()});
  const auto chosen = [&](const char* history, const char* wavelength = "", const char* channel = "") {
    PhotonFilter filter;
    filter.history = history;
    if (*wavelength != '\0') filter.wavelength = parse_wavelengths(wavelength);
    if (*channel != '\0') filter.channel = parse_channels(channel);
    const PhotonChoice choice = choose_photons(set, detector(), filter);
    return std::array{choice.paths, std::uint64_t{choice.steps.size()}, std::uint64_t{choice.points.size()},
                      choice.without_history};
  };
  using Counts = std::array<std::uint64_t, 4>;
  EXPECT_EQ(chosen(""), (Counts{2, 5, 2, 0}));
  EXPECT_EQ(chosen("TO * SD"), (Counts{1, 4, 0, 2})) << "points without histories";
  set.histories = {history_of(set.path(0)), history_of(set.path(1))};
  EXPECT_EQ(chosen("TO * SD"), (Counts{1, 4, 1, 0}));
  EXPECT_EQ(chosen("AB"), (Counts{1, 1, 1, 0}));
  EXPECT_EQ(chosen("", "490-510"), (Counts{1, 2, 1, 0})) << "the steps of that light";
  EXPECT_EQ(chosen("", "350"), (Counts{1, 1, 1, 0}));
  EXPECT_EQ(chosen("", "", "12"), (Counts{1, 4, 1, 0}));
  EXPECT_EQ(chosen("", "", "13-20"), (Counts{0, 0, 0, 0}));
  EXPECT_EQ(chosen("TO * SD", "420", "12"), (Counts{1, 2, 0, 0}));
  expect_error(ErrorKind::usage, "no event", [&] { (void)chosen("TO * QQ"); });
}

TEST(PhotonChoice, KnowsTheMaterialOfEachStep) {
  const PhotonSet set = set_of({long_path(0)});
  const PhotonChoice choice = choose_photons(set, detector(), {});
  ASSERT_EQ(choice.steps.size(), 4U);
  EXPECT_EQ(choice.steps[0].material, material_of(detector(), 5));
  EXPECT_EQ(choice.steps[1].material, material_of(detector(), 4));
  EXPECT_EQ(choice.steps[3].material, material_of(detector(), 4));
  EXPECT_NE(material_of(detector(), 4), material_of(detector(), 5));
  EXPECT_EQ(material_of(detector(), kNone), detector().materials.size());
}

TEST(PhotonHits, AreCountedBySolidUpToATime) {
  const Scene& scene = detector();
  ASSERT_GT(scene.optics.channels.size(), 2U);
  const std::uint32_t a = scene.optics.channels[0].solid, b = scene.optics.channels[1].solid;
  const PhotonSet set =
      set_of({}, {event(flags::kSurfaceDetect, {}, 5, 0, 420, a), event(flags::kSurfaceDetect, {}, 3, 1, 420, a),
                  event(flags::kSurfaceDetect, {}, 9, 2, 420, b), event(flags::kSurfaceAbsorb, {}, 1, 3, 420, b)});
  const PhotonChoice choice = choose_photons(set, scene, {});
  const std::vector<std::uint32_t> sensors = sensors_of_solids(scene);
  const SolidHits hits = count_hits(set, choice, sensors, std::nullopt);
  EXPECT_EQ(hits.counts[a], 2U);
  EXPECT_EQ(hits.counts[b], 1U);
  EXPECT_EQ(hits.first_times[a], 3);
  EXPECT_EQ(hits.most, 2U);
  EXPECT_EQ(hits.times.low, 3);
  EXPECT_EQ(hits.times.high, 9);
  EXPECT_EQ(count_hits(set, choice, sensors, 4.0).counts[a], 1U);
  EXPECT_EQ(count_hits(set, choice, sensors, 4.0).counts[b], 0U);
  // The scale doesn't change while light plays.
  EXPECT_EQ(hits.usual_time, 9);
  Settings settings;
  for (const ColorBy color : {ColorBy::hits, ColorBy::first_hit}) {
    settings.color = color;
    EXPECT_EQ(hit_scale(count_hits(set, choice, sensors, 4.0), settings, nullptr).values,
              hit_scale(hits, settings, nullptr).values);
  }
  // The glass around the photocathode shows its hits; the world, which holds all sensors, none.
  std::size_t shown = 0;
  for (const std::uint32_t count : hits.counts) shown += count == 2 ? 1 : 0;
  EXPECT_GT(shown, 1U);
  EXPECT_EQ(hits.counts[0], 0U);
  // The paths' ends, where there are no points.
  EXPECT_EQ(
      count_hits(set_of({long_path(0)}), choose_photons(set_of({long_path(0)}), scene, {}), sensors, std::nullopt).most,
      1U);
}

TEST(PhotonHits, HaveColoursAndALegendOfTheSameScale) {
  SolidHits hits;
  hits.counts = {0, 1, 5, 3};
  hits.first_times = {std::numeric_limits<float>::infinity(), 10, 20, 15};
  hits.most = 5;
  hits.times = {10, 20};
  hits.usual_time = 20;
  Settings settings;
  settings.color = ColorBy::hits;
  const ScaleColors viridis(ColorMap::viridis, ground_of(settings.background));
  const HitScale counts = hit_scale(hits, settings, nullptr);
  const auto colors = hit_colors(hits, ColorBy::hits, counts);
  EXPECT_EQ(colors[0], packed(kNoHitColor));
  EXPECT_EQ(colors[1], packed(viridis.at(0)));
  EXPECT_EQ(colors[2], packed(viridis.at(1)));
  EXPECT_EQ(colors[3], packed(viridis.at(0.5)));
  EXPECT_EQ(packed(hit_legend(hits, ColorBy::hits, counts).ramp.front()), colors[1]);
  EXPECT_EQ(packed(hit_legend(hits, ColorBy::hits, counts).ramp.back()), colors[2]);
  EXPECT_EQ(hit_legend(hits, ColorBy::hits, counts).ticks.back().label, "5");
  const auto range = hit_legend(hits, ColorBy::hits, counts).range;
  ASSERT_TRUE(range) << "its settings begin with it";
  EXPECT_EQ(range->high, 5);
  settings.color = ColorBy::first_hit;
  const HitScale firsts = hit_scale(hits, settings, nullptr);
  const auto times = hit_colors(hits, ColorBy::first_hit, firsts);
  EXPECT_EQ(times[1], packed(viridis.at(0))) << "early is nearest to the ground, as of light";
  EXPECT_EQ(packed(hit_legend(hits, ColorBy::first_hit, firsts).ramp.front()), times[1]);
  EXPECT_EQ(packed(hit_legend(hits, ColorBy::first_hit, firsts).ramp.back()), times[2]);
  EXPECT_EQ(hit_legend(hits, ColorBy::first_hit, firsts).ticks.front().label, "10");
}

TEST(PhotonColors, OfWavelengthsAreThoseOfTheSpectrum) {
  const auto channel = [](double nm, std::size_t c) { return wavelength_color(nm)[c]; };
  EXPECT_GT(channel(470, 2), 0.95F) << "blue";
  EXPECT_LT(channel(470, 0), 0.35F);
  EXPECT_GT(channel(530, 1), 0.95F) << "green";
  EXPECT_LT(channel(530, 2), 0.7F);
  EXPECT_GT(channel(580, 0), 0.95F) << "yellow";
  EXPECT_GT(channel(580, 1), 0.6F);
  EXPECT_GT(channel(640, 0), 0.95F) << "red";
  EXPECT_LT(channel(640, 1), 0.35F);
  EXPECT_GT(channel(420, 0), 0.3F) << "violet: blue and some red";
  EXPECT_GT(channel(420, 2), 0.95F);
  EXPECT_LT(channel(420, 1), channel(420, 0));
  EXPECT_EQ(wavelength_color(120), wavelength_color(380)) << "ultraviolet";
  EXPECT_EQ(wavelength_color(5000), wavelength_color(720)) << "infrared";
  EXPECT_LT(channel(380, 2), 0.6F);
  EXPECT_GT(channel(380, 2), 0.4F) << "dark, and seen";
  EXPECT_LT(channel(720, 0), 0.6F);
  EXPECT_GT(channel(720, 0), 0.4F);
}

TEST(PhotonColors, OfFrequentEventsAreToldApart) {
  const Ground ground = ground_of(Background());
  std::set<std::uint32_t> colors;
  for (const std::uint32_t number : {1U, 2U, 4U, 5U, 6U, 7U, 8U, 11U, 12U, 13U}) {
    const Color color = event_color(number, ground);
    bool safe = false;
    for (std::uint32_t i = 0; i != kSafeColors; ++i) safe |= vivid_color(i, ground) == color;
    EXPECT_TRUE(safe) << number;
    colors.insert(packed(color));
  }
  EXPECT_EQ(colors.size(), kSafeColors);
}

TEST(PhotonColors, AreTheTimeWhereAllLightHasOneWavelength) {
  const auto color = [](const PhotonSet& set, const PhotonSettings& settings = {}) {
    return shown_color(settings, LightStatistics(set));
  };
  PhotonSet set = set_of({long_path(0)});
  EXPECT_EQ(color(set), PhotonColor::wavelength);
  const auto line = [](std::uint32_t shifted) {
    std::vector<PhotonRow> ends;
    for (std::uint32_t i = 0; i != 100; ++i)
      ends.push_back(event(flags::kSurfaceDetect, {}, static_cast<float>(i), i, i < shifted ? 480 : 420));
    return set_of({}, ends);
  };
  EXPECT_EQ(color(line(0)), PhotonColor::time);
  EXPECT_EQ(color(line(4)), PhotonColor::time) << "a few photons were shifted";
  EXPECT_EQ(color(line(40)), PhotonColor::wavelength);
  PhotonSet still = line(0);
  still.times = {5, 5};
  EXPECT_EQ(color(still), PhotonColor::wavelength) << "neither varies";
  PhotonSettings chosen;
  chosen.color = PhotonColor::process;
  EXPECT_EQ(color(set, chosen), PhotonColor::process);
}

TEST(PhotonColors, LegendsCountWhatIsDrawn) {
  const PhotonSet set = set_of({long_path(0), short_path(1)});
  const PhotonChoice choice = choose_photons(set, detector(), {});
  Settings settings;
  const auto legend = [&](PhotonColor color, std::size_t most = 12) {
    settings.photons.color = color;
    return photon_legend(set, choice, LightStatistics(set), detector(), settings, most);
  };
  const Legend processes = legend(PhotonColor::process);
  ASSERT_FALSE(processes.entries.empty());
  EXPECT_EQ(processes.entries[0].name, "TO, TORCH");
  EXPECT_EQ(processes.entries[0].count, 2U) << "steps after a birth";
  EXPECT_EQ(processes.entries.size(), 4U) << "TO, BT, RE, BR";
  EXPECT_EQ(legend(PhotonColor::material).entries.size(), 2U);
  EXPECT_EQ(legend(PhotonColor::time).title, "light: time, ns");
  EXPECT_FALSE(legend(PhotonColor::wavelength).ramp.empty());
  EXPECT_EQ(legend(PhotonColor::process, 1).more, 3U);
}

/// A hundred photons within 10 ns, and one of a millisecond.
PhotonSet mostly_early() {
  std::vector<PhotonRow> ends;
  for (std::uint32_t i = 0; i != 100; ++i)
    ends.push_back(event(flags::kSurfaceDetect, {}, 5 + 0.05F * static_cast<float>(i), i));
  ends.push_back(event(flags::kSurfaceDetect, {}, 1e6F, 100));
  PhotonSet set = set_of({}, ends);
  set.times.add(0);
  return set;
}

TEST(LightStatistics, AreMostOfTheSliderWhereMostOfTheLightIs) {
  const LightStatistics times(mostly_early());
  EXPECT_EQ(times.first(), 0);
  EXPECT_EQ(times.last(), 1e6);
  EXPECT_GT(times.position(10), 0.75) << "90 % of the hits are not a tenth of it";
  EXPECT_GT(times.position(4), 0.25) << "light on its way counts too";
  EXPECT_GT(times.position(1000), times.position(10)) << "every time has a place";
  EXPECT_EQ(times.position(0), 0);
  EXPECT_EQ(times.position(1e6), 1);
  for (const double time : {0.0, 0.3, 4.0, 9.0, 50.0, 5e5, 1e6})
    EXPECT_NEAR(times.time_at(times.position(time)), time, 1e-3 * time + 1e-3) << time;
  EXPECT_LT(times.quantile(0.98), 11);
  EXPECT_EQ(LightStatistics().time_at(0.5), 0);
  EXPECT_FALSE(LightStatistics(set_of({}, {event(flags::kSurfaceDetect, {}, 5, 0)})).run());
}

TEST(LightStatistics, GiveTheScaleOfTimeWhatMostLightHas) {
  const PhotonSet set = mostly_early();
  EXPECT_LT(time_scale({}, LightStatistics(set)).high(), 11);
  PhotonSettings settings;
  settings.scale_range = {0, 500};
  EXPECT_EQ(time_scale(settings, LightStatistics(set)).high(), 500);
  Settings all;
  all.photons.color = PhotonColor::time;
  const Legend legend = photon_legend(set, choose_photons(set, detector(), {}), LightStatistics(set), detector(), all);
  EXPECT_EQ(legend.ticks.back().label.substr(0, 2), "> ") << "and says so";
}

/// Solids by first hit and light by time: ranges of their own and colours of their own, or else one scale.
TEST(PhotonHits, BesideLightByTimeHaveARangeThatShowsThem) {
  SolidHits hits;
  hits.counts = {1, 1};
  hits.first_times = {2, 8};
  hits.most = 1;
  hits.times = {2, 8};
  hits.usual_time = 8;
  Settings settings;
  settings.color = ColorBy::first_hit;
  const LightStatistics times(mostly_early());
  EXPECT_EQ(hit_scale(hits, settings, &times).values, hit_scale(hits, settings, nullptr).values);
  EXPECT_EQ(hit_scale(hits, settings, &times).values.low(), 2);
  EXPECT_EQ(hit_scale(hits, settings, &times).values.high(), 8);
  EXPECT_NE(hit_scale(hits, settings, &times).values, time_scale(settings.photons, times));
  settings.scale_map = settings.photons.scale_map;
  const HitScale scale = hit_scale(hits, settings, &times);
  EXPECT_EQ(scale.values, time_scale(settings.photons, times));
  const ScaleColors light(settings.photons.scale_map, ground_of(settings.background));
  const auto colors = hit_colors(hits, ColorBy::first_hit, scale);
  EXPECT_EQ(colors[0], packed(light.at(scale.values.place(2))));
  EXPECT_LT(luminance(unpacked(colors[0])), luminance(unpacked(colors[1]))) << "early is dark, as of light";
}

TEST(PhotonSettings, ReadRanges) {
  EXPECT_EQ(parse_wavelengths("350-500"), (Between<float>{350, 500}));
  EXPECT_EQ(parse_wavelengths("420"), (Between<float>{420, 420}));
  EXPECT_EQ(parse_channels("10-19"), (Between<std::int32_t>{10, 19}));
  EXPECT_EQ(range_text(parse_channels("10-19")), "10-19");
  EXPECT_EQ(range_text(parse_wavelengths("420")), "420");
  for (const char* bad : {"", "-", "500-350", "x", "350-", "nan", "-5", "1-2-3"})
    expect_error(ErrorKind::usage, "range", [&] { (void)parse_wavelengths(bad); });
  for (const char* bad : {"1.5", "1-2.5", "1e12"})
    expect_error(ErrorKind::usage, bad, [&] { (void)parse_channels(bad); });
}

TEST(PhotonSettings, TimeRunsToTheEndAndBeginsAgain) {
  PhotonSettings light;
  const LightStatistics times(
      set_of({}, {event(flags::kBulkAbsorb, {}, 10, 0), event(flags::kBulkAbsorb, {}, 110, 1)}));
  EXPECT_NEAR(times.position(*played(light, times, 1)), 0.1, 1e-6) << "all of it in ten seconds";
  EXPECT_NEAR(time_of_play(light, times, 0.5), times.time_at(0.5), 1e-9);
  light.time = 50;
  light.speed = 5;
  EXPECT_DOUBLE_EQ(*played(light, times, 2), 60);
  EXPECT_DOUBLE_EQ(*played(light, times, 13), 15) << "115 is 5 behind the end";
  light.play_range = {20, 60};
  EXPECT_DOUBLE_EQ(*played(light, times, 3), 25) << "65 is 5 behind the end of the range";
  light.time = 100;
  EXPECT_DOUBLE_EQ(*played(light, times, 1), 25) << "from outside it begins at the start";
  EXPECT_EQ(time_of_play(light, times, 0.5), 40);
  light.speed = 0;
  EXPECT_EQ(time_of_play(light, times, 0), 20);
  EXPECT_EQ(time_of_play(light, times, 1), 60);
  light.time = 20;
  EXPECT_NEAR(times.position(*played(light, times, 5)), 0.5 * (times.position(20) + times.position(60)), 1e-6)
      << "all of it in ten seconds";
  light.speed = 5;
  light.time = 50;
  light.play_range = {500, 600};
  EXPECT_EQ(play_times(light, times), (Between<double>{10, 110})) << "no light is there";
  light.play_range.reset();
  light.loop = false;
  EXPECT_FALSE(played(light, times, 13));
  EXPECT_EQ(time_of_play(light, times, 0.5), 60) << "by its speed";
  EXPECT_FALSE(played(light, LightStatistics(set_of({}, {event(flags::kBulkAbsorb, {}, 10, 0)})), 1))
      << "no time to run";
}

TEST(Photons, SelectedOneShowsItsHistoryStepByStep) {
  const auto set = std::make_shared<const PhotonSet>(
      set_of({short_path(7), long_path(8)}, {long_path(8).back(), short_path(9).back()}));
  Photons photons(set, detector());
  const auto selected = photons.selection_of_step(4);
  ASSERT_TRUE(selected);
  EXPECT_EQ(selected->path, 1U);
  EXPECT_EQ(selected->number, 8U);
  EXPECT_EQ(selected->history, "TO BT RE BR SD");
  EXPECT_EQ(selected->channel, 12);
  ASSERT_EQ(selected->events.size(), 5U);
  EXPECT_EQ(selected->events[1].event, "BT, BOUNDARY_TRANSMIT");
  EXPECT_NEAR(selected->events[1].step, 100, 1e-4);
  EXPECT_EQ(selected->events[1].solid, detector().solid_name(detector().instances[4]));
  EXPECT_EQ(selected->events[0].medium, detector().materials[material_of(detector(), 5)].name);
  EXPECT_EQ(selected->events[3].medium, detector().materials[material_of(detector(), 4)].name) << "reflected: the same";
  EXPECT_EQ(selected->events[4].medium, "");
  photons.select(selected);
  EXPECT_EQ(photons.selected_steps().size(), 4U);
  // A point is of the path with its number, or alone.
  EXPECT_EQ(photons.selection_of_point(0)->path, 1U);
  EXPECT_FALSE(photons.selection_of_point(1)->path);
  EXPECT_EQ(photons.selection_of_point(1)->events.size(), 1U);
  EXPECT_FALSE(photons.selection_of_point(2));
}

}  // namespace
}  // namespace raylift::viewer
