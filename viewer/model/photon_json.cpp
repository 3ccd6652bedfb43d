// SPDX-License-Identifier: Apache-2.0
#include "model/photon_json.h"

#include <raylift/photon/histories.h>

#include <algorithm>
#include <string>

#include "cli/options.h"
#include "model/modes.h"

namespace raylift::viewer {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kLongest = 1e12;  // ns, as options take

/// A number within bounds; `fallback` where it is left out.
double number(const Json& json, const char* name, double fallback, double least, double most) {
  return std::clamp(json.value(name, fallback), least, most);
}
float number(const Json& json, const char* name, float fallback, double least, double most) {
  return static_cast<float>(number(json, name, static_cast<double>(fallback), least, most));
}

}  // namespace

Json photon_json(const PhotonSettings& light) {
  const PhotonFilter& filter = light.filter;
  return {{"color", cli::name_of(light.color, kPhotonColorNames)},
          {"history", filter.history},
          {"wavelength", filter.wavelength ? range_text(*filter.wavelength) : ""},
          {"channel", filter.channel ? range_text(*filter.channel) : ""},
          {"paths", light.paths},
          {"points", light.points},
          {"size", light.size},
          {"opacity", light.opacity},
          {"trail", light.trail},
          {"time", light.time ? Json(*light.time) : Json()},
          {"speed", light.speed},
          {"loop", light.loop}};
}

PhotonSettings photon_settings(const Json& json) {
  PhotonSettings light;
  light.color = cli::enum_of<PhotonColor>(json.value("color", std::string(kPhotonColorNames[0])), kPhotonColorNames);
  PhotonFilter& filter = light.filter;
  filter.history = json.value("history", "");
  (void)photon::HistoryPattern(filter.history);  // for its errors
  if (const std::string text = json.value("wavelength", ""); !text.empty()) filter.wavelength = parse_wavelengths(text);
  if (const std::string text = json.value("channel", ""); !text.empty()) filter.channel = parse_channels(text);
  light.paths = json.value("paths", light.paths);
  light.points = json.value("points", light.points);
  light.size = number(json, "size", light.size, 1, 64);
  light.opacity = number(json, "opacity", light.opacity, kMinOpacity, 1);
  light.trail = number(json, "trail", light.trail, 0, kLongest);
  if (json.contains("time") && !json["time"].is_null()) light.time = number(json, "time", 0.0, -kLongest, kLongest);
  light.speed = number(json, "speed", light.speed, 0, kLongest);
  light.loop = json.value("loop", light.loop);
  return light;
}

Json origin_json(const LightOrigin& origin) {
  Json json = Json::object();
  if (!origin.photons.empty()) json["file"] = origin.photons;
  if (!origin.compare.empty()) json["compare"] = origin.compare;
  if (origin.source.empty()) return json;
  json["source"] = origin.source;
  json["moved"] = {origin.moved.x(), origin.moved.y(), origin.moved.z()};
  return json;
}

LightOrigin light_origin(const Json& json) {
  LightOrigin origin{json.value("file", ""), json.value("compare", ""), json.value("source", "")};
  if (json.contains("moved"))
    for (int axis = 0; axis != 3; ++axis)
      origin.moved[axis] = json["moved"].at(static_cast<std::size_t>(axis)).get<double>();
  return origin;
}

}  // namespace raylift::viewer
