// SPDX-License-Identifier: Apache-2.0
// raylift-mpi.so: the only part of raylift that is linked with MPI.
#include "mpi_module.h"

#include <mpi.h>

extern "C" {

__attribute__((visibility("default"))) int raylift_mpi_start(raylift::batch::MpiPlace* place) {
  int code = MPI_Init(nullptr, nullptr);
  if (code != MPI_SUCCESS) return code;
  MPI_Comm_rank(MPI_COMM_WORLD, &place->rank);
  MPI_Comm_size(MPI_COMM_WORLD, &place->ranks);
  MPI_Comm local = MPI_COMM_NULL;
  code = MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, place->rank, MPI_INFO_NULL, &local);
  if (code != MPI_SUCCESS) return code;
  MPI_Comm_rank(local, &place->local_rank);
  MPI_Comm_size(local, &place->local_ranks);
  return MPI_Comm_free(&local);
}

__attribute__((visibility("default"))) int raylift_mpi_tell(char* message) {
  const int code = MPI_Bcast(message, raylift::batch::kMpiMessageBytes, MPI_CHAR, 0, MPI_COMM_WORLD);
  if (code != MPI_SUCCESS) return code;
  return MPI_Finalize();
}
}
