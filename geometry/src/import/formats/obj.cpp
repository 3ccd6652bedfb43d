// SPDX-License-Identifier: Apache-2.0
// The format is that of Wavefront's "Advanced Visualizer" manual, appendix B1 (OBJ) and "MTL" (materials).
#include "obj.h"

#include <raylift/geometry/error.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <unordered_map>

#include "base/parse_number.h"
#include "import/collada/collada_text.h"
#include "polygon_reader.h"

namespace raylift::imported {
namespace {

constexpr float kUnstated = 0.6F;  // the colour of materials that state none

/// Statements that say nothing about the shape of surfaces of polygons.
constexpr std::array<std::string_view, 25> kOtherStatements{
    "vt",       "vn",       "vp",         "s",         "mg",    "usemap", "maplib", "lod", "bevel",
    "c_interp", "d_interp", "shadow_obj", "trace_obj", "ctech", "stech",  "cstype", "deg", "bmat",
    "step",     "parm",     "trim",       "hole",      "scrv",  "sp",     "end"};

class Obj {
 public:
  Obj(const std::string& text, const std::string& file, const LoadOptions& options, const OpenBeside& open,
      Document& document)
      : input_(text), file_(file), open_(open), polygons_(file, options, document.scene.report), document_(document) {}

  void read() {
    // Faces may refer to vertices that follow them.
    each_statement([&](std::string_view keyword, std::string_view rest) {
      if (keyword == "v") read_vertex(rest);
    });
    vertices_ = numbers_.size() / 3;
    check_vertex_count(vertices_, file_);
    each_statement([&](std::string_view keyword, std::string_view rest) { read_statement(keyword, rest); });
    for (const auto& [name, solid] : solids_) add(name, solid);
    if (unknown_ != 0)
      warn(std::to_string(unknown_) + " lines are no statements of OBJ; the first is " + first_unknown_);
  }

 private:
  struct Solid {
    std::vector<std::uint32_t> materials;
    std::vector<Primitive> primitives;  // their corners are numbers of vertices of the file
  };

  void warn(const std::string& text) { document_.scene.report.warnings.push_back(text); }
  [[nodiscard]] std::string where() const { return "line " + std::to_string(line_); }
  [[noreturn]] void fail(const std::string& problem, std::string_view advice = {}) const {
    throw Error(ErrorKind::malformed, problem, {file_, where()}, advice);
  }

  /// Calls use(keyword, rest) for each line that is no comment. A '\' at a line's end joins the next one to it.
  template <class Use>
  void each_statement(const Use& use) {
    TextReader text(input_, file_);
    std::string joined;
    while (!text.at_end()) {
      line_ = text.line();
      std::string_view line = trimmed(text.next_line());
      if (line.ends_with('\\')) {
        joined.clear();
        for (; line.ends_with('\\'); line = trimmed(text.next_line())) {
          line.remove_suffix(1);
          joined.append(line).append(" ");
        }
        line = joined.append(line);
      }
      const std::string_view keyword = take_word(line);
      if (!keyword.empty() && !keyword.starts_with('#')) use(keyword, line);
    }
  }

  void read_vertex(std::string_view rest) {
    std::array<float, 4> values{};
    std::size_t count = 0;
    for (std::string_view word = take_word(rest); !word.empty() && !word.starts_with('#'); word = take_word(rest)) {
      const std::optional<float> value = collada::read_float(word);
      if (!value) fail(in_quotes(word) + " is no number");
      if (count < values.size()) values[count] = *value;
      ++count;
    }
    if (count < 3) fail("a vertex of " + std::to_string(count) + " coordinates");
    const float weight = count == 4 ? values[3] : 1;  // more of them are a colour
    if (weight == 0) fail("the weight of a vertex is 0");
    for (std::size_t i = 0; i != 3; ++i) numbers_.push_back(weight == 1 ? values[i] : values[i] / weight);
  }

  void read_statement(std::string_view keyword, std::string_view rest) {
    if (keyword == "v") {
      ++seen_;
    } else if (keyword == "f" || keyword == "fo") {
      read_face(rest);
    } else if (keyword == "o" || keyword == "g") {
      name_ = trimmed(rest);
      current_ = nullptr;
    } else if (keyword == "usemtl") {
      material_ = material(std::string(trimmed(rest)));
    } else if (keyword == "mtllib") {
      read_library(std::string(trimmed(rest)));
    } else if (keyword == "p" || keyword == "l" || keyword == "curv" || keyword == "curv2") {
      ++document_.scene.report.ignored_primitives;
    } else if (keyword == "surf" || keyword == "bzp" || keyword == "bsp" || keyword == "cdp" || keyword == "cdc" ||
               keyword == "res") {
      throw Error(ErrorKind::unsupported, "free-form surfaces ('" + std::string(keyword) + "') are not read",
                  {file_, where()}, "convert them to polygons before exporting");
    } else if (keyword == "call" || keyword == "csh") {
      throw Error(ErrorKind::unsupported, "'" + std::string(keyword) + "' is not read", {file_, where()},
                  "export the scene as one file");
    } else if (std::find(kOtherStatements.begin(), kOtherStatements.end(), keyword) == kOtherStatements.end()) {
      if (unknown_++ == 0) first_unknown_ = where() + ", " + in_quotes(keyword);
    }
  }

  void read_face(std::string_view rest) {
    corners_.clear();
    for (std::string_view word = take_word(rest); !word.empty() && !word.starts_with('#'); word = take_word(rest)) {
      const std::string_view index = word.substr(0, word.find('/'));
      const std::optional<std::int64_t> number = base::parse_number<std::int64_t>(base::without_plus(index));
      if (!number || *number == 0)
        fail(in_quotes(word) + " is no corner of a face: vertices are numbered from 1, or from -1 backwards");
      // Out of range too where it wraps around.
      corners_.push_back(
          static_cast<std::uint64_t>(*number > 0 ? *number - 1 : static_cast<std::int64_t>(seen_) + *number));
    }
    if (current_ == nullptr) current_ = &solid();
    polygons_.add(primitive(), corners_, vertices_, [this] { return where(); });
  }

  Solid& solid() {
    const auto [place, inserted] = numbers_of_solids_.try_emplace(name_, solids_.size());
    if (inserted) solids_.emplace_back(name_, Solid{});
    return solids_[place->second].second;
  }

  Primitive& primitive() {
    const auto part = std::find(current_->materials.begin(), current_->materials.end(), material_);
    const auto number = static_cast<std::size_t>(part - current_->materials.begin());
    if (part == current_->materials.end()) {
      current_->materials.push_back(material_);
      current_->primitives.emplace_back();
    }
    return current_->primitives[number];
  }

  // Materials --------------------------------------------------------------------------------------------------------

  std::uint32_t material(const std::string& name) {
    if (name.empty()) return kNone;
    std::vector<Material>& all = document_.scene.materials;
    const auto [place, inserted] = numbers_of_materials_.try_emplace(name, static_cast<std::uint32_t>(all.size()));
    if (inserted) all.push_back({name, {kUnstated, kUnstated, kUnstated, 1}});
    return place->second;
  }

  /// The names of one or more files; a name may hold spaces.
  void read_library(const std::string& names) {
    if (const auto whole = open_(names)) return read_materials(*whole);
    std::string_view rest = names;
    for (std::string_view name = take_word(rest); !name.empty(); name = take_word(rest)) {
      if (const auto text = open_(std::string(name)))
        read_materials(*text);
      else
        warn("the materials in " + in_quotes(name) + " are not read: no such file beside the scene's");
    }
  }

  void read_materials(std::string_view text) {
    TextReader lines(text, file_);
    Material* current = nullptr;
    const auto clamped = [](std::string_view word) {
      const float value = collada::read_float(word).value_or(kUnstated);
      return std::isfinite(value) ? std::clamp(value, 0.0F, 1.0F) : 1.0F;
    };
    while (!lines.at_end()) {
      std::string_view line = trimmed(lines.next_line());
      const std::string_view keyword = take_word(line);
      if (keyword == "newmtl") {
        const std::uint32_t number = material(std::string(trimmed(line)));
        current = number == kNone ? nullptr : &document_.scene.materials[number];
      } else if (current == nullptr) {
        continue;
      } else if (keyword == "Kd") {
        for (std::size_t i = 0; i != 3; ++i)
          if (const std::string_view word = take_word(line); !word.empty()) current->color[i] = clamped(word);
      } else if (keyword == "d") {
        current->color[3] = clamped(take_word(line));
      } else if (keyword == "Tr") {
        current->color[3] = 1 - clamped(take_word(line));
      }
    }
  }

  // The result -------------------------------------------------------------------------------------------------------

  /// Numbers the vertices of a solid anew, in the order of its corners.
  void add(const std::string& name, const Solid& solid) {
    own_.resize(vertices_);
    Geometry geometry;
    Positions& positions = geometry.positions;
    std::vector<std::uint32_t> materials;
    for (std::size_t part = 0; part != solid.primitives.size(); ++part) {
      if (solid.primitives[part].corners.empty()) continue;
      Primitive& primitive = geometry.primitives.emplace_back(solid.primitives[part]);
      materials.push_back(solid.materials[part]);
      for (std::uint32_t& corner : primitive.corners) {
        auto& [owner, number] = own_[corner];
        if (owner != &solid) {
          owner = &solid;
          number = static_cast<std::uint32_t>(positions.count++);
          for (std::size_t i = 0; i != 3; ++i) positions.numbers.push_back(numbers_[3 * std::size_t{corner} + i]);
        }
        corner = number;
      }
    }
    if (!geometry.primitives.empty()) add_solid(document_, name, std::move(geometry), std::move(materials));
  }

  const std::string& input_;
  const std::string& file_;
  const OpenBeside& open_;
  PolygonReader polygons_;
  Document& document_;
  std::uint64_t line_ = 1;
  std::vector<float> numbers_;  // of all vertices
  std::uint64_t vertices_ = 0;
  std::uint64_t seen_ = 0;  // vertices above the line
  std::string name_;
  Solid* current_ = nullptr;
  std::uint32_t material_ = kNone;
  std::vector<std::pair<std::string, Solid>> solids_;
  std::unordered_map<std::string, std::size_t> numbers_of_solids_;
  std::unordered_map<std::string, std::uint32_t> numbers_of_materials_;
  std::vector<std::uint64_t> corners_;
  std::vector<std::pair<const Solid*, std::uint32_t>> own_;  // the last solid that uses a vertex, and its number there
  std::uint64_t unknown_ = 0;
  std::string first_unknown_;
};

}  // namespace

Document read_obj(const std::string& text, const InputFile& input, const LoadOptions& options, const OpenBeside& open) {
  Document document = begin_document(input, "OBJ", {}, options);
  const std::string file = input.path().string();
  Obj(text, file, options, open, document).read();
  return document;
}

}  // namespace raylift::imported
