// SPDX-License-Identifier: Apache-2.0
#include "ranks.h"

#include <poll.h>

#include <deque>
#include <numeric>
#include <thread>
#include <utility>

#include "base/json.h"
#include "base/parse_number.h"
#include "cli/interrupt.h"

namespace raylift::batch {
using namespace cli;
namespace {

struct Message {
  enum : int {
    workers = 1,  ///< to rank 0: how many scenes the rank takes at a time
    scene,        ///< to a rank: the scene's number, a space, and its path
    row,          ///< to rank 0: what a scene has come to, and the workers that are left, as JSON
    interrupted,  ///< to rank 0: the signal that asked the rank to stop
    stop,         ///< to a rank: the batch is over
    stopped       ///< to rank 0: the rank's last message
  };
};

std::string to_text(const Finished& one, std::size_t workers) {
  const Json json = {{"scene", one.scene},         {"row", one.row},         {"refused", one.refused},
                     {"cancelled", one.cancelled}, {"dropped", one.dropped}, {"workers", workers}};
  return base::json_text(json);
}

Finished finished_of(Json& json) {
  return {json["scene"].get<std::size_t>(), std::move(json["row"]), json["refused"].get<bool>(),
          json["cancelled"].get<bool>(), json["dropped"].get<std::string>()};
}

}  // namespace

std::size_t Ranks::idle() const {
  return std::accumulate(ranks_.begin(), ranks_.end(), std::size_t{0},
                         [](std::size_t sum, const Rank& rank) { return sum + rank.idle(); });
}

bool Ranks::usable() const {
  return std::any_of(ranks_.begin() + 1, ranks_.end(), [](const Rank& rank) { return rank.workers.value_or(1) != 0; });
}

void Ranks::start(std::size_t number, const std::string& path) {
  // The rank that can take the most.
  const auto most =
      std::max_element(ranks_.begin(), ranks_.end(), [](const Rank& a, const Rank& b) { return a.idle() < b.idle(); });
  ++most->busy;
  ++busy_;
  mpi_.send(static_cast<int>(most - ranks_.begin()), Message::scene, std::to_string(number) + ' ' + path);
}

void Ranks::handle(std::vector<Finished>& finished) {
  while (const std::optional<MpiMessage> message = mpi_.receive()) {
    Rank& rank = ranks_[static_cast<std::size_t>(message->rank)];
    switch (message->type) {
      case Message::workers:
        rank.workers = base::parse_number<std::size_t>(message->text).value();
        break;
      case Message::row: {
        Json json = base::parse_json<Json>(message->text);
        rank.workers = json["workers"].get<std::size_t>();
        finished.push_back(finished_of(json));
        --rank.busy;
        --busy_;
        break;
      }
      case Message::interrupted:
        signal_ = base::parse_number<int>(message->text).value();
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
  for (; stopped_ + 1 != ranks_.size(); std::this_thread::sleep_for(kTick)) handle(unused);
}

void serve_rank(Mpi& mpi, WorkerPoolOptions options) {
  mpi.send(0, Message::workers, std::to_string(options.devices.size()));
  WorkerPool pool(std::move(options));
  bool announced = false;
  std::optional<Finished> dropped;
  std::deque<std::pair<std::size_t, std::string>> waiting;  // dealt before rank 0 learnt that a device is gone
  std::vector<pollfd> polled;
  std::vector<Finished> finished;
  while (true) {
    while (const std::optional<MpiMessage> message = mpi.receive()) {
      if (message->type == Message::stop) return mpi.send(0, Message::stopped, "");
      const std::size_t space = message->text.find(' ');
      waiting.emplace_back(base::parse_number<std::size_t>(message->text.substr(0, space)).value(),
                           message->text.substr(space + 1));
    }
    for (; !waiting.empty() && pool.idle() != 0; waiting.pop_front())
      pool.start(waiting.front().first, waiting.front().second);
    if (interrupted_by() != 0 && !std::exchange(announced, true))
      mpi.send(0, Message::interrupted, std::to_string(interrupted_by()));
    polled.clear();
    pool.poll_for(polled);
    (void)::poll(polled.data(), polled.size(), static_cast<int>(Ranks::kTick.count()));
    finished.clear();
    pool.handle(finished);
    for (const Finished& one : finished)
      if (!one.dropped.empty()) dropped = one;
    // They go to other ranks.
    for (; dropped && pool.usable() == 0 && !waiting.empty(); waiting.pop_front())
      finished.emplace_back(*dropped).scene = waiting.front().first;
    for (const Finished& one : finished) mpi.send(0, Message::row, to_text(one, pool.usable()));
  }
}

}  // namespace raylift::batch
