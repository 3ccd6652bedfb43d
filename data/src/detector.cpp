// SPDX-License-Identifier: Apache-2.0
#include "detector.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace raylift::detector {
namespace {

using std::numbers::pi;
using Profile = std::vector<std::pair<double, double>>;

// Lengths in millimetres. The vessel is that of a large liquid scintillator detector; only proportions matter here.
constexpr double kSensorRadius = 127;  // of the bulb
constexpr double kNeckRadius = 42;
constexpr double kNeckLength = 130;
constexpr double kGlass = 3;         // thickness
constexpr double kCathodeGap = 0.5;  // between the vacuum's surface and the photocathode's; more than files round off
constexpr double kCathodeThickness = 0.5;
constexpr double kSensorSpacing = 330;  // between neighbours' axes, at least

/// Ten numbers in [0, 1) per seed would do; this one is the same on every machine (Steele, Lea, Flood 2014:
/// splitmix64).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  double uniform() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15ULL;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1.0p-53;
  }

 private:
  std::uint64_t state_;
};

std::uint32_t rings_of(std::uint32_t segments) {
  return std::max(segments / 2, 2U) - 1;
}

Surface cylinder(double radius, double half_height, std::uint32_t segments) {
  return revolve(-half_height, {{radius, -half_height}, {radius, half_height}}, half_height, segments);
}

/// Rings around the bulb of a sensor, from its neck to its front, the pole excluded.
Profile bulb_rings(double bulb, double neck, std::uint32_t segments) {
  const double joint = std::asin(neck / bulb);  // where the bulb goes over into the neck
  const std::uint32_t rings = rings_of(segments);
  Profile profile;
  for (std::uint32_t i = 0; i <= rings; ++i) {
    const double angle = joint + (pi - joint) * i / (rings + 1);
    profile.emplace_back(bulb * std::sin(angle), -bulb * std::cos(angle));
  }
  return profile;
}

/// Bulb and neck, `inset` inside of the outer glass. The bulb's centre is the origin; the sensor looks along +z.
Surface bulb_and_neck(double inset, std::uint32_t segments) {
  const double bulb = kSensorRadius - inset;
  const double neck = kNeckRadius - inset;
  const double bottom = -std::sqrt(kSensorRadius * kSensorRadius - kNeckRadius * kNeckRadius) - kNeckLength + inset;
  Profile profile = bulb_rings(bulb, neck, segments);
  profile.insert(profile.begin(), {neck, bottom});
  return revolve(bottom, profile, bulb, segments);
}

/// The front cap of the vacuum, as thin as a photocathode: a shell closed at its rim. Its two surfaces are the vacuum's
/// own, scaled down about the bulb's centre: so its facets are parallel to the vacuum's and cross none, however few
/// there are.
Surface cathode(std::uint32_t segments) {
  const double vacuum = kSensorRadius - kGlass;
  const double outer = vacuum - kCathodeGap;
  const double inner = outer - kCathodeThickness;
  Profile bulb = bulb_rings(vacuum, kNeckRadius - kGlass, segments);
  // The front half of the rings, so that the rim lies near the equator.
  bulb.erase(bulb.begin(), bulb.end() - (rings_of(segments) / 2 + 1));
  Profile profile;
  const auto add = [&](const auto& ring, double radius) {
    profile.emplace_back(ring.first * radius / vacuum, ring.second * radius / vacuum);
  };
  // From the inner pole out to the rim, then back along the outside.
  for (auto ring = bulb.rbegin(); ring != bulb.rend(); ++ring) add(*ring, inner);
  for (const auto& ring : bulb) add(ring, outer);
  return revolve(inner, profile, outer, segments);
}

/// A frame whose z axis points from `position` along `direction`, turned about it by `angle`.
EigenTransform facing(const Eigen::Vector3d& position, const Eigen::Vector3d& direction, double angle) {
  const Eigen::Vector3d z = direction.normalized();
  const Eigen::Vector3d helper = std::abs(z.z()) < 0.9 ? Eigen::Vector3d::UnitZ() : Eigen::Vector3d::UnitX();
  const Eigen::Vector3d x = helper.cross(z).normalized();
  EigenTransform transform = EigenTransform::Identity();
  transform.linear() << x, z.cross(x), z;
  transform.translation() = position;
  transform.rotate(Eigen::AngleAxisd(angle, Eigen::Vector3d::UnitZ()));
  return transform;
}

/// Directions spread evenly: a Fibonacci lattice.
Eigen::Vector3d lattice_point(std::uint32_t i, std::uint32_t count) {
  const double z = 1 - (2 * i + 1.0) / count;
  const double around = pi * (3 - std::sqrt(5.0)) * i;
  const double r = std::sqrt(1 - z * z);
  return {r * std::cos(around), r * std::sin(around), z};
}

/// On the wall of a cylinder in rows, and on its two ends in rings, in proportion to their areas.
void place_on_cylinder(std::uint32_t count, double radius, double half_height,
                       std::vector<std::pair<Eigen::Vector3d, Eigen::Vector3d>>& out) {
  const auto on_wall = static_cast<std::uint32_t>(std::lround(count * (2 * half_height) / (2 * half_height + radius)));
  const auto per_row = std::max<std::uint32_t>(
      static_cast<std::uint32_t>(std::lround(std::sqrt(on_wall * pi * radius / half_height))), 1);
  const std::uint32_t rows = on_wall == 0 ? 0 : (on_wall + per_row - 1) / per_row;
  for (std::uint32_t i = 0; i != on_wall; ++i) {
    const std::uint32_t row = i / per_row;
    const std::uint32_t here = std::min(per_row, on_wall - row * per_row);
    const double angle = 2 * pi * ((i % per_row) + 0.5 * (row % 2)) / here;
    const Eigen::Vector3d outward(std::cos(angle), std::sin(angle), 0);
    out.emplace_back(radius * outward + Eigen::Vector3d(0, 0, half_height * ((2 * row + 1.0) / rows - 1) * 0.97),
                     -outward);
  }
  const std::uint32_t on_ends = count - on_wall;
  for (std::uint32_t i = 0; i != on_ends; ++i) {
    // A sunflower on each end: even by area.
    const std::uint32_t per_end = (on_ends + 1 - i % 2) / 2;
    const double r = 0.93 * radius * std::sqrt((i / 2 + 0.5) / std::max(per_end, 1U));
    const double angle = pi * (3 - std::sqrt(5.0)) * (i / 2);
    const double side = i % 2 == 0 ? 1 : -1;
    out.emplace_back(Eigen::Vector3d(r * std::cos(angle), r * std::sin(angle), side * half_height),
                     Eigen::Vector3d(0, 0, -side));
  }
}

struct Layer {
  const char* name;
  const char* material;
  double beyond_sensors;  ///< radius, as a distance from the sphere or cylinder on which the sensors sit
};

// From the outside in. Sensors hang in the buffer, their bulbs' centres on the reference surface.
constexpr std::array<Layer, 5> kLayers{{{"Pool", "Water", 2400},
                                        {"Tank", "StainlessSteel", 620},
                                        {"Buffer", "MineralOil", 600},
                                        {"Vessel", "Acrylic", -900},
                                        {"Target", "LiquidScintillator", -1020}}};
constexpr std::size_t kSensorsIn = 2;
constexpr double kBehindSensors = 300;  // room behind the sphere or cylinder on which they sit: their necks and more

/// By how much the layers around the sensors have to grow so that their facets, which lie `share` of the radius away
/// from the centre where they are nearest, leave the sensors room. Only coarse facets of a large vessel need it.
double growth(double radius, double share) {
  return std::max(0.0, (radius + kBehindSensors) / share - (radius + kLayers[kSensorsIn].beyond_sensors));
}

/// The radius of each layer's vertices.
std::array<double, kLayers.size()> layer_radii(double radius, double share) {
  std::array<double, kLayers.size()> radii{};
  for (std::size_t i = 0; i != kLayers.size(); ++i)
    radii[i] = radius + kLayers[i].beyond_sensors + (i <= kSensorsIn ? growth(radius, share) : 0);
  return radii;
}

}  // namespace

Surface sphere(double radius, std::uint32_t segments) {
  const std::uint32_t rings = rings_of(segments);
  Profile profile;
  for (std::uint32_t i = 1; i <= rings; ++i) {
    const double angle = pi * i / (rings + 1);
    profile.emplace_back(radius * std::sin(angle), -radius * std::cos(angle));
  }
  return revolve(-radius, profile, radius, segments);
}

Surface revolve(double bottom, const Profile& profile, double top, std::uint32_t segments) {
  Surface surface;
  const auto rings = static_cast<std::uint32_t>(profile.size());
  surface.profile.emplace_back(0, bottom);
  surface.profile.insert(surface.profile.end(), profile.begin(), profile.end());
  surface.profile.emplace_back(0, top);
  surface.vertices.emplace_back(0, 0, bottom);
  for (const auto& [radius, z] : profile)
    for (std::uint32_t i = 0; i != segments; ++i) {
      const double angle = 2 * pi * i / segments;
      surface.vertices.emplace_back(radius * std::cos(angle), radius * std::sin(angle), z);
    }
  surface.vertices.emplace_back(0, 0, top);
  const auto at = [segments](std::uint32_t ring, std::uint32_t i) { return 1 + ring * segments + i % segments; };
  const auto last = static_cast<std::uint32_t>(surface.vertices.size() - 1);
  surface.triangles.reserve(std::size_t{2} * segments * rings);
  for (std::uint32_t i = 0; i != segments; ++i) surface.triangles.push_back({0, at(0, i + 1), at(0, i)});
  for (std::uint32_t ring = 0; ring + 1 < rings; ++ring)
    for (std::uint32_t i = 0; i != segments; ++i) {
      surface.triangles.push_back({at(ring, i), at(ring, i + 1), at(ring + 1, i + 1)});
      surface.triangles.push_back({at(ring, i), at(ring + 1, i + 1), at(ring + 1, i)});
    }
  for (std::uint32_t i = 0; i != segments; ++i)
    surface.triangles.push_back({at(rings - 1, i), at(rings - 1, i + 1), last});
  return surface;
}

Detector make(const Parameters& parameters) {
  Detector detector;
  detector.sensors_in = kSensorsIn;
  // As large as the sensors need to stand side by side, and never smaller than a small experiment.
  const double area = parameters.sensors * kSensorSpacing * kSensorSpacing;
  const std::uint32_t vessel_segments = 4 * parameters.segments;
  double radius = 0;
  if (parameters.shape == Shape::sphere) {
    radius = std::max(std::sqrt(area / (4 * pi)), 2500.0);
    const double share = std::cos(pi / vessel_segments) * std::cos(pi / (2 * (rings_of(vessel_segments) + 1)));
    const auto radii = layer_radii(radius, share);
    for (std::size_t i = 0; i != kLayers.size(); ++i)
      detector.nested.push_back({kLayers[i].name, kLayers[i].material, sphere(radii[i], vessel_segments)});
    for (std::uint32_t i = 0; i != parameters.sensors; ++i) {
      const Eigen::Vector3d outward = lattice_point(i, parameters.sensors);
      detector.placements.push_back(facing(radius * outward, -outward, 0));
    }
  } else {
    // Twice as wide as it is high, as many water detectors are: half_height == radius.
    radius = std::max(std::sqrt(area / (6 * pi)), 2500.0);
    const auto radii = layer_radii(radius, std::cos(pi / vessel_segments));
    for (std::size_t i = 0; i != kLayers.size(); ++i)
      detector.nested.push_back({kLayers[i].name, kLayers[i].material, cylinder(radii[i], radii[i], vessel_segments)});
    std::vector<std::pair<Eigen::Vector3d, Eigen::Vector3d>> places;
    place_on_cylinder(parameters.sensors, radius, radius, places);
    for (const auto& [position, inward] : places) detector.placements.push_back(facing(position, inward, 0));
  }
  const double half = 3 * detector.nested.front().surface.vertices.back().z();
  detector.world = {"World", "Rock", revolve(-half, {{half, -half}, {half, half}}, half, 4)};
  Random random(parameters.seed);
  for (EigenTransform& placement : detector.placements)
    placement.rotate(Eigen::AngleAxisd(0.1 * (random.uniform() - 0.5), Eigen::Vector3d::UnitZ()));

  detector.sensor.push_back({"Sensor", "Glass", bulb_and_neck(0, parameters.segments)});
  detector.sensor.push_back({"SensorVacuum", "Vacuum", bulb_and_neck(kGlass, parameters.segments)});
  detector.sensor.push_back({"Photocathode", "Bialkali", cathode(parameters.segments)});
  return detector;
}

Counts count(const Parameters& parameters) {
  const std::uint64_t segments = parameters.segments;
  const auto of = [](std::uint64_t rings, std::uint64_t around) { return 2 * rings * around; };
  const std::uint64_t vessel_rings = parameters.shape == Shape::sphere ? rings_of(4 * parameters.segments) : 2;
  const std::uint64_t world = of(2, 4);
  const std::uint64_t vessels = world + kLayers.size() * of(vessel_rings, 4 * segments);
  const std::uint64_t rings = rings_of(parameters.segments);
  const std::uint64_t sensor = 2 * of(rings + 2, segments) + of(2 * (rings / 2 + 1), segments);
  const std::uint64_t expanded = vessels + sensor * parameters.sensors;
  return {parameters.flat ? expanded : vessels + (parameters.sensors == 0 ? 0 : sensor), expanded};
}

Parameters for_triangles(Parameters parameters, std::uint64_t triangles) {
  // First the segments: as fine as a scene of at least this many sensors allows; then the sensors.
  constexpr std::uint32_t kFewest = 200;
  parameters.segments = 6;
  const auto with = [&](std::uint32_t segments, std::uint32_t sensors) {
    Parameters other = parameters;
    other.segments = segments;
    other.sensors = sensors;
    return count(other).expanded;
  };
  while (parameters.segments < 32 && with(parameters.segments + 2, kFewest) <= triangles) parameters.segments += 2;
  const std::uint64_t none = with(parameters.segments, 0);
  const std::uint64_t each = with(parameters.segments, 1) - none;
  parameters.sensors =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(triangles > none ? (triangles - none) / each : 0, 50'000'000));
  return parameters;
}

}  // namespace raylift::detector
