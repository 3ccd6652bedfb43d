// SPDX-License-Identifier: Apache-2.0
// libzmq, loaded by the commands that need it. If the program were linked with it, each start would load it and the
// twelve libraries that it needs.
#pragma once

namespace raylift::batch {

/// Loads libzmq, by the module raylift-zmq.so or the one that the environment's RAYLIFT_ZMQ names. To be called before
/// any other use of ZeroMQ; after the first time it does nothing. Throws Error(unsupported).
void load_zmq();

}  // namespace raylift::batch
