// SPDX-License-Identifier: Apache-2.0
// Embree as an oracle for rays: a mesh, and its robust answer to a ray.
#pragma once

#if defined(RAYLIFT_WITH_EMBREE4)
#include <embree4/rtcore.h>
#elif defined(RAYLIFT_WITH_EMBREE3)
#include <embree3/rtcore.h>
#endif

#if defined(RAYLIFT_WITH_EMBREE3) || defined(RAYLIFT_WITH_EMBREE4)
#define RAYLIFT_WITH_EMBREE 1

#include "support/triangles_and_rays.h"

namespace raylift::test {

class EmbreeScene {
 public:
  // Embree reads 16 bytes at a vertex, so there is a spare one.
  explicit EmbreeScene(const Triangles& mesh)
      : vertices_(mesh.vertices), device_(rtcNewDevice(nullptr)), scene_(rtcNewScene(device_)) {
    vertices_.push_back({0, 0, 0});
    rtcSetSceneFlags(scene_, RTC_SCENE_FLAG_ROBUST);
    const RTCGeometry geometry = rtcNewGeometry(device_, RTC_GEOMETRY_TYPE_TRIANGLE);
    rtcSetSharedGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3, vertices_.data(), 0, 12,
                               mesh.vertices.size());
    rtcSetSharedGeometryBuffer(geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3, mesh.triangles.data(), 0, 12,
                               mesh.triangles.size());
    rtcCommitGeometry(geometry);
    rtcAttachGeometry(scene_, geometry);
    rtcReleaseGeometry(geometry);
    rtcCommitScene(scene_);
  }
  ~EmbreeScene() {
    rtcReleaseScene(scene_);
    rtcReleaseDevice(device_);
  }
  EmbreeScene(const EmbreeScene&) = delete;
  EmbreeScene& operator=(const EmbreeScene&) = delete;

  /// Only t and triangle are set.
  [[nodiscard]] Hit closest_hit(const Ray& r) const {
    RTCRayHit query{};
    query.ray.org_x = r.origin.x;
    query.ray.org_y = r.origin.y;
    query.ray.org_z = r.origin.z;
    query.ray.tnear = r.tmin;
    query.ray.dir_x = r.direction.x;
    query.ray.dir_y = r.direction.y;
    query.ray.dir_z = r.direction.z;
    query.ray.tfar = r.tmax;
    query.ray.mask = 0xFFFFFFFFu;
    query.hit.geomID = RTC_INVALID_GEOMETRY_ID;
#if defined(RAYLIFT_WITH_EMBREE4)
    rtcIntersect1(scene_, &query);
#else
    RTCIntersectContext context;
    rtcInitIntersectContext(&context);
    rtcIntersect1(scene_, &context, &query);
#endif
    Hit hit{};
    hit.t = query.ray.tfar;
    hit.triangle = query.hit.geomID == RTC_INVALID_GEOMETRY_ID ? kNoTriangle : query.hit.primID;
    return hit;
  }

 private:
  std::vector<Float3> vertices_;
  RTCDevice device_;
  RTCScene scene_;
};

}  // namespace raylift::test

#endif
