// SPDX-License-Identifier: Apache-2.0
#include "remote.h"

#include <raylift/geometry/error.h>

#include <filesystem>

#include "cli/text.h"

namespace raylift::batch {
client::Options client_options(const std::string& addresses, const std::string& keys) {
  client::Options options;
  if (!addresses.empty()) options.addresses = cli::split_at_commas(addresses);
  if (!keys.empty()) {
    const bool is_folder = std::filesystem::is_directory(keys);
    with_client_errors(addresses, [&] { options.keys = client::read_keys(is_folder ? keys + "/client.key" : keys); });
  }
  return options;
}

void with_client_errors(const std::string& addresses, const std::function<void()>& work) {
  try {
    work();
  } catch (const client::Error& error) {
    const std::string where = addresses.empty() ? client::usual_address() : addresses;
    throw Error(error_kind(protocol::kind_of(error.code())), error.problem(),
                {where, error.element() == where ? "" : error.element()}, error.advice());
  }
}

}  // namespace raylift::batch
