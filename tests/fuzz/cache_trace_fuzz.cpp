// SPDX-License-Identifier: Apache-2.0
// Cache files of scenes with anything planted in their arrays, behind right checksums: what is refused is refused by
// verify() too, and in what is taken rays and kernels find their way. The input is a list of changes, eight bytes each:
// which array, how, where, and a value.
#include <raylift/geometry/error.h>
#include <raylift/gpu/optics.h>
#include <raylift/gpu/rays/boundary.h>
#include <raylift/gpu/rays/trace.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <random>
#include <string>

#include "geometry/src/bvh/bvh_batch.h"
#include "gpu/src/cache/cache_files.h"
#include "support/random_optics.h"

namespace {

using namespace raylift;

struct Section {
  CacheSection about;
  std::vector<std::byte> bytes;
};
using Sections = std::vector<Section>;

const std::string& folder() {
  static const std::string path = [] {
    std::string made = "/dev/shm/raylift-fuzz-XXXXXX";
    if (::mkdtemp(made.data()) == nullptr) std::abort();
    static const std::string kept = made;
    std::atexit([] {
      ::unlink((kept + "/file").c_str());
      ::rmdir(kept.c_str());
    });
    return made;
  }();
  return path;
}
std::string path() {
  return folder() + "/file";
}

/// Bumpy spheres, nested and beside each other, with several parts each; one of them is mirrored.
Scene make_scene() {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> bump(0.9F, 1.1F);
  Scene scene;
  scene.source = "fuzz";
  for (int i = 0; i != 3; ++i) scene.materials.push_back({"m" + std::to_string(i), {1, 1, 1, 1}});
  scene.nodes = {{"world", kNone, {}}, {"inside", 0, {}}, {"beside", kNone, {}}};
  for (std::uint32_t m = 0; m != 2; ++m) {
    constexpr std::uint32_t kAround = 8;
    constexpr std::uint32_t kDown = 5;
    Mesh mesh;
    mesh.name = "sphere" + std::to_string(m);
    for (std::uint32_t i = 0; i <= kDown; ++i)
      for (std::uint32_t j = 0; j != kAround; ++j) {
        const float polar = 3.14159265F * static_cast<float>(i) / kDown;
        const float around = 6.2831853F * static_cast<float>(j) / kAround;
        const float radius = (m == 0 ? 10.0F : 3.0F) * bump(random);
        mesh.vertices.push_back({radius * std::sin(polar) * std::cos(around),
                                 radius * std::sin(polar) * std::sin(around), radius * std::cos(polar)});
      }
    for (std::uint32_t i = 0; i != kDown; ++i)
      for (std::uint32_t j = 0; j != kAround; ++j) {
        const std::uint32_t a = i * kAround + j;
        const std::uint32_t b = i * kAround + (j + 1) % kAround;
        mesh.triangles.push_back({a, a + kAround, b});
        mesh.triangles.push_back({b, a + kAround, b + kAround});
      }
    const auto count = static_cast<std::uint32_t>(mesh.triangles.size());
    mesh.parts = {{0, 10}, {10, count - 10}};
    if (m == 1) mesh.parts = {{0, count}};
    scene.bindings.push_back(m == 0 ? std::vector<std::uint32_t>{0, 1} : std::vector<std::uint32_t>{2});
    scene.meshes.push_back(std::move(mesh));
  }
  Transform beside = Transform::Translation({30, 0, 0});
  beside(2, 2) = -1;
  scene.instances = {
      {0, 0, 0, kNone, Transform::Identity()}, {1, 1, 1, 0, Transform::Identity()}, {0, 2, 0, kNone, beside}};
  scene.bounds = world_bounds(scene);
  test::give_optics(scene, 1);
  return scene;
}

UploadOptions options_for(bool flatten) {
  UploadOptions options;
  options.bvh = true;
  options.flatten = flatten;
  return options;
}

Sections sections_of(bool flatten) {
  write_cache_file(path(), {}, make_scene(), options_for(flatten));
  const CacheFile file(path());
  Sections sections;
  for (const CacheSection& about : file.sections()) {
    sections.push_back({about, std::vector<std::byte>(about.bytes())});
    file.read(about, 0, about.bytes(), sections.back().bytes.data(), StoreMode::cached);
  }
  return sections;
}

struct Change {
  std::uint8_t section;
  std::uint8_t how;
  std::uint16_t word;
  std::uint32_t value;
};

void plant(Sections& sections, const Change& change) {
  Section& section = sections[change.section % sections.size()];
  if (section.about.kind == CacheSection::Kind::metadata) return;  // for the other target
  std::vector<std::byte>& bytes = section.bytes;
  if (change.how % 8 == 7) {
    const std::size_t count = bytes.size() / section.about.element_bytes;
    bytes.resize((count + change.value % 5 - std::min<std::size_t>(count, 2)) * section.about.element_bytes);
    return;
  }
  if (bytes.size() < 4) return;
  std::byte* const at = bytes.data() + 4 * (change.word % (bytes.size() / 4));
  std::uint32_t now = 0;
  std::memcpy(&now, at, sizeof now);
  now = change.how % 8 == 0 ? change.value : change.how % 8 == 1 ? now + change.value : now ^ 1U << change.value % 32;
  std::memcpy(at, &now, sizeof now);
}

void write(const Sections& sections) {
  std::vector<ArraySource> arrays;
  std::vector<CacheMetadata> metadata;
  for (const Section& section : sections) {
    if (section.about.kind == CacheSection::Kind::metadata) {
      metadata.push_back({section.about.name, section.bytes});
      continue;
    }
    const std::size_t size = section.about.element_bytes;
    arrays.push_back({section.about.name, section.about.rank, size, section.bytes.size() / size,
                      [&section, size](std::size_t first, std::size_t count, std::byte* target, StoreMode mode) {
                        copy_bytes(section.bytes.data() + first * size, target, count * size, mode);
                      }});
  }
  write_cache_file(path(), {}, arrays, metadata);
}

/// The same of the optics.
double use_optics(const GeometryView& view, std::uint32_t solid, const Side& side) {
  const OpticsView& optics = view.optics;
  if (optics.rows == nullptr) return 0;
  double sum = 0;
  for (const float random : {-1.0F, 0.3F, 0.999F, 2.0F}) {
    const float wavelength = 1000 * random;
    for (const std::uint16_t material : {side.material_from, side.material_to}) {
      if (material == MaterialCode::none) continue;
      const MaterialOptics& of = optics.materials[material];
      const TableLookup in = look_up(optics, material, wavelength);
      sum += medium(in).refractive_index + losses(optics, of, in.place).mie_length;
      for (const EmissionComponent& one : of.scintillation) sum += sample_emission(optics, one, random);
      for (const EmissionComponent& one : of.shifting) sum += sample_emission(optics, one, random);
    }
    if (side.surface != kNoSurface) {
      const SurfaceOptics& surface = optics.surfaces[side.surface];
      const TableLookup on = look_up(optics, surface, wavelength);
      const TableLookup::Place at = on.place;
      sum += reflection(on).gap_index + surface_lobes(optics, surface, at).backscatter +
             surface_indices(optics, surface, at).k + dichroic(optics, surface, random, at).reflect +
             sample_emission(optics, surface.reemission, random);
    }
    const OpticsView::Channel channel = raylift::channel(optics, solid);
    sum += channel_efficiency(optics, channel.type, wavelength, random) + sample_time(optics, channel.type, random) +
           sample_charge(optics, channel.type, random);
  }
  return sum;
}

/// Looks up all that a kernel would of a hit.
double use(const GeometryView& view, const Hit& hit) {
  if (!hit.valid()) return 0;
  const std::uint32_t solid = view.solid_id(hit.instance, hit.triangle);
  const MaterialCode code = view.material_code(hit.instance, hit.triangle);
  const UInt3 triangle = view.triangles[hit.triangle];
  const SolidView& place = view.solids[solid];
  double sum = view.vertices[triangle.x].x + view.vertices[triangle.y].y + view.vertices[triangle.z].z;
  for (const std::uint16_t material : {code.inside, code.outside, place.material})
    if (material != MaterialCode::none) sum += view.material_colors[material];
  for (std::uint32_t i = 0; i != place.daughter_count; ++i) sum += view.daughters[place.first_daughter + i];
  sum += view.color(hit.instance, hit.triangle);
  for (std::uint32_t other = 0; other != view.solid_count; ++other) sum += surface_between(view, solid, other);
  sum += use_optics(view, solid, side(view, hit.instance, hit.triangle, hit.from_inside));
  const MeshView& mesh = view.meshes[view.instances[hit.instance].mesh];
  if (mesh.vertex_count != 0) sum += view.vertices[mesh.first_vertex + mesh.vertex_count - 1].x;
  return sum;
}

void trace_through(const GpuGeometry& geometry) {
  const GeometryView& view = geometry.view();
  std::mt19937 random(2);
  std::uniform_real_distribution<float> place(-15, 45);
  std::vector<Ray> rays;
  for (int i = 0; i != 24; ++i) {
    Ray ray;
    ray.origin = LocalPoint(place(random), place(random) / 3, place(random) / 3);
    ray.direction = {15 - place(random), 5 - place(random) / 3, 5 - place(random) / 3};
    if (i % 8 == 0) ray.direction = {1, 0, 0};
    if (i % 8 == 1) ray = {LocalPoint(-15, 0, 0), -1e3F, {1, 0, 0}};
    rays.push_back(ray);
  }
  std::vector<Hit> hits(rays.size());
  trace(geometry, rays.data(), hits.data(), rays.size(), Stream(geometry.device()));
  volatile double sum = 0;
  for (std::size_t i = 0; i != rays.size(); ++i) {
    sum = sum + use(view, hits[i]) + use(view, closest_hit(view, rays[i]));
    sum = sum + (any_hit(view, rays[i], 3, 1) ? 1 : 0);
    const auto accept = [&](std::uint32_t instance, std::uint32_t triangle, bool, float) {
      return view.solid_id(instance, triangle) != 0;
    };
    sum = sum + use(view, closest_hit(view, rays[i], accept));
    Containment in = locate(view, rays[i].origin);
    FineRay rest = fine_ray(rays[i]);
    for (int step = 0; step != 8; ++step) {
      const Boundary next = next_boundary(view, rest, in);
      if (!next.crosses()) break;
      in = next.after;
      rest.origin = next.point;
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Sections bases[2] = {sections_of(false), sections_of(true)};
  static const Device device = Device::host(std::uint64_t{64} << 20);
  if (size == 0) return 0;
  const bool flatten = (*data & 1) != 0;
  Sections sections = bases[flatten ? 1 : 0];
  for (std::size_t at = 1; at + sizeof(Change) <= size && at < 1 + 64 * sizeof(Change); at += sizeof(Change)) {
    Change change{};
    std::memcpy(&change, data + at, sizeof change);
    plant(sections, change);
  }
  write(sections);
  const CacheFile file(path());
  bool intact = true;
  try {
    file.verify();
  } catch (const Error&) {
    intact = false;
  }
  try {
    const GpuGeometry geometry = upload_cached(file, device, options_for(flatten));
    if (!intact) std::abort();
    trace_through(geometry);
  } catch (const Error&) {
    if (intact) std::abort();
  }
  return 0;
}
