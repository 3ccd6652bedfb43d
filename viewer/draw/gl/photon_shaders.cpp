// SPDX-License-Identifier: Apache-2.0
// The GLSL of light. Vertices are pulled from the rows as the simulation writes them: see photon::PhotonRow.
#include "draw/gl/shaders.h"

namespace raylift::viewer::shaders {

const std::string_view photon_block = R"(
layout(std430, binding = 4) readonly buffer Rows { uvec4 rows[]; };  // four of each: their words may be integers
layout(std430, binding = 5) readonly buffer Drawn { uvec2 drawn[]; };  // row, material
layout(std430, binding = 6) readonly buffer Colors { vec4 colors[]; };  // linear
layout(location = 0) uniform vec4 times;    // light is shown from, to; its colours: from, 1 / range
layout(location = 1) uniform vec4 sizes;    // of the image; of lines and points, pixels
layout(location = 2) uniform uvec3 tables;  // where `colors` has ramp, events, materials
layout(location = 3) uniform uvec2 numbers; // where it has those of numbers, and how many
layout(location = 4) uniform vec4 override; // a colour in place of all, linear; w: 1, or 0
layout(location = 7) uniform bool log_times; // the colours of times: from and range are those of logarithms

const uint BY_WAVELENGTH = 0u, BY_TIME = 1u, BY_PROCESS = 2u, BY_PHOTON = 3u, BY_MATERIAL = 4u;
const float LAST = 255;  // of the ramp

vec3 table(uint entry) { return colors[entry].rgb; }

vec3 color_of(uint row, uint material) {
  if (override.w > 0) return override.rgb;
  if (LIGHT_BY == BY_WAVELENGTH)
    return table(uint(clamp(uintBitsToFloat(rows[4u * row + 2u].w) - 379.5, 0, 350)));
  if (LIGHT_BY == BY_PROCESS) return table(tables.y + uint(findLSB(rows[4u * row + 3u].x & 0xFFFFu) + 1));
  if (LIGHT_BY == BY_PHOTON) return table(numbers.x + rows[4u * row + 3u].z % numbers.y);
  if (LIGHT_BY == BY_MATERIAL) return table(tables.z + material);
  return vec3(0);  // by time: color_at()
}

vec3 color_at(float when) {
  float place = log_times ? log(max(when, 1e-30)) : when;
  return table(tables.x + uint(clamp((place - times.z) * times.w, 0, 1) * LAST + 0.5));
}
bool is_by_time() { return LIGHT_BY == BY_TIME && override.w == 0; }

vec3 from_eye(vec3 position) {
  precise vec3 coarse = position - eye_high.xyz;
  precise vec3 relative = coarse - eye_low.xyz;
  return relative;
}

vec4 in_clip_space(vec3 position) {
  vec4 p = clip_from_eye * vec4(from_eye(position), 1);
  // A little nearer: hits lie on surfaces.
  p.z = forward.w > 0.5 ? p.z + 3e-4 : p.z * 1.0005;
  return p;
}

// The part of a step that is shown, from 0 to 1: light goes evenly from event to event.
vec2 shown_part(float began, float ended) {
  float range = ended - began;
  if (range > 0) return clamp((times.xy - began) / range, 0, 1);
  return vec2(0, began < times.x || began > times.y ? 0 : 1);
}
)";

const std::string_view photon_vertex = R"(
#if defined(CLIPPED) || defined(CUT_AWAY)
out vec3 relative;
void put(vec3 position) { relative = from_eye(position); }
#else
void put(vec3 position) {}
#endif
out float when;
flat out vec3 paint;
flat out uint id;

void main() {
  gl_Position = vec4(2, 2, 2, 1);  // outside of the image
  gl_PointSize = sizes.w;
  when = 0;
  put(vec3(0));
#ifdef POINTS
  uvec2 point = drawn[gl_VertexID];
  paint = color_of(point.x, point.y);
  id = point.x;
  vec4 at = uintBitsToFloat(rows[4u * point.x]);
  when = at.w;
  put(at.xyz);
  if (at.w <= times.y) gl_Position = in_clip_space(at.xyz);
#elif defined(WHOLE)
  uvec2 step = drawn[gl_VertexID / 2];
  paint = color_of(step.x, step.y);
  id = step.x;
  vec4 at = uintBitsToFloat(rows[4u * (step.x + uint(gl_VertexID % 2))]);
  when = at.w;
  put(at.xyz);
  gl_Position = in_clip_space(at.xyz);
#else
#ifdef HEADS
  const int corners = 1;
#elif defined(WIDE)
  const int corners = 6;
#else
  const int corners = 2;
#endif
  int corner = gl_VertexID % corners;
  uvec2 step = drawn[gl_VertexID / corners];
  paint = color_of(step.x, step.y);
  id = step.x;
  vec4 a = uintBitsToFloat(rows[4u * step.x]), b = uintBitsToFloat(rows[4u * step.x + 4u]);
  vec2 part = shown_part(a.w, b.w);
  float from = part.x, to = part.y;
#ifdef HEADS
  put(mix(a.xyz, b.xyz, to));
  if (a.w <= times.y && times.y < b.w) gl_Position = in_clip_space(mix(a.xyz, b.xyz, to));
  when = times.y;
#else
  if (to <= from) return;
#ifdef WIDE
  vec3 start = mix(a.xyz, b.xyz, from), end = mix(a.xyz, b.xyz, to);
  vec4 p = in_clip_space(start), q = in_clip_space(end);
  // What lies before the near plane has no place in the image.
  float inside_p = p.w - p.z, inside_q = q.w - q.z;
  if (inside_p < 0 && inside_q < 0) return;
  if (inside_p < 0) {
    p = mix(p, q, inside_p / (inside_p - inside_q));
    start = mix(start, end, inside_p / (inside_p - inside_q));
  } else if (inside_q < 0) {
    q = mix(q, p, inside_q / (inside_q - inside_p));
    end = mix(end, start, inside_q / (inside_q - inside_p));
  }
  vec2 along = (q.xy / q.w - p.xy / p.w) * sizes.xy;
  along = dot(along, along) > 0 ? normalize(along) : vec2(1, 0);
  bool first = corner == 0 || corner == 1 || corner == 4;
  bool left = corner == 0 || corner == 2 || corner == 3;
  gl_Position = first ? p : q;
  put(first ? start : end);
  gl_Position.xy += (left ? -1.0 : 1.0) * sizes.z * vec2(-along.y, along.x) / sizes.xy * gl_Position.w;
  when = mix(a.w, b.w, first ? from : to);
#else
  float place = corner == 0 ? from : to;
  put(mix(a.xyz, b.xyz, place));
  gl_Position = in_clip_space(mix(a.xyz, b.xyz, place));
  when = mix(a.w, b.w, place);
#endif
#endif
#endif
}
)";

const std::string_view photon_fragment = R"(
layout(location = 5) uniform float opacity;
layout(location = 6) uniform uint kind;  // of ids: steps or points

in float when;
flat in vec3 paint;
flat in uint id;
#ifdef IDS
layout(location = 0) out uvec2 ids;
#else
layout(location = 0) out vec4 color;
#endif

#if defined(CLIPPED) || defined(CUT_AWAY)
in vec3 relative;
// Beyond a plane, or in the box whose faces the planes are.
bool is_cut() {
  float beyond = dot(clip_planes[0].xyz, relative) - clip_planes[0].w;
  for (int i = 1; i < 6; ++i) beyond = max(beyond, dot(clip_planes[i].xyz, relative) - clip_planes[i].w);
#ifdef CUT_AWAY
  return beyond < 0;
#else
  return beyond > 0;
#endif
}
#else
bool is_cut() { return false; }
#endif

void main() {
  if (is_cut()) discard;
#if defined(POINTS) || defined(HEADS)
  vec2 away = 2 * gl_PointCoord - 1;
  if (dot(away, away) > 1) discard;
#endif
#ifdef IDS
  ids = uvec2(kind, id);
#else
  color = vec4(is_by_time() ? color_at(when) : paint, opacity);
#endif
}
)";

const std::string_view lit_depth_fragment = R"(
layout(binding = 0) uniform sampler2D solid;
layout(binding = 1) uniform sampler2D light;
void main() {
  ivec2 pixel = ivec2(gl_FragCoord.xy);
  float depth = texelFetch(light, pixel, 0).r;
  gl_FragDepth = depth == texelFetch(solid, pixel, 0).r ? 1 : depth;
}
)";

}  // namespace raylift::viewer::shaders
