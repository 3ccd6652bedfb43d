// SPDX-License-Identifier: Apache-2.0
#include "remote.h"

#include <raylift/geometry/error.h>

#include <filesystem>

#include "cli/text.h"

namespace raylift::batch {
namespace {

ErrorKind kind_of(protocol::ErrorCode code) {
  using protocol::ErrorCode;
  switch (code) {
    case ErrorCode::usage:
    case ErrorCode::digest:
      return ErrorKind::usage;
    case ErrorCode::malformed:
    case ErrorCode::count:
      return ErrorKind::malformed;
    case ErrorCode::unsupported:
    case ErrorCode::version:
      return ErrorKind::unsupported;
    case ErrorCode::limit:
      return ErrorKind::limit;
    case ErrorCode::memory:
      return ErrorKind::out_of_host_memory;
    case ErrorCode::device:
      return ErrorKind::device;
    case ErrorCode::cancelled:
      return ErrorKind::cancelled;
    default:
      return ErrorKind::io;
  }
}

}  // namespace

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
    throw Error(kind_of(error.code()), error.problem(),
                {addresses.empty() ? client::usual_address() : addresses, error.element()}, error.advice());
  }
}

}  // namespace raylift::batch
