// SPDX-License-Identifier: Apache-2.0
// The GLSL of light that compute shaders draw: see LightCells.
#include "draw/gl/shaders.h"

namespace raylift::viewer::shaders {

const std::string_view cell_block = R"(
// Neighbours in the image are neighbours in memory: tiles of 4 x 2 pixels, with all samples of each.
uint cell_of(ivec2 pixel, ivec2 size) {
  uint tile = uint((pixel.y >> 1) * ((size.x + 3) >> 2) + (pixel.x >> 2));
  return (tile * 8u + uint((pixel.y & 1) << 2 | (pixel.x & 3))) * SAMPLES;
}
)";

const std::string_view light_compute = R"(
layout(local_size_x = 128) in;
layout(std430, binding = 0) buffer Depths { uint depths[]; };  // floats, 0: nothing; larger is nearer
layout(std430, binding = 7) buffer Paints { uint paints[]; };  // sRGB, and in front of it what goes first at one depth
layout(location = 8) uniform uint count;
layout(location = 9) uniform bool painting;  // what the first pass found to be nearest
layout(location = 10) uniform vec2 places[SAMPLES];  // of the samples, in a pixel

uint packed_color(uint row, uint material, float when, float priority) {
  return packUnorm4x8(vec4(to_srgb(is_by_time() ? color_at(when) : color_of(row, material)), priority));
}

// Whether a colour is to be put where this depth is. Most of the light lies behind other light, and ends here.
bool put(uint cell, float depth) {
  uint bits = floatBitsToUint(depth);
  if (painting) return bits == depths[cell];
  if (bits > depths[cell]) atomicMax(depths[cell], bits);
  return false;
}

uint item() {
  uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
  return group * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
}
vec2 in_window(vec4 p) { return (0.5 + 0.5 * p.xy / p.w) * sizes.xy; }

#ifdef LINES

// A line as it is drawn, in pixels; x is the axis that it is longer along.
struct Line {
  vec2 start, way;
  vec2 depths, reciprocals;  // at its ends, as what follows; of w
  vec2 whens;
  bool steep;  // x and y are swapped
  int first;   // column
  int columns;
};
shared Line lines[gl_WorkGroupSize.x];
shared uint ends[gl_WorkGroupSize.x];  // of each line's runs, among those of the group

const int RUN = 8;  // columns

// Restricts the part of a line, from 0 to 1, to where a linear function is not negative.
void keep(float start, float end, inout vec2 part) {
  if (start < 0) part.x = end > 0 ? max(part.x, start / (start - end)) : 2;
  else if (end < 0) part.y = min(part.y, start / (start - end));
}

Line line_of(uint i) {
  Line line;
  line.columns = 0;
  if (i >= count) return line;
  uint row = drawn[i].x;
  vec4 a = uintBitsToFloat(rows[4u * row]), b = uintBitsToFloat(rows[4u * row + 4u]);
  vec2 part = shown_part(a.w, b.w);
  if (part.y <= part.x) return line;
  vec4 p = in_clip_space(mix(a.xyz, b.xyz, part.x)), q = in_clip_space(mix(a.xyz, b.xyz, part.y));
  vec2 seen = vec2(0, 1);
  vec2 edge = 1 + (sizes.z + 1) / sizes.xy;
  keep(p.w - p.z, q.w - q.z, seen);
  keep(p.z, q.z, seen);
  for (int axis = 0; axis < 2; ++axis) {
    keep(edge[axis] * p.w - p[axis], edge[axis] * q.w - q[axis], seen);
    keep(edge[axis] * p.w + p[axis], edge[axis] * q.w + q[axis], seen);
  }
  if (seen.y <= seen.x) return line;
  line.whens = vec2(mix(a.w, b.w, mix(part.x, part.y, seen.x)), mix(a.w, b.w, mix(part.x, part.y, seen.y)));
  vec4 start = mix(p, q, seen.x), end = mix(p, q, seen.y);
  line.depths = vec2(start.z / start.w, end.z / end.w);
  line.reciprocals = 1 / vec2(start.w, end.w);
  line.start = in_window(start);
  line.way = in_window(end) - line.start;
  line.steep = abs(line.way.y) > abs(line.way.x);
  if (line.steep) {
    line.start = line.start.yx;
    line.way = line.way.yx;
  }
  if (line.way.x == 0) return line;
  float low = min(line.start.x, line.start.x + line.way.x), high = max(line.start.x, line.start.x + line.way.x);
#ifdef THIN
  const float beyond = -0.5;
#else
  float beyond = 0.5 * sizes.z * abs(line.way.y) / length(line.way);
#endif
  line.first = max(0, int(ceil(low - beyond - 1)));
  int last = min(int(line.steep ? sizes.y : sizes.x), int(ceil(high + beyond)));
  line.columns = max(0, last - line.first);
  return line;
}

// Columns of a line. With THIN, each has a pixel where the line meets its middle; else lines are rectangles.
void draw_run(Line line, int from, int to, uvec2 step) {
  ivec2 size = ivec2(sizes.xy);
  int rows_end = line.steep ? size.x : size.y;
  float slope = line.way.y / line.way.x;
#ifdef THIN
  const float extent = 0.5;
  vec2 shares = vec2(1 / line.way.x, 0);  // of the line, by a step along each axis
#else
  float extent = 0.5 * sizes.z * sqrt(1 + slope * slope);
  vec2 shares = line.way / dot(line.way, line.way);
#endif
  for (int column = from; column < to; ++column)
    for (int s = 0; s < SAMPLES; ++s) {
      vec2 place = line.steep ? places[s].yx : places[s];
      float x = float(column) + place.x - line.start.x;
      float y = line.start.y + x * slope - place.y;
      int end = min(int(ceil(y + extent)), rows_end);
      for (int r = max(0, int(ceil(y - extent))); r < end; ++r) {
        precise float share = x * shares.x + (float(r) + place.y - line.start.y) * shares.y;
        if (share < 0 || share >= 1) continue;
        precise float depth = line.depths.x + share * (line.depths.y - line.depths.x);
        uint cell = cell_of(line.steep ? ivec2(r, column) : ivec2(column, r), size) + uint(s);
        if (!put(cell, depth)) continue;
        float at_end = share * line.reciprocals.y;
        float when = mix(line.whens.x, line.whens.y, at_end / (at_end + (1 - share) * line.reciprocals.x));
        atomicMax(paints[cell], packed_color(step.x, step.y, when, 1));
      }
    }
}

void main() {
  uint own = gl_LocalInvocationIndex;
  uint first_line = item() - own;
  lines[own] = line_of(first_line + own);
  ends[own] = uint((lines[own].columns + RUN - 1) / RUN);
  for (uint reach = 1u; reach < gl_WorkGroupSize.x; reach *= 2u) {
    barrier();
    uint before = own >= reach ? ends[own - reach] : 0u;
    barrier();
    ends[own] += before;
  }
  barrier();
  // Lines have very different lengths, and runs the same one: each invocation draws as many.
  uint runs = ends[gl_WorkGroupSize.x - 1u];
  for (uint run = own; run < runs; run += gl_WorkGroupSize.x) {
    uint low = 0u;  // the first line that ends after this run
    for (uint reach = gl_WorkGroupSize.x / 2u; reach != 0u; reach /= 2u)
      if (ends[low + reach - 1u] <= run) low += reach;
    Line line = lines[low];
    int from = int(run - (low == 0u ? 0u : ends[low - 1u])) * RUN;
    draw_run(line, line.first + from, line.first + min(from + RUN, line.columns), drawn[first_line + low]);
  }
}

#else  // discs

void draw_disc(vec4 p, uvec2 what, float when) {
  if (p.z > p.w || p.z <= 0) return;
  ivec2 size = ivec2(sizes.xy);
  vec2 center = in_window(p);
  float radius = 0.5 * sizes.w;
  if (any(lessThan(center, vec2(-radius))) || any(greaterThan(center, sizes.xy + radius))) return;
  precise float depth = p.z / p.w;
  ivec2 low = max(ivec2(floor(center - radius)), 0), high = min(ivec2(ceil(center + radius)), size);
  for (int y = low.y; y < high.y; ++y)
    for (int x = low.x; x < high.x; ++x)
      for (int s = 0; s < SAMPLES; ++s) {
        vec2 away = vec2(x, y) + places[s] - center;
        if (dot(away, away) > radius * radius) continue;
        uint cell = cell_of(ivec2(x, y), size) + uint(s);
        if (put(cell, depth)) atomicMax(paints[cell], packed_color(what.x, what.y, when, 0.5));
      }
}

void main() {
  uint i = item();
  if (i >= count) return;
  uvec2 what = drawn[i];
  vec4 a = uintBitsToFloat(rows[4u * what.x]);
#ifdef HEADS
  vec4 b = uintBitsToFloat(rows[4u * what.x + 4u]);
  if (a.w <= times.y && times.y < b.w)
    draw_disc(in_clip_space(mix(a.xyz, b.xyz, shown_part(a.w, b.w).y)), what, times.y);
#else
  if (a.w <= times.y) draw_disc(in_clip_space(a.xyz), what, a.w);
#endif
}

#endif
)";

const std::string_view cells_fragment = R"(
layout(std430, binding = 0) readonly buffer Depths { uint depths[]; };
layout(std430, binding = 7) readonly buffer Paints { uint paints[]; };
layout(location = 0) uniform ivec2 size;
layout(location = 0) out vec4 color;
void main() {
  uint cell = cell_of(ivec2(gl_FragCoord.xy), size);
#if SAMPLES > 1
  cell += uint(gl_SampleID);
#endif
  if (depths[cell] == 0u) discard;
  color = vec4(unpackUnorm4x8(paints[cell]).rgb, 1);  // sRGB already
  gl_FragDepth = uintBitsToFloat(depths[cell]);
}
)";

}  // namespace raylift::viewer::shaders
