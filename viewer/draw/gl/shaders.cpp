// SPDX-License-Identifier: Apache-2.0
#include "draw/gl/shaders.h"

namespace raylift::viewer::shaders {

const std::string_view srgb_curve = R"(
vec3 to_linear(vec3 srgb) {
  return mix(srgb / 12.92, pow((srgb + 0.055) / 1.055, vec3(2.4)), greaterThan(srgb, vec3(0.04045)));
}
vec3 to_srgb(vec3 linear) {
  return mix(12.92 * linear, 1.055 * pow(linear, vec3(1 / 2.4)) - 0.055, greaterThan(linear, vec3(0.0031308)));
}
)";

const std::string_view frame_block = R"(layout(std140, binding = 0) uniform Frame {
  mat4 clip_from_eye;   // positions relative to the eye, in the world's axes -> clip space
  vec4 eye_high;        // the eye, as two floats a coordinate
  vec4 eye_low;
  vec4 clip_planes[6];  // dot(xyz, relative position) > w is cut away
  vec4 forward;         // w: 1 where the camera is orthographic
  vec4 up;              // of the world; w: opacity
  vec4 key_light;       // towards it; w: opacity of glass that has none of its own
  uvec4 choice;         // colour mode, flags, pixels of a length at w = 1 (float), triangles on the device
  uvec4 color_tables;   // of `colors`: entries for materials, entries for things without a colour of their own
};
)";

const std::string_view instances_block = R"(
struct Instance {
  vec4 rows[3];  // linear part; w: translation, high
  vec4 low;      // translation, low; w: flags
};
layout(std430, binding = 0) readonly buffer Instances { Instance instances[]; };
)";

const std::string_view scene_vertex = R"(
layout(location = 0) in vec3 position;
layout(location = 1) in vec2 octahedral;
layout(location = 2) in uvec4 slot;  // instance, material, first triangle, optical surfaces
#ifdef POINTS
layout(location = 3) in float radius;
#endif

#ifdef CLIPPED
out float gl_ClipDistance[6];
#endif
#ifdef GLASS
layout(std430, binding = 4) readonly buffer Opacities { float opacities[]; };  // of instances; 0: none of its own
flat out float glass;
#endif
out vec3 relative;
#ifdef SMOOTH
out vec3 normal;
#endif
#ifdef FETCH
flat out uint drawn;  // which slot
#else
flat out uvec4 which;  // instance, material, first triangle, flags of the instance
flat out uint surfaces;
#endif

void main() {
  Instance placed = instances[slot.x];
  vec3 linear = vec3(dot(placed.rows[0].xyz, position), dot(placed.rows[1].xyz, position),
                     dot(placed.rows[2].xyz, position));
  vec3 high = vec3(placed.rows[0].w, placed.rows[1].w, placed.rows[2].w);
  precise vec3 coarse = high - eye_high.xyz;
  precise vec3 fine = placed.low.xyz - eye_low.xyz;
  precise vec3 moved = coarse + fine;
  relative = linear + moved;
#ifdef POINTS
  // As near as the sphere's front: of a solid within another, the outer one is seen.
  relative -= radius * (forward.w > 0.5 ? forward.xyz : normalize(relative));
#endif
  gl_Position = clip_from_eye * vec4(relative, 1);
#ifdef POINTS
  gl_PointSize = clamp(2 * radius * uintBitsToFloat(choice.z) / gl_Position.w, 1.5, 64.0);
#endif
#ifdef CLIPPED
  for (int i = 0; i < 6; ++i) gl_ClipDistance[i] = clip_planes[i].w - dot(clip_planes[i].xyz, relative);
#endif
#ifdef FETCH
  drawn = gl_BaseInstanceARB + gl_InstanceID;
#else
  which = uvec4(slot.xyz, floatBitsToUint(placed.low.w));
  surfaces = slot.w;
#endif
#ifdef GLASS
  glass = opacities[slot.x] > 0 ? opacities[slot.x] : key_light.w;
#endif
#ifdef SMOOTH
  vec3 n = vec3(octahedral, 1 - abs(octahedral.x) - abs(octahedral.y));
  if (n.z < 0) n.xy = (1 - abs(n.yx)) * mix(vec2(-1), vec2(1), greaterThanEqual(n.xy, vec2(0)));
  // Normals go by the cofactors, up to their sign and length.
  vec3 a = placed.rows[0].xyz, b = placed.rows[1].xyz, c = placed.rows[2].xyz;
  normal = vec3(dot(cross(b, c), n), dot(cross(c, a), n), dot(cross(a, b), n));
  if ((floatBitsToUint(placed.low.w) & 1u) != 0u) normal = -normal;
#endif
}
)";

const std::string_view cap_vertex = R"(
layout(location = 0) in vec3 high;  // the position, as the sum of two floats
layout(location = 1) in vec3 low;
layout(location = 2) in uvec4 slot;  // solid, material, triangle, optical surfaces
layout(location = 3) in uvec2 where;  // mesh; plane, and from bit 8 on the level

out float gl_ClipDistance[6];
out vec3 relative;
flat out uvec4 which;
flat out uint surfaces;
flat out vec3 closed;

void main() {
  precise vec3 coarse = high - eye_high.xyz;
  precise vec3 fine = low - eye_low.xyz;
  relative = coarse + fine;
  gl_Position = clip_from_eye * vec4(relative, 1);
  // The caps of inner solids lie over those of outer ones, in the same plane: nearer to the eye by a little.
  gl_Position.z *= 1 + float(where.y >> 8) * 4e-6;
  uint plane = where.y & 255u;
  for (uint i = 0u; i < 6u; ++i)
    gl_ClipDistance[i] = i == plane ? 1 : clip_planes[i].w - dot(clip_planes[i].xyz, relative);
  which = uvec4(slot.xyz, where.x << 1);
  surfaces = slot.w;
  closed = clip_planes[plane].xyz;
}
)";

const std::string_view scene_fragment = R"(
// Linear.
layout(std430, binding = 1) readonly buffer Colors { vec4 colors[]; };
layout(std430, binding = 3) readonly buffer HitColors { vec4 hit_colors[]; };  // of solids, by what they detected
#ifdef OWN_COLORS
layout(std430, binding = 7) readonly buffer OwnColors { vec4 own_colors[]; };  // of solids; alpha 0: none
#endif
#ifdef SMOOTH
layout(std430, binding = 2) readonly buffer Smooth { uint smooth_triangles[]; };  // a bit each
#endif
#ifdef LINES
layout(std430, binding = 6) readonly buffer EdgeTriangles { uint edge_triangles[]; };
#endif

in vec3 relative;
#ifdef SMOOTH
in vec3 normal;
#endif
#ifdef FETCH
layout(std430, binding = 5) readonly buffer Slots { uvec4 slots[]; };
flat in uint drawn;
uvec4 which;
uint surfaces;
#else
flat in uvec4 which;  // instance, material, first triangle, flags of the instance
flat in uint surfaces;  // the colours of the outer and, from bit 16 on, the inner side; 0xFFFF: none
#endif
#ifdef GLASS
flat in float glass;
#endif
#ifdef CAPS
flat in vec3 closed;  // the plane's normal
#endif

#ifdef IDS
layout(location = 0) out uvec2 id;
#else
layout(location = 0) out vec4 color;
#endif
#ifdef BLENDED
layout(location = 1) out vec4 revealage;
#endif

const uint BY_MATERIAL = 0u, BY_SOLID = 1u, BY_MESH = 2u, BY_RESIDENCY = 3u, BY_NORMAL = 4u, BY_SURFACE = 5u, BY_HITS = 6u,
           BY_FIRST_HIT = 7u;
const uint BACK_FACES = 1u, WIREFRAME = 4u;
#ifndef COLOR_BY
#define COLOR_BY choice.x
#define DRAWN_FLAGS choice.y
#endif

vec3 table(uint entry) { return colors[entry].rgb; }
float fourth_power(float x) { return x * x * x * x; }

vec3 base_color(uint triangle, vec3 outward, bool front) {
#ifdef OWN_COLORS
  if (COLOR_BY <= BY_MESH || COLOR_BY == BY_SURFACE)
    if (own_colors[which.x].a > 0) return own_colors[which.x].rgb;
#endif
  if (COLOR_BY == BY_NORMAL) return to_linear(0.5 + 0.5 * outward);
  if (COLOR_BY == BY_MATERIAL) return table(min(which.y, color_tables.x - 1u));
  if (COLOR_BY == BY_SOLID) return table(color_tables.x + which.x % color_tables.y);
  if (COLOR_BY == BY_SURFACE) {
    uint surface = (front ? surfaces : surfaces >> 16) & 0xFFFFu;
    return table(surface == 0xFFFFu ? color_tables.x - 1u : color_tables.x + surface % color_tables.y);
  }
  if (COLOR_BY == BY_HITS || COLOR_BY == BY_FIRST_HIT) return hit_colors[which.x].rgb;
  if (COLOR_BY == BY_MESH) return table(color_tables.x + (which.w >> 1) % color_tables.y);
  return table(color_tables.x + color_tables.y + (triangle < choice.w ? 0u : 1u));
}

vec3 lighted(vec3 base, vec3 n, vec3 towards) {
  float sky = 0.5 + 0.5 * dot(n, up.xyz);
  float key = max(dot(n, key_light.xyz), 0);
  float head = max(dot(n, towards), 0);
  vec3 ambient = mix(vec3(0.13, 0.12, 0.12), vec3(0.24, 0.26, 0.30), sky);
  vec3 lit = base * (ambient + vec3(0.62, 0.60, 0.57) * key + 0.26 * head);
  vec3 halfway = normalize(key_light.xyz + towards);
  lit += 0.10 * pow(max(dot(n, halfway), 0), 40) + 0.05 * fourth_power(1 - head) * (0.4 + 0.6 * sky);
  return lit;
}

#if defined(CUT_AWAY) && !defined(CAPS)
// In the box whose faces the planes are. To be called last: derivatives of discarded pixels are undefined.
void cut_away() {
  float beyond = dot(clip_planes[0].xyz, relative) - clip_planes[0].w;
  for (int i = 1; i < 6; ++i) beyond = max(beyond, dot(clip_planes[i].xyz, relative) - clip_planes[i].w);
  if (beyond < 0) discard;
}
#else
void cut_away() {}
#endif

void main() {
#ifdef CAPS
  uint triangle = which.z;
#else
#ifdef FETCH
  uvec4 slot = slots[drawn];
  which = uvec4(slot.xyz, floatBitsToUint(instances[slot.x].low.w));
  surfaces = slot.w;
#endif
  uint triangle = which.z + uint(gl_PrimitiveID);
#ifdef LINES
  triangle = edge_triangles[triangle];  // a slot counts edges here
#endif
#endif
#ifdef IDS
#ifdef CAPS
  id = uvec2(which.x + 1u, 0xFFFFFFFFu);
#else
  id = uvec2(which.x + 1u, triangle);
#endif
#elif defined(MASK)
  color = vec4(1);
#else
  vec3 towards = forward.w > 0.5 ? -forward.xyz : -normalize(relative);
#ifdef CAPS
  bool front = true;
  vec3 n = dot(closed, towards) < 0 ? -closed : closed;
#elif defined(LINES)
  bool front = true;  // a line has no sides
  vec3 n = towards;
#elif defined(POINTS)
  bool front = true;
  vec2 place = vec2(2, -2) * gl_PointCoord + vec2(-1, 1);
  float beside = dot(place, place);
  vec3 right = vec3(clip_from_eye[0][0], clip_from_eye[1][0], clip_from_eye[2][0]);
  right = normalize(right - dot(right, forward.xyz) * forward.xyz);  // the image's middle may be moved
  vec3 n = normalize(place.x * right + place.y * cross(right, forward.xyz) + sqrt(max(0, 1 - beside)) * towards);
#else
  bool front = gl_FrontFacing != ((which.w & 1u) != 0u);
  vec3 dx = dFdx(relative), dy = dFdy(relative);
  vec3 face = cross(dx, dy);
  face = dot(face, face) > 0 ? normalize(face) : towards;
  if (dot(face, towards) < 0) face = -face;
  vec3 n = face;
#ifdef SMOOTH
  if ((smooth_triangles[triangle >> 5] >> (triangle & 31u) & 1u) != 0u && dot(normal, normal) > 0) {
    n = front ? normalize(normal) : -normalize(normal);
    // A silhouette's interpolated normal may point away from the eye, and light would jump there.
    float away = dot(n, towards);
    if (away < 0) n = normalize(n - away * towards);
  }
#endif
#endif

  vec3 base = base_color(triangle, front ? n : -n, front);
  bool warn = (DRAWN_FLAGS & BACK_FACES) != 0u && !front;
  // Striped as well, for viewers with red-green colour blindness.
  if (warn) base = table(color_tables.x + color_tables.y + 2u) * (fract((gl_FragCoord.x + gl_FragCoord.y) / 10) < 0.5 ? 1.0 : 0.3);

#ifdef EDGES
  color = vec4(base * 0.12, 0.55);
#else
  vec3 lit;
  if (COLOR_BY == BY_NORMAL && !warn) {
    lit = base;
  } else {
    lit = lighted(base, n, towards);
  }
  if ((DRAWN_FLAGS & WIREFRAME) != 0u) lit = mix(lit, base, 0.6);
#ifdef FAINT
  // Hardly seen from the front, clearer along the side, which is a round solid's outline.
#ifdef LINES
  color = vec4(mix(base, vec3(0.5), 0.4), 0.5);
#else
  color = vec4(mix(base, lit, 0.5), 0.03 + 0.35 * fourth_power(1 - abs(dot(n, towards))));
#endif
  cut_away();
  return;
#endif
#ifdef BLENDED
#ifdef GLASS
  float alpha = glass;
#else
  float alpha = up.w;
#endif
  // More where the surface is seen along its side, as with glass.
  float grazing = 1 - abs(dot(n, towards));
  alpha = clamp(alpha * (0.6 + 1.2 * grazing * grazing), 0.02, 1.0);
  // McGuire, Bavoil, "Weighted Blended Order-Independent Transparency" (JCGT 2(2), 2013), by reversed depth.
  float weight = clamp(30 * pow(gl_FragCoord.z / (gl_FragCoord.z + 2e-4), 2), 0.05, 300.0);
  color = vec4(lit * alpha, alpha) * weight;
  revealage = vec4(alpha);
#else
  color = vec4(lit, 1);
#endif
#endif
#endif
  cut_away();
#ifdef POINTS
  if (beside > 1) discard;
#endif
}
)";

const std::string_view screen_vertex = R"(
out vec2 place;
void main() {
  place = vec2((gl_VertexID << 1) & 2, gl_VertexID & 2);
  gl_Position = vec4(place * 2 - 1, 0, 1);
}
)";

const std::string_view background_fragment = R"(
layout(location = 0) uniform vec3 top;
layout(location = 1) uniform vec3 bottom;
in vec2 place;
layout(location = 0) out vec4 color;
void main() {
  // In sRGB, where the eye sees an even slope; a little noise hides its steps.
  vec3 srgb = mix(bottom, top, place.y);
  float noise = fract(52.9829189 * fract(dot(gl_FragCoord.xy, vec2(0.06711056, 0.00583715)))) - 0.5;
  if (top != bottom) srgb += noise / 255;
  color = vec4(to_linear(clamp(srgb, 0, 1)), 1);
}
)";

const std::string_view composite_fragment = R"(
layout(binding = 0) uniform sampler2D accumulated;
layout(binding = 1) uniform sampler2D revealage;
layout(location = 0) out vec4 color;
void main() {
  ivec2 pixel = ivec2(gl_FragCoord.xy);
  vec4 sum = texelFetch(accumulated, pixel, 0);
  float through = texelFetch(revealage, pixel, 0).r;
  if (sum.a <= 0) discard;
  color = vec4(sum.rgb / max(sum.a, 1e-5), 1 - through);
}
)";

const std::string_view image_fragment = R"(
layout(binding = 0) uniform sampler2D image;
layout(location = 0) uniform vec2 size;  // of the target, pixels
layout(location = 0) out vec4 color;
void main() {
  // The image may have fewer pixels, during a move.
  ivec2 pixels = textureSize(image, 0);
  vec4 c = texelFetch(image, min(ivec2(gl_FragCoord.xy / size * vec2(pixels)), pixels - 1), 0);
  color = vec4(to_linear(c.rgb), c.a);
}
)";

const std::string_view scaled_fragment = R"(
layout(binding = 0) uniform sampler2D image;  // linear light, multiplied by alpha
in vec2 place;
layout(location = 0) out vec4 color;
void main() { color = texture(image, place); }
)";

const std::string_view outline_fragment = R"(
layout(binding = 0) uniform sampler2D mask;
layout(location = 0) uniform float width;  // pixels
layout(location = 1) uniform vec3 paint;   // sRGB
layout(location = 0) out vec4 color;
void main() {
  ivec2 pixel = ivec2(gl_FragCoord.xy), last = textureSize(mask, 0) - 1;
  if (texelFetch(mask, pixel, 0).r > 0.5) discard;
  float near = 0, far = 0;
  for (int i = 0; i < 16; ++i) {
    vec2 away = vec2(cos(0.3927 * i), sin(0.3927 * i));
    near += texelFetch(mask, clamp(pixel + ivec2(round(width * away)), ivec2(0), last), 0).r;
    near += texelFetch(mask, clamp(pixel + ivec2(round(0.5 * width * away)), ivec2(0), last), 0).r;
    far += texelFetch(mask, clamp(pixel + ivec2(round((width + 1.5) * away)), ivec2(0), last), 0).r;
  }
  if (near + far == 0) discard;
  // A dark rim keeps it apart from grounds as light as it is.
  color = near > 0 ? vec4(to_linear(paint), 1) : vec4(vec3(0), 0.75);
}
)";

const std::string_view overlay_vertex = R"(
layout(location = 0) uniform vec2 size;  // of the target, pixels
layout(location = 0) in vec2 position;   // pixels from the lower left
layout(location = 1) in vec4 paint;      // sRGB and alpha
layout(location = 2) in vec2 edge;       // distance from the middle, and where the edge is; of letters: place in the image
layout(location = 3) in float letter;
out vec4 painted;
out vec2 at;
flat out float is_letter;
void main() {
  painted = paint;
  at = edge;
  is_letter = letter;
  gl_Position = vec4(position / size * 2 - 1, 0, 1);
}
)";

const std::string_view overlay_fragment = R"(
layout(binding = 0) uniform sampler2D letters;
in vec4 painted;
in vec2 at;
flat in float is_letter;
layout(location = 0) out vec4 color;
void main() {
  float inside = is_letter > 0.5 ? texture(letters, at / vec2(textureSize(letters, 0))).r
                                 : clamp(at.y + 0.5 - abs(at.x), 0, 1);
  color = vec4(to_linear(painted.rgb), painted.a * inside);
}
)";

}  // namespace raylift::viewer::shaders
