// SPDX-License-Identifier: Apache-2.0
#include "draw/scene/scene_program.h"
#include <raylift/geometry/detail/arithmetic.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "draw/gl/shaders.h"
#include "meshes/draw_list.h"

namespace raylift::viewer {
namespace {

/// The shaders' uniform block, std140.
struct FrameUniforms {
  float clip_from_eye[16];  // by columns
  float eye_high[4];
  float eye_low[4];
  float clip_planes[kMaxPlanes][4];
  float forward[4];
  float up[4];
  float key_light[4];
  std::uint32_t choice[4];
  std::uint32_t tables[4];
};

void store(float* target, const Eigen::Vector3d& v, double w = 0) {
  for (int i = 0; i < 3; ++i) target[i] = static_cast<float>(v[i]);
  target[3] = static_cast<float>(w);
}

}  // namespace

SceneProgram::SceneProgram(bool software)
    : software_(software),
      fetches_(!software && GLEW_ARB_shader_draw_parameters != 0),
      frame_(make_buffer(nullptr, sizeof(FrameUniforms), GL_DYNAMIC_STORAGE_BIT)) {}

void SceneProgram::set_frame(const Camera& camera, const Settings& settings, const Resolution& size, int rows,
                             const SceneBuffers& scene) {
  FrameUniforms frame{};
  const double aspect = static_cast<double>(size.width) / size.height;
  Eigen::Matrix4d view = Eigen::Matrix4d::Identity();
  view.topLeftCorner<3, 3>() = camera.rotation();
  const Eigen::Matrix4f clip_from_eye = (camera.projection(aspect, scene.bounds()) * view).cast<float>();
  std::memcpy(frame.clip_from_eye, clip_from_eye.data(), sizeof(frame.clip_from_eye));
  const Eigen::Vector3d eye = camera.eye();
  for (int i = 0; i < 3; ++i) {
    const auto [high, low] = arithmetic_detail::split(eye[i]);
    frame.eye_high[i] = high;
    frame.eye_low[i] = low;
  }
  // Without a plane, every point passes the clip test.
  for (auto& plane : frame.clip_planes) plane[3] = 1;
  const std::vector<ClipPlane> planes = settings.planes();
  for (std::size_t i = 0; i != planes.size(); ++i)
    store(frame.clip_planes[i], planes[i].normal, planes[i].offset_in(scene.bounds()) - planes[i].normal.dot(eye));
  store(frame.forward, camera.forward(), camera.orthographic ? 1 : 0);
  store(frame.up, camera.up.normalized(), static_cast<double>(settings.opacity));
  store(frame.key_light, key_light(camera), static_cast<double>(settings.glass_opacity));
  frame.choice[0] = static_cast<std::uint32_t>(settings.color);
  frame.choice[1] = (settings.back_faces ? 1U : 0U) | (settings.wireframe ? 4U : 0U);
  const auto pixels =
      static_cast<float>(sight_of(camera, settings, scene.bounds(), {size.width * rows / size.height, rows}).pixels);
  std::memcpy(&frame.choice[2], &pixels, sizeof(pixels));
  frame.choice[3] = static_cast<std::uint32_t>(std::min<std::uint64_t>(scene.device_triangles(), kNone));
  frame.tables[0] = scene.material_entries();
  frame.tables[1] = scene.distinct_entries();
  glNamedBufferSubData(frame_.name(), 0, sizeof(frame), &frame);
  // Clip distances cost time in each vertex, and discarding the early depth test: only where they are needed.
  frame_defines_ = settings.cuts_away() ? "#define CUT_AWAY\n" : planes.empty() ? "" : "#define CLIPPED\n";
  if (scene.has_own_colors()) frame_defines_ += "#define OWN_COLORS\n";
  // llvmpipe executes all branches.
  if (software_)
    frame_defines_ += "#define COLOR_BY " + std::to_string(frame.choice[0]) + "u\n#define DRAWN_FLAGS " +
                      std::to_string(frame.choice[1]) + "u\n";
}

void SceneProgram::use(const std::string& variant) {
  const std::string defines = variant + frame_defines_;
  auto found = programs_.find(defines);
  if (found == programs_.end()) found = programs_.emplace(defines, compile(defines)).first;
  glUseProgram(found->second.name());
  bind_frame();
}

Program SceneProgram::compile(const std::string& defines) const {
  const bool caps = defines.find("CAPS") != std::string::npos;
  const bool points = defines.find("POINTS") != std::string::npos;
  const std::string fetch =
      caps || points || !fetches_ ? "" : "#extension GL_ARB_shader_draw_parameters : require\n#define FETCH\n";
  std::string blocks = fetch + defines;
  for (const std::string_view block : {shaders::srgb_curve, shaders::frame_block, shaders::instances_block})
    blocks += block;
  return make_program(caps ? shaders::cap_vertex : shaders::scene_vertex, shaders::scene_fragment, blocks);
}

}  // namespace raylift::viewer
