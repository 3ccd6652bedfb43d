// SPDX-License-Identifier: Apache-2.0
#include "draw/photons/photon_layer.h"

#include <raylift/geometry/error.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "cli/text.h"
#include "draw/gl/gl_state.h"
#include "draw/gl/shaders.h"
#include "model/colors/palette.h"

namespace raylift::viewer {
namespace {

constexpr float kEver = std::numeric_limits<float>::max();
constexpr float kPickWidth = 9, kSelectedWidth = 3;  // pixels
constexpr Color kSelectedLight{1, 1, 1};

/// Draws take numbers of 31 bits, and wide lines six for each step.
constexpr std::size_t kMaxDrawn = std::numeric_limits<GLsizei>::max() / 6;

/// The size of ends and heads, pixels.
float point_size(const PhotonSettings& settings) {
  return 2 * settings.size + 2;
}

GLsizei drawn_count(std::size_t count) {
  if (count > kMaxDrawn)
    throw Error(ErrorKind::limit, "more steps of photons than can be drawn: " + cli::grouped(count), {},
                "draw fewer: --photon-limit, --photon-filter");
  return static_cast<GLsizei>(count);
}

/// Throws Error(limit) where a shader can't read so many bytes as one array.
void check_size(std::size_t bytes) {
  GLint64 most = 0;
  glGetInteger64v(GL_MAX_SHADER_STORAGE_BLOCK_SIZE, &most);
  if (bytes > static_cast<std::size_t>(most))
    throw Error(ErrorKind::limit,
                "photons of " + cli::grouped(bytes) + " bytes are too many for this OpenGL, which reads " +
                    cli::grouped(static_cast<std::uint64_t>(most)),
                {}, "draw fewer: --photon-limit");
}

}  // namespace

void PhotonLayer::clear() {
  for (Buffer* buffer : {&rows_, &points_, &drawn_steps_, &drawn_points_, &selected_}) *buffer = Buffer();
  shared_rows_.reset();
  steps_ = ends_ = selected_steps_ = 0;
  bytes_ = 0;
}

void PhotonLayer::set_photons(const PhotonSet& set, std::optional<GLuint> steps) {
  clear();
  const std::size_t row_bytes = set.rows.size() * sizeof(photon::PhotonRow);
  const std::size_t point_bytes = set.points.size() * sizeof(photon::PhotonRow);
  check_size(std::max(row_bytes, point_bytes));
  shared_rows_ = steps;
  if (!steps) rows_ = make_buffer(std::span<const photon::PhotonRow>(set.rows));
  points_ = make_buffer(std::span<const photon::PhotonRow>(set.points));
  bytes_ = row_bytes + point_bytes;
}

void PhotonLayer::set_colors(PhotonColorTable table, PhotonColor color, const ValueScale& times) {
  table_ = std::move(table);
  const std::vector<LinearColor> linear = linear_colors(table_.colors);
  colors_ = make_buffer(std::span<const LinearColor>(linear));
  table_.colors.clear();
  color_ = color;
  times_ = times;
}

void PhotonLayer::choose(const PhotonChoice& choice, const PhotonSet& set) {
  const GLsizei steps = drawn_count(choice.steps.size()), ends = drawn_count(choice.points.size());
  steps_ = ends_ = 0;
  drawn_steps_ = Buffer();
  drawn_points_ = Buffer();
  drawn_steps_ = make_buffer(std::span<const DrawnRow>(choice.steps));
  drawn_points_ = make_buffer(std::span<const DrawnRow>(choice.points));
  steps_ = steps;
  ends_ = ends;
  readable_ = ReadableLight(set, choice);
  shown_ = readable_.all();
}

void PhotonLayer::select(std::span<const DrawnRow> steps) {
  selected_steps_ = drawn_count(steps.size());
  selected_ = make_buffer(steps);
}

const Program& PhotonLayer::program(const std::string& variant, bool computes) {
  // By its number: llvmpipe would work out every way to colour.
  const std::string defines = variant + "#define LIGHT_BY " + std::to_string(static_cast<int>(color_)) + "u\n";
  auto found = programs_.find(defines);
  if (found == programs_.end()) {
    const std::string blocks = defines + std::string(shaders::frame_block) + std::string(shaders::photon_block);
    found = programs_
                .emplace(defines, computes ? make_compute_program(shaders::light_compute,
                                                                  blocks + std::string(shaders::srgb_curve) +
                                                                      std::string(shaders::cell_block))
                                           : make_program(shaders::photon_vertex, shaders::photon_fragment, blocks))
                .first;
  }
  return found->second;
}

void PhotonLayer::bind(GLuint rows, const Buffer& drawn) const {
  glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 4, rows);
  glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 5, drawn.name());
  glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 6, colors_.name());
  glBindVertexArray(empty_.name());
}

void PhotonLayer::use(const Program& program, const PhotonSettings& settings, int width, int height, float line,
                      float point) const {
  glUseProgram(program.name());
  const float now = settings.time ? static_cast<float>(*settings.time) : kEver;
  const float oldest = settings.time && settings.trail > 0 ? now - static_cast<float>(settings.trail) : -kEver;
  const auto on_scale = [&](double time) { return times_.log() ? std::log(time) : time; };
  const double low = on_scale(times_.low()), range = on_scale(times_.high()) - low;
  glUniform4f(0, oldest, now, static_cast<float>(low), static_cast<float>(range > 0 ? 1 / range : 0));
  glUniform4f(1, static_cast<float>(width), static_cast<float>(height), line, point);
  glUniform3ui(2, table_.ramp, table_.events, table_.materials);
  glUniform2ui(3, table_.numbers, kDistinctColors);
  glUniform4f(4, 0, 0, 0, 0);
  glUniform1i(7, times_.log() ? 1 : 0);
}

void PhotonLayer::use(const std::string& defines, const PhotonSettings& settings, int width, int height, float line,
                      float point) {
  use(program(defines + clipping_, false), settings, width, height, line, point);
  glUniform1f(5, settings.opacity);
}

void PhotonLayer::set_clipping(const Settings& settings) {
  const bool none = !settings.photons.clip || settings.planes().empty();
  clipping_ = none ? "" : settings.cuts_away() ? "#define CUT_AWAY\n" : "#define CLIPPED\n";
}

bool PhotonLayer::draws(const PhotonSettings& settings) const {
  return (settings.paths && steps_ != 0) || (settings.points && ends_ != 0);
}

void PhotonLayer::draw(const PhotonSettings& settings, const LightCanvas& canvas, const LightShown& shown,
                       double share) {
  if (!draws(settings)) return;
  shown_ = shown;
  const auto part = [&](std::uint64_t count) {
    return static_cast<GLsizei>(std::ceil(share * static_cast<double>(count)));
  };
  const Counts counts{settings.paths ? part(shown.steps) : 0, settings.points ? part(shown.points) : 0};
  // Blending depends on the order, which compute shaders don't keep; nor do they cut.
  if (settings.opacity >= 1 && clipping_.empty() && shown.steps + shown.points >= computed_from_ &&
      LightCells::fit(canvas))
    draw_cells(settings, canvas, counts);
  else
    draw_pixels(settings, canvas, counts);
}

void PhotonLayer::draw_pixels(const PhotonSettings& settings, const LightCanvas& canvas, const Counts& counts) {
  const int width = canvas.width, height = canvas.height;
  glEnable(GL_PROGRAM_POINT_SIZE);
  if (settings.opacity < 1) {
    glDepthMask(GL_FALSE);
    blend_over();
  }
  // A line of one pixel is a line; a wider one two triangles, as OpenGL's core has no wide lines.
  const bool wide = settings.size > 1;
  const GLuint rows = shared_rows_.value_or(rows_.name());
  if (counts.steps != 0) {
    bind(rows, drawn_steps_);
    use(wide ? "#define WIDE\n" : settings.time ? "" : "#define WHOLE\n", settings, width, height, settings.size, 0);
    glDrawArrays(wide ? GL_TRIANGLES : GL_LINES, 0, (wide ? 6 : 2) * counts.steps);
    if (settings.time) {
      use("#define HEADS\n", settings, width, height, 0, point_size(settings));
      glDrawArrays(GL_POINTS, 0, counts.steps);
    }
  }
  if (counts.ends != 0) {
    bind(points_.name(), drawn_points_);
    use("#define POINTS\n", settings, width, height, 0, point_size(settings));
    glDrawArrays(GL_POINTS, 0, counts.ends);
  }
  glDisable(GL_BLEND);
  glDepthMask(GL_TRUE);
  glDisable(GL_PROGRAM_POINT_SIZE);
}

void PhotonLayer::draw_cells(const PhotonSettings& settings, const LightCanvas& canvas, const Counts& counts) {
  cells_.clear(canvas);
  const std::string computed = "#define COMPUTED\n" + cells_.defines();
  const bool thin = canvas.samples == 1 && settings.size <= 1;
  const GLuint rows = shared_rows_.value_or(rows_.name());
  const auto pass = [&](const std::string& defines, GLsizei count, bool painting) {
    use(program(computed + defines, true), settings, canvas.width, canvas.height, settings.size, point_size(settings));
    cells_.draw(static_cast<std::uint32_t>(count), painting);
  };
  for (const bool painting : {false, true}) {
    bind(rows, drawn_steps_);
    pass(thin ? "#define LINES\n#define THIN\n" : "#define LINES\n", counts.steps, painting);
    if (settings.time) pass("#define HEADS\n", counts.steps, painting);
    bind(points_.name(), drawn_points_);
    pass("", counts.ends, painting);
    LightCells::wait();
  }
  cells_.lay_over();
}

void PhotonLayer::draw_selected(const PhotonSettings& settings, int width, int height) {
  if (selected_steps_ == 0) return;
  bind(shared_rows_.value_or(rows_.name()), selected_);
  // A light line in a dark rim is visible on any background.
  for (const bool rim : {true, false}) {
    use("#define WIDE\n", settings, width, height, (rim ? 3 : 0) + kSelectedWidth + settings.size, 0);
    const LinearColor color = linear_color(rim ? Color{0, 0, 0} : kSelectedLight);
    glUniform4f(4, color[0], color[1], color[2], 1);
    glUniform1f(5, 1);
    glDrawArrays(GL_TRIANGLES, 0, 6 * selected_steps_);
  }
}

void PhotonLayer::draw_ids(const PhotonSettings& settings, int width, int height) {
  if (!draws(settings)) return;
  glEnable(GL_PROGRAM_POINT_SIZE);
  if (settings.paths && steps_ != 0) {
    bind(shared_rows_.value_or(rows_.name()), drawn_steps_);
    use("#define WIDE\n#define IDS\n", settings, width, height, settings.size + kPickWidth, 0);
    glUniform1ui(6, kStepId);
    glDrawArrays(GL_TRIANGLES, 0, 6 * static_cast<GLsizei>(shown_.steps));
  }
  if (settings.points && ends_ != 0) {
    bind(points_.name(), drawn_points_);
    use("#define POINTS\n#define IDS\n", settings, width, height, 0, 2 * settings.size + kPickWidth);
    glUniform1ui(6, kPointId);
    glDrawArrays(GL_POINTS, 0, static_cast<GLsizei>(shown_.points));
  }
  glDisable(GL_PROGRAM_POINT_SIZE);
}

}  // namespace raylift::viewer
