// SPDX-License-Identifier: Apache-2.0
#include "model/colors/color_map.h"

#include <algorithm>

#include "model/colors/color_scale.h"
#include "model/colors/oklab.h"

namespace raylift::viewer {
namespace {

using Polynomial = std::array<double, 7>;

/// Polynomials of red, green and blue that M. Zucker fitted to matplotlib's maps (shadertoy.com/view/WlfXRN, CC0).
/// Cividis is the fit of d3-scale-chromatic to J. Nuñez et al. (2018), divided by 255.
struct Fit {
  Polynomial red, green, blue;
};
constexpr std::array<Fit, 5> kFits{{
    {{0.2777273272, 0.1050930431, -0.3308618287, -4.6342304990, 6.2282699363, 4.7763849977, -5.4354558559},
     {0.0054073445, 1.4046135299, 0.2148475595, -5.7991009734, 14.1799333668, -13.7451453777, 4.6458526122},
     {0.3340998053, 1.3845901626, 0.0950951630, -19.3324409563, 56.6905526007, -65.3530326334, 26.3124352496}},
    {{-0.0178, -0.1385882353, 9.3401176471, -25.1086274510, 27.5479215686, -10.6296862745, 0},
     {0.1274117647, 0.6695294118, 0.2071372549, -0.5155294118, 0.6924705882, -0.2641960784, 0},
     {0.3185882353, 1.7347450980, -9.7350196078, 24.1852549020, -25.9409411765, 9.7085098039, 0}},
    {{0.0002189404, 0.1065134195, 11.6024930825, -41.7039961314, 77.1629356994, -71.3194282450, 25.1311262248},
     {0.0016510046, 0.5639564368, -3.9728539657, 17.4363988821, -33.4023589421, 32.6260642640, -12.2426689524},
     {-0.0194808984, 3.9327123889, -15.9423941063, 44.3541451987, -81.8073092574, 73.2095198580, -23.0703250029}},
    {{-0.0021364851, 0.2516605407, 8.3537172792, -27.6687330858, 52.1761398123, -50.7685253647, 18.6557050659},
     {-0.0007496551, 0.6775232437, -3.5777195150, 14.2647307810, -27.9436060717, 29.0465828213, -11.4897735200},
     {-0.0053861279, 2.4940265993, 0.3144679030, -13.6492131881, 12.9441694424, 4.2341529938, -5.6019615087}},
    {{0.0587323439, 2.1765146342, -2.6894604765, 6.1303483459, -11.1074361906, 10.0230655765, -3.6587138428},
     {0.0233367089, 0.2383834171, -7.4558511357, 42.3461881477, -82.6663110943, 71.4136177010, -22.9315346546},
     {0.5433401827, 0.7539604600, 3.1107999397, -28.5188546533, 60.1398476742, -54.0721865560, 18.1919077854}},
}};

float value_of(const Polynomial& polynomial, double t) {
  double value = 0;
  for (std::size_t i = polynomial.size(); i-- > 0;) value = value * t + polynomial[i];
  return static_cast<float>(std::clamp(value, 0.0, 1.0));
}

double ratio(double a, double b) {
  return (std::max(a, b) + 0.05) / (std::min(a, b) + 0.05);
}

/// The place from 0 to 1 where a condition that holds at 1 begins to hold; 0 where it holds throughout.
template <class Holds>
double begin_of(const Holds& holds) {
  if (holds(0.0)) return 0;
  double no = 0, yes = 1;
  for (int i = 0; i != 30; ++i) {
    const double middle = 0.5 * (no + yes);
    (holds(middle) ? yes : no) = middle;
  }
  return yes;
}

}  // namespace

bool Ground::dark() const {
  return ratio(1, brightest) >= ratio(0, darkest);
}

Ground ground_of(const Background& background) {
  const auto [low, high] = std::minmax({luminance(background.top), luminance(background.bottom)});
  return {low, high};
}

double luminance(const Color& color) {
  const auto linear = [&](std::size_t i) { return static_cast<double>(color_scale::to_linear(color[i])); };
  return 0.2126 * linear(0) + 0.7152 * linear(1) + 0.0722 * linear(2);
}

double contrast(const Color& color, const Ground& ground) {
  const double own = luminance(color);
  return ratio(own, std::clamp(own, ground.darkest, ground.brightest));
}

Color legible(const Color& color, const Ground& ground) {
  const bool dark = ground.dark();
  const auto reads = [&](const Color& one) {
    return contrast(one, ground) >= kMinContrast && (luminance(one) > ground.brightest) == dark;
  };
  if (reads(color)) return color;
  const Oklab lab = to_oklab(color);
  const auto changed = [&](double share) {
    // White and black have no chroma; on the way there it vanishes in the last part.
    const double chroma = std::min(1.0, 2 * (1 - share));
    return from_oklab({std::lerp(lab.lightness, dark ? 1.0 : 0.0, share), chroma * lab.a, chroma * lab.b});
  };
  return changed(begin_of([&](double share) { return share >= 1 || reads(changed(share)); }));
}

Color map_color(ColorMap map, double place) {
  const double t = std::clamp(place, 0.0, 1.0);
  if (map == ColorMap::gray) return from_oklab({t, 0, 0});
  const Fit& fit = kFits[static_cast<std::size_t>(map)];
  return {value_of(fit.red, t), value_of(fit.green, t), value_of(fit.blue, t)};
}

ScaleColors::ScaleColors(ColorMap map, const Ground& ground) : map_(map), from_(0), to_(1) {
  const bool dark = ground.dark();
  if (!dark) std::swap(from_, to_);
  const auto place = [&](double share) { return dark ? share : 1 - share; };
  const auto reads = [&](double share) {
    const Color color = map_color(map_, place(share));
    return contrast(color, ground) >= kMinContrast && (luminance(color) > ground.brightest) == dark;
  };
  // A ground from black to white leaves no map its contrast: the whole is as good.
  if (reads(1)) from_ = place(begin_of(reads));
}

Color ScaleColors::at(double place) const {
  return map_color(map_, std::lerp(from_, to_, std::clamp(place, 0.0, 1.0)));
}

std::vector<Color> ScaleColors::steps(int count) const {
  std::vector<Color> colors;
  for (int i = 0; i != count; ++i) colors.push_back(at(static_cast<double>(i) / (count - 1)));
  return colors;
}

}  // namespace raylift::viewer
