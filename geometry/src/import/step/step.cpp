// SPDX-License-Identifier: Apache-2.0
#include "step.h"

#include <raylift/geometry/error.h>
#include <raylift/geometry/scene/eigen.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "body_mesh.h"
#include "import/each_mesh.h"
#include "import/expanded_size.h"
#include "import/formats/polygon_reader.h"
#include "import/gdml/surfaces.h"
#include "model.h"
#include "stage.h"
#include "step_module.h"
#include "step_text.h"

namespace raylift::step {
namespace {

[[noreturn]] void fail(const InputFile& input, ErrorKind kind, const std::string& problem, const std::string& element,
                       const std::string& advice) {
  throw Error(kind, problem, {input.path().string(), element}, advice);
}

void check_schema(const InputFile& input, const StepText& stated) {
  if (stated.schema.starts_with("IFC"))
    fail(input, ErrorKind::unsupported, "the file is IFC, by its schema " + stated.schema.substr(0, 40), "",
         "call it .ifc: Assimp's importer reads it");
}

std::unique_ptr<Model> open_model(const InputFile& input, std::string_view text, const StepText& stated,
                                  const LoadLimits& limits) {
  if (!why_no_step().empty())
    fail(input, ErrorKind::unsupported, "STEP needs Open CASCADE: " + why_no_step(), "",
         "install the package raylift-step, or build raylift with RAYLIFT_OCCT=ON");
  try {
    std::unique_ptr<Model> model = read_model(text, limits.nodes);
    if (model->contents().entities != stated.entities)
      fail(input, ErrorKind::malformed,
           "the file has " + std::to_string(stated.entities) + " entities, and Open CASCADE has read " +
               std::to_string(model->contents().entities),
           "", "export it again");
    return model;
  } catch (const TooLarge& failure) {
    fail(input, ErrorKind::limit, failure.what(), "", "raise the limit with LoadLimits::nodes");
  } catch (const Unsupported& failure) {
    fail(input, ErrorKind::unsupported, failure.what(), "", "export it as one file");
  } catch (const Failure& failure) {
    const bool triangles = stated.tessellated != 0;
    fail(input, triangles ? ErrorKind::unsupported : ErrorKind::malformed,
         std::string("the file can't be read: ") + failure.what(), "",
         triangles ? "it holds tessellated shapes of AP242; export its exact ones" : "export it again, as AP214");
  }
}

/// A body among the meshes of the scene.
struct BodyAt {
  std::uint32_t product = 0, body = 0;
};

class Reading {
 public:
  Reading(const InputFile& input, const Model& model, const StepText& stated, const LoadOptions& options)
      : input_(input), model_(model), contents_(model.contents()), stated_(stated), options_(options) {}

  imported::Document run(const Progress& progress) {
    document_ = imported::begin_document(input_, "STEP", frame(), options_);
    document_.scene.generator = stated_.generator;
    check_size();
    make_meshes(progress);
    const Stage stage(progress, "expand");
    expand();
    note_what_is_missing();
    return std::move(document_);
  }

 private:
  imported::Frame frame() {
    imported::Frame frame{1, Scene::Provenance::assumed, UpAxis::z, Scene::Provenance::assumed};
    if (contents_.units.size() > 1) {
      if (options_.unit_mm)
        fail(input_, ErrorKind::unsupported, "its parts are in different units, of which none can be replaced", "",
             "leave out LoadOptions::unit_mm");
      frame.unit_from = Scene::Provenance::file;
    } else if (contents_.units.size() == 1) {
      frame = {contents_.units[0], Scene::Provenance::file, UpAxis::z, Scene::Provenance::assumed};
    }
    unit_ = frame.unit_mm;
    return frame;
  }

  [[nodiscard]] std::string name_of(const Product& product) const {
    return product.name.empty() ? input_.path().stem().string() : decoded(product.name);
  }
  /// A part of several bodies has a node for each below its own.
  [[nodiscard]] std::string name_of(const Product& product, std::uint32_t body) const {
    if (product.bodies.size() == 1) return name_of(product);
    const std::string& own = product.bodies[body].name;
    return own.empty() ? name_of(product) + "_" + std::to_string(body + 1) : decoded(own);
  }

  void check_size() const {
    std::vector<ExpandedSize> sizes;
    for (const Product& product : contents_.products) {
      ExpandedSize size;
      size.instances = product.bodies.size();
      if (product.bodies.size() > 1) size.add({}, product.bodies.size());
      for (const Component& component : product.components) size.add(sizes[component.product]);
      sizes.push_back(size);
    }
    ExpandedSize all;
    for (const Component& root : contents_.roots) all.add(sizes[root.product]);
    check_expanded(all, options_.limits, [&](const std::string& problem, const std::string& advice) {
      fail(input_, ErrorKind::limit, problem, "", advice);
    });
  }

  // Meshes -----------------------------------------------------------------------------------------------------------

  void make_meshes(const Progress& progress) {
    Scene& scene = document_.scene;
    const std::vector<Product>& products = contents_.products;
    std::vector<std::vector<MadeMesh>> made(products.size());
    std::vector<std::vector<std::optional<Error>>> failures(products.size());
    {
      // The bodies of a product may share faces, so that one thread makes them all.
      const Stage stage(progress, "tessellate", products.size());
      for_each_mesh(products.size(), stage, scene.report, [&](std::size_t i, LoadReport&) {
        const auto product = static_cast<std::uint32_t>(i);
        for (std::uint32_t body = 0; body != products[i].bodies.size(); ++body) {
          made[i].emplace_back();
          failures[i].emplace_back();
          try {
            made[i].back() = make_body_mesh(model_, product, body, options_.fineness);
          } catch (const Failure& failure) {
            failures[i].back() = Error(ErrorKind::malformed, std::string("its shape can't be made: ") + failure.what(),
                                       {input_.path().string(), "part '" + name_of(products[i], body) + "'"},
                                       "export it again, or go without it: LoadOptions::skip_failed_solids");
            if (!options_.skip_failed_solids) throw Error(*failures[i].back());
          }
        }
      });
    }
    for (std::uint32_t i = 0; i != products.size(); ++i) {
      numbers_.emplace_back();
      for (std::uint32_t body = 0; body != products[i].bodies.size(); ++body) {
        if (failures[i][body]) {
          scene.report.warnings.push_back("left out: " + std::string(failures[i][body]->what()));
          document_.all_faces = false;
          numbers_[i].push_back(kNone);
        } else {
          numbers_[i].push_back(add_mesh(name_of(products[i], body), std::move(made[i][body])));
          if (model_.has_colored_faces(i, body)) colored_faces_.push_back(name_of(products[i], body));
        }
      }
      if (products[i].bodies.empty() && products[i].components.empty())
        scene.report.warnings.push_back("part '" + name_of(products[i]) + "' has no faces and is left out");
    }
  }

  std::uint32_t add_mesh(const std::string& name, MadeMesh made) {
    Scene& scene = document_.scene;
    for (const std::string& fault : made.faults) scene.report.warnings.push_back("part '" + name + "': " + fault);
    document_.all_faces = document_.all_faces && made.complete;
    if (unit_ != 1)
      for (Double3& v : made.surface.vertices) v = {v.x / unit_, v.y / unit_, v.z / unit_};
    imported::Geometry geometry = gdml::geometry_of(made.surface, name, options_.rests);
    const auto number = static_cast<std::uint32_t>(document_.geometries.size());
    scene.meshes.emplace_back().name = geometry.id;
    document_.geometries.push_back(std::move(geometry));
    return number;
  }

  // The tree ---------------------------------------------------------------------------------------------------------

  struct Step {
    const Component* component;
    std::uint32_t parent;
    EigenTransform above;
    std::optional<Color> imposed;    // by a component, whatever its parts have
    std::optional<Color> inherited;  // from an assembly, for parts without a colour
  };

  void expand() {
    EigenTransform unit = EigenTransform::Identity();
    unit.scale(document_.scene.unit_mm);
    push(contents_.roots, {nullptr, 0, unit, std::nullopt, std::nullopt});
    while (!stack_.empty()) {
      const Step step = stack_.back();
      stack_.pop_back();
      place(step);
    }
  }

  void push(const std::vector<Component>& components, Step step) {
    for (auto component = components.rbegin(); component != components.rend(); ++component) {
      step.component = &*component;
      stack_.push_back(step);
    }
  }

  void place(const Step& step) {
    const Component& component = *step.component;
    const Product& product = contents_.products[component.product];
    EigenTransform local = to_eigen(component.placed);
    local.translation() /= unit_;
    const EigenTransform transform = step.above * local;
    const std::optional<Color> imposed = step.imposed ? step.imposed : component.color;
    const std::uint32_t here =
        add_node(component.name.empty() ? name_of(product) : decoded(component.name), step.parent);
    const bool several = product.bodies.size() > 1;
    for (std::uint32_t body = 0; body != product.bodies.size(); ++body) {
      const std::uint32_t node = several ? add_node(name_of(product, body), here) : here;
      document_.scene.nodes[node].volume = volume_of(component.product);
      const std::uint32_t mesh = numbers_[component.product][body];
      if (mesh == kNone) continue;
      const std::optional<Color>& own = product.bodies[body].color ? product.bodies[body].color : product.color;
      const std::optional<Color>& color = imposed ? imposed : own ? own : step.inherited;
      document_.scene.instances.push_back({mesh, node, material_of(product, color), kNone, transform});
    }
    push(product.components, {nullptr, here, transform, imposed, product.color ? product.color : step.inherited});
  }

  std::uint32_t add_node(std::string name, std::uint32_t parent) {
    names_.add(name);
    document_.scene.nodes.push_back({std::move(name), parent, std::nullopt, kNone});
    return static_cast<std::uint32_t>(document_.scene.nodes.size() - 1);
  }

  std::uint32_t volume_of(std::uint32_t product) {
    std::vector<std::string>& volumes = document_.scene.volumes;
    const auto [place, added] = volumes_.try_emplace(product, static_cast<std::uint32_t>(volumes.size()));
    if (added) volumes.push_back(name_of(contents_.products[product]));
    return place->second;
  }

  /// The binding of a material, which is named by the file, or else as the part is.
  std::uint32_t material_of(const Product& product, const std::optional<Color>& color) {
    Scene& scene = document_.scene;
    Material material;
    material.name = product.material.empty() ? name_of(product) : decoded(product.material);
    if (color) material.color = *color;
    const auto [place, added] =
        materials_.try_emplace({material.name, material.color}, static_cast<std::uint32_t>(scene.materials.size()));
    if (added) {
      scene.bindings.push_back({place->second});
      scene.materials.push_back(std::move(material));
    }
    return place->second;
  }

  // ------------------------------------------------------------------------------------------------------------------

  void note_what_is_missing() {
    std::vector<std::string>& warnings = document_.scene.report.warnings;
    if (contents_.unread_faces != 0) {
      document_.all_faces = false;
      const std::string found = "faces that could not be read: " + std::to_string(contents_.unread_faces) +
                                "; the first is " + contents_.first_unread;
      if (document_.scene.instances.empty())
        fail(input_, ErrorKind::malformed, "nothing is left but " + found, "", "export it again");
      warnings.push_back(found);
    }
    if (contents_.unknown != 0)
      warnings.push_back("entities that are not read, as Open CASCADE does not know their types: " +
                         std::to_string(contents_.unknown) + "; the first is a " +
                         contents_.first_unknown.substr(0, 80));
    if (stated_.tessellated != 0) {
      document_.all_faces = false;
      warnings.push_back(std::to_string(stated_.tessellated) + " tessellated shapes of AP242 are not read");
    }
    if (contents_.units.size() > 1)
      warnings.emplace_back("parts are in different units, each of which is as the file states");
    if (!colored_faces_.empty())
      warnings.push_back(
          "colours of single faces are not read: of part '" + colored_faces_[0] + "'" +
          (colored_faces_.size() > 1 ? " and " + std::to_string(colored_faces_.size() - 1) + " more" : ""));
  }

  const InputFile& input_;
  const Model& model_;
  const Contents& contents_;
  const StepText& stated_;
  const LoadOptions& options_;
  double unit_ = 1;  // of the meshes' vertices, mm
  imported::Document document_;
  NodeNames names_{input_.path().string(), input_.size(), options_.limits};
  std::vector<std::vector<std::uint32_t>> numbers_;  // of meshes, by product and body
  std::vector<std::string> colored_faces_;           // parts that have them
  std::map<std::uint32_t, std::uint32_t> volumes_;
  std::map<std::pair<std::string, Color>, std::uint32_t> materials_;
  std::vector<Step> stack_;
};

}  // namespace

imported::Document read_step_scene(const InputFile& input, std::string_view text, const LoadOptions& options,
                                   const Progress& progress) {
  StepText stated;
  std::unique_ptr<Model> model;
  {
    const Stage stage(progress, "read");
    stated = check_step_text(text, input.path().string(), options.limits);
    check_schema(input, stated);
    model = open_model(input, text, stated, options.limits);
  }
  return Reading(input, *model, stated, options).run(progress);
}

}  // namespace raylift::step
