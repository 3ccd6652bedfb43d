// SPDX-License-Identifier: Apache-2.0
// Writes STEP files for tests by Open CASCADE, of solids with closed forms: raylift-make-step KIND OUTPUT [UNIT].
#include <BRepAlgoAPI_Cut.hxx>
#include <BRepPrimAPI_MakeBox.hxx>
#include <BRepPrimAPI_MakeCylinder.hxx>
#include <BRepPrimAPI_MakeSphere.hxx>
#include <BRepPrimAPI_MakeTorus.hxx>
#include <BRep_Builder.hxx>
#include <Interface_Static.hxx>
#include <Message.hxx>
#include <Message_Messenger.hxx>
#include <Quantity_ColorRGBA.hxx>
#include <STEPCAFControl_Writer.hxx>
#include <TCollection_HAsciiString.hxx>
#include <TDataStd_Name.hxx>
#include <TDocStd_Document.hxx>
#include <TopExp_Explorer.hxx>
#include <TopoDS.hxx>
#include <TopoDS_Compound.hxx>
#include <XCAFApp_Application.hxx>
#include <XCAFDoc_ColorTool.hxx>
#include <XCAFDoc_DocumentTool.hxx>
#include <XCAFDoc_MaterialTool.hxx>
#include <XCAFDoc_ShapeTool.hxx>
#include <functional>
#include <gp_Ax1.hxx>
#include <gp_Trsf.hxx>
#include <map>
#include <numbers>
#include <string>

namespace {

class Writer {
 public:
  Writer() {
    XCAFApp_Application::GetApplication()->NewDocument("MDTV-XCAF", document_);
    shapes_ = XCAFDoc_DocumentTool::ShapeTool(document_->Main());
    colors_ = XCAFDoc_DocumentTool::ColorTool(document_->Main());
  }

  TDF_Label part(const TopoDS_Shape& shape, const char* name) {
    const TDF_Label label = shapes_->AddShape(shape, false);
    TDataStd_Name::Set(label, name);
    return label;
  }
  TDF_Label assembly(const char* name) {
    const TDF_Label label = shapes_->NewShape();
    TDataStd_Name::Set(label, name);
    return label;
  }
  TDF_Label place(const TDF_Label& assembly, const TDF_Label& what, const gp_Trsf& at, const char* name) {
    const TDF_Label label = shapes_->AddComponent(assembly, what, TopLoc_Location(at));
    TDataStd_Name::Set(label, name);
    return label;
  }
  void color(const TDF_Label& label, double r, double g, double b, double a = 1) {
    Quantity_ColorRGBA color(Quantity_Color(r, g, b, Quantity_TOC_sRGB), static_cast<float>(a));
    colors_->SetColor(label, color, XCAFDoc_ColorSurf);
  }
  void color_face(const TopoDS_Shape& face, const TDF_Label& part, double r, double g, double b) {
    colors_->SetColor(shapes_->AddSubShape(part, face), Quantity_Color(r, g, b, Quantity_TOC_sRGB), XCAFDoc_ColorSurf);
  }
  void material(const TDF_Label& label, const char* name) {
    const auto text = [](const char* one) { return new TCollection_HAsciiString(one); };
    XCAFDoc_DocumentTool::MaterialTool(document_->Main())
        ->SetMaterial(label, text(name), text(""), 2.2, text("density"), text("POSITIVE_RATIO_MEASURE"));
  }
  bool write(const char* path, const char* unit = "MM") {
    shapes_->UpdateAssemblies();
    STEPCAFControl_Writer writer;
    Interface_Static::SetCVal("write.step.unit", unit);
    Interface_Static::SetIVal("write.stepcaf.subshapes.name", 1);
    return writer.Transfer(document_) && writer.Write(path) == IFSelect_RetDone;
  }

 private:
  Handle(TDocStd_Document) document_;
  Handle(XCAFDoc_ShapeTool) shapes_;
  Handle(XCAFDoc_ColorTool) colors_;
};

gp_Trsf turned(double angle, double x, double y, double z) {
  gp_Trsf turn, move;
  turn.SetRotation(gp_Ax1(gp_Pnt(0, 0, 0), gp_Dir(0, 0, 1)), angle);
  move.SetTranslation(gp_Vec(x, y, z));
  return move * turn;
}
TopoDS_Shape box(double x, double y, double z) {
  return BRepPrimAPI_MakeBox(x, y, z).Shape();
}

void one_box(Writer& file) {
  file.part(box(10, 20, 30), "Brick");
}

/// A part used twice, once turned by 90 degrees about z; a colour of its own at the second place.
void twice(Writer& file) {
  const TDF_Label top = file.assembly("Detector"), brick = file.part(box(10, 20, 30), "Brick");
  file.color(brick, 0.2, 0.4, 0.6, 0.5);
  file.place(top, brick, turned(0, 100, 0, 0), "left");
  file.color(file.place(top, brick, turned(std::numbers::pi / 2, 0, 200, 0), "right"), 0.9, 0.1, 0.1);
}

/// Detector / 2 x Module / 3 x (tube, ball), of curved surfaces; material and colours.
void nested(Writer& file) {
  const TDF_Label top = file.assembly("Detector"), module = file.assembly("Module");
  const TopoDS_Shape tube =
      BRepAlgoAPI_Cut(BRepPrimAPI_MakeCylinder(50, 200).Shape(), BRepPrimAPI_MakeCylinder(40, 200).Shape());
  const TDF_Label pipe = file.part(tube, "Pipe"), ball = file.part(BRepPrimAPI_MakeSphere(30).Shape(), "Ball");
  file.color(pipe, 1, 0, 0);
  file.color(ball, 0, 1, 0);
  file.material(ball, "Glass");
  for (int i = 0; i < 3; ++i) {
    file.place(module, pipe, turned(0.3 * i, 0, 0, 300.0 * i), ("pipe_" + std::to_string(i)).c_str());
    file.place(module, ball, turned(0, 0, 0, 300.0 * i + 100), ("ball_" + std::to_string(i)).c_str());
  }
  file.place(top, module, turned(0, 500, 0, 0), "module_a");
  file.place(top, module, turned(1.0, -500, 0, 0), "module_b");
}

/// A part of two solids, one with a face of another colour; a part of one open face.
void bodies(Writer& file) {
  BRep_Builder builder;
  TopoDS_Compound both;
  builder.MakeCompound(both);
  const TopoDS_Shape a = box(10, 10, 10), b = box(5, 5, 5).Moved(TopLoc_Location(turned(0, 20, 0, 0)));
  builder.Add(both, a);
  builder.Add(both, b);
  const TDF_Label part = file.part(both, "Pair");
  file.color(part, 0.5, 0.5, 0.5);
  TopExp_Explorer faces(a, TopAbs_FACE);
  file.color_face(faces.Current(), part, 1, 0, 0);
  TopExp_Explorer sheet(box(7, 8, 9), TopAbs_FACE);
  file.part(sheet.Current(), "Sheet");
}

void ring(Writer& file) {
  file.part(BRepPrimAPI_MakeTorus(100, 20).Shape(), "Ring");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  Message::DefaultMessenger()->ChangePrinters().Clear();
  const std::map<std::string, std::function<void(Writer&)>> kinds{
      {"box", one_box}, {"twice", twice}, {"nested", nested}, {"bodies", bodies}, {"ring", ring}};
  Writer file;
  const auto kind = kinds.find(argv[1]);
  if (kind == kinds.end()) return 2;
  kind->second(file);
  return file.write(argv[2], argc > 3 ? argv[3] : "MM") ? 0 : 1;
}
