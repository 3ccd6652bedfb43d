// SPDX-License-Identifier: Apache-2.0
// raylift-mpi.so: the only part of raylift that is linked with MPI.
#include <mpi.h>

#include <cstdlib>
#include <list>
#include <utility>

#include "mpi_messages.h"

namespace raylift::batch {
namespace {

class LinkedMpi : public Mpi {
 public:
  LinkedMpi() {
    // Open MPI asks hwloc for the machine's parts, and hwloc asks each X server on it for its GPU. Xlib ends the
    // process when such a server ends meanwhile.
    ::setenv("HWLOC_COMPONENTS", "-gl", 0);
    MPI_Init(nullptr, nullptr);
    MPI_Comm_rank(MPI_COMM_WORLD, &place.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &place.ranks);
    MPI_Comm local = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, place.rank, MPI_INFO_NULL, &local);
    MPI_Comm_rank(local, &place.local_rank);
    MPI_Comm_size(local, &place.local_ranks);
    MPI_Comm_free(&local);
  }

  void send(int to, int type, std::string text) override {
    Sent& sent = sent_.emplace_back();
    sent.text = std::move(text);
    MPI_Isend(sent.text.data(), static_cast<int>(sent.text.size()), MPI_CHAR, to, type, MPI_COMM_WORLD, &sent.request);
  }

  std::optional<MpiMessage> receive() override {
    // A text must stay until it has gone.
    std::erase_if(sent_, [](Sent& sent) {
      int gone = 0;
      MPI_Test(&sent.request, &gone, MPI_STATUS_IGNORE);
      return gone != 0;
    });
    int arrived = 0;
    MPI_Message handle = MPI_MESSAGE_NULL;
    MPI_Status status{};
    MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &arrived, &handle, &status);
    if (arrived == 0) return std::nullopt;
    int bytes = 0;
    MPI_Get_count(&status, MPI_CHAR, &bytes);
    MpiMessage message{status.MPI_SOURCE, status.MPI_TAG, std::string(static_cast<std::size_t>(bytes), '\0')};
    MPI_Mrecv(message.text.data(), bytes, MPI_CHAR, &handle, MPI_STATUS_IGNORE);
    return message;
  }

  void finish() override {
    for (Sent& sent : sent_) MPI_Wait(&sent.request, MPI_STATUS_IGNORE);
    MPI_Finalize();
  }

  void abort(int exit_code) override { MPI_Abort(MPI_COMM_WORLD, exit_code); }

 private:
  struct Sent {
    std::string text;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  std::list<Sent> sent_;
};

}  // namespace
}  // namespace raylift::batch

extern "C" __attribute__((visibility("default"))) raylift::batch::Mpi* raylift_make_mpi_2() {
  return new raylift::batch::LinkedMpi;
}
