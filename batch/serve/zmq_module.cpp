// SPDX-License-Identifier: Apache-2.0
// raylift-zmq.so: the only part of raylift's programs that is linked with libzmq, which the loader brings with it. It
// has nothing of its own; zmq_library.cpp finds libzmq's functions through it.
#include <zmq.h>

// Without a use of libzmq, linkers leave it out.
extern "C" __attribute__((visibility("default"))) const void* raylift_zmq() {
  return reinterpret_cast<const void*>(&zmq_ctx_new);
}
