// SPDX-License-Identifier: Apache-2.0
// raylift info: what a scene holds, and how many bytes it would take on a device.
#include <fmt/format.h>
#include <raylift/geometry/error.h>
#include <raylift/geometry/import/load.h>
#include <raylift/gpu/memory/residency.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <unordered_set>

#include "batch/actions/array_sizes.h"
#include "batch/actions/optics_text.h"
#include "cli/option_words.h"
#include "cli/options.h"
#include "cli/quantity.h"
#include "cli/table.h"
#include "cli/text.h"
#include "commands.h"
#include "plot_optics.h"

namespace raylift::batch {
using namespace cli;
namespace {

struct InfoOptions {
  std::vector<std::string> files;
  LoadOptions load;
  bool meshes = false;
  bool tree = false;
  bool optics = false;
  std::string plot;
  std::uint64_t depth = std::numeric_limits<std::uint64_t>::max();
};

constexpr std::array kAxes{"x", "y", "z"};
constexpr std::array kProvenance{"file", "convention", "assumed", "option"};
constexpr std::array kProvenanceText{"the file says so", "by the format's convention", "assumed: the file does not say",
                                     "as the option says"};

template <class Value, std::size_t N>
const char* word(Value value, const std::array<const char*, N>& words) {
  return words[static_cast<std::size_t>(value)];
}

struct MaterialUse {
  std::uint64_t solids = 0;
  std::uint64_t triangles = 0;  ///< each instance counted
};

/// Figures that take a pass over the scene's instances.
struct Figures {
  std::vector<MaterialUse> materials;
  MaterialUse no_material;
  std::vector<std::uint64_t> instances_of_mesh;
  std::uint64_t distinct_solid_names = 0;
};

Figures count(const Scene& scene) {
  Figures figures;
  figures.materials.resize(scene.materials.size());
  figures.instances_of_mesh.resize(scene.meshes.size());
  std::unordered_set<std::string_view> names;
  std::vector<std::uint32_t> seen;  // materials of one solid
  for (const Instance& instance : scene.instances) {
    ++figures.instances_of_mesh[instance.mesh];
    names.insert(scene.solid_name(instance));
    seen.clear();
    const std::vector<Mesh::Part>& parts = scene.meshes[instance.mesh].parts;
    for (std::size_t part = 0; part != parts.size(); ++part) {
      const std::uint32_t material = scene.material(instance, part);
      MaterialUse& use = material == kNone ? figures.no_material : figures.materials[material];
      use.triangles += parts[part].triangle_count;
      if (std::find(seen.begin(), seen.end(), material) != seen.end()) continue;
      seen.push_back(material);
      ++use.solids;
    }
  }
  figures.distinct_solid_names = names.size();
  return figures;
}

std::string hex_color(const std::array<float, 4>& color) {
  std::string text = "#";
  for (const float channel : color)
    text += fmt::format("{:02x}", static_cast<unsigned>(std::clamp(channel, 0.0F, 1.0F) * 255.0F + 0.5F));
  return text;
}

std::string vector_text(const Double3& v) {
  return short_number(v.x) + "  " + short_number(v.y) + "  " + short_number(v.z);
}

/// The node tree: children in the file's order, and the solids that hang on each node.
class Tree {
 public:
  explicit Tree(const Scene& scene) : scene_(scene), children_(scene.nodes.size()), solids_(scene.nodes.size()) {
    for (std::uint32_t i = 0; i != scene.nodes.size(); ++i) {
      const std::uint32_t parent = scene.nodes[i].parent;
      (parent == kNone ? roots_ : children_[parent]).push_back(i);
    }
    for (std::uint32_t i = 0; i != scene.instances.size(); ++i)
      if (scene.instances[i].node != kNone) solids_[scene.instances[i].node].push_back(i);
  }

  /// One line for each node down to `depth`, the root's being 1; below it, how many nodes are left out.
  [[nodiscard]] std::string text(std::uint64_t depth) const {
    std::string result;
    struct Step {
      std::uint32_t node;
      std::uint64_t depth;
    };
    std::vector<Step> open;
    const auto push = [&](const std::vector<std::uint32_t>& nodes, std::uint64_t at) {
      for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) open.push_back({*node, at});
    };
    push(roots_, 1);
    while (!open.empty()) {
      const Step step = open.back();
      open.pop_back();
      result += std::string(2 * step.depth, ' ') + line(step.node) + '\n';
      const std::vector<std::uint32_t>& below = children_[step.node];
      if (step.depth < depth)
        push(below, step.depth + 1);
      else if (!below.empty())
        result += std::string(2 * step.depth + 2, ' ') + "... " + counted(below.size(), "child", "children") + '\n';
    }
    return result;
  }

  [[nodiscard]] Json json() const {
    Json nodes = Json::array();
    for (std::uint32_t i = 0; i != scene_.nodes.size(); ++i) {
      const Node& node = scene_.nodes[i];
      Json meshes = Json::array();
      for (const std::uint32_t solid : solids_[i]) meshes.push_back(scene_.instances[solid].mesh);
      nodes.push_back({{"name", node.name},
                       {"parent", node.parent == kNone ? Json() : Json(node.parent)},
                       {"copy_number", node.copy_number ? Json(*node.copy_number) : Json()},
                       {"meshes", std::move(meshes)}});
    }
    return nodes;
  }

 private:
  [[nodiscard]] std::string line(std::uint32_t node) const {
    std::string text = printable(scene_.nodes[node].name);
    if (text.empty()) text = "(no name)";
    if (scene_.nodes[node].copy_number) text += fmt::format(" #{}", *scene_.nodes[node].copy_number);
    for (const std::uint32_t solid : solids_[node]) {
      const Mesh& mesh = scene_.meshes[scene_.instances[solid].mesh];
      text += fmt::format("  [{}: {}]", printable(mesh.name), counted(mesh.triangles.size(), "triangle", "triangles"));
    }
    return text;
  }

  const Scene& scene_;
  std::vector<std::uint32_t> roots_;
  std::vector<std::vector<std::uint32_t>> children_;
  std::vector<std::vector<std::uint32_t>> solids_;
};

std::string arrays_text(const Scene& scene) {
  const std::vector<ArraySize> levels = array_sizes(scene, false);
  const std::vector<ArraySize> flat = array_sizes(scene, true);
  Table table({{"array", Align::left}, {"two-level"}, {"flattened"}});
  const auto bytes_of = [](const std::vector<ArraySize>& arrays, const std::string& name) -> std::string {
    const auto found =
        std::find_if(arrays.begin(), arrays.end(), [&](const ArraySize& one) { return one.name == name; });
    return found == arrays.end() ? "" : human_bytes(found->bytes);
  };
  for (const ArraySize& array : levels) table.add({array.name, human_bytes(array.bytes), bytes_of(flat, array.name)});
  for (const ArraySize& array : flat)
    if (bytes_of(levels, array.name).empty()) table.add({array.name, "", human_bytes(array.bytes)});
  table.add({"total", human_bytes(total_bytes(levels)), human_bytes(total_bytes(flat))});
  return table.text(2);
}

std::string materials_text(const Scene& scene, const Figures& figures) {
  Table table({{"material", Align::left}, {"color"}, {"solids"}, {"triangles"}});
  const auto add = [&](const std::string& name, const std::string& color, const MaterialUse& use) {
    table.add({name, color, grouped(use.solids), grouped(use.triangles)});
  };
  for (std::size_t i = 0; i != scene.materials.size(); ++i)
    add(scene.materials[i].name, hex_color(scene.materials[i].color), figures.materials[i]);
  if (figures.no_material.solids != 0) add("(none)", "", figures.no_material);
  return table.text(2);
}

std::string meshes_text(const Scene& scene, const Figures& figures) {
  Table table(
      {{"mesh", Align::left}, {"vertices"}, {"triangles"}, {"parts"}, {"instances"}, {"size in the file's unit"}});
  for (std::size_t i = 0; i != scene.meshes.size(); ++i) {
    const Mesh& mesh = scene.meshes[i];
    table.add({mesh.name, grouped(mesh.vertices.size()), grouped(mesh.triangles.size()), grouped(mesh.parts.size()),
               grouped(figures.instances_of_mesh[i]), vector_text(mesh_bounds(mesh).size())});
  }
  return table.text(2);
}

std::size_t materials_with_optics(const Scene& scene) {
  return static_cast<std::size_t>(std::count_if(scene.optics.materials.begin(), scene.optics.materials.end(),
                                                [](const OpticalProperties& one) { return !one.empty(); }));
}

std::string text_of(const Scene& scene, const InfoOptions& options) {
  const Figures figures = count(scene);
  const LoadReport& report = scene.report;
  Table facts({{"", Align::left}, {"", Align::left}});
  facts.add({"format", scene.format});
  facts.add({"generator", scene.generator.empty() ? "(not stated)" : scene.generator});
  facts.add({"unit", fmt::format("{}{} ({})", unit_name(scene.unit_mm),
                                 scene.unit_mm == 1 ? "" : fmt::format(" = {} mm", short_number(scene.unit_mm)),
                                 word(scene.unit_from, kProvenanceText))});
  facts.add({"up axis", fmt::format("{} ({})", word(scene.up_axis, kAxes), word(scene.up_from, kProvenanceText))});
  if (!scene.optics.empty()) {
    const std::filesystem::path file = optics_file(scene.source, options.load);
    facts.add({"optics", fmt::format("{} and {}{}", counted(materials_with_optics(scene), "material", "materials"),
                                     counted(scene.optics.surfaces.size(), "surface", "surfaces"),
                                     file.empty() ? "" : ", by " + file.string())});
  }
  facts.add({"meshes", grouped(scene.meshes.size())});
  facts.add({"instances", fmt::format("{} (solids, with {})", grouped(scene.instances.size()),
                                      counted(figures.distinct_solid_names, "name", "different names"))});
  facts.add({"nodes", grouped(scene.nodes.size())});
  facts.add({"triangles", fmt::format("{} unique, {} with every instance", grouped(scene.unique_triangles()),
                                      grouped(scene.expanded_triangles()))});
  facts.add(
      {"vertices", fmt::format("{} unique, {} with every instance; {} before welding", grouped(scene.unique_vertices()),
                               grouped(scene.expanded_vertices()), grouped(report.vertices_before_weld))});
  facts.add({"bounds min", vector_text(scene.bounds.min) + "  mm"});
  facts.add({"bounds max", vector_text(scene.bounds.max) + "  mm"});
  facts.add({"size", vector_text(scene.bounds.size()) + "  mm"});
  const auto add_if = [&](const char* what, std::uint64_t number, const char* note) {
    if (number != 0) facts.add({what, grouped(number) + note});
  };
  add_if("degenerate", report.degenerate_triangles, " triangles without area");
  add_if("dropped", report.dropped_triangles, " triangles");
  add_if("repaired", report.repaired_vertices, " broken vertices taken away");
  add_if("ignored", report.ignored_primitives, " points and lines");
  if (!report.faces_checked) facts.add({"faces", "not checked against the file: Assimp has read it"});

  std::string text = printable(scene.source) + '\n' + facts.text(2);
  text += "\nmaterials, and what they fill\n" + materials_text(scene, figures);
  if (options.meshes) text += "\nmeshes\n" + meshes_text(scene, figures);
  text += "\nbytes on the device\n" + arrays_text(scene);
  if (options.optics) text += optics_text(scene);
  text += unhonoured_text(scene);
  if (options.tree) text += "\nnodes\n" + Tree(scene).text(options.depth);
  return text;
}

Json arrays_json(const std::vector<ArraySize>& arrays) {
  Json json = {{"bytes", total_bytes(arrays)}, {"arrays", Json::array()}};
  for (const ArraySize& array : arrays) json["arrays"].push_back({{"name", array.name}, {"bytes", array.bytes}});
  return json;
}

Json json_of(const Scene& scene, const InfoOptions& options) {
  const Figures figures = count(scene);
  const LoadReport& report = scene.report;
  Json json = {{"file", scene.source},
               {"format", scene.format},
               {"generator", scene.generator},
               {"unit_mm", scene.unit_mm},
               {"unit_from", word(scene.unit_from, kProvenance)},
               {"up_axis", word(scene.up_axis, kAxes)},
               {"up_axis_from", word(scene.up_from, kProvenance)},
               {"instances", scene.instances.size()},
               {"distinct_solid_names", figures.distinct_solid_names},
               {"nodes", scene.nodes.size()},
               {"triangles", {{"unique", scene.unique_triangles()}, {"expanded", scene.expanded_triangles()}}},
               {"vertices",
                {{"unique", scene.unique_vertices()},
                 {"expanded", scene.expanded_vertices()},
                 {"before_weld", report.vertices_before_weld}}},
               {"bounds_mm",
                {{"min", point_json(scene.bounds.min)},
                 {"max", point_json(scene.bounds.max)},
                 {"size", point_json(scene.bounds.size())}}},
               {"report",
                {{"degenerate_triangles", report.degenerate_triangles},
                 {"dropped_triangles", report.dropped_triangles},
                 {"repaired_vertices", report.repaired_vertices},
                 {"ignored_primitives", report.ignored_primitives},
                 {"faces_checked", report.faces_checked},
                 {"sensitive_volumes", report.sensitive_volumes},
                 {"warnings", cli::in_option_words(report.warnings)}}},
               {"two_level", arrays_json(array_sizes(scene, false))},
               {"flattened", arrays_json(array_sizes(scene, true))},
               {"materials", Json::array()},
               {"meshes", Json::array()}};
  for (std::size_t i = 0; i != scene.materials.size(); ++i)
    json["materials"].push_back({{"name", scene.materials[i].name},
                                 {"color", scene.materials[i].color},
                                 {"solids", figures.materials[i].solids},
                                 {"triangles", figures.materials[i].triangles}});
  const std::filesystem::path optics = optics_file(scene.source, options.load);
  json["optics_file"] = optics.empty() ? Json() : Json(optics.string());
  json["unhonoured"] = unhonoured_json(unhonoured_properties(scene), std::numeric_limits<std::size_t>::max());
  if (options.optics) json["optics"] = optics_summary(scene);
  json["without_material"] = {{"solids", figures.no_material.solids}, {"triangles", figures.no_material.triangles}};
  for (std::size_t i = 0; i != scene.meshes.size(); ++i) {
    const Mesh& mesh = scene.meshes[i];
    const Bounds box = mesh_bounds(mesh);
    json["meshes"].push_back({{"name", mesh.name},
                              {"vertices", mesh.vertices.size()},
                              {"triangles", mesh.triangles.size()},
                              {"parts", mesh.parts.size()},
                              {"instances", figures.instances_of_mesh[i]},
                              {"min", point_json(box.min)},
                              {"max", point_json(box.max)}});
  }
  if (options.tree) json["tree"] = Tree(scene).json();
  return json;
}

int info(Session& session, const InfoOptions& options) {
  bool first = true;
  return session.for_each_file(options.files, [&](const std::string& file, Json& json) {
    const Scene scene = load(file, options.load, session.progress());
    report_loaded(session, file, scene);
    if (session.options().json)
      json = json_of(scene, options);
    else
      session.write((first ? "" : "\n") + text_of(scene, options));
    first = false;
    if (!options.plot.empty()) {
      const std::string said = plot_optics(scene, options.plot, session);
      session.say(file + ": " + said + " in " + options.plot);
    }
    return 0;
  });
}

}  // namespace

void add_info(CLI::App& program, GeneralOptions& general, CommandRun& run) {
  auto options = std::make_shared<InfoOptions>();
  CLI::App* app = add_command(program, "info", "Print what scenes contain: meshes, instances, units, materials, bytes");
  add_files(*app, options->files);
  add_flag(*app, "--meshes", options->meshes, "List every mesh (always with --json)");
  add_flag(*app, "--tree", options->tree, "Print the tree of nodes");
  add_parsed(*app, "--depth", "COUNT", "all", "Print the tree of nodes down to this depth",
             [options](const std::string& text) {
               options->depth = parse_count(text);
               options->tree = true;
             });
  add_flag(*app, "--list-optics", options->optics,
           "List the optical materials and surfaces, their properties, and the volumes that they apply to");
  add_parsed(*app, "--plot", "DIR", "", "Draw each optical table as an SVG file in this folder, of one scene",
             [options](const std::string& text) { options->plot = parse_file_name(text); });
  add_general_options(*app, general, true);
  add_load_options(*app, options->load);
  finish_command(*app, R"(
Examples:
  raylift info scene.dae
  raylift info --tree --depth 3 detector.dae
  raylift info --json *.dae | jq '.[] | {file, triangles}'
  raylift info --list-optics detector.dae
  raylift info --optics detector.gdml --list-optics --plot tables detector.dae
  raylift info --unit cm --up z part.stl)",
                 [options, &run] {
                   if (!options->plot.empty() && options->files.size() > 1)
                     throw Error(ErrorKind::usage, "--plot draws one scene at a time", {options->files[1], ""});
                   run = [options](Session& session) { return info(session, *options); };
                 });
}

}  // namespace raylift::batch
