// SPDX-License-Identifier: Apache-2.0
// The stream that a call works on.
#pragma once

#include <optional>

#include "geometry.h"
#include "input.h"

namespace raylift::python {

/// Work of one call on a geometry: on the caller's stream where there is one, and else on the geometry's own.
class Work {
 public:
  Work(const GeometryBox& box, std::optional<StreamHandle> chosen);

  [[nodiscard]] StreamHandle handle() const;
  /// For raylift's calls.
  [[nodiscard]] const Stream& stream() const { return box_.stream; }
  /// Orders what follows after an input's own work.
  void after(const Input& input) const;
  /// The work that has been begun, for the arrays that it writes to; null on the host device, where it is done.
  [[nodiscard]] std::shared_ptr<Pending> pending() const;

 private:
  const GeometryBox& box_;
  std::optional<StreamHandle> chosen_;
};

}  // namespace raylift::python
