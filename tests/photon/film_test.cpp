// SPDX-License-Identifier: Apache-2.0
// Thin films against the characteristic matrix in double.
#include <raylift/photon/detail/film.h>

#include <cmath>
#include <complex>

#include "shells.h"
#include "statistics.h"

namespace raylift::photon {
namespace {

using test::kDegree;
using Complex = std::complex<double>;

struct Shares {
  double reflected, transmitted;
};
/// By the characteristic matrix of a layer (F. Abeles), which relates the tangential fields on both sides.
Shares by_matrix(double n1, Complex n, double n3, double wavelengths, double angle, bool s) {
  const double along = n1 * std::sin(angle);
  const auto normal_part = [along](Complex index) {
    Complex part = std::sqrt(index * index - along * along);
    if (part.imag() < 0 || (part.imag() == 0 && part.real() < 0)) part = -part;
    return part;
  };
  const auto admittance = [&](Complex index) { return s ? normal_part(index) : index * index / normal_part(index); };
  const Complex phase = 2 * std::numbers::pi * wavelengths * normal_part(n), i(0, 1);
  const Complex y1 = admittance(n1), y = admittance(n), y3 = admittance(n3);
  const Complex b = std::cos(phase) - i * std::sin(phase) / y * y3, c = -i * y * std::sin(phase) + std::cos(phase) * y3;
  const Complex r = (y1 * b - c) / (y1 * b + c), t = 2.0 * y1 / (y1 * b + c);
  return {std::norm(r), std::norm(t) * y3.real() / y1.real()};
}

Wave wave_at(double angle, double mix) {
  const auto f = [](double x) { return static_cast<float>(x); };
  return {{f(std::sin(angle)), 0, f(-std::cos(angle))},
          {f(std::sin(mix) * std::cos(angle)), f(std::cos(mix)), f(std::sin(mix) * std::sin(angle))}};
}

TEST(Film, SharesThePowerAsTheMatrixDoes) {
  double largest = 0, most_absorbed = 0;
  for (const auto& [n1, n3] : {std::pair(1.48, 1.0), {1.0, 1.48}, {1.33, 1.5}, {1.5, 1.5}})
    for (const Complex n : {Complex(2.96, 1.69), Complex(1.38, 0), Complex(2.2, 0.02), Complex(0.2, 3.4)})
      for (const double wavelengths : {0.0, 0.01, 0.05, 0.25, 1.3})
        for (const double degrees : {0.0, 10.0, 20.0, 30.0, 40.0, 45.0, 50.0, 56.0, 60.0, 70.0, 80.0, 88.0})
          for (const double mix : {0.0, 35.0, 90.0}) {
            const double angle = degrees * kDegree;
            const Film seen =
                film(wave_at(angle, mix * kDegree), {0, 0, 1}, static_cast<float>(n1), static_cast<float>(n.real()),
                     static_cast<float>(n.imag()), static_cast<float>(n3), static_cast<float>(wavelengths));
            const double s = degrees == 0 ? 1 : std::pow(std::cos(mix * kDegree), 2);
            const Shares across = by_matrix(n1, n, n3, wavelengths, angle, true);
            const Shares within = by_matrix(n1, n, n3, wavelengths, angle, false);
            const double reflected = s * across.reflected + (1 - s) * within.reflected;
            const double transmitted = s * across.transmitted + (1 - s) * within.transmitted;
            const double error = std::max(std::abs(static_cast<float>(seen.reflectance) - reflected),
                                          std::abs(static_cast<float>(seen.fresnel.transmittance) - transmitted));
            EXPECT_LT(error, 5e-5) << n1 << ' ' << n << ' ' << n3 << ' ' << wavelengths << ' ' << degrees << ' ' << mix
                                   << ": " << seen.reflectance << " for " << reflected << ", "
                                   << seen.fresnel.transmittance << " for " << transmitted;
            largest = std::max(largest, error);
            most_absorbed = std::max(most_absorbed, 1 - reflected - transmitted);
          }
  EXPECT_GT(most_absorbed, 0.4);  // films that do something
  EXPECT_GT(largest, 0);
}

TEST(Film, OfNoThicknessIsABareBoundary) {
  for (const double degrees : {0.0, 20.0, 40.0, 60.0}) {
    const Wave wave = wave_at(degrees * kDegree, 0.6);
    const Film seen = film(wave, {0, 0, 1}, 1.33F, 2.9F, 1.7F, 1.5F, 0);
    const Fresnel bare = fresnel(wave, {0, 0, 1}, 1.33F, 1.5F);
    EXPECT_NEAR(seen.fresnel.transmittance, bare.transmittance, 1e-5);
    EXPECT_NEAR(seen.fresnel.t_s, bare.t_s, 1e-5);
    EXPECT_NEAR(seen.fresnel.t_p, bare.t_p, 1e-5);
    EXPECT_NEAR(seen.fresnel.r_s, bare.r_s, 1e-5);
    EXPECT_NEAR(seen.fresnel.r_p, bare.r_p, 1e-5);
    EXPECT_NEAR(seen.fresnel.transmitted_cosine, bare.transmitted_cosine, 1e-6);
  }
}

}  // namespace
}  // namespace raylift::photon

namespace raylift {
namespace {

class FilmScene : public test::OfPhotons {};
RAYLIFT_ON_BOTH_DEVICES(FilmScene);

// A point in the middle of a sphere whose skin is a photocathode: at normal incidence, once, as what is reflected comes
// back to the middle and hits the wall again, and again.
TEST_P(FilmScene, DetectsAShareOfWhatItAbsorbs) {
  Scene scene = test::shells({{1000, {test::flat("RINDEX", 1)}}, {300, {test::flat("RINDEX", 1.48)}}});
  test::add_skin(scene, SurfaceModel::thin_film,
                 {test::flat("FILM_RINDEX", 2.96), test::flat("FILM_KINDEX", 1.69), test::flat("DETECT", 0.3)});
  scene.optics.surfaces[0].properties.constants = {{"FILM_THICKNESS", 20e-6}};  // mm
  const GpuGeometry geometry = upload_scene(scene);
  photon::Source source;
  source.wavelength = 400;
  const std::vector<photon::Outcome> all = run(geometry, source, {}, kAllPhotons);
  std::size_t detected = 0, absorbed = 0, escaped = 0;
  for (const photon::Outcome& one : all) {
    detected += one.last.kind == photon::StepKind::detected ? 1 : 0;
    absorbed += one.last.kind == photon::StepKind::absorbed_at_surface ? 1 : 0;
    escaped += one.last.kind == photon::StepKind::escaped ? 1 : 0;
  }
  const photon::Shares shares = photon::by_matrix(1.48, {2.96, 1.69}, 1, 0.05, 0, true);
  const double wall = 1 - shares.reflected - shares.transmitted, ends = wall + shares.transmitted;
  const auto count = static_cast<double>(all.size());
  const auto near = [&](std::size_t found, double share, const char* what) {
    const double error = std::sqrt(share * (1 - share) / count);
    EXPECT_NEAR(static_cast<double>(found) / count, share, 4 * error) << what;
    EXPECT_GT(0.02 * share, 4 * error) << what << ": too few photons to see 2 %";
  };
  near(detected, 0.3 * wall / ends, "detected");
  near(absorbed, 0.7 * wall / ends, "absorbed");
  near(escaped, shares.transmitted / ends, "escaped");
}

}  // namespace
}  // namespace raylift
