// SPDX-License-Identifier: Apache-2.0
// A smooth path of the camera through bookmarks, for films and for the window. No GL.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "state/options/bookmarks.h"

namespace raylift::viewer {

class CameraPath {
 public:
  /// Through the bookmarks with these names, in this order; names may repeat. Throws Error(usage) for a name that no
  /// bookmark has, and for fewer than two names.
  CameraPath(const Bookmarks& bookmarks, const std::vector<std::string>& names, const Bounds& scene);

  struct Sample {
    std::size_t bookmark;  ///< of the path, that was passed last
    Camera camera;
    std::optional<ClipPlane> clip;
    std::optional<ClipBox> clip_box;
    bool clips = false;  ///< clip or clip_box is set; else the bookmark's clipping holds

    void set_clip(Settings& settings) const;
  };
  /// The place after a share of the path, from 0 to 1. Each pair of bookmarks takes the same time. The camera's target,
  /// orientation, distance and field of view follow Catmull and Rom's spline, distance and orientation along their
  /// logarithm and sphere. A clipping plane, or a box, that both bookmarks have moves evenly.
  [[nodiscard]] Sample at(double share) const;
  [[nodiscard]] const Bookmark& bookmark(std::size_t i) const { return bookmarks_[i]; }

 private:
  std::vector<Bookmark> bookmarks_;
};

}  // namespace raylift::viewer
