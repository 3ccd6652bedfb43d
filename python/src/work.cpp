// SPDX-License-Identifier: Apache-2.0
#include "work.h"

#include "stream.h"

namespace raylift::python {

void Work::after(const Input& input) {
  if (device_.info().is_host || (input.stream && same_stream(*input.stream, stream_))) return;
  reads_.push_back(input.array.owner);
  if (input.array.pending)
    input.array.pending->hold_back(stream_);
  else if (input.stream)
    Pending(device_, *input.stream).hold_back(stream_);
}

std::shared_ptr<Pending> Work::pending() {
  if (device_.info().is_host) return nullptr;
  auto pending = std::make_shared<Pending>(device_, stream_);
  pending->stream_owner = stream_owner_;
  pending->reads = std::move(reads_);
  return pending;
}

}  // namespace raylift::python
