// SPDX-License-Identifier: Apache-2.0
#include "ranks.h"

#include <poll.h>

#include <algorithm>
#include <numeric>
#include <thread>

#include "cli/interrupt.h"

namespace raylift::batch {
using namespace cli;
namespace {

struct Message {
  enum : int {
    room = 1,     ///< to rank 0: how many scenes the rank takes at a time
    scene,        ///< to a rank: the scene's number, a space, and its path
    row,          ///< to rank 0: what a scene has come to, as JSON
    interrupted,  ///< to rank 0: the signal that asked the rank to stop
    stop,         ///< to a rank: the batch is over
    stopped       ///< to rank 0: the rank's last message
  };
};

std::string to_text(const Finished& one) {
  const Json json = {{"scene", one.scene}, {"row", one.row}, {"refused", one.refused}, {"cancelled", one.cancelled}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Finished finished_of(const std::string& text) {
  Json json = Json::parse(text);
  return {json["scene"].get<std::size_t>(), std::move(json["row"]), json["refused"].get<bool>(),
          json["cancelled"].get<bool>(), ""};
}

}  // namespace

std::size_t Ranks::idle() const {
  return std::accumulate(rooms_.begin(), rooms_.end(), std::size_t{0});
}

void Ranks::start(std::size_t number, const std::string& path) {
  // The rank that can take the most.
  const auto most = std::max_element(rooms_.begin(), rooms_.end());
  --*most;
  ++busy_;
  mpi_.send(static_cast<int>(most - rooms_.begin()), Message::scene, std::to_string(number) + ' ' + path);
}

void Ranks::handle(std::vector<Finished>& finished) {
  while (const std::optional<MpiMessage> message = mpi_.receive()) {
    std::size_t& room = rooms_[static_cast<std::size_t>(message->rank)];
    switch (message->type) {
      case Message::room:
        room = std::stoul(message->text);
        break;
      case Message::row:
        finished.push_back(finished_of(message->text));
        ++room;
        --busy_;
        break;
      case Message::interrupted:
        signal_ = std::stoi(message->text);
        break;
      case Message::stopped:
        ++stopped_;
        break;
      default:
        break;
    }
  }
}

void Ranks::stop() {
  for (int rank = 1; rank != mpi_.place.ranks; ++rank) mpi_.send(rank, Message::stop, "");
  // MPI ends only where all messages have been received.
  std::vector<Finished> unused;
  for (; stopped_ + 1 != rooms_.size(); std::this_thread::sleep_for(kTick)) handle(unused);
}

void serve_rank(Mpi& mpi, WorkerPoolOptions options) {
  mpi.send(0, Message::room, std::to_string(options.devices.size()));
  WorkerPool pool(std::move(options));
  bool told = false;
  std::vector<pollfd> polled;
  std::vector<Finished> finished;
  while (true) {
    while (const std::optional<MpiMessage> message = mpi.receive()) {
      if (message->type == Message::stop) return mpi.send(0, Message::stopped, "");
      const std::size_t space = message->text.find(' ');
      pool.start(std::stoul(message->text.substr(0, space)), message->text.substr(space + 1));
    }
    if (interrupted_by() != 0 && !std::exchange(told, true))
      mpi.send(0, Message::interrupted, std::to_string(interrupted_by()));
    polled.clear();
    pool.poll_for(polled);
    (void)::poll(polled.data(), polled.size(), static_cast<int>(Ranks::kTick.count()));
    finished.clear();
    pool.handle(finished);
    for (const Finished& one : finished) mpi.send(0, Message::row, to_text(one));
  }
}

}  // namespace raylift::batch
