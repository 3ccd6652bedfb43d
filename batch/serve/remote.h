// SPDX-License-Identifier: Apache-2.0
// What commands share that use a server: its addresses and keys, and its errors as raylift's.
#pragma once

#include <raylift/client/client.h>

#include <functional>
#include <string>

namespace raylift::batch {

/// A client of the servers at `addresses`, with commas between them; empty: the user's usual one. `keys` is the file of
/// a client's keys, or its folder; needed for tcp://. Throws Error(usage).
[[nodiscard]] client::Options client_options(const std::string& addresses, const std::string& keys);

/// Runs `work`; turns a client's errors into raylift's.
void with_client_errors(const std::string& addresses, const std::function<void()>& work);

}  // namespace raylift::batch
