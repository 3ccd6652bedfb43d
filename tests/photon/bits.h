// SPDX-License-Identifier: Apache-2.0
// What every function of a photon's physics gives for pseudo-random arguments, as bits, for the comparison of host and
// device.
#pragma once

#include <raylift/photon/detail/birth.h>

#include <cstddef>
#include <cstdint>

namespace raylift::test {

inline constexpr const char* kBitsOf[] = {"log",      "exp",     "turns",   "angle",       "arc cosine", "normal",
                                          "rayleigh", "mie",     "fresnel", "refracted",   "metal",      "unified",
                                          "glisur",   "painted", "simple",  "rough metal", "birth"};
inline constexpr std::size_t kBitsCount = sizeof kBitsOf / sizeof *kBitsOf;

class BitsSum {
 public:
  RAYLIFT_HD void add(photon::Real value) { add(arithmetic_detail::as_bits(value)); }
  RAYLIFT_HD void add(photon::Vector v) {
    add(v.x);
    add(v.y);
    add(v.z);
  }
  RAYLIFT_HD void add(const photon::Wave& wave) {
    add(wave.direction);
    add(wave.polarization);
  }
  RAYLIFT_HD void add(std::uint32_t bits) { sum_ = (sum_ ^ bits) * 0x01000193u + (sum_ >> 15); }
  [[nodiscard]] RAYLIFT_HD std::uint32_t value() const { return sum_; }

 private:
  std::uint32_t sum_ = 0x811C9DC5u;
};

/// bits: kBitsCount of them.
RAYLIFT_HD inline void bits_of_physics(std::uint64_t number, std::uint32_t* bits) {
  using namespace photon;
  RandomStream random(0x5EED, number);
  BitsSum sums[kBitsCount];
  sums[0].add(log(arithmetic_detail::as_float(0x00800000u + random.bits() % 0x7F000000u)));
  sums[1].add(exp(Real(180) * random.uniform() - Real(90)));
  const SineCosine turns = sine_cosine_of_turns(Real(1000) * random.uniform() - Real(500));
  sums[2].add(turns.sine);
  sums[2].add(turns.cosine);
  const SineCosine angle = sine_cosine(Real(2000) * random.uniform() - Real(1000));
  sums[3].add(angle.sine);
  sums[3].add(angle.cosine);
  sums[4].add(arc_cosine(Real(2) * random.uniform() - Real(1)));
  sums[5].add(random.normal());
  sums[5].add(random.exponential());

  const Vector direction = random.direction();
  const Wave wave{direction, random_polarization(direction, random)};
  sums[6].add(rayleigh(wave, random));
  sums[7].add(mie(wave, Real(0.9f), Real(0.3f), Real(0.8f), random));
  Vector normal = random.direction();
  if (dot(normal, direction) > Real(0)) normal = -normal;
  const Real n1 = Real(1) + random.uniform();
  const Real n2 = Real(1) + random.uniform();
  const Fresnel f = fresnel(wave, normal, n1, n2);
  sums[8].add(f.transmittance);
  sums[8].add(reflected(wave, normal, f));
  if (f.transmitted_cosine > Real(0)) sums[9].add(refracted(wave, normal, n1, n2, f));
  const Real n = Real(3) * random.uniform();
  const Real k = Real(5) * random.uniform();
  sums[10].add(metal_reflectance(incidence(wave, normal), n1, n, k));

  const auto add = [](BitsSum& sum, const SurfaceResult& result) {
    sum.add(static_cast<std::uint32_t>(result.fate));
    sum.add(result.wave);
  };
  SurfaceAt surface;
  surface.finish = SurfaceFinish::ground;
  surface.model = SurfaceModel::unified;
  surface.value = 0.2f;
  surface.reflectivity = 0.9f;
  surface.transmittance = 0.05f;
  surface.efficiency = 0.3f;
  surface.lobe = 0.5f;
  surface.spike = 0.1f;
  surface.backscatter = 0.1f;
  add(sums[11], at_surface(surface, wave, normal, n1, n2, random));
  surface.model = SurfaceModel::glisur;
  surface.value = 0.6f;
  add(sums[12], at_surface(surface, wave, normal, n1, n2, random));
  surface.finish = SurfaceFinish::ground_back_painted;
  surface.gap_index = 1.1f;
  add(sums[13], at_surface(surface, wave, normal, n1, n2, random));
  add(sums[14], at_simple_surface({0.2f, 0.2f, 0.2f, 0.2f}, wave, normal, n1, n2, random));
  surface.finish = SurfaceFinish::ground;
  surface.type = SurfaceType::dielectric_metal;
  surface.metal_n = 0.5f;
  surface.metal_k = 2.5f;
  add(sums[15], at_surface(surface, wave, normal, n1, n2, random));

  Source source;
  source.shape = static_cast<Source::Shape>(number % 3);
  source.aim = static_cast<Source::Aim>(number / 3 % 3);
  source.radius = 1000;
  source.extent = source.direction = {0.6f, 0, -0.8f};
  source.half_angle = Real(2) * random.uniform();
  source.polarization = {0, number % 2 == 0 ? 0.0f : 1.0f, 0};
  source.spectrum.count = 3;
  source.spectrum.points[0] = {0, 350};
  source.spectrum.points[1] = {0.3f, 400};
  source.spectrum.points[2] = {1, 600};
  source.time_width = source.time_constant = 7;
  const BirthPlace place = birth_place(source, random);
  sums[16].add(place.direction);
  sums[16].add(place.distance);
  Photon photon;
  give_birth(source, photon, random);
  sums[16].add({photon.direction, photon.polarization});
  sums[16].add(Real(photon.wavelength));
  sums[16].add(Real(photon.time));
  for (std::size_t i = 0; i != kBitsCount; ++i) bits[i] = sums[i].value();
}

/// bits_of_physics() of the numbers from 0 to count, in host memory. A cudaError_t, as int.
int bits_on_gpu(std::uint64_t count, std::uint32_t* bits);

}  // namespace raylift::test
