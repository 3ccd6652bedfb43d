// SPDX-License-Identifier: Apache-2.0
#include <BRepBndLib.hxx>
#include <BRepGProp.hxx>
#include <BRepMesh_IncrementalMesh.hxx>
#include <BRepTools.hxx>
#include <BRep_Builder.hxx>
#include <BRep_Tool.hxx>
#include <Bnd_Box.hxx>
#include <GProp_GProps.hxx>
#include <IMeshTools_Parameters.hxx>
#include <Interface_InterfaceModel.hxx>
#include <Interface_Static.hxx>
#include <Message.hxx>
#include <Message_Messenger.hxx>
#include <Poly_Triangulation.hxx>
#include <Quantity_ColorRGBA.hxx>
#include <STEPCAFControl_Reader.hxx>
#include <STEPConstruct_ExternRefs.hxx>
#include <STEPConstruct_UnitContext.hxx>
#include <STEPControl_Reader.hxx>
#include <StepBasic_ProductDefinition.hxx>
#include <StepData_UndefinedEntity.hxx>
#include <StepGeom_GeomRepContextAndGlobUnitAssCtxAndGlobUncertaintyAssCtx.hxx>
#include <StepGeom_GeometricRepresentationContextAndGlobalUnitAssignedContext.hxx>
#include <StepRepr_GlobalUnitAssignedContext.hxx>
#include <StepRepr_NextAssemblyUsageOccurrence.hxx>
#include <StepShape_FaceSurface.hxx>
#include <TCollection_AsciiString.hxx>
#include <TCollection_HAsciiString.hxx>
#include <TDF_AttributeMap.hxx>
#include <TDF_Label.hxx>
#include <TDF_LabelMap.hxx>
#include <TDF_LabelSequence.hxx>
#include <TDF_Tool.hxx>
#include <TDataStd_Name.hxx>
#include <TDataStd_TreeNode.hxx>
#include <TDocStd_Document.hxx>
#include <TopExp_Explorer.hxx>
#include <TopLoc_Location.hxx>
#include <TopoDS.hxx>
#include <TopoDS_Compound.hxx>
#include <TopoDS_Face.hxx>
#include <TopoDS_Shape.hxx>
#include <Transfer_Binder.hxx>
#include <Transfer_TransientProcess.hxx>
#include <XCAFApp_Application.hxx>
#include <XCAFDoc.hxx>
#include <XCAFDoc_ColorTool.hxx>
#include <XCAFDoc_DocumentTool.hxx>
#include <XCAFDoc_MaterialTool.hxx>
#include <XCAFDoc_ShapeTool.hxx>
#include <XSControl_TransferReader.hxx>
#include <XSControl_WorkSession.hxx>
#include <algorithm>
#include <cmath>
#include <istream>
#include <map>
#include <mutex>
#include <streambuf>
#include <string>
#include <utility>
#include <vector>

#include "import/gdml/booleans/occt/guarded.h"
#include "import/gdml/booleans/occt/triangles.h"
#include "import/step/model.h"

namespace raylift::step {
namespace {

using gdml::occt::guarded;

/// A text as a stream, without a copy.
class TextBuffer : public std::streambuf {
 public:
  explicit TextBuffer(std::string_view text) {
    char* const begin = const_cast<char*>(text.data());  // a get area is never written to
    setg(begin, begin, begin + text.size());
  }
};

std::string name_of(const TDF_Label& label) {
  Handle(TDataStd_Name) name;
  if (!label.FindAttribute(TDataStd_Name::GetID(), name)) return {};
  const TCollection_AsciiString text(name->Get());  // UTF-8
  return text.ToCString();
}

Transform transform_of(const TopLoc_Location& location) {
  const gp_Trsf trsf = location.Transformation();
  Transform transform;
  for (int row = 0; row < 3; ++row)
    for (int column = 0; column < 4; ++column) transform(row, column) = trsf.Value(row + 1, column + 1);
  return transform;
}

/// The bodies of a part: each solid, and all faces that bound none together.
std::vector<TopoDS_Shape> bodies_of(const TopoDS_Shape& part) {
  std::vector<TopoDS_Shape> bodies;
  for (TopExp_Explorer solids(part, TopAbs_SOLID); solids.More(); solids.Next()) bodies.push_back(solids.Current());
  TopExp_Explorer faces(part, TopAbs_FACE, TopAbs_SOLID);
  if (!faces.More()) return bodies;
  BRep_Builder builder;
  TopoDS_Compound sheet;
  builder.MakeCompound(sheet);
  for (; faces.More(); faces.Next()) builder.Add(sheet, faces.Current());
  bodies.push_back(sheet);
  return bodies;
}

class OcctModel : public Model {
 public:
  OcctModel(std::string_view text, std::uint64_t most_nodes) {
    // The library keeps settings, and what it reads, in variables of its own.
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    guarded([&] { read(text, most_nodes); });
  }

  [[nodiscard]] const Contents& contents() const override { return contents_; }

  [[nodiscard]] double size(std::uint32_t product, std::uint32_t body) const override {
    return guarded([&] {
      Bnd_Box box;
      BRepBndLib::Add(shapes_[product][body], box, false);
      return box.IsVoid() ? 0 : std::sqrt(box.SquareExtent());
    });
  }

  [[nodiscard]] double volume(std::uint32_t product, std::uint32_t body) const override {
    return guarded([&] {
      GProp_GProps properties;
      BRepGProp::VolumeProperties(shapes_[product][body], properties, 1e-5, true);
      return properties.Mass();
    });
  }

  [[nodiscard]] double area(std::uint32_t product, std::uint32_t body) const override {
    return guarded([&] {
      GProp_GProps properties;
      BRepGProp::SurfaceProperties(shapes_[product][body], properties, 1e-5);
      return properties.Mass();
    });
  }

  [[nodiscard]] BodyMesh mesh(std::uint32_t product, std::uint32_t body,
                              const gdml::occt::Meshing& meshing) const override {
    return guarded([&] {
      const TopoDS_Shape& shape = shapes_[product][body];
      BRepTools::Clean(shape);
      IMeshTools_Parameters parameters;
      parameters.Deflection = meshing.deflection;
      parameters.Angle = meshing.angle;
      parameters.MinSize = 1e-6;
      parameters.InParallel = false;
      const BRepMesh_IncrementalMesh mesher(shape, parameters);
      BodyMesh mesh{gdml::occt::triangles(shape), 0};
      for (TopExp_Explorer faces(shape, TopAbs_FACE); faces.More(); faces.Next()) {
        TopLoc_Location location;
        if (BRep_Tool::Triangulation(TopoDS::Face(faces.Current()), location).IsNull()) ++mesh.bare_faces;
      }
      return mesh;
    });
  }

  [[nodiscard]] bool has_colored_faces(std::uint32_t product, std::uint32_t body) const override {
    return colored_faces_[product][body];
  }

 private:
  void read(std::string_view text, std::uint64_t most_nodes) {
    Message::DefaultMessenger()->ChangePrinters().Clear();  // standard output is the program's
    STEPCAFControl_Reader reader;
    Interface_Static::SetCVal("xstep.cascade.unit", "MM");
    Interface_Static::SetIVal("read.stepcaf.subshapes.name", 1);
    reader.SetColorMode(true);
    reader.SetNameMode(true);
    reader.SetMatMode(true);
    reader.SetLayerMode(false);
    reader.SetPropsMode(false);
    reader.SetGDTMode(false);
    reader.SetViewMode(false);
    TextBuffer buffer(text);
    std::istream stream(&buffer);
    if (reader.ChangeReader().ReadStream("scene.step", stream) != IFSelect_RetDone)
      throw Failure("Open CASCADE can't parse it");
    check_structure(*reader.Reader().WS(), most_nodes);
    read_units(*reader.Reader().WS());
    Handle(TDocStd_Document) document;
    XCAFApp_Application::GetApplication()->NewDocument("MDTV-XCAF", document);
    if (!reader.Transfer(document)) throw Failure("it holds no product with a shape that Open CASCADE can read");
    count_unread(*reader.Reader().WS());
    tools_ = {XCAFDoc_DocumentTool::ShapeTool(document->Main()), XCAFDoc_DocumentTool::ColorTool(document->Main())};
    TDF_LabelSequence roots;
    tools_.shapes->GetFreeShapes(roots);
    for (const TDF_Label& root : roots) {
      Component component;
      component.product = product_of(root);
      component.placed = transform_of(XCAFDoc_ShapeTool::GetLocation(root));
      component.name = name_of(root);
      contents_.roots.push_back(std::move(component));
    }
    tools_ = {};
  }

  /// Refuses what the library would follow without end, or out of the file.
  void check_structure(XSControl_WorkSession& session, std::uint64_t most_nodes) {
    const Handle(Interface_InterfaceModel) model = session.Model();
    contents_.entities = static_cast<std::uint64_t>(model->NbEntities());
    STEPConstruct_ExternRefs references(&session);
    if (references.LoadExternRefs() && references.NbExternRefs() > 0)
      throw Unsupported(std::string("it refers to another file, ") + references.FileName(1) +
                        ", and such files are not read");
    std::map<const void*, std::vector<const void*>> used;  // by product
    for (int i = 1; i <= model->NbEntities(); ++i) {
      const Handle(StepData_UndefinedEntity) unknown = Handle(StepData_UndefinedEntity)::DownCast(model->Value(i));
      if (!unknown.IsNull() && contents_.unknown++ == 0) contents_.first_unknown = unknown->StepType();
      const Handle(StepRepr_NextAssemblyUsageOccurrence) usage =
          Handle(StepRepr_NextAssemblyUsageOccurrence)::DownCast(model->Value(i));
      if (!usage.IsNull() && !usage->RelatingProductDefinition().IsNull() &&
          !usage->RelatedProductDefinition().IsNull())
        used[usage->RelatingProductDefinition().get()].push_back(usage->RelatedProductDefinition().get());
    }
    check_expansion(used, most_nodes);
  }

  static void check_expansion(const std::map<const void*, std::vector<const void*>>& used, std::uint64_t most_nodes) {
    constexpr std::size_t kDeepest = 500;       // the library recurs
    std::map<const void*, std::uint64_t> done;  // what is below, itself included; 0: on the way to the present one
    for (const auto& [top, parts] : used) {
      std::vector<std::pair<const void*, std::size_t>> way;
      const auto enter = [&](const void* product) {
        const auto [state, first] = done.try_emplace(product, 0);
        if (!first && state->second == 0) throw Failure("an assembly contains itself");
        if (first) way.emplace_back(product, 0);
        if (way.size() > kDeepest) throw Failure("assemblies are nested more than 500 deep");
      };
      enter(top);
      while (!way.empty()) {
        auto& [product, next] = way.back();
        const auto below = used.find(product);
        if (below == used.end() || next == below->second.size()) {
          std::uint64_t nodes = 1;
          for (const void* const child : below == used.end() ? std::vector<const void*>() : below->second)
            nodes = std::min(nodes + done[child], most_nodes + 1);
          if (nodes > most_nodes)
            throw TooLarge("the expanded scene has more than " + std::to_string(most_nodes) + " nodes");
          done[product] = nodes;
          way.pop_back();
        } else {
          const void* const child = below->second[next++];
          enter(child);
        }
      }
    }
  }

  void read_units(XSControl_WorkSession& session) {
    const Handle(Interface_InterfaceModel) model = session.Model();
    const auto add = [&](const Handle(StepRepr_GlobalUnitAssignedContext) & context) {
      if (context.IsNull()) return;
      STEPConstruct_UnitContext units;
      units.ComputeFactors(context);
      if (!units.LengthDone()) return;
      std::vector<double>& all = contents_.units;
      const double mm = units.LengthFactor();
      const auto same = [mm](double one) { return std::abs(one / mm - 1) < 1e-9; };
      if (std::none_of(all.begin(), all.end(), same)) all.push_back(mm);
    };
    for (int i = 1; i <= model->NbEntities(); ++i) {
      const Handle(Standard_Transient) entity = model->Value(i);
      add(Handle(StepRepr_GlobalUnitAssignedContext)::DownCast(entity));
      if (const auto plain =
              Handle(StepGeom_GeometricRepresentationContextAndGlobalUnitAssignedContext)::DownCast(entity);
          !plain.IsNull())
        add(plain->GlobalUnitAssignedContext());
      if (const auto usual = Handle(StepGeom_GeomRepContextAndGlobUnitAssCtxAndGlobUncertaintyAssCtx)::DownCast(entity);
          !usual.IsNull())
        add(usual->GlobalUnitAssignedContext());
    }
  }

  void count_unread(XSControl_WorkSession& session) {
    const Handle(Interface_InterfaceModel) model = session.Model();
    const Handle(Transfer_TransientProcess) process = session.TransferReader()->TransientProcess();
    for (int i = 1; i <= model->NbEntities(); ++i) {
      const Handle(StepShape_FaceSurface) face = Handle(StepShape_FaceSurface)::DownCast(model->Value(i));
      if (face.IsNull()) continue;
      const Handle(Transfer_Binder) made = process->Find(face);
      if (!made.IsNull() && made->HasResult()) continue;
      if (contents_.unread_faces++ == 0) contents_.first_unread = model->StringLabel(face)->ToCString();
    }
  }

  [[nodiscard]] std::optional<Color> color_of(const TDF_Label& label) const {
    Quantity_ColorRGBA color;
    for (const XCAFDoc_ColorType type : {XCAFDoc_ColorSurf, XCAFDoc_ColorGen}) {
      if (!tools_.colors->GetColor(label, type, color)) continue;
      double r = 0, g = 0, b = 0;
      color.GetRGB().Values(r, g, b, Quantity_TOC_sRGB);
      return Color{static_cast<float>(r), static_cast<float>(g), static_cast<float>(b), color.Alpha()};
    }
    return std::nullopt;
  }

  static std::string material_of(const TDF_Label& label) {
    Handle(TDataStd_TreeNode) node;
    if (!label.FindAttribute(XCAFDoc::MaterialRefGUID(), node) || !node->HasFather()) return {};
    Handle(TCollection_HAsciiString) name, description, density_name, density_type;
    double density = 0;
    const Handle(XCAFDoc_MaterialTool) tool = XCAFDoc_DocumentTool::MaterialTool(label);
    if (!tool->GetMaterial(node->Father()->Label(), name, description, density, density_name, density_type)) return {};
    return name.IsNull() ? std::string() : name->ToCString();
  }

  std::uint32_t product_of(const TDF_Label& label) {  // NOLINT(misc-no-recursion): check_expansion() limits the depth
    TCollection_AsciiString entry;
    TDF_Tool::Entry(label, entry);
    if (const auto known = numbers_.find(entry.ToCString()); known != numbers_.end()) return known->second;
    Product product;
    product.name = name_of(label);
    product.color = color_of(label);
    std::vector<TopoDS_Shape> shapes;
    std::vector<bool> colored;
    if (XCAFDoc_ShapeTool::IsAssembly(label)) {
      TDF_LabelSequence components;
      XCAFDoc_ShapeTool::GetComponents(label, components);
      for (const TDF_Label& one : components) {
        TDF_Label referred;
        if (!XCAFDoc_ShapeTool::GetReferredShape(one, referred)) continue;
        Component component;
        component.product = product_of(referred);
        component.placed = transform_of(XCAFDoc_ShapeTool::GetLocation(one));
        component.name = name_of(one);
        component.color = color_of(one);
        product.components.push_back(std::move(component));
      }
    } else {
      product.material = material_of(label);
      shapes = bodies_of(XCAFDoc_ShapeTool::GetShape(label));
      for (const TopoDS_Shape& shape : shapes) colored.push_back(add_body(label, shape, product));
    }
    const auto number = static_cast<std::uint32_t>(contents_.products.size());
    numbers_.emplace(entry.ToCString(), number);
    contents_.products.push_back(std::move(product));
    shapes_.push_back(std::move(shapes));
    colored_faces_.push_back(std::move(colored));
    return number;
  }

  /// Returns whether faces have colours of their own.
  bool add_body(const TDF_Label& part, const TopoDS_Shape& shape, Product& product) const {
    Body body;
    body.solid = shape.ShapeType() == TopAbs_SOLID;
    TDF_Label own;
    if (body.solid && tools_.shapes->FindSubShape(part, shape, own)) {
      body.name = name_of(own);
      body.color = color_of(own);
    }
    const std::optional<Color> color = body.color ? body.color : product.color;
    bool colored = false, uniform = true;
    std::optional<Color> first;
    bool start = true;
    for (TopExp_Explorer faces(shape, TopAbs_FACE); faces.More(); faces.Next()) {
      TDF_Label face;
      const std::optional<Color> face_color =
          tools_.shapes->FindSubShape(part, faces.Current(), face) ? color_of(face) : std::nullopt;
      if (start) first = face_color;
      uniform = uniform && face_color == first;
      start = false;
      colored = colored || (face_color && face_color != color);
    }
    // Some programs state a body's colour face by face.
    if (uniform && first) body.color = first, colored = false;
    product.bodies.push_back(std::move(body));
    return colored;
  }

  struct Tools {
    Handle(XCAFDoc_ShapeTool) shapes;
    Handle(XCAFDoc_ColorTool) colors;
  };
  Contents contents_;
  Tools tools_;
  std::map<std::string, std::uint32_t> numbers_;   // by label
  std::vector<std::vector<TopoDS_Shape>> shapes_;  // by product and body
  std::vector<std::vector<bool>> colored_faces_;
};

}  // namespace
}  // namespace raylift::step

extern "C" __attribute__((visibility("default"))) raylift::step::Model* raylift_step_1(std::string_view text,
                                                                                       std::uint64_t most_nodes) {
  return new raylift::step::OcctModel(text, most_nodes);
}
