// SPDX-License-Identifier: Apache-2.0
// Layers from 10 nm to 1 mm, up to 90 m from the origin: what each solid along a beam absorbs, against its path through
// it, which is found here in double from the same vertices and transforms.
#include <raylift/photon/simulation.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <span>

#include "pieces.h"
#include "statistics.h"

namespace raylift::photon {
namespace {

using Eigen::Vector3d;

Float3 to_float(const Vector3d& v) {
  return {static_cast<float>(v.x()), static_cast<float>(v.y()), static_cast<float>(v.z())};
}

/// A mesh whose vertices are known to more than floats.
Mesh baked(Mesh mesh, const EigenTransform& place) {
  for (Float3& v : mesh.vertices) {
    const Vector3d exact = place * to_eigen(v);
    const auto x = arithmetic_detail::split(exact.x()), y = arithmetic_detail::split(exact.y()),
               z = arithmetic_detail::split(exact.z());
    v = {x.high, y.high, z.high};
    mesh.rests.push_back({x.low, y.low, z.low});
  }
  return mesh;
}
Mesh baked_box(const Vector3d& half) {
  return baked(test::box({-1, -1, -1}, {1, 1, 1}), EigenTransform(Eigen::Scaling(half)));
}

struct Layered {
  std::string name;
  Scene scene;
  std::vector<double> lengths;  ///< of absorption, by solid; 0: none
  struct Beam {
    Vector3d from, along;
  };
  std::vector<Beam> beams;

  std::uint32_t add(Mesh mesh, const EigenTransform& place, std::uint32_t mother, double length) {
    const auto number = static_cast<std::uint32_t>(scene.instances.size());
    scene.meshes.push_back(std::move(mesh));
    scene.materials.push_back({"material " + std::to_string(number), {}});
    scene.bindings.push_back({number});
    scene.nodes.push_back({"solid " + std::to_string(number), mother, {}, kNone});
    Instance instance;
    instance.mesh = instance.node = instance.binding = number;
    instance.outside = mother;
    instance.transform = place;
    scene.instances.push_back(instance);
    std::vector<OpticalTable> tables{flat("RINDEX", 1.3)};
    if (length != 0) tables.push_back(flat("ABSLENGTH", length));
    scene.optics.materials.push_back({std::move(tables), {}});
    lengths.push_back(length);
    scene.bounds = world_bounds(scene);
    return number;
  }
};

EigenTransform turned(const Vector3d& at) {
  return Eigen::Translation3d(at) * Eigen::AngleAxisd(0.7123, Vector3d(0.36, -0.48, 0.8));
}
Vector3d far(double distance) {
  return distance * Vector3d(0.6, -0.64, 0.48);
}

/// Beams through a plate that lies across z of a frame, at several angles.
void aim(Layered& scene, const EigenTransform& frame) {
  for (const double degrees : {0.0, 45.0, 80.0, 88.9}) {
    const double angle = degrees * test::kDegree;
    const Vector3d along = frame.linear() * Vector3d(std::sin(angle) * 0.6, std::sin(angle) * 0.8, std::cos(angle));
    scene.beams.push_back({frame * Vector3d(3.1, -7.7, 0) - 40 * along, along.normalized()});
  }
}

Layered film(double thickness, double distance, bool mirrored) {
  Layered scene;
  scene.name = "film of " + std::to_string(thickness * 1e6) + " nm at " + std::to_string(distance) + " mm" +
               (mirrored ? ", mirrored" : "");
  const double world = distance + 9000;
  const auto around = scene.add(test::box({-1, -1, -1}, {1, 1, 1}), EigenTransform(Eigen::Scaling(world)), kNone, 0);
  EigenTransform place = turned(far(distance));
  if (mirrored) place = place * Eigen::Scaling(-1.0, 1.0, 1.0);
  scene.add(baked_box({5000, 4000, thickness / 2}), place, around, 4 * thickness);
  aim(scene, place);
  return scene;
}

/// A film within a box, flush with its wall, by numbers that no float has.
Layered flush(double thickness, bool turn) {
  Layered scene;
  scene.name = "flush film of " + std::to_string(thickness * 1e6) + " nm" + (turn ? ", turned" : "");
  const auto world =
      scene.add(test::box({-40000, -40000, -40000}, {40000, 40000, 40000}), EigenTransform::Identity(), kNone, 0);
  const EigenTransform frame = turn ? turned(far(12345.678)) : EigenTransform(Eigen::Translation3d(far(12345.678)));
  const double half = 9123.4567;
  const auto box = scene.add(baked_box({half, half, half}), frame, world, 0);
  const EigenTransform wall = frame * Eigen::Translation3d(0, 0, half - thickness / 2);
  scene.add(baked_box({4321.1, 4321.1, thickness / 2}), wall, box, 4 * thickness);
  aim(scene, wall);
  for (std::size_t i = scene.beams.size(); i-- != 0;)  // and back
    scene.beams.push_back({scene.beams[i].from + 80 * scene.beams[i].along, -scene.beams[i].along});
  return scene;
}

Layered stack(double distance) {
  Layered scene;
  scene.name = "five films";
  const auto world =
      scene.add(test::box({-1, -1, -1}, {1, 1, 1}), EigenTransform(Eigen::Scaling(distance + 9000)), kNone, 0);
  const EigenTransform frame = turned(far(distance));
  double z = 0;
  for (const double thickness : {1e-5, 2e-3, 1e-4, 0.05, 1e-3}) {
    scene.add(baked_box({2000.1, 2000.1, thickness / 2}), frame * Eigen::Translation3d(0, 0, z + thickness / 2), world,
              4 * thickness);
    z += thickness;
  }
  aim(scene, frame);
  return scene;
}

/// A ball with a coating, both tessellated alike. shell: the coating is a solid beside the ball, not around it.
Layered coated(double radius, double coating, double distance, bool shell) {
  Layered scene;
  scene.name = "ball of " + std::to_string(radius) + " mm" + (shell ? ", shell" : "");
  const auto world =
      scene.add(test::box({-1, -1, -1}, {1, 1, 1}), EigenTransform(Eigen::Scaling(distance + 1.5 * radius)), kNone, 0);
  const EigenTransform frame = turned(far(distance));
  const EigenTransform inner(Eigen::Scaling(radius)), outer(Eigen::Scaling(radius + coating));
  const Mesh ball = test::sphere(4);
  Mesh coat = baked(ball, outer);
  if (shell) {
    Mesh hole = baked(ball, inner);
    const auto base = static_cast<std::uint32_t>(coat.vertices.size());
    for (const UInt3& t : hole.triangles) coat.triangles.push_back({base + t.x, base + t.z, base + t.y});
    coat.vertices.insert(coat.vertices.end(), hole.vertices.begin(), hole.vertices.end());
    coat.rests.insert(coat.rests.end(), hole.rests.begin(), hole.rests.end());
    coat.parts = {{0, static_cast<std::uint32_t>(coat.triangles.size())}};
  }
  const auto around = scene.add(std::move(coat), frame, world, coating);
  scene.add(baked(ball, inner), frame, shell ? world : around, 0);
  const Vector3d to = frame.linear() * Vector3d(0.48, 0.6, -0.64),
                 across = frame.linear() * Vector3d(0.8, -0.64, 0).normalized();
  for (const double impact : {0.0, 0.3, 0.7, 0.95})
    scene.beams.push_back({frame.translation() + impact * radius * across - 1.2 * radius * to, to});
  scene.beams.push_back({frame.translation(), across});  // from within
  return scene;
}

std::vector<Layered> all_layered() {
  std::vector<Layered> all;
  for (const double distance : {0.0, 9000.0, 90000.0})
    for (const double thickness : {1e-5, 1e-4, 2e-3, 0.05, 1.0}) all.push_back(film(thickness, distance, false));
  all.push_back(film(1e-4, 30000, true));
  for (const double thickness : {2e-5, 2e-3})
    for (const bool turn : {false, true}) all.push_back(flush(thickness, turn));
  all.push_back(stack(30000));
  all.push_back(coated(100, 2e-3, 30000, false));
  all.push_back(coated(100, 2e-5, 30000, true));
  all.push_back(coated(20000, 2e-3, 25000, false));
  all.push_back(coated(20000, 1e-3, 25000, true));
  return all;
}

/// What the innermost solid along a beam is, piece by piece, in units of the length of `along`.
struct Piece {
  std::uint32_t solid;
  double length;
};

std::vector<Piece> pieces_of(const Layered& layered, const Vector3d& from, const Vector3d& along) {
  struct Face {
    double t;
    std::uint32_t solid;
    bool enters;
  };
  const Scene& scene = layered.scene;
  std::vector<Face> faces;
  for (std::uint32_t solid = 0; solid != scene.instances.size(); ++solid) {
    const Mesh& mesh = scene.meshes[solid];
    const EigenTransform place = to_eigen(scene.instances[solid].transform);
    const double side = place.linear().determinant() > 0 ? 1 : -1;
    std::vector<Vector3d> vertices(mesh.vertices.size());
    for (std::size_t i = 0; i != vertices.size(); ++i) {
      vertices[i] = place * to_eigen(mesh.vertices[i]) - from;
      if (!mesh.rests.empty()) vertices[i] += place.linear() * to_eigen(mesh.rests[i]);
    }
    for (const UInt3& t : mesh.triangles) {
      const Vector3d &a = vertices[t.x], &b = vertices[t.y], &c = vertices[t.z], n = side * (b - a).cross(c - a);
      const double u = along.dot(b.cross(c)), v = along.dot(c.cross(a)), w = along.dot(a.cross(b));
      if (std::min({u, v, w}) < 0 && std::max({u, v, w}) > 0) continue;
      const double at = a.dot(n) / along.dot(n);
      if (at > 0) faces.push_back({at, solid, along.dot(n) < 0});
    }
  }
  std::sort(faces.begin(), faces.end(), [](const Face& a, const Face& b) { return a.t < b.t; });
  std::map<std::uint32_t, int> in;  // faces ahead say what the start is in
  for (const Face& face : faces) in[face.solid] += face.enters ? -1 : 1;
  const auto depth = [&](std::uint32_t solid) {
    int above = 0;
    for (std::uint32_t s = solid; s != kNone; s = scene.nodes[s].parent) ++above;
    return above;
  };
  std::vector<Piece> result;
  double before = 0;
  for (const Face& face : faces) {
    std::uint32_t innermost = kNone;
    for (const auto& [solid, count] : in)
      if (count > 0 && (innermost == kNone || depth(solid) > depth(innermost))) innermost = solid;
    if (innermost != kNone) result.push_back({innermost, face.t - before});
    before = face.t;
    in[face.solid] += face.enters ? 1 : -1;
  }
  return result;
}

/// What each solid absorbs of a beam, if all layers are thicker by a factor.
std::vector<double> absorbed(const Layered& layered, const std::vector<Piece>& pieces, double factor) {
  std::vector<double> shares(layered.lengths.size());
  double left = 1;
  for (const Piece& piece : pieces) {
    const double length = layered.lengths[piece.solid];
    if (length == 0) continue;
    const double on = left * std::exp(-factor * piece.length / length);
    shares[piece.solid] += left - on;
    left = on;
  }
  return shares;
}

class ThinLayers : public test::OfPhotons {
 protected:
  /// A GPU takes enough photons to see two parts in ten thousand of a thickness.
  [[nodiscard]] std::uint64_t photons(const GpuGeometry& geometry) const {
    if (device().info().is_host) return test::effort(20'000U);
    return geometry.view().is_fine() ? 10'000'000 : 200'000;  // floats are off by up to 1 %
  }

  [[nodiscard]] GpuGeometry upload_with(const Scene& scene, UploadOptions::Positions positions) const {
    UploadOptions options;
    options.positions = positions;
    return upload(scene, device(), options);
  }
  /// Adds the shares of each beam that the solids absorb, and those that they should.
  void add(const Layered& layered, const GpuGeometry& geometry, test::Shares& shares, double fault = 1.02) const {
    SCOPED_TRACE(layered.name);
    Simulation simulation(geometry);
    const std::uint64_t count = photons(geometry);
    for (std::size_t i = 0; i != layered.beams.size(); ++i) {
      Source source;
      source.center = layered.beams[i].from;
      source.aim = Source::Aim::cone;
      source.direction = to_float(layered.beams[i].along);
      const Tally tally = simulation.run(source, {.seed = 5 + i}, count);
      ASSERT_EQ(tally.of(StepKind::absorbed) + tally.of(StepKind::escaped), count) << "beam " << i;
      const std::vector<Piece> pieces = pieces_of(layered, layered.beams[i].from, to_eigen(source.direction));
      const std::vector<double> truth = absorbed(layered, pieces, 1), wrong = absorbed(layered, pieces, fault);
      for (std::uint32_t solid = 0; solid != truth.size(); ++solid)
        shares.add(tally.in_material(solid, StepKind::absorbed), count, truth[solid], wrong[solid],
                   ("solid " + std::to_string(solid) + ", beam " + std::to_string(i)).c_str());
    }
  }
};
RAYLIFT_ON_BOTH_DEVICES(ThinLayers);

TEST_P(ThinLayers, AbsorbByTheirThickness) {
  test::Shares shares;
  for (const Layered& layered : all_layered()) {
    const GpuGeometry geometry = upload_with(layered.scene, UploadOptions::Positions::automatic);
    add(layered, geometry, shares);
    if (HasFailure()) return;
  }
  shares.expect("all beams");
}

// The test dies of floats, and of vertices without their rests.
TEST_P(ThinLayers, WantPositionsFinerThanFloats) {
  const auto share_of = [&](const Layered& layered, const GpuGeometry& geometry) {
    Source source;
    source.center = layered.beams[0].from;
    source.aim = Source::Aim::cone;
    source.direction = to_float(layered.beams[0].along);
    const Tally tally = Simulation(geometry).run(source, {.seed = 5}, 20'000);
    return static_cast<double>(tally.of(StepKind::absorbed)) / 20'000;
  };
  const Layered plate = film(2e-3, 9000, false);
  EXPECT_EQ(share_of(plate, upload_with(plate.scene, UploadOptions::Positions::floats)), 0);
  EXPECT_NEAR(share_of(plate, upload_with(plate.scene, UploadOptions::Positions::fine)), 1 - std::exp(-0.25), 0.015);

  Layered ball = coated(20000, 1e-3, 25000, true);
  const double fine = share_of(ball, upload_with(ball.scene, UploadOptions::Positions::fine));
  for (Mesh& mesh : ball.scene.meshes) mesh.rests.clear();
  EXPECT_GT(std::abs(share_of(ball, upload_with(ball.scene, UploadOptions::Positions::fine)) - fine), 0.03);
}

TEST_P(ThinLayers, OfSolidsThatMoveStayThin) {
  Layered plate = film(2e-3, 9000, false);
  GpuGeometry geometry = upload_with(plate.scene, UploadOptions::Positions::automatic);
  ASSERT_TRUE(geometry.view().is_fine());
  const EigenTransform moved = turned(far(-7000)) * Eigen::AngleAxisd(1.1, Vector3d::UnitX());
  plate.scene.instances[1].transform = moved;
  plate.beams.clear();
  aim(plate, moved);
  const std::vector<std::uint32_t> solids{1};
  const std::vector<Transform> transforms{Transform(moved)};
  const Stream stream(device());
  geometry.set_transforms(solids, transforms, stream);
  stream.synchronize();
  test::Shares shares;
  add(plate, geometry, shares, 1.05);
}

// A scene without thin layers has floats, as has one that is flattened; one without optics, too.
TEST_P(ThinLayers, AreWhatMakesAGeometryFine) {
  const auto is_fine = [&](const Scene& scene, bool flatten = false) {
    const GpuGeometry geometry = upload_scene(scene, flatten);
    return geometry.view().is_fine();
  };
  EXPECT_TRUE(is_fine(film(2e-3, 9000, false).scene));
  EXPECT_FALSE(is_fine(film(2e-3, 9000, false).scene, true));
  EXPECT_FALSE(is_fine(film(5, 9000, false).scene));
  EXPECT_TRUE(is_fine(coated(100, 2e-3, 30000, false).scene)) << "a layer between a solid and its daughter";
  EXPECT_TRUE(is_fine(coated(100, 2e-3, 30000, true).scene));
  EXPECT_FALSE(is_fine(coated(100, 20, 30000, false).scene));
  Scene bare = film(2e-3, 9000, false).scene;
  bare.optics = {};
  EXPECT_FALSE(is_fine(bare));
}

// Rays from 100 mm below an edge to within 0.5 um of it: there the walk, which goes by floats, is off by more than
// that.
TEST(ThinLayersOnTheHost, AreMetAtTheirEdges) {
  const Layered ball = coated(20000, 2e-3, 25000, false);
  const GpuGeometry geometry = upload(ball.scene, Device::host());
  const GeometryView& view = geometry.view();
  const Mesh& mesh = ball.scene.meshes[2];
  const EigenTransform place = to_eigen(ball.scene.instances[2].transform);
  const auto vertex = [&](std::uint32_t i) -> Vector3d {
    return place * (to_eigen(mesh.vertices[i]) + to_eigen(mesh.rests[i]));
  };
  std::mt19937 random(7);
  std::uniform_real_distribution<double> unit(0, 1);
  const Containment in{2, {kNoSolid, kNoSolid}};
  for (std::size_t i = 0; i < 2 * mesh.triangles.size(); i += test::kStride) {
    const UInt3 t = mesh.triangles[i / 2];
    const Vector3d a = vertex(t.x), b = vertex(t.y), along_edge = (b - a).normalized();
    const Vector3d out = (a - place.translation()).normalized(), across = out.cross(along_edge);
    const Vector3d to = a + unit(random) * (b - a) + 5e-4 * (2 * unit(random) - 1) * across;
    const Float3 direction = to_float((out + 0.4 * (unit(random) - 0.5) * across).normalized());
    const Vector3d from = to - 100 * to_eigen(direction);
    const Boundary next = next_boundary(view, {view.fine_from_scene(from), direction, 1e6F}, in);
    const std::vector<Piece> pieces = pieces_of(ball, from, to_eigen(direction));
    ASSERT_GE(pieces.size(), 2U);
    ASSERT_EQ(next.to, 1U) << "edge " << i;
    ASSERT_FALSE(next.inconsistent);
    ASSERT_NEAR(next.t, pieces[0].length, 1e-5) << "edge " << i;
    const Boundary behind = next_boundary(view, {next.point, direction, 1e6F}, next.after);
    ASSERT_EQ(behind.to, 0U) << "edge " << i;
    ASSERT_NEAR(behind.t, pieces[1].length, 1e-6) << "edge " << i;
  }
}

// A path that ends where a face is, to the last bit of a float, ends before the face or at it: never behind it, where
// the next ray would not find it.
TEST(ThinLayersOnTheHost, AreMetWherePathsEnd) {
  const Layered plate = film(2e-3, 9000, false);
  const GpuGeometry geometry = upload(plate.scene, Device::host());
  const GeometryView& view = geometry.view();
  const EigenTransform place = to_eigen(plate.scene.instances[1].transform);
  std::mt19937 random(3);
  std::uniform_real_distribution<double> unit(-1, 1);
  const Containment in{0, {kNoSolid, kNoSolid}};
  int ended = 0, crossed = 0;
  for (int i = 0; i != 2000; ++i) {
    const Vector3d from = place * Vector3d(1000 * unit(random), 1000 * unit(random), -50 - 40 * unit(random));
    const Float3 direction =
        to_float((place.linear() * Vector3d(unit(random), unit(random), 1.2 + unit(random))).normalized());
    const FinePoint start = view.fine_from_scene(from);
    const Boundary first = next_boundary(view, {start, direction, 1e6F}, in);
    ASSERT_EQ(first.to, 1U);
    const Boundary end = next_boundary(view, {start, direction, first.t}, in);
    ASSERT_EQ(end.t, first.t);
    ++(end.crosses() ? crossed : ended);
    const Boundary next = end.crosses() ? end : next_boundary(view, {end.point, direction, 1e6F}, in);
    ASSERT_EQ(next.to, 1U) << i;
    ASSERT_EQ(next_boundary(view, {next.point, direction, 1e6F}, next.after).to, 0U) << i;
    ASSERT_LT(end.crosses() ? 0 : next.t, 4e-5F) << i;
  }
  EXPECT_GT(ended, 500);
  EXPECT_GT(crossed, 500);
}

// The same bytes on every device.
TEST_P(ThinLayers, GiveTheSamePhotonsOnEveryDevice) {
  const Layered layered = stack(30000);
  const GpuGeometry here = upload_scene(layered.scene);
  const GpuGeometry there = upload(layered.scene, Device::host(kHostBudget));
  Source source;
  source.center = layered.beams[1].from;
  source.radius = 60;
  std::vector<PhotonRow> rows[2];
  const GpuGeometry* const geometries[] = {&here, &there};
  for (int i = 0; i != 2; ++i) {
    Simulation::Results results;
    results.finals = [&](std::span<const PhotonRow> some) { rows[i].insert(rows[i].end(), some.begin(), some.end()); };
    (void)Simulation(*geometries[i]).run(source, {.seed = 3}, 5'000, results);
  }
  ASSERT_EQ(rows[0].size(), 5'000U);
  for (std::size_t i = 0; i != rows[0].size(); ++i) {
    const PhotonRow &a = rows[0][i], &b = rows[1][i];
    ASSERT_TRUE(std::ranges::equal(std::as_bytes(std::span(&a, 1)), std::as_bytes(std::span(&b, 1))))
        << i << ": " << a.position.x << ", " << a.position.y << ", " << a.position.z << " at " << a.time << " flag "
        << a.flag << "; " << b.position.x << ", " << b.position.y << ", " << b.position.z << " at " << b.time
        << " flag " << b.flag;
  }
}

}  // namespace
}  // namespace raylift::photon
