// SPDX-License-Identifier: Apache-2.0
// The program of the scene's geometry in its variants, and the uniform block that they read. Needs a current context.
#pragma once

#include <map>
#include <string>

#include "cli/camera.h"
#include "draw/gl/gl_objects.h"
#include "draw/scene/scene_buffers.h"
#include "model/settings/settings.h"

namespace raylift::viewer {

class SceneProgram {
 public:
  /// `software`: OpenGL draws on the CPU.
  explicit SceneProgram(bool software);

  /// Whether fragments read the slot of their solid from a buffer, instead of from vertices. For triangles of a few
  /// pixels a GPU spends most of its time on the vertices' outputs; llvmpipe does not. So this is the default on a GPU
  /// whose driver has ARB_shader_draw_parameters. The image is the same.
  [[nodiscard]] bool fetches() const { return fetches_; }
  void set_fetches(bool fetches) {
    fetches_ = fetches;
    programs_.clear();
  }

  /// Fills the uniform block for an image of this size, of which a target with so many rows is drawn, and chooses the
  /// variants' defines accordingly.
  void set_frame(const Camera& camera, const Settings& settings, const Resolution& size, int rows,
                 const SceneBuffers& scene);
  /// Binds the uniform block, which PhotonLayer reads too.
  void bind_frame() const { glBindBufferBase(GL_UNIFORM_BUFFER, 0, frame_.name()); }
  /// Makes a variant current, and binds the block. `variant`: lines such as "#define SMOOTH\n"; see scene_fragment.
  /// Throws Error(device).
  void use(const std::string& variant);

 private:
  [[nodiscard]] Program compile(const std::string& defines) const;

  bool software_, fetches_;
  Buffer frame_;
  std::string frame_defines_;
  std::map<std::string, Program> programs_;
};

}  // namespace raylift::viewer
