// SPDX-License-Identifier: Apache-2.0
#include "char0n.h"

#include <raylift/client/gensteps.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <utility>

#include "photon/src/chroma_flags.h"

namespace raylift::batch {
namespace {

constexpr std::size_t kMaxWord = 64;
/// A photon has position, direction and polarisation by axes, wavelength, time, flags.
constexpr std::size_t kColumns = 12;

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}
std::string bytes_of(std::uint64_t event) {
  const auto number = static_cast<std::uint32_t>(event);
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

std::uint32_t opticks_birth(std::uint32_t chroma) {
  for (const std::uint32_t birth : {photon::opticks::kCerenkov, photon::opticks::kScintillation})
    if ((chroma & photon::chroma_flags(birth)) != 0) return birth;
  return photon::opticks::kTorch;
}

}  // namespace

Char0nSensors char0n_sensors(const Scene& scene) {
  std::map<std::int64_t, const Optics::Channel*> by_number;
  for (const Optics::Channel& channel : scene.optics.channels) by_number.try_emplace(channel.number, &channel);
  Char0nSensors sensors;
  for (const auto& [number, channel] : by_number) {
    const Transform& at = scene.instances[channel->solid].transform;
    sensors.channels.push_back(static_cast<std::int32_t>(number));
    sensors.x.push_back(static_cast<float>(at.m[3]));
    sensors.y.push_back(static_cast<float>(at.m[7]));
    sensors.z.push_back(static_cast<float>(at.m[11]));
    sensors.types.push_back(channel->type == kNone ? -1 : static_cast<std::int32_t>(channel->type));
  }
  return sensors;
}

std::string char0n_word(const Char0nFrames& frames) {
  if (frames.empty() || frames.front().size() > kMaxWord) return {};
  return {reinterpret_cast<const char*>(frames.front().data()), frames.front().size()};
}

std::vector<std::string> char0n_answer(const std::string& word, const Char0nSensors& sensors) {
  if (word == "PING" || word == "RUN_BEGIN" || word == "RUN_END") return {"ACK"};
  if (word == "DETECTOR_INFO")
    return {word, bytes_of(sensors.x), bytes_of(sensors.y), bytes_of(sensors.z), bytes_of(sensors.types)};
  return {"UNKNOWN_REQUEST"};
}

std::string read_char0n_photons(const Char0nFrames& frames, photon::Request& request) {
  std::array<std::uint32_t, 2> metadata{};
  if (frames.size() < 2 || frames[1].size() != sizeof metadata) return "the second frame is not event and number";
  std::memcpy(metadata.data(), frames[1].data(), sizeof metadata);
  request.event = metadata[0];
  if (frames.size() != 2 + kColumns)
    return std::to_string(frames.size()) + " frames were sent, and photons have " + std::to_string(2 + kColumns);
  const std::size_t count = metadata[1];
  for (std::size_t i = 2; i != frames.size(); ++i)
    if (frames[i].size() != count * sizeof(float))
      return "frame " + std::to_string(i) + " has " + std::to_string(frames[i].size()) + " bytes, and " +
             std::to_string(count) + " photons have " + std::to_string(count * sizeof(float));
  const auto column = [&](std::size_t which, std::size_t i, auto& to) {
    std::memcpy(&to, frames[2 + which].data() + i * sizeof to, sizeof to);
  };
  const auto vector = [&](std::size_t which, std::size_t i) {
    Float3 to{};
    column(which, i, to.x);
    column(which + 1, i, to.y);
    column(which + 2, i, to.z);
    return to;
  };
  std::vector<photon::StartPhoton> photons(count);
  for (std::size_t i = 0; i != count; ++i) {
    photon::StartPhoton& photon = photons[i];
    photon.position = vector(0, i);
    photon.direction = vector(3, i);
    photon.polarization = vector(6, i);
    column(9, i, photon.wavelength);
    column(10, i, photon.time);
    std::uint32_t flags = 0;
    column(11, i, flags);
    photon.flags = opticks_birth(flags);
  }
  request.source = photon::SharedRows<photon::StartPhoton>(std::move(photons));
  request.seed = client::event_seed(0, request.event);
  request.hits = photon::HitColumns::rows();
  return {};
}

std::vector<std::string> char0n_result(std::uint64_t event, const photon::Reply& reply, const Char0nSensors& sensors) {
  std::vector<std::uint32_t> channels, flags;
  std::array<std::vector<float>, 8> columns;
  for (const photon::PhotonRow& row : reply.hits_as<photon::PhotonRow>()) {
    const auto number = static_cast<std::int32_t>(row.sensor) - 1;
    const auto at = std::lower_bound(sensors.channels.begin(), sensors.channels.end(), number);
    if (row.sensor == 0 || at == sensors.channels.end() || *at != number) continue;
    channels.push_back(static_cast<std::uint32_t>(at - sensors.channels.begin()));
    const std::array<float, 8> values{row.direction.x,    row.direction.y,    row.direction.z, row.polarization.x,
                                      row.polarization.y, row.polarization.z, row.wavelength,  row.time};
    for (std::size_t i = 0; i != values.size(); ++i) columns[i].push_back(values[i]);
    flags.push_back(photon::chroma_flags(row.flags));
  }
  std::vector<std::string> frames{"SIM_COMPLETE", bytes_of(event), bytes_of(channels)};
  for (const std::vector<float>& column : columns) frames.push_back(bytes_of(column));
  frames.push_back(bytes_of(flags));
  return frames;
}

std::vector<std::string> char0n_failure(std::uint64_t event, const std::string& why) {
  return {"SIM_FAILED", bytes_of(event), why};
}

std::vector<std::string> char0n_busy() {
  return {"NO_WORKERS"};
}

}  // namespace raylift::batch
