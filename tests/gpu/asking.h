// SPDX-License-Identifier: Apache-2.0
// What an uploaded scene answers to the queries of kernels.h: by a kernel on a GPU, by a loop on the host device.
#pragma once

#include <gtest/gtest.h>
#include <raylift/geometry/scene/scene.h>
#include <raylift/gpu/memory/buffer.h>
#include <raylift/gpu/upload/gpu_geometry.h>

#include <span>
#include <vector>

#include "kernels.h"

namespace raylift::test {

template <class Answer, class View, class Query>
std::vector<Answer> ask_view(const Device& device, const View& view, const std::vector<Query>& queries) {
  std::vector<Answer> answers(queries.size());
  if (device.info().is_host) {
    for (std::size_t i = 0; i != queries.size(); ++i) answers[i] = ask(view, queries[i]);
    return answers;
  }
#ifdef RAYLIFT_WITH_CUDA
  const Stream stream(device);
  DeviceBuffer<Query> in(device, queries.size());
  DeviceBuffer<Answer> out(device, queries.size());
  in.copy_from(std::span(queries), stream);
  stream.synchronize();
  EXPECT_EQ(ask_on_gpu(view, in.device(), out.device(), queries.size()), 0);
  out.copy_to(std::span(answers), stream);
  stream.synchronize();
#endif
  return answers;
}

inline std::vector<OpticsAnswer> ask_all(const GpuGeometry& geometry, const std::vector<OpticsQuery>& queries) {
  return ask_view<OpticsAnswer>(geometry.device(), geometry.view().optics, queries);
}
inline std::vector<SurfaceAnswer> ask_all(const GpuGeometry& geometry, const std::vector<SurfaceQuery>& queries) {
  return ask_view<SurfaceAnswer>(geometry.device(), geometry.view(), queries);
}

/// A triangle of a scene, as it stands in the two-level and in the flat view.
struct SceneTriangle {
  std::uint32_t solid, part;
  std::uint32_t two_level, flat;  ///< numbers
};

inline std::vector<SceneTriangle> triangles_of(const Scene& scene) {
  std::vector<std::uint32_t> first;
  std::uint32_t next = 0;
  for (const Mesh& mesh : scene.meshes) {
    first.push_back(next);
    next += static_cast<std::uint32_t>(mesh.triangles.size());
  }
  std::vector<SceneTriangle> triangles;
  for (std::uint32_t solid = 0; solid != scene.instances.size(); ++solid) {
    const Mesh& mesh = scene.meshes[scene.instances[solid].mesh];
    for (std::uint32_t part = 0; part != mesh.parts.size(); ++part)
      for (std::uint32_t t = 0; t != mesh.parts[part].triangle_count; ++t)
        triangles.push_back({solid, part, first[scene.instances[solid].mesh] + mesh.parts[part].first_triangle + t,
                             static_cast<std::uint32_t>(triangles.size())});
  }
  return triangles;
}

}  // namespace raylift::test
