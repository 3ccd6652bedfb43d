// SPDX-License-Identifier: Apache-2.0
// raylift serve: simulates the photons of other programs' events, in a scene that stays on the devices.
#include <fmt/format.h>
#include <raylift/geometry/error.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "batch/actions/photon_options.h"
#include "cli/options.h"
#include "cli/quantity.h"
#include "commands.h"
#include "device_options.h"

#if defined(RAYLIFT_WITH_ZMQ)
#include <raylift/photon/service.h>
#include <raylift/photon/simulation.h>
#include <unistd.h>

#include <chrono>
#include <thread>
#include <utility>

#include "base/json.h"
#include "batch/serve/remote.h"
#include "batch/serve/server.h"
#include "batch/serve/zmq_library.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/table.h"
#include "cli/text.h"
#include "photon_scene.h"
#endif

namespace raylift::batch {
using namespace cli;
namespace {

struct ServeOptions : PhotonSceneOptions {
  std::vector<std::string> scenes;
  std::string listen;   // with commas
  std::string forward;  // likewise
  std::string keys;
  std::string chroma;
  std::string new_keys, new_client;
  bool digest = false;
  std::optional<std::string> status;  // the addresses
  std::uint64_t max_body = std::uint64_t{1} << 30;
  std::uint64_t queue = std::uint64_t{2} << 30;
  double silence_seconds = 10;
};

#if defined(RAYLIFT_WITH_ZMQ)

bool interrupted() {
  return interrupted_by() != 0;
}

std::vector<std::string> listened(const ServeOptions& options) {
  return split_at_commas(options.listen.empty() ? client::usual_address() : options.listen);
}

void settle(ServeOptions& options) {
  if (options.scenes.size() != 1)
    throw Error(ErrorKind::usage, fmt::format("{} scenes were given, and a server has one", options.scenes.size()));
  options.file = options.scenes.front();
  options.upload.bvh = true;
}

int print_digest(Session& session, ServeOptions& options) {
  settle(options);
  const Progress progress = session.progress();
  const Scene scene = load(options.file, options.load, options.cache.with(session), progress);
  session.write(hex_of(geometry_digest(options, scene, progress)) + '\n');
  return 0;
}

/// What counts of photons are by.
Json contents_of(const Scene& scene, const GpuGeometry& geometry) {
  Json json{{"materials", Json::array()},
            {"surfaces", Json::array()},
            {"channels", photon::Simulation(geometry, {1}).nothing().channels}};
  for (const Material& material : scene.materials) json["materials"].push_back(material.name);
  for (const OpticalSurface& surface : scene.optics.surfaces) json["surfaces"].push_back(surface.name);
  return json;
}

int serve_scene(Session& session, ServeOptions& options) {
  settle(options);
  const Progress progress = session.progress();
  Scene scene;
  std::vector<GpuGeometry> geometries = upload_scene(session, options, progress, scene);
  ServerOptions server_options;
  server_options.digest = geometry_digest(options, scene, progress);
  server_options.addresses = listened(options);
  server_options.chroma = options.chroma;
  if (!options.chroma.empty()) server_options.sensors = char0n_sensors(scene);
  if (!options.keys.empty()) server_options.keys = read_server_keys(options.keys);
  server_options.max_body = options.max_body;
  server_options.silence = std::chrono::milliseconds(static_cast<std::int64_t>(options.silence_seconds * 1000));
  std::string devices;
  for (const GpuGeometry& geometry : geometries) devices += (devices.empty() ? "" : ",") + geometry.device().info().id;
  server_options.about = {{"version", RAYLIFT_VERSION}, {"scene", options.file}, {"device", devices}};
  server_options.contents = contents_of(scene, geometries.front());
  photon::ServiceOptions service_options;
  service_options.max_queue_bytes = options.queue;
  photon::Service service(std::move(geometries), service_options);
  PhotonServer server(service, std::move(server_options));
  std::string where;
  for (const std::string& address : server.addresses()) where += (where.empty() ? "" : ", ") + address;
  session.say(fmt::format("{} is served on {} at {}", options.file, devices, where));
  server.run(interrupted);
  return 0;
}

int forward_requests(Session& session, const ServeOptions& options) {
  if (!options.scenes.empty())
    throw Error(ErrorKind::usage, "a scene was given, and requests are forwarded to servers that have one", {},
                "leave out either");
  session.say(fmt::format("requests are forwarded from {} to {}",
                          options.listen.empty() ? client::usual_address() : options.listen, options.forward));
  forward(listened(options), split_at_commas(options.forward), interrupted);
  return 0;
}

std::string seconds_text(const Json& seconds) {
  return fmt::format("{:.1f}", seconds.get<double>());
}

/// The table of a server's state.
std::string status_text(const Json& state) {
  const auto count = [](const Json& json, const char* name) { return grouped(json[name].get<std::uint64_t>()); };
  std::string text =
      fmt::format("{} on {}{}\n", printable(state["scene"].get<std::string>()),
                  printable(state["device"].get<std::string>()), state["stopping"] == true ? ", stopping" : "");
  const Json& total = state["total"];
  text += fmt::format("{} photons/s now; {} photons, {} hits, {} requests; {} queued, {} running; {} refused\n\n",
                      grouped(static_cast<std::uint64_t>(state["photons_per_second"].get<double>())),
                      count(total, "photons"), count(total, "hits"), count(total, "completed"),
                      count(total, "queued_requests"), count(total, "running_requests"), count(state, "refused"));
  Table clients({{"client", Align::right},
                 {"photons"},
                 {"hits"},
                 {"requests"},
                 {"open"},
                 {"queue s"},
                 {"kernel s"},
                 {"silent s"}});
  for (const Json& client : state["clients"])
    clients.add({count(client, "client"), count(client, "photons"), count(client, "hits"), count(client, "completed"),
                 count(client, "open_requests"), seconds_text(client["queue_seconds"]),
                 seconds_text(client["kernel_seconds"]), seconds_text(client["silent_seconds"])});
  text += clients.empty() ? "  no clients\n" : clients.text(2);
  Table devices(
      {{"device", Align::left}, {"photons"}, {"launches"}, {"kernel s"}, {"memory free"}, {"state", Align::left}});
  for (const Json& device : state["devices"])
    devices.add({device["device"].get<std::string>(), count(device, "photons"), count(device, "launches"),
                 seconds_text(device["kernel_seconds"]), human_bytes(device["free_bytes"].get<std::uint64_t>()),
                 device["failure"].is_null() ? "works" : device["failure"].get<std::string>()});
  return text + '\n' + devices.text(2);
}

/// Throws Error(io) where no server can answer: a server's socket is there while it listens.
void expect_sockets(const client::Options& options) {
  constexpr std::string_view kIpc = "ipc://";
  const std::vector<std::string> usual{client::usual_address()};
  for (const std::string& address : options.addresses.empty() ? usual : options.addresses)
    if (address.starts_with(kIpc) && !std::filesystem::exists(address.substr(kIpc.size())))
      throw Error(ErrorKind::io, "no server answers: there is no such socket", {address, ""},
                  "start one by 'raylift serve SCENE', or name its address");
}

/// Once, or in a terminal until an interrupt.
int print_status(Session& session, const ServeOptions& options) {
  const std::string& addresses = *options.status;
  const bool is_live = !session.options().json && ::isatty(STDOUT_FILENO) == 1;
  with_client_errors(addresses, [&] {
    const client::Options to = client_options(addresses, options.keys);
    expect_sockets(to);
    client::Client client(to);
    for (;;) {
      const Json state = base::parse_json<Json>(client.status());
      if (!state.is_object()) throw Error(ErrorKind::malformed, "the server's state is no JSON", {addresses, ""});
      if (session.options().json) return session.write(base::json_text(state, 1) + '\n');
      session.write((is_live ? "\x1b[H\x1b[J" : "") + status_text(state));
      for (int i = 0; i != 20 && is_live; ++i) {
        if (interrupted()) return;
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
      }
      if (!is_live) return;
    }
  });
  return 0;
}

int serve(Session& session, ServeOptions& options) {
  load_zmq();
  if (!options.new_keys.empty()) {
    if (options.new_client.empty())
      write_new_keys(options.new_keys);
    else
      write_new_client(options.new_keys, options.new_client);
    return 0;
  }
  if (!options.new_client.empty())
    throw Error(ErrorKind::usage, "--client adds a client to a folder of keys", {},
                "name the folder by --keygen FOLDER");
  if (options.status) return print_status(session, options);
  if (!options.forward.empty()) return forward_requests(session, options);
  return options.digest ? print_digest(session, options) : serve_scene(session, options);
}

#else

int serve(Session&, const ServeOptions&) {
  throw Error(ErrorKind::unsupported, "this build has no service", {},
              "build raylift with libzmq3-dev and cppzmq-dev, and -DRAYLIFT_ZMQ=ON");
}

#endif

std::string text_of(const std::string& text, const char* what) {
  if (text.empty()) throw Error(ErrorKind::usage, std::string("there is no ") + what);
  return text;
}

}  // namespace

void add_serve(CLI::App& program, GeneralOptions& general, CommandRun& run) {
  auto options = std::make_shared<ServeOptions>();
  options->device = "all";
  CLI::App* app =
      add_command(program, "serve", "Simulate the photons of other programs, in a scene that stays on the devices");
  add_words(*app, "SCENE", options->scenes, "Scene file; one alone", false);
  add_parsed(
      *app, "--listen", "ADDRESSES", "ipc://$XDG_RUNTIME_DIR/raylift/serve.sock",
      "Where to listen: ipc://PATH in a folder of your own, or tcp://ADDRESS:PORT with --keys; several with commas",
      [options](const std::string& text) { options->listen = text_of(text, "address"); });
  add_parsed(*app, "--chroma", "ADDRESS", "",
             "Also answer RAT in place of Chroma, at ipc://PATH: the messages of ChAR0N, docs/service.md",
             [options](const std::string& text) { options->chroma = text_of(text, "address"); });
  add_parsed(*app, "--keys", "PATH", "", "Keys for TCP: a folder of --keygen, or a file of it",
             [options](const std::string& text) { options->keys = parse_file_name(text); });
  add_parsed(*app, "--max-body", "SIZE", "1GiB", "Largest body of a request",
             [options](const std::string& text) { options->max_body = parse_bytes(text); });
  add_parsed(*app, "--queue", "SIZE", "2GiB",
             "Host memory for requests and their results; clients wait while it is full",
             [options](const std::string& text) { options->queue = parse_bytes(text); });
  add_parsed(*app, "--silence", "TIME", "10s", "Time after which the requests of a silent client are freed",
             [options](const std::string& text) { options->silence_seconds = parse_seconds(text); });
  add_flag(*app, "--digest", options->digest, "Print the digest of the geometry, which clients can expect, and end");
  add_flag_with_value(
      *app, "--status", [options](const std::string& text) { options->status = text; },
      "Print what a server does, at an address or the usual one; in a terminal until an interrupt");
  add_parsed(*app, "--forward", "ADDRESSES", "", "Serve no scene: forward requests to these servers, by turns",
             [options](const std::string& text) { options->forward = text_of(text, "address"); });
  add_parsed(*app, "--keygen", "FOLDER", "", "Write new keys for TCP into a folder, server.key and client.key, and end",
             [options](const std::string& text) { options->new_keys = parse_file_name(text); });
  add_parsed(*app, "--client", "NAME", "", "With --keygen: add one more client, NAME.key, to a folder that has keys",
             [options](const std::string& text) { options->new_client = parse_file_name(text); });
  set_group(*app, "Service",
            {"--listen", "--chroma", "--keys", "--max-body", "--queue", "--silence", "--digest", "--status",
             "--forward", "--keygen", "--client"});
  add_upload_options(*app, options->upload, options->load);
  add_devices_option(*app, options->device,
                     "auto, host (the CPU), cuda:N, all, or a list with commas; 'raylift devices' lists them");
  add_flag(*app, "--strict", options->strict,
           "Refuse scenes with volumes that are thinner than can be resolved, instead of a warning");
  add_general_options(*app, general, true);
  add_load_options(*app, options->load);
  add_cache_options(*app, options->cache);
  finish_command(*app, R"(
Clients link raylift::client, use raylift.Client of Python, or 'raylift photons --server'. SIGTERM ends the server once all
requests that it has accepted have their results; a second one ends it at once. docs/service.md describes the messages.

Examples:
  raylift serve detector.gdml
  raylift serve --status
  raylift serve --status --json | jq .total
  raylift serve --keygen ~/keys && raylift serve detector.gdml --listen tcp://*:5555 --keys ~/keys
  raylift serve --forward ipc:///run/user/1000/raylift/a.sock,ipc:///run/user/1000/raylift/b.sock)",
                 [options, &run] { run = [options](Session& session) { return serve(session, *options); }; });
}

}  // namespace raylift::batch
