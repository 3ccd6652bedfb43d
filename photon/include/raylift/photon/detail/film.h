// SPDX-License-Identifier: Apache-2.0
// A thin absorbing film between two media, such as a photocathode: its layers' reflections interfere.
#pragma once

#include <raylift/photon/detail/fresnel.h>

namespace raylift::photon {

namespace detail {

struct Complex {
  Real re, im;
};
RAYLIFT_HD_INLINE Complex operator+(Complex a, Complex b) {
  return {a.re + b.re, a.im + b.im};
}
RAYLIFT_HD_INLINE Complex operator-(Complex a, Complex b) {
  return {a.re - b.re, a.im - b.im};
}
RAYLIFT_HD_INLINE Complex operator*(Complex a, Complex b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
RAYLIFT_HD_INLINE Real norm(Complex a) {
  return a.re * a.re + a.im * a.im;
}
/// 0 by 0 is 0: light at grazing incidence does not get through.
RAYLIFT_HD_INLINE Complex operator/(Complex a, Complex b) {
  const Real n = norm(b);
  if (!(n > Real(0))) return {Real(0), Real(0)};
  return {(a.re * b.re + a.im * b.im) / n, (a.im * b.re - a.re * b.im) / n};
}
/// The root in the first quadrant, of a number whose imaginary part is not negative.
RAYLIFT_HD_INLINE Complex square_root(Complex a) {
  const Real length = photon::square_root(norm(a));
  // The larger of both parts first, and the other by their product: neither is a difference of like numbers.
  const Real big = photon::square_root(Real(0.5f) * (length + magnitude(a.re)));
  const Real small = big > Real(0) ? Real(0.5f) * a.im / big : Real(0);
  return a.re >= Real(0) ? Complex{big, small} : Complex{small, big};
}
/// A linear polarisation's amplitude: the phase is left out but for its sign.
RAYLIFT_HD_INLINE Real amplitude(Complex a) {
  const Real size = photon::square_root(norm(a));
  return a.re < Real(0) ? -size : size;
}

}  // namespace detail

/// A film's response: it reflects the fraction `reflectance` of the power, transmits fresnel.transmittance, and absorbs
/// the rest.
struct Film {
  Fresnel fresnel;  ///< for reflected() and refracted(), with the media on both sides
  Real reflectance;
};

/// A film of index n + i k, some wavelengths (in vacuum) thick, between a medium of index n1, from which light comes,
/// and one of index n3. M. Born and E. Wolf, "Principles of Optics", sections 1.6.4 and 14.4.1. `normal` as for
/// incidence().
RAYLIFT_HD_INLINE Film film(const Wave& wave, Vector normal, Real n1, Real n, Real k, Real n3, Real wavelengths) {
  using namespace detail;
  Film film{{incidence(wave, normal), Real(0), Real(0), Real(0), Real(0), Real(0), Real(0)}, Real(1)};
  Fresnel& f = film.fresnel;
  const Real c1 = f.in.cosine;
  if (!(c1 > Real(0))) return film;
  // Wave vectors along the normal, in terms of that in vacuum.
  const Real along2 = n1 * n1 * (Real(1) - c1) * (Real(1) + c1);
  const Complex first{n1 * c1, Real(0)};
  const Complex within = square_root(Complex{(n - k) * (n + k) - along2, Real(2) * n * k});
  const Complex last = square_root(Complex{n3 * n3 - along2, Real(0)});
  // How the wave changes on one way through.
  const SineCosine turned = sine_cosine_of_turns(wavelengths * within.re);
  const Real left = exp(Real(-6.28318531f) * wavelengths * within.im);
  const Complex through{left * turned.cosine, left * turned.sine};
  // Amplitudes of the electric field across the plane of incidence (s), or of the magnetic one (p); a, b, c:
  // admittances.
  const auto amplitudes = [&](Complex a, Complex b, Complex c, Complex& r, Complex& t) {
    const Complex front = (a - b) / (a + b), back = (b - c) / (b + c);
    const Complex again = front * back * through * through + Complex{Real(1), Real(0)};
    r = (front + back * through * through) / again;
    t = (Complex{Real(1), Real(0)} + front) * (Complex{Real(1), Real(0)} + back) * through / again;
  };
  Complex r_s, t_s, r_p, t_p;
  amplitudes(first, within, last, r_s, t_s);
  const Complex square{(n - k) * (n + k), Real(2) * n * k};
  const Complex first_p{c1 / n1, Real(0)}, last_p{last.re / (n3 * n3), last.im / (n3 * n3)};
  amplitudes(first_p, within / square, last_p, r_p, t_p);
  const Real s = f.in.along_s * f.in.along_s, p = f.in.along_p * f.in.along_p;
  film.reflectance = smaller(Real(1), s * norm(r_s) + p * norm(r_p));
  // Only where light goes on behind the film.
  const Real power = s * norm(t_s) * (last.re / first.re) + p * norm(t_p) * (last_p.re / first_p.re);
  f.transmittance = smaller(Real(1) - film.reflectance, power);
  f.transmitted_cosine = last.re / n3;
  f.r_s = amplitude(r_s);
  f.r_p = amplitude(r_p);
  f.t_s = amplitude(t_s);
  f.t_p = n1 / n3 * amplitude(t_p);  // of the electric field
  return film;
}

}  // namespace raylift::photon
