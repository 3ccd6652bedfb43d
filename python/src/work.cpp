// SPDX-License-Identifier: Apache-2.0
#include "work.h"

#include "stream.h"

namespace raylift::python {

Work::Work(const GeometryBox& box, std::optional<StreamHandle> chosen) : box_(box), chosen_(chosen) {
  if (box.geometry.device().info().is_host) chosen_.reset();
  // Until a Stream stands for another library's: its work is done before ours begins.
  if (chosen_) Pending(box.geometry.device(), *chosen_).wait();
}

StreamHandle Work::handle() const {
  return box_.stream.handle();
}

void Work::after(const Input& input) const {
  if (box_.geometry.device().info().is_host || !input.stream || same_stream(*input.stream, handle())) return;
  if (chosen_ && same_stream(*input.stream, *chosen_)) return;
  Pending(box_.geometry.device(), *input.stream).wait();
}

std::shared_ptr<Pending> Work::pending() const {
  if (box_.geometry.device().info().is_host) return nullptr;
  auto pending = std::make_shared<Pending>(box_.geometry.device(), handle());
  if (!chosen_) return pending;
  pending->wait();  // likewise
  return nullptr;
}

}  // namespace raylift::python
