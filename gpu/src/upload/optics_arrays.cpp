// SPDX-License-Identifier: Apache-2.0
#include <raylift/geometry/error.h>
#include <raylift/geometry/optics/properties.h>
#include <raylift/geometry/optics/surface_between.h>
#include <raylift/gpu/upload/optics_arrays.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "border_table.h"
#include "geometry/src/scene/optics_bytes.h"
#include "optics_tables.h"

namespace raylift {
namespace {

using detail::as_float;
using detail::Column;
using detail::Columns;
using detail::TableBuilder;

constexpr std::uint32_t kMaxWavelengths = 65536;

/// The properties of a material or a surface, by key.
class Keys {
 public:
  explicit Keys(const OpticalProperties& properties) : properties_(properties) {}

  [[nodiscard]] const OpticalTable* table(std::string_view key) const {
    const OpticalTable* found = properties_.table(key);
    return found == nullptr || found->at.empty() ? nullptr : found;
  }
  /// The first of two that is there.
  [[nodiscard]] const OpticalTable* table(std::string_view key, std::string_view older) const {
    const OpticalTable* found = table(key);
    return found == nullptr && !older.empty() ? table(older) : found;
  }
  [[nodiscard]] Column column(std::string_view key, double absent) const { return {table(key), absent}; }
  /// A length. Rates are its inverse: it is above 0, and the sum of five rates is a float.
  [[nodiscard]] Column length(std::string_view key) const { return {table(key), kNever, 1e-30}; }
  [[nodiscard]] double constant(std::string_view key, double absent) const {
    return properties_.constant(key).value_or(absent);
  }
  [[nodiscard]] double constant(std::string_view key, std::string_view older, double absent) const {
    return constant(key, older.empty() ? absent : constant(older, absent));
  }

 private:
  const OpticalProperties& properties_;
};

/// Shares of the scintillation's components, which Geant4 11 names by number and earlier ones fast and slow.
std::array<double, 3> shares(const Keys& keys, const std::array<const OpticalTable*, 3>& spectra) {
  const double ratio = keys.constant("YIELDRATIO", 1);
  std::array<double, 3> share{keys.constant("SCINTILLATIONYIELD1", ratio),
                              keys.constant("SCINTILLATIONYIELD2", 1 - ratio), keys.constant("SCINTILLATIONYIELD3", 0)};
  double sum = 0;
  for (std::size_t i = 0; i != 3; ++i) sum += share[i] = spectra[i] == nullptr ? 0 : std::max(share[i], 0.0);
  for (std::size_t i = 0; i != 3 && !(sum > 0); ++i)
    if (spectra[i] != nullptr) sum = share[i] = 1;
  for (double& one : share) one = sum > 0 ? one / sum : 0;
  return share;
}

void set_scintillation(MaterialOptics& material, const Keys& keys, TableBuilder& builder) {
  struct Names {
    const char *spectrum, *older_spectrum, *time, *older_time, *rise, *older_rise;
  };
  constexpr std::array<Names, 3> kNames{{
      {"SCINTILLATIONCOMPONENT1", "FASTCOMPONENT", "SCINTILLATIONTIMECONSTANT1", "FASTTIMECONSTANT",
       "SCINTILLATIONRISETIME1", "FASTSCINTILLATIONRISETIME"},
      {"SCINTILLATIONCOMPONENT2", "SLOWCOMPONENT", "SCINTILLATIONTIMECONSTANT2", "SLOWTIMECONSTANT",
       "SCINTILLATIONRISETIME2", "SLOWSCINTILLATIONRISETIME"},
      {"SCINTILLATIONCOMPONENT3", "", "SCINTILLATIONTIMECONSTANT3", "", "SCINTILLATIONRISETIME3", ""},
  }};
  std::array<const OpticalTable*, 3> spectra{};
  for (std::size_t i = 0; i != 3; ++i) spectra[i] = keys.table(kNames[i].spectrum, kNames[i].older_spectrum);
  const std::array<double, 3> share = shares(keys, spectra);
  for (std::size_t i = 0; i != 3; ++i) {
    const Names& names = kNames[i];
    material.scintillation[i] = builder.emission(spectra[i], share[i], keys.constant(names.time, names.older_time, 0),
                                                 keys.constant(names.rise, names.older_rise, 0));
    if (spectra[i] != nullptr) material.flags |= material_flags::kScintillates;
  }
  material.scintillation_yield = as_float(keys.constant("SCINTILLATIONYIELD", 0));
  material.resolution_scale = as_float(keys.constant("RESOLUTIONSCALE", 1));
}

MaterialOptics material_optics(const OpticalProperties& properties, TableBuilder& builder) {
  const Keys keys(properties);
  MaterialOptics material{};
  const auto set = [&](std::uint32_t flag, bool is) { material.flags |= is ? flag : 0; };
  set(material_flags::kIndex, keys.table("RINDEX") != nullptr);
  set(material_flags::kMie, keys.table("MIEHG") != nullptr);
  set(material_flags::kReemits, keys.table("REEMISSIONPROB") != nullptr);
  set(material_flags::kShifts, keys.table("WLSABSLENGTH", "WLSABSLENGTH2") != nullptr);
  material.mie_forward = as_float(keys.constant("MIEHG_FORWARD", 0));
  material.mie_backward = as_float(keys.constant("MIEHG_BACKWARD", 0));
  material.mie_forward_ratio = as_float(keys.constant("MIEHG_FORWARD_RATIO", 1));
  set_scintillation(material, keys, builder);
  material.shifting[0] = builder.emission(keys.table("WLSCOMPONENT"), keys.constant("WLSMEANNUMBERPHOTONS", -1),
                                          keys.constant("WLSTIMECONSTANT", 0), 0);
  material.shifting[1] = builder.emission(keys.table("WLSCOMPONENT2"), keys.constant("WLSMEANNUMBERPHOTONS2", -1),
                                          keys.constant("WLSTIMECONSTANT2", 0), 0);
  return material;
}

/// The wavelengths that a table's points cover, of those that are sampled.
MaterialOptics::Coverage coverage(const OpticalTable* table, const Raster& raster) {
  MaterialOptics::Coverage covered{0, kNever};
  if (table == nullptr) return covered;
  const OpticalTable::Range range = table->range();
  covered = {as_float(range.shortest_nm), as_float(range.longest_nm)};
  if (raster == kOwnPoints) return covered;
  return {std::max(covered.shortest, raster.start), std::min(covered.longest, raster.last())};
}

/// The table of a material that medium() and losses() read.
void set_table(MaterialOptics& material, const OpticalProperties& properties, const Raster& raster,
               TableBuilder& builder) {
  const Keys keys(properties);
  const OpticalTable* const index = keys.table("RINDEX");
  const OpticalTable* velocity = keys.table("GROUPVEL");
  OpticalTable derived;
  if (velocity == nullptr && index != nullptr) {
    derived = detail::group_velocity(*index);
    velocity = &derived;
  }
  material.losses = builder
                        .append_table({{Column{index, 1}, Column{velocity, kLightSpeed}, keys.length("ABSLENGTH"),
                                        keys.length("RAYLEIGH")},
                                       {keys.length("MIEHG"), keys.length("WLSABSLENGTH"), keys.length("WLSABSLENGTH2"),
                                        keys.column("REEMISSIONPROB", 0)}})
                        .rows;
  material.covered = coverage(nullptr, raster);
  for (std::size_t i = 0; i != kBulkProperties; ++i) {
    const MaterialOptics::Coverage covered = coverage(keys.table(name_of(static_cast<BulkProperty>(i))), raster);
    material.covered_by[i] = covered;
    material.covered = {std::max(material.covered.shortest, covered.shortest),
                        std::min(material.covered.longest, covered.longest)};
  }
}

/// For each interval of angles a block of the surface's table, with R and T at both of its ends.
void add_dichroic(SurfaceOptics& optics, const OpticalSurface& surface, Columns& columns, TableBuilder& builder) {
  std::vector<Curve::Point> angles;
  for (const OpticalSurface::DichroicAngle& angle : surface.dichroic) angles.push_back({as_float(angle.radians), 0});
  optics.angles = builder.add_curve(angles);
  for (std::size_t i = 0; i + 1 < std::max<std::size_t>(surface.dichroic.size(), 2) && !angles.empty(); ++i) {
    const OpticalSurface::DichroicAngle& begin = surface.dichroic[i];
    const OpticalSurface::DichroicAngle& end = surface.dichroic[std::min(i + 1, surface.dichroic.size() - 1)];
    columns.push_back({Column{&begin.reflect}, Column{&begin.transmit}, Column{&end.reflect}, Column{&end.transmit}});
  }
}

SurfaceOptics surface_optics(const OpticalSurface& surface, TableBuilder& builder) {
  const Keys keys(surface.properties);
  const bool of_geant4 = surface.model <= SurfaceModel::dichroic;
  const bool film = surface.model == SurfaceModel::thin_film;
  SurfaceOptics optics{};
  optics.model = surface.model;
  optics.finish = surface.finish;
  optics.type = surface.type;
  optics.value = as_float(surface.value);
  const auto set = [&](std::uint8_t flag, bool is) { optics.flags |= is ? flag : 0; };
  using namespace surface_flags;
  set(kReflectivity, keys.table("REFLECTIVITY") != nullptr);
  set(kTransmittance, keys.table("TRANSMITTANCE") != nullptr);
  set(kGapIndex, keys.table("RINDEX") != nullptr);
  set(kDetects, keys.table(of_geant4 ? "EFFICIENCY" : "DETECT") != nullptr);
  // REFLECTIVITY goes before a metal's complex index, as in Geant4.
  const OpticalTable* const n = keys.table(film ? "FILM_RINDEX" : "REALRINDEX");
  const OpticalTable* const k = keys.table(film ? "FILM_KINDEX" : "IMAGINARYRINDEX");
  const bool complex_index = n != nullptr && (film || (k != nullptr && (optics.flags & kReflectivity) == 0));
  set(kComplexIndex, complex_index);
  Columns columns;
  if (of_geant4)
    columns.push_back({keys.column("REFLECTIVITY", 1), keys.column("EFFICIENCY", 0), keys.column("TRANSMITTANCE", 0),
                       keys.column("RINDEX", 0)});
  else
    columns.push_back({keys.column("DETECT", 0), keys.column("ABSORB", 0), keys.column("REFLECT_DIFFUSE", 0),
                       keys.column("REFLECT_SPECULAR", 0)});
  columns.push_back({keys.column("SPECULARLOBECONSTANT", 0), keys.column("SPECULARSPIKECONSTANT", 0),
                     keys.column("BACKSCATTERCONSTANT", 0), Column{}});
  columns.push_back({Column{complex_index ? n : nullptr}, Column{complex_index ? k : nullptr},
                     keys.column("REEMISSIONPROB", 0), Column{}});
  add_dichroic(optics, surface, columns, builder);
  const detail::TableNumber number = builder.add_table(columns);
  optics.table = number.table;
  optics.rows = number.rows;
  optics.film_thickness = as_float(keys.constant("FILM_THICKNESS", 0));
  optics.roughness = as_float(keys.constant("SURFACEROUGHNESS", 0));
  optics.reemission = builder.emission(keys.table("WLSCOMPONENT"), -1, keys.constant("WLSTIMECONSTANT", 0), 0);
  return optics;
}

OpticsView::ChannelType channel_type(const ChannelType& type, TableBuilder& builder) {
  OpticsView::ChannelType view{};
  view.efficiency = builder.add_table({{Column{type.efficiency ? &*type.efficiency : nullptr, 1}, {}, {}, {}}}).table;
  std::vector<Curve::Point> angles;
  for (std::size_t i = 0; i != type.angles.size(); ++i)
    angles.push_back({as_float(type.angles[i]), as_float(type.angle_efficiency[i])});
  view.angle_efficiency = builder.add_curve(angles);
  view.time = builder.add_curve(detail::cumulative(type.time.at, type.time.density));
  view.charge = builder.add_curve(detail::cumulative(type.charge.at, type.charge.density));
  return view;
}

std::vector<OpticsView::Channel> channels_of(const Scene& scene) {
  const Optics& optics = scene.optics;
  std::vector<OpticsView::Channel> channels;
  if (!optics.channels.empty()) channels.assign(scene.instances.size(), {kNoChannel, kNone});
  for (const Optics::Channel& channel : optics.channels) {
    if (channel.number < 0 || channel.number > std::numeric_limits<std::int32_t>::max())
      throw Error(ErrorKind::limit,
                  "channel number " + std::to_string(channel.number) + " is not from 0 to " +
                      std::to_string(std::numeric_limits<std::int32_t>::max()),
                  {scene.source, "'" + scene.path(scene.instances[channel.solid]) + "'"},
                  "give the assignment of channels a first number");
    channels[channel.solid] = {static_cast<std::int32_t>(channel.number), channel.type};
  }
  return channels;
}

void check_surface_count(const Scene& scene) {
  if (scene.optics.surfaces.size() > kNoSurface)
    throw Error(ErrorKind::limit,
                "the scene has " + std::to_string(scene.optics.surfaces.size()) + " optical surfaces, and " +
                    std::to_string(kNoSurface) + " is the limit",
                {scene.source, ""}, "use one surface for all that are alike");
}

}  // namespace

std::string_view name_of(BulkProperty property) {
  constexpr std::array<std::string_view, kBulkProperties> kNames{
      "RINDEX", "GROUPVEL", "ABSLENGTH", "RAYLEIGH", "MIEHG", "WLSABSLENGTH", "WLSABSLENGTH2", "REEMISSIONPROB"};
  return kNames[static_cast<std::size_t>(property)];
}

bool valid(const Raster& raster) {
  if (raster == kOwnPoints) return true;
  const double end = double{raster.start} + double{raster.step} * raster.count;
  return raster.count >= 2 && raster.count <= kMaxWavelengths && raster.start > 0 && raster.step > 0 &&
         std::isfinite(1 / raster.step) && 1 / raster.step > 0 && end < double{kNever};
}

OpticsView OpticsArrays::view() const {
  const auto data = []<class T>(const std::vector<T>& array) { return array.empty() ? nullptr : array.data(); };
  return {data(rows),
          data(buckets),
          data(materials),
          data(surfaces),
          data(points),
          data(borders),
          data(channels),
          data(channel_types),
          static_cast<std::uint32_t>(surfaces.size()),
          static_cast<std::uint32_t>(borders.size()),
          static_cast<std::uint32_t>(channel_types.size()),
          raster};
}

namespace {

/// Throws Error(usage) where resolve_optics() was forgotten: assignments would have no effect, without a word.
void require_resolved(const Scene& scene) {
  const Optics& optics = scene.optics;
  if (optics.assignments.empty() && optics.channel_assignments.empty()) return;
  if (!optics.skins.empty() || !optics.borders.empty() || !optics.channels.empty()) return;
  // Either that, or no solid is meant. The arrays of the meshes don't matter.
  Scene names;
  for (const Mesh& mesh : scene.meshes) names.meshes.push_back({mesh.name, {}, {}, mesh.parts});
  names.materials = scene.materials;
  names.bindings = scene.bindings;
  names.nodes = scene.nodes;
  names.volumes = scene.volumes;
  names.instances = scene.instances;
  names.optics = optics;
  resolve_optics(names);
  if (names.optics != optics)
    throw Error(ErrorKind::usage, "the scene's surfaces and channels were not assigned to its solids",
                {scene.source, ""}, "call resolve_optics() after they are set, before upload()");
}

}  // namespace

OpticsArrays optics_arrays(const Scene& scene, const SolidTree& tree, const Raster& raster) {
  if (!valid(raster))
    throw Error(ErrorKind::usage, "the raster has no wavelengths that are positive and ascending, 2 to 65536 of them");
  const Optics& optics = scene.optics;
  OpticsArrays arrays;
  arrays.raster = raster;
  if (optics.empty()) return arrays;
  detail::check_optics(scene, [&scene](const std::string& what) {
    throw Error(ErrorKind::usage, "the scene's optics do not fit it: " + what, {scene.source, ""},
                "call resolve_optics()");
  });
  require_resolved(scene);
  check_surface_count(scene);
  TableBuilder builder(arrays, scene.source);
  const OpticalProperties none;
  const auto properties = [&](std::size_t i) -> const OpticalProperties& {
    return optics.materials.empty() ? none : optics.materials[i];
  };
  for (std::size_t i = 0; i != scene.materials.size(); ++i) {
    arrays.materials.push_back(material_optics(properties(i), builder));
    set_table(arrays.materials.back(), properties(i), raster, builder);
  }
  for (const OpticalSurface& surface : optics.surfaces) arrays.surfaces.push_back(surface_optics(surface, builder));
  for (const ChannelType& type : optics.channel_types) arrays.channel_types.push_back(channel_type(type, builder));
  arrays.channels = channels_of(scene);
  arrays.borders = detail::border_table(scene, tree);
  return arrays;
}

std::vector<SolidView> solid_views(const Scene& scene, const SolidTree& tree) {
  check_surface_count(scene);
  const auto pack = [](const SurfaceChoice& choice) {
    return choice.surface == kNone ? kNoSurface : static_cast<std::uint16_t>(choice.surface);
  };
  const Optics& optics = scene.optics;
  std::vector<SolidView> views;
  views.reserve(tree.size());
  for (std::uint32_t i = 0; i != tree.size(); ++i) {
    const Instance& instance = scene.instances[i];
    SolidView view{};
    view.mother = tree.mother[i];
    view.depth = tree.depth[i];
    view.first_daughter = tree.daughter_begin[i];
    view.daughter_count = tree.daughter_begin[i + 1] - tree.daughter_begin[i];
    view.material = MaterialCode::pack(scene.material(instance, 0));
    view.parts = static_cast<std::uint16_t>(std::min<std::size_t>(scene.meshes[instance.mesh].parts.size(), 0xFFFF));
    view.surface_in = pack(surface_between(scene, tree, view.mother, i));
    view.surface_out = pack(surface_between(scene, tree, i, view.mother));
    const std::uint32_t skin = optics.skins.empty() ? kNone : optics.skins[i];
    view.skin = skin == kNone ? kNoSurface : static_cast<std::uint16_t>(optics.assignments[skin].surface);
    view.volume = instance.node == kNone ? kNone : scene.nodes[instance.node].volume;
    views.push_back(view);
  }
  return views;
}

}  // namespace raylift
