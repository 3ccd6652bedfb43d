// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>

#include "property_table.h"

namespace raylift {
namespace {

using enum PropertyInfo::Quantity;

constexpr PropertyOf kMaterial = PropertyOf::material;
constexpr PropertyOf kSurface = PropertyOf::surface;
constexpr std::string_view kScintillation = "scintillation";
constexpr std::string_view kReemission = "re-emission";
constexpr std::string_view kWls = "wavelength shifting";
constexpr std::string_view kRead;  // read and listed, not simulated

constexpr std::array kProperties{
    PropertyInfo{"RINDEX", kMaterial, true, index, "refraction"},
    PropertyInfo{"GROUPVEL", kMaterial, true, speed, "time of flight"},
    PropertyInfo{"ABSLENGTH", kMaterial, true, length, "absorption"},
    PropertyInfo{"RAYLEIGH", kMaterial, true, length, "Rayleigh scattering"},
    PropertyInfo{"MIEHG", kMaterial, true, length, "Mie scattering"},
    PropertyInfo{"MIEHG_FORWARD", kMaterial, false, cosine, "Mie scattering"},
    PropertyInfo{"MIEHG_BACKWARD", kMaterial, false, cosine, "Mie scattering"},
    PropertyInfo{"MIEHG_FORWARD_RATIO", kMaterial, false, probability, "Mie scattering"},
    PropertyInfo{"REEMISSIONPROB", kMaterial, true, probability, kReemission},
    PropertyInfo{"SCINTILLATIONCOMPONENT1", kMaterial, true, weight, kScintillation},
    PropertyInfo{"SCINTILLATIONCOMPONENT2", kMaterial, true, weight, kScintillation},
    PropertyInfo{"SCINTILLATIONCOMPONENT3", kMaterial, true, weight, kScintillation},
    PropertyInfo{"FASTCOMPONENT", kMaterial, true, weight, kScintillation},
    PropertyInfo{"SLOWCOMPONENT", kMaterial, true, weight, kScintillation},
    PropertyInfo{"SCINTILLATIONTIMECONSTANT1", kMaterial, false, time, kScintillation},
    PropertyInfo{"SCINTILLATIONTIMECONSTANT2", kMaterial, false, time, kScintillation},
    PropertyInfo{"SCINTILLATIONTIMECONSTANT3", kMaterial, false, time, kScintillation},
    PropertyInfo{"FASTTIMECONSTANT", kMaterial, false, time, kScintillation},
    PropertyInfo{"SLOWTIMECONSTANT", kMaterial, false, time, kScintillation},
    PropertyInfo{"SCINTILLATIONRISETIME1", kMaterial, false, time, kScintillation},
    PropertyInfo{"SCINTILLATIONRISETIME2", kMaterial, false, time, kScintillation},
    PropertyInfo{"SCINTILLATIONRISETIME3", kMaterial, false, time, kScintillation},
    PropertyInfo{"FASTSCINTILLATIONRISETIME", kMaterial, false, time, kScintillation},
    PropertyInfo{"SLOWSCINTILLATIONRISETIME", kMaterial, false, time, kScintillation},
    PropertyInfo{"SCINTILLATIONYIELD", kMaterial, false, yield, kScintillation},
    PropertyInfo{"SCINTILLATIONYIELD1", kMaterial, false, count, kScintillation},
    PropertyInfo{"SCINTILLATIONYIELD2", kMaterial, false, count, kScintillation},
    PropertyInfo{"SCINTILLATIONYIELD3", kMaterial, false, count, kScintillation},
    PropertyInfo{"YIELDRATIO", kMaterial, false, probability, kScintillation},
    PropertyInfo{"RESOLUTIONSCALE", kMaterial, false, count, kScintillation},
    PropertyInfo{"WLSABSLENGTH", kMaterial, true, length, kWls},
    PropertyInfo{"WLSCOMPONENT", kMaterial, true, weight, kWls},
    PropertyInfo{"WLSTIMECONSTANT", kMaterial, false, time, kWls},
    PropertyInfo{"WLSMEANNUMBERPHOTONS", kMaterial, false, count, kWls},
    PropertyInfo{"WLSABSLENGTH2", kMaterial, true, length, kWls},
    PropertyInfo{"WLSCOMPONENT2", kMaterial, true, weight, kWls},
    PropertyInfo{"WLSTIMECONSTANT2", kMaterial, false, time, kWls},
    PropertyInfo{"WLSMEANNUMBERPHOTONS2", kMaterial, false, count, kWls},
    // Daya Bay's files state it on the photocathode's material; a reader makes a surface of it.
    PropertyInfo{"EFFICIENCY", kMaterial, true, probability, "detection, by a skin surface made of it"},
    PropertyInfo{"ISOTHERMAL_COMPRESSIBILITY", kMaterial, false, count, "Rayleigh scattering"},
    PropertyInfo{"RS_SCALE_FACTOR", kMaterial, false, count, "Rayleigh scattering"},
    PropertyInfo{"TEMPERATURE", kMaterial, false, count, "Rayleigh scattering"},

    PropertyInfo{"REFLECTIVITY", kSurface, true, probability, "glisur, unified"},
    PropertyInfo{"EFFICIENCY", kSurface, true, probability, "glisur, unified"},
    PropertyInfo{"TRANSMITTANCE", kSurface, true, probability, "glisur, unified"},
    PropertyInfo{"REALRINDEX", kSurface, true, index, "glisur, unified: metals"},
    PropertyInfo{"IMAGINARYRINDEX", kSurface, true, extinction, "glisur, unified: metals"},
    PropertyInfo{"RINDEX", kSurface, true, index, "unified: back-painted"},
    PropertyInfo{"SPECULARLOBECONSTANT", kSurface, true, probability, "unified"},
    PropertyInfo{"SPECULARSPIKECONSTANT", kSurface, true, probability, "unified"},
    PropertyInfo{"BACKSCATTERCONSTANT", kSurface, true, probability, "unified"},
    PropertyInfo{"SURFACEROUGHNESS", kSurface, false, length, "glisur, unified: dielectrics"},
    PropertyInfo{"COATEDRINDEX", kSurface, true, index, kRead},
    PropertyInfo{"COATEDTHICKNESS", kSurface, false, length, kRead},
    PropertyInfo{"DETECT", kSurface, true, probability, "simple, thin_film, wavelength_shifting"},
    PropertyInfo{"ABSORB", kSurface, true, probability, "simple, wavelength_shifting"},
    PropertyInfo{"REFLECT_DIFFUSE", kSurface, true, probability, "simple, wavelength_shifting"},
    PropertyInfo{"REFLECT_SPECULAR", kSurface, true, probability, "simple, wavelength_shifting"},
    PropertyInfo{"FILM_RINDEX", kSurface, true, index, "thin_film"},
    PropertyInfo{"FILM_KINDEX", kSurface, true, extinction, "thin_film"},
    PropertyInfo{"FILM_THICKNESS", kSurface, false, length, "thin_film"},
    PropertyInfo{"REEMISSIONPROB", kSurface, true, probability, "wavelength_shifting"},
    PropertyInfo{"WLSCOMPONENT", kSurface, true, weight, "wavelength_shifting"},
    PropertyInfo{"WLSTIMECONSTANT", kSurface, false, time, "wavelength_shifting"},
};

}  // namespace

std::span<const PropertyInfo> optical_properties() {
  return kProperties;
}

const PropertyInfo* find_property(PropertyOf of, std::string_view key) {
  const auto found = std::find_if(kProperties.begin(), kProperties.end(),
                                  [&](const PropertyInfo& info) { return info.of == of && info.key == key; });
  return found == kProperties.end() ? nullptr : found;
}

std::string property_owner(PropertyOf of, std::string_view owner) {
  return (of == PropertyOf::material ? "material '" : "surface '") + std::string(owner) + "'";
}

std::string_view unit(PropertyInfo::Quantity quantity) {
  switch (quantity) {
    case speed:
      return "mm/ns";
    case length:
      return "mm";
    case time:
      return "ns";
    case yield:
      return "1/MeV";
    case angle:
      return "rad";
    default:
      return {};
  }
}

}  // namespace raylift
