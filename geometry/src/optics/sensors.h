// SPDX-License-Identifier: Apache-2.0
// Which solids of a scene detect, where its file does not say so.
#pragma once

#include <raylift/geometry/scene/scene.h>

namespace raylift::detail {

/// Before resolve_optics(). With `materials`, each volume of a material whose EFFICIENCY is above 0 somewhere gets a
/// skin surface of the material's name, polished metal that reflects nothing and has this EFFICIENCY, unless the volume
/// has a skin surface; without it, a warning names such a material. Then, in a scene without channels, the solids of
/// every skin surface with an EFFICIENCY (or Chroma's DETECT) above 0 get channels, and those that such a border
/// surface leads into: there Geant4 looks for the sensitive volume.
void add_sensors(Scene& scene, bool materials);

/// After resolve_optics(): warns where the volumes with channels are not those of LoadReport::sensitive_volumes. Does
/// nothing in a scene whose file marks none.
void compare_sensitive_volumes(Scene& scene);

}  // namespace raylift::detail
