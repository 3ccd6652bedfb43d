// SPDX-License-Identifier: Apache-2.0
#include "model/word_help.h"

#include <algorithm>
#include <cctype>

namespace raylift::viewer {
namespace {

constexpr WordHelp kTable[] = {
    {kColorWords, "material", "the medium inside: the file's colour, or one for each where the file has none"},
    {kColorWords, "solid", "a colour for each solid"},
    {kColorWords, "mesh", "a colour for each mesh, which several solids may share"},
    {kColorWords, "residency", "where the triangles are that rays meet: in device memory or in host memory"},
    {kColorWords, "normal", "which way each face looks, outward"},
    {kColorWords, "surface", "the optical surface that light meets on the side of a face that is seen; grey: none"},
    {kColorWords, "hits", "how many photons each solid detected"},
    {kColorWords, "first-hit", "when each solid detected its first photon"},
    {kShellsWords, "faint",
     "a haze with outlines, through which clicks pass; a clipping plane opens all but the largest"},
    {kShellsWords, "solid", "as all others"},
    {kShellsWords, "hidden", "not drawn"},
    {kStyleWords, "default", "as all others"},
    {kStyleWords, "ghost", "faint: a haze with outlines, through which clicks pass"},
    {kStyleWords, "glass", "transparent, with an opacity of its own"},
    {kStyleWords, "wireframe", "lines alone, between which clicks pass"},
    {kStyleWords, "edges", "with its triangles' edges"},
    {kRayWords, "off", "rasterised, without rays"},
    {kRayWords, "shaded", "as in rasterised images, with ambient occlusion"},
    {kRayWords, "depth", "the distance from the eye; what is near stands out"},
    {kRayWords, "normal", "outward, as a colour"},
    {kRayWords, "solid", "a colour per solid"},
    {kRayWords, "crossings",
     "the number of surfaces that a ray meets, including each of coincident ones; the colour scale is logarithmic: 1, "
     "2, 4, ... 64"},
    {kSurfaceWords, "skin surface", "the optical surface of a solid, towards its mother and its daughters"},
    {kSurfaceWords, "border surface",
     "the optical surface between two solids, for light from the first into the second; it goes before skin surfaces"},
    {kSurfaceWords, "no surface", "the two refractive indices alone matter"},
    {kResidencyWords, "device", "the whole array is in device memory"},
    {kResidencyWords, "split", "its first pages are in device memory, the others in host memory"},
    {kResidencyWords, "mapped", "the whole array is in host memory, which the device reads over the link"}};

}  // namespace

std::span<const WordHelp> word_helps() {
  return kTable;
}

std::string_view meaning(std::string_view where, std::string_view word) {
  const auto* const found = std::find_if(std::begin(kTable), std::end(kTable),
                                         [&](const WordHelp& one) { return one.where == where && one.word == word; });
  return found == std::end(kTable) ? std::string_view() : found->meaning;
}

std::string explained(std::string_view where, std::string_view word) {
  const std::string_view is = meaning(where, word);
  if (is.empty()) return {};
  std::string text = std::string(word) + ": " + std::string(is);
  text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  return text;
}

}  // namespace raylift::viewer
