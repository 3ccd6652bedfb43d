// SPDX-License-Identifier: Apache-2.0
// Materials and the node tree of a COLLADA document: a graph of nodes that may be instanced many times is read once,
// measured, and only then expanded.
#include <algorithm>
#include <map>

#include "base/parse_number.h"
#include "collada_asset.h"
#include "collada_optics.h"
#include "collada_text.h"
#include "import/expanded_size.h"
#include "import/input_file.h"

namespace raylift::collada {
namespace {

// Materials --------------------------------------------------------------------------------------------------------

class Materials {
 public:
  Materials(Source& source, Scene& scene)
      : source_(source),
        scene_(scene),
        materials_(source, "library_materials", "material"),
        effects_(source, "library_effects", "effect") {
    for (const pugi::xml_node element : materials_.elements()) (void)number_of(element);
  }

  /// The number in Scene::bindings of what `instance` (an <instance_geometry> or <instance_controller>) binds to the
  /// parts of a geometry, which is `element`.
  std::uint32_t bind(const Geometry& geometry, pugi::xml_node element, pugi::xml_node instance) {
    std::map<std::string_view, std::string_view> targets;
    for (const pugi::xml_node bound :
         instance.child("bind_material").child("technique_common").children("instance_material"))
      targets.try_emplace(bound.attribute("symbol").value(), bound.attribute("target").value());
    std::vector<std::uint32_t> binding;
    for (const std::string& symbol : geometry.symbols) {
      const auto found = targets.find(symbol);
      const bool bound = found != targets.end();
      // A symbol that is not bound may be the material's id.
      const std::string_view name = bound ? found->second : std::string_view(symbol);
      const pugi::xml_node material = material_of(name, bound ? instance : element, bound);
      binding.push_back(material ? number_of(material) : kNone);
      if (!material && bound) warn_missing(name, instance);
    }
    const auto [entry, inserted] =
        bindings_.try_emplace(std::move(binding), static_cast<std::uint32_t>(scene_.bindings.size()));
    if (inserted) scene_.bindings.push_back(entry->first);
    return entry->second;
  }

 private:
  pugi::xml_node material_of(std::string_view name, pugi::xml_node referrer, bool is_url) {
    if (is_url || name.starts_with('#'))
      if (const pugi::xml_node found = materials_.by_url(name, referrer)) return found;
    return materials_.by_id(name, referrer);
  }

  std::uint32_t number_of(pugi::xml_node element) {
    const auto [entry, inserted] =
        numbers_.try_emplace(element.internal_object(), static_cast<std::uint32_t>(scene_.materials.size()));
    if (!inserted) return entry->second;
    Material material;
    const char* name = element.attribute("name").value();
    material.name = *name != '\0' ? name : element.attribute("id").value();
    read_color(element, material);
    scene_.materials.push_back(std::move(material));
    read_material_optics(source_, element, entry->second, scene_);
    return entry->second;
  }

  void read_color(pugi::xml_node element, Material& material) {
    const pugi::xml_node instance = element.child("instance_effect");
    const pugi::xml_node effect = effects_.by_url(instance.attribute("url").value(), element);
    const pugi::xml_node technique = effect.child("profile_COMMON").child("technique");
    for (const char* model : {"phong", "lambert", "blinn", "constant"}) {
      const pugi::xml_node shading = technique.child(model);
      if (!shading) continue;
      const pugi::xml_node color = shading.child("diffuse") ? shading.child("diffuse") : shading.child("emission");
      const auto rgba = read_reals(color.child_value("color"));
      if (rgba && (rgba->size() == 3 || rgba->size() == 4))
        for (std::size_t i = 0; i != rgba->size(); ++i)
          material.color[i] = std::clamp(static_cast<float>((*rgba)[i]), 0.0F, 1.0F);
      return;
    }
  }

  void warn_missing(std::string_view target, pugi::xml_node instance) {
    if (!missing_.try_emplace(std::string(target)).second) return;
    const bool other = target.find('#') != std::string_view::npos && !source_.own_id(target, instance);
    scene_.report.warnings.push_back("a material '" + std::string(target) + "' is bound but " +
                                     (other && !source_.options().external
                                          ? "in another document, which LoadOptions::external would read"
                                          : "not in the file"));
  }

  Source& source_;
  Scene& scene_;
  Library materials_;
  Library effects_;
  std::unordered_map<const void*, std::uint32_t> numbers_;  // by the element
  std::map<std::vector<std::uint32_t>, std::uint32_t> bindings_;
  std::map<std::string, bool> missing_;
};

// The graph of nodes -----------------------------------------------------------------------------------------------

/// A geometry where a node instances it.
struct Use {
  std::uint32_t geometry;
  std::uint32_t binding;
  std::vector<Local> locals;  // from the node inwards: controllers with their bind shapes, and the geometry
};

/// A node inside another one.
struct Child {
  std::uint32_t node;
  Local entered{};  ///< where it is another document's: what that one is in
};

/// A <node> or <visual_scene>, once, however often it is instanced.
struct GraphNode {
  pugi::xml_node element;
  std::string name;
  Local local;
  std::optional<std::int64_t> copy_number;
  std::vector<Use> uses;
  std::vector<Child> children;
  bool placement = false;  ///< nothing of its own but one <instance_node>: it places another node under its own name

  ExpandedSize size{};
};

class Graph {
 public:
  Graph(Source& source, GeometryReader& geometries, Scene& scene)
      : source_(source),
        geometries_(geometries),
        scene_(scene),
        assets_(source, scene),
        materials_(source, scene),
        controllers_(source, "library_controllers", "controller"),
        nodes_by_id_(nodes(source)) {}

  void read(pugi::xml_node visual_scene) {
    number_of(visual_scene);
    entered_ = {assets_.entered(source_.root(), visual_scene)};
    for (std::size_t i = 0; i != graph_.size(); ++i) read_node(static_cast<std::uint32_t>(i));
    measure();
    expand();
  }

 private:
  /// <node>s live in both libraries, at any depth, and may be instanced from anywhere.
  static std::array<Library, 2> nodes(Source& source) {
    return {Library(source, "library_nodes", "node", true), Library(source, "library_visual_scenes", "node", true)};
  }

  std::uint32_t number_of(pugi::xml_node element) {
    const auto [entry, inserted] =
        numbers_.try_emplace(element.internal_object(), static_cast<std::uint32_t>(graph_.size()));
    if (inserted) graph_.emplace_back().element = element;
    return entry->second;
  }

  pugi::xml_node find_node(pugi::xml_node referrer) {
    const std::string_view url = referrer.attribute("url").value();
    return nodes_by_id_[nodes_by_id_[0].by_url(url, referrer) ? 0 : 1].find(url, referrer);
  }

  void read_node(std::uint32_t number) {
    const pugi::xml_node element = graph_[number].element;
    GraphNode node;
    node.element = element;
    const char* name = element.attribute("name").value();
    node.name = *name != '\0' ? name : element.attribute("id").value();
    node.local = {assets_.stated(element), local_transform(source_, element)};
    node.copy_number = copy_number(element);
    std::size_t inner = 0;
    for (const pugi::xml_node child : element.children()) {
      if (is(child, "node")) {
        node.children.push_back({number_of(child)});
        ++inner;
      } else if (is(child, "instance_node")) {
        const pugi::xml_node found = find_node(child);
        node.children.push_back({number_of(found), {assets_.entered(child, found)}});
      } else if (is(child, "instance_geometry")) {
        use_geometry(child.attribute("url").value(), child, child, {}, node);
      } else if (is(child, "instance_controller")) {
        use_controller(child, node);
      }
    }
    node.placement = node.uses.empty() && inner == 0 && node.children.size() == 1;
    graph_[number] = std::move(node);
  }

  /// `referrer` names the geometry, and `instance` binds its materials; `locals` are those of the controllers between.
  void use_geometry(std::string_view url, pugi::xml_node referrer, pugi::xml_node instance, std::vector<Local> locals,
                    GraphNode& node) {
    const std::uint32_t geometry = geometries_.use(url, referrer);
    const pugi::xml_node element = geometries_.element(geometry);
    locals.push_back({assets_.entered(referrer, element)});
    locals.push_back({assets_.stated(element)});
    node.uses.push_back({geometry, materials_.bind(geometries_[geometry], element, instance), std::move(locals)});
  }

  /// A skin or a morph shows its base mesh: raylift has no poses.
  void use_controller(pugi::xml_node instance, GraphNode& node) {
    std::string_view url = instance.attribute("url").value();
    std::vector<Local> locals;
    pugi::xml_node referrer = instance;
    // Controllers may stand on controllers; more of them than there are in the document are a cycle.
    for (std::size_t links = 0;; ++links) {
      if (links > controllers_.elements().size())
        fail(ErrorKind::malformed, "the controllers refer to each other in a circle", source_, referrer);
      const pugi::xml_node controller = controllers_.find(url, referrer);
      locals.push_back({assets_.entered(referrer, controller)});
      referrer = controller.child("skin") ? controller.child("skin") : controller.child("morph");
      if (!referrer) fail(ErrorKind::malformed, "the controller has neither <skin> nor <morph>", source_, controller);
      Local& local = locals.emplace_back(Local{assets_.stated(controller)});
      if (const pugi::xml_node shape = referrer.child("bind_shape_matrix")) local.transform = matrix(source_, shape);
      url = referrer.attribute("source").value();
      if (geometries_.has(url, referrer) || !controllers_.by_url(url, referrer)) break;  // use() reports what is wrong
    }
    use_geometry(url, referrer, instance, std::move(locals), node);
    if (!controllers_warned_)
      scene_.report.warnings.emplace_back("skins and morphs are shown unposed, as their base meshes");
    controllers_warned_ = true;
  }

  /// G4DAE: <extra><meta id="..."><copyNo>17</copyNo>.
  std::optional<std::int64_t> copy_number(pugi::xml_node element) {
    for (const pugi::xml_node extra : element.children("extra"))
      for (const pugi::xml_node meta : extra.children("meta")) {
        std::string_view text = meta.child("copyNo") ? meta.child_value("copyNo") : meta.attribute("copyNo").value();
        constexpr const char* kBlank = " \t\r\n";
        text.remove_prefix(std::min(text.find_first_not_of(kBlank), text.size()));
        text = text.substr(0, text.find_last_not_of(kBlank) + 1);
        if (const auto value = base::parse_number<std::int64_t>(text)) return value;
        if (!text.empty())
          scene_.report.warnings.push_back("node '" + std::string(element.attribute("id").value()) + "': copyNo '" +
                                           std::string(text.substr(0, 40)) +
                                           "' is no whole number of 64 bits, so the volume has none");
      }
    return std::nullopt;
  }

  /// Finds cycles, and how much the tree holds once it is expanded, without expanding it.
  void measure() {
    enum class State : std::uint8_t { unseen, open, done };
    std::vector<State> state(graph_.size(), State::unseen);
    struct Step {
      std::uint32_t node;
      std::size_t child;
    };
    std::vector<Step> path{{0, 0}};
    state[0] = State::open;
    while (!path.empty()) {
      auto& [number, child] = path.back();
      GraphNode& node = graph_[number];
      if (child != node.children.size()) {
        const std::uint32_t next = node.children[child++].node;
        if (state[next] == State::open)
          fail(ErrorKind::malformed, "the node contains itself, by <instance_node>", source_, graph_[next].element);
        if (state[next] == State::unseen) {
          state[next] = State::open;
          path.push_back({next, 0});
        }
        continue;
      }
      node.size = {1, node.uses.size(), 1};
      for (const auto& [below, entered] : node.children) node.size.add(graph_[below].size);
      state[number] = State::done;
      path.pop_back();
    }
    check_expanded(graph_[0].size, source_.options().limits,
                   [&](const std::string& problem, const std::string& advice) {
                     fail(ErrorKind::limit, problem, source_, graph_[0].element, advice);
                   });
  }

  /// Writes Scene::nodes and Scene::instances. Branches without a solid are left out.
  void expand() {
    struct Step {
      std::uint32_t node;
      std::uint32_t parent;   // in Scene::nodes
      std::uint32_t outside;  // material around it
      DocumentPlace place;    // of what is above
    };
    DocumentPlace world{{scene_.unit_mm, scene_.up_axis}};
    world.to_world.scale(scene_.unit_mm);
    world = inside(world, entered_);
    std::vector<Step> stack{{0, kNone, kNone, world}};
    scene_.instances.reserve(graph_[0].size.instances);
    NodeNames names(source_.file_of(source_.root()), source_.text_bytes(), source_.options().limits);
    while (!stack.empty()) {
      const Step step = stack.back();
      stack.pop_back();
      const GraphNode* node = &graph_[step.node];
      if (node->size.instances == 0) continue;
      DocumentPlace place = inside(step.place, node->local);
      const auto here = static_cast<std::uint32_t>(scene_.nodes.size());
      Node& written = scene_.nodes.emplace_back(Node{node->name, step.parent, node->copy_number, kNone});
      // G4DAE names solids twice: the placement (a physical volume) instances a node of its own for the logical one.
      // They are one node here, under the placement's name.
      while (node->placement) {
        const Child& only = node->children.front();
        node = &graph_[only.node];
        place = inside(inside(place, only.entered), node->local);
        if (written.name.empty()) written.name = node->name;
        if (!written.copy_number) written.copy_number = node->copy_number;
      }
      names.add(written.name);
      if (!node->uses.empty()) written.volume = volume_of(*node);
      std::uint32_t material = step.outside;
      for (const Use& use : node->uses) {
        DocumentPlace solid = place;
        for (const Local& local : use.locals) solid = inside(solid, local);
        scene_.instances.push_back({use.geometry, here, use.binding, step.outside, solid.to_world});
        if (&use == &node->uses.front() && !scene_.bindings[use.binding].empty())
          material = scene_.bindings[use.binding].front();
      }
      for (auto child = node->children.rbegin(); child != node->children.rend(); ++child)
        stack.push_back({child->node, here, material, inside(place, child->entered)});
    }
  }

  /// The number in Scene::volumes of a node that holds a mesh.
  std::uint32_t volume_of(const GraphNode& node) {
    const auto [entry, inserted] = volumes_.try_emplace(&node, static_cast<std::uint32_t>(scene_.volumes.size()));
    if (inserted) scene_.volumes.push_back(node.name);
    return entry->second;
  }

  Source& source_;
  GeometryReader& geometries_;
  Scene& scene_;
  Assets assets_;
  Materials materials_;
  Library controllers_;
  std::array<Library, 2> nodes_by_id_;
  std::vector<GraphNode> graph_;
  Local entered_;  // where the visual scene is another document's
  std::unordered_map<const void*, std::uint32_t> numbers_;
  std::unordered_map<const GraphNode*, std::uint32_t> volumes_;
  bool controllers_warned_ = false;
};

pugi::xml_node find_visual_scene(Source& source, Scene& scene) {
  Library scenes(source, "library_visual_scenes", "visual_scene");
  if (const pugi::xml_node instance = source.root().child("scene").child("instance_visual_scene"))
    return scenes.find(instance.attribute("url").value(), instance);
  if (scenes.elements().empty())
    fail(ErrorKind::malformed, "the document has no <visual_scene>: nothing is placed", source, source.root(),
         "export a scene, not a library of geometries");
  scene.report.warnings.emplace_back("the document names no scene; its first <visual_scene> is taken");
  return scenes.elements().front();
}

}  // namespace

void read_scene(Source& source, GeometryReader& geometries, Scene& scene) {
  Graph graph(source, geometries, scene);
  graph.read(find_visual_scene(source, scene));
  if (scene.instances.empty())
    fail(ErrorKind::malformed, "the scene is empty: no node instances a geometry", source, source.root());
}

}  // namespace raylift::collada
