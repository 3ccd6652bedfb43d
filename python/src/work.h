// SPDX-License-Identifier: Apache-2.0
// The stream of a call's work.
#pragma once

#include <optional>

#include "geometry.h"
#include "input.h"

namespace raylift::python {

/// The work of one call on a geometry: on the caller's stream if it gave one, else on the geometry's own.
class Work {
 public:
  /// `owner` keeps the caller's stream alive, if it has an owner.
  Work(const GeometryBox& box, std::optional<StreamHandle> chosen, py::object owner = py::none())
      : device_(box.geometry.device()),
        stream_(chosen ? *chosen : box.stream.handle()),
        stream_owner_(chosen ? std::move(owner) : py::cast(&box, py::return_value_policy::reference)) {}

  [[nodiscard]] StreamRef stream() const { return stream_; }
  /// Keeps an object until the work is done.
  void keep(py::object kept) { reads_.push_back(std::move(kept)); }
  /// Orders later work after an input's own work, and keeps the input until that is done.
  void after(const Input& input);
  /// The pending work, for the arrays that it writes to; null on the host device, where it is done.
  [[nodiscard]] std::shared_ptr<Pending> pending();

 private:
  const Device& device_;
  StreamHandle stream_;
  py::object stream_owner_;
  std::vector<py::object> reads_;
};

}  // namespace raylift::python
