// SPDX-License-Identifier: Apache-2.0
// load, of OBJ, STL, PLY and 3MF by raylift's own readers, and of units that files of other formats state.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <raylift/geometry/import/load.h>
#include <raylift/geometry/scene/eigen.h>
#include <zip.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numbers>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "support/expect_error.h"
#include "support/paths.h"

namespace raylift {
namespace {

using test::expect_error;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// The volume that a mesh encloses, in its own unit: positive where its faces look outwards.
double volume(const Mesh& mesh) {
  double six = 0;
  const auto at = [&](std::uint32_t i) {
    return Eigen::Vector3d(mesh.vertices[i].x, mesh.vertices[i].y, mesh.vertices[i].z);
  };
  for (const UInt3& t : mesh.triangles) six += at(t.x).dot(at(t.y).cross(at(t.z)));
  return six / 6;
}

/// The corners of a unit cube, x fastest, and its faces, which look outwards.
constexpr std::array<std::array<int, 4>, 6> kFaces{
    {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}}};
std::array<int, 3> corner(int number) {
  return {number & 1, number >> 1 & 1, number >> 2};
}

class OwnFormats : public ::testing::Test {
 protected:
  Scene read(const std::string& name, const std::string& bytes, const LoadOptions& options = {}) {
    return load(folder_.write(name, bytes), options);
  }
  void expect_cube(const Scene& scene, double edge = 1) {
    ASSERT_THAT(scene.meshes, SizeIs(1));
    EXPECT_EQ(scene.unique_triangles(), 12U);
    EXPECT_EQ(scene.unique_vertices(), 8U);
    EXPECT_EQ(volume(scene.meshes[0]), 1);
    EXPECT_EQ(scene.bounds.size(), Eigen::Vector3d::Constant(edge));
    EXPECT_TRUE(scene.report.faces_checked);
  }
  Error refused(ErrorKind kind, const std::string& name, const std::string& bytes, const LoadOptions& options = {}) {
    const auto path = folder_.write(name, bytes);
    return expect_error(kind, [&] { (void)load(path, options); });
  }

  test::TemporaryFolder folder_;
};

// OBJ ---------------------------------------------------------------------------------------------------------------

/// A cube whose corners are written as `corner(index)` has them.
template <class Corner>
std::string cube_obj(const Corner& text_of) {
  std::string text = "# a cube\no Box\n";
  for (int i = 0; i != 8; ++i) {
    const auto [x, y, z] = corner(i);
    text += "v " + std::to_string(x) + ' ' + std::to_string(y) + ' ' + std::to_string(z) + '\n';
  }
  for (const auto& face : kFaces) {
    text += 'f';
    for (const int index : face) text += ' ' + text_of(index);
    text += '\n';
  }
  return text;
}

TEST_F(OwnFormats, ObjTakesCornersInAnyForm) {
  const auto plain = [](int i) { return std::to_string(i + 1); };
  expect_cube(read("a.obj", cube_obj(plain)));
  expect_cube(read("b.obj", cube_obj([&](int i) { return plain(i) + '/' + plain(i) + '/' + plain(i); })));
  expect_cube(read("c.obj", cube_obj([&](int i) { return plain(i) + "//" + plain(i); })));
  expect_cube(read("d.obj", cube_obj([](int i) { return std::to_string(i - 8); })));
  std::string joined = cube_obj(plain), dos = joined;
  joined.replace(joined.find("f 1 3"), 5, "f 1 \\\n 3");
  expect_cube(read("e.obj", joined));
  for (std::size_t at = 0; (at = dos.find('\n', at)) != std::string::npos; at += 2) dos.replace(at, 1, "\r\n");
  expect_cube(read("f.obj", dos));
  std::string wide = "\xFF\xFE";
  for (const char c : joined) wide += {c, '\0'};
  expect_cube(read("g.obj", wide));
}

TEST_F(OwnFormats, ObjHasASolidForEachNameAndAPartForEachMaterial) {
  (void)folder_.write("m.mtl", "newmtl red one\nKd 1 0 0.25\nd 0.5\n\nnewmtl blue\nKd 0 0 1\nTr 0.25\n");
  const Scene scene = read("s.obj",
                           "mtllib m.mtl\nmtllib none.mtl\nf 1 2 3\no first\nusemtl red one\nf 1 2 4\nusemtl blue\n"
                           "f 1 3 4\ng second\nf 2 3 4\no first\nusemtl red one\nf 1 2 3\np 1\nl 1 2\n"
                           "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n");
  std::vector<std::string> names;
  for (const Instance& instance : scene.instances) names.push_back(scene.path(instance));
  EXPECT_THAT(names, ElementsAre("/s.obj/s", "/s.obj/first", "/s.obj/second"));
  const Mesh& first = scene.meshes.at(1);
  ASSERT_THAT(first.parts, SizeIs(2));
  EXPECT_EQ(first.parts[0].triangle_count, 2U) << "once more by the same name";
  EXPECT_EQ(scene.materials.at(scene.material(scene.instances[1], 0)).name, "red one");
  EXPECT_EQ(scene.materials.at(scene.material(scene.instances[1], 0)).color, (std::array<float, 4>{1, 0, 0.25F, 0.5F}));
  EXPECT_EQ(scene.materials.at(scene.material(scene.instances[2], 0)).color, (std::array<float, 4>{0, 0, 1, 0.75F}));
  EXPECT_EQ(scene.material(scene.instances[0], 0), kNone);
  EXPECT_EQ(scene.report.ignored_primitives, 2U);
  EXPECT_THAT(scene.report.warnings, ElementsAre(HasSubstr("'none.mtl'")));
  ASSERT_THAT(scene.files, SizeIs(1));
  EXPECT_EQ(scene.files[0].path, "m.mtl");
}

TEST_F(OwnFormats, ObjNamesTheLineOfWhatIsWrong) {
  const std::string three = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";
  EXPECT_THAT(refused(ErrorKind::malformed, "a.obj", three + "f 1 2 4\n").what(), HasSubstr("line 4"));
  EXPECT_THAT(refused(ErrorKind::malformed, "a.obj", three + "f 1 2 -4\n").what(), HasSubstr("there are 3 vertices"));
  EXPECT_THAT(refused(ErrorKind::malformed, "a.obj", three + "f 1 2 x\n").what(), HasSubstr("'x' is no corner"));
  EXPECT_THAT(refused(ErrorKind::malformed, "a.obj", three + "f 0 1 2\n").what(), HasSubstr("numbered from 1"));
  EXPECT_THAT(refused(ErrorKind::malformed, "a.obj", "v 0 0\nv 0 0 0\n").what(), HasSubstr("2 coordinates"));
  EXPECT_THAT(refused(ErrorKind::malformed, "a.obj", "v 0 0 zero\n").what(), HasSubstr("'zero'"));
  EXPECT_THAT(refused(ErrorKind::unsupported, "a.obj", three + "surf 0 1 0 1 1 2 3\n").what(), HasSubstr("surf"));
  EXPECT_THAT(refused(ErrorKind::unsupported, "a.obj", "call b.obj\n").what(), HasSubstr("call"));
  LoadOptions options;
  options.repair = true;
  const Scene scene = read("a.obj", three + "f 1 2 4\nf 1 2 3\nxyzzy 1\nxyzzy 2\n", options);
  EXPECT_EQ(scene.report.dropped_triangles, 1U);
  EXPECT_EQ(scene.unique_triangles(), 1U);
  EXPECT_THAT(scene.report.warnings,
              ElementsAre(HasSubstr("2 lines are no statements of OBJ; the first is line 6, 'xyzzy'")));
}

TEST_F(OwnFormats, PolygonsHaveALimit) {
  std::string text;
  LoadOptions options;
  options.limits.polygon_vertices = 5;
  for (int i = 0; i != 6; ++i) text += "v " + std::to_string(i) + ' ' + std::to_string(i * i) + " 0\n";
  EXPECT_EQ(read("a.obj", text + "f 1 2 3 4 5\n", options).unique_triangles(), 3U);
  EXPECT_THAT(refused(ErrorKind::limit, "a.obj", text + "f 1 2 3 4 5 6\n", options).what(), HasSubstr("line 7"));
}

TEST_F(OwnFormats, PolygonsHaveALimitTogether) {
  constexpr int kCorners = 400;
  LoadOptions options;
  options.limits.polygon_vertices = kCorners;
  const auto polygons = [](int count) {
    std::string text, face = "f";
    for (int i = 0; i != kCorners; ++i) {
      const double angle = 2 * std::numbers::pi * i / kCorners;
      text += "v " + std::to_string(std::cos(angle)) + ' ' + std::to_string(std::sin(angle)) + " 0\n";
      face += ' ' + std::to_string(i + 1);
    }
    for (int i = 0; i != count; ++i) text += face + '\n';
    return text;
  };
  EXPECT_EQ(read("a.obj", polygons(10), options).unique_triangles(), 10U * (kCorners - 2));
  EXPECT_THAT(refused(ErrorKind::limit, "a.obj", polygons(11), options).what(), HasSubstr("as that of 11 polygons"));
}

TEST_F(OwnFormats, WarningsHaveALimit) {
  std::string text = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
  for (int i = 0; i != 1500; ++i) text += "mtllib none" + std::to_string(i) + ".mtl\n";
  const Scene scene = read("a.obj", text);
  ASSERT_THAT(scene.report.warnings, SizeIs(1001));
  EXPECT_EQ(scene.report.warnings.back(), "500 more warnings are left out");
}

// STL ---------------------------------------------------------------------------------------------------------------

std::string cube_stl(const std::string& first_line = "solid cube\n") {
  std::string text = first_line;
  for (const auto& face : kFaces) {
    text += " facet normal 0 0 0\n  outer loop\n";
    for (const int index : face) {
      const auto [x, y, z] = corner(index);
      text += "   vertex " + std::to_string(x) + ".0e+00 " + std::to_string(y) + " +" + std::to_string(z) + "\n";
    }
    text += "  endloop\n endfacet\n";
  }
  return text + "endsolid cube\n";
}

template <class Number>
void put(std::string& bytes, Number value, bool swap = false) {
  std::array<char, sizeof value> raw = std::bit_cast<std::array<char, sizeof value>>(value);
  if (swap) std::reverse(raw.begin(), raw.end());
  bytes.append(raw.begin(), raw.end());
}

std::string binary_cube_stl(std::string header = "a cube") {
  header.resize(80, ' ');
  put(header, std::uint32_t{12});
  for (const auto& face : kFaces)
    for (const auto& triangle : {std::array{face[0], face[1], face[2]}, std::array{face[0], face[2], face[3]}}) {
      for (int i = 0; i != 3; ++i) put(header, 0.0F);
      for (const int index : triangle)
        for (const int value : corner(index)) put(header, static_cast<float>(value));
      put(header, std::uint16_t{0});
    }
  return header;
}

TEST_F(OwnFormats, StlTakesFacetsOfFourCornersAndKeywordsInAnyCase) {
  expect_cube(read("a.stl", cube_stl()));
  expect_cube(read("b.stl", "\n\n" + cube_stl()));
  expect_cube(read("c.stl", "\xEF\xBB\xBF" + cube_stl("solid\n")));
  std::string upper = cube_stl("solid facet normal 1\n");
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  const Scene scene = read("d.stl", upper);
  expect_cube(scene);
  EXPECT_EQ(scene.meshes[0].name, "FACET NORMAL 1");
  EXPECT_THAT(read("two.stl", cube_stl() + cube_stl("solid other one\n")).meshes, SizeIs(2));
}

TEST_F(OwnFormats, StlIsBinaryByItsLength) {
  expect_cube(read("a.stl", binary_cube_stl()));
  expect_cube(read("b.stl", binary_cube_stl("solid cube facet normal")));
  const Scene scene = read("c.stl", binary_cube_stl() + "abc");
  expect_cube(scene);
  EXPECT_THAT(scene.report.warnings, ElementsAre(HasSubstr("3 bytes behind the last of the 12 facets")));
}

TEST_F(OwnFormats, StlThatIsCutOffIsRefused) {
  const std::string text = cube_stl(), binary = binary_cube_stl();
  for (std::size_t size = 6; size + 12 < text.size(); size += 7)
    (void)refused(ErrorKind::malformed, "a.stl", text.substr(0, size));
  for (std::size_t size = 1; size < binary.size(); size += 7)
    (void)refused(ErrorKind::malformed, "b.stl", binary.substr(0, size));
  EXPECT_THAT(refused(ErrorKind::malformed, "b.stl", binary.substr(0, 300)).what(),
              HasSubstr("states 12 facets and has room for 4"));
  std::string wrong = text;
  wrong.replace(wrong.find("vertex"), 6, "vortex");
  EXPECT_THAT(refused(ErrorKind::malformed, "a.stl", wrong).what(),
              HasSubstr("'vortex' is where 'vertex' or 'endloop' is expected"));
}

// PLY ---------------------------------------------------------------------------------------------------------------

enum class Bytes : std::uint8_t { text, little, big };

/// A cube of which `first` is the first byte behind the header.
std::string cube_ply(Bytes bytes, const std::string& end = "\n") {
  constexpr std::array<const char*, 3> kNames{"ascii", "binary_little_endian", "binary_big_endian"};
  std::string ply;
  for (const std::string& line :
       {std::string("ply"), "format " + std::string(kNames[static_cast<std::size_t>(bytes)]) + " 1.0",
        std::string("comment element nothing"), std::string("element camera 1"),
        std::string("property list uchar short seen"), std::string("element vertex 8"),
        std::string("property uchar quality"), std::string("property float x"), std::string("property double y"),
        std::string("property int16 z"), std::string("element face 6"),
        std::string("property list uint8 int vertex_index"), std::string("property uchar red"),
        std::string("end_header")})
    ply += line + end;
  const auto value = [&](auto number) {
    if (bytes == Bytes::text)
      ply += std::to_string(number) + ' ';
    else
      put(ply, number, bytes == Bytes::big);
  };
  value(std::uint8_t{0x0A});
  for (int i = 0; i != 10; ++i) value(std::int16_t{-7});
  for (int i = 0; i != 8; ++i) {
    const auto [x, y, z] = corner(i);
    value(std::uint8_t{200});
    value(static_cast<float>(x));
    value(static_cast<double>(y));
    value(static_cast<std::int16_t>(z));
  }
  for (const auto& face : kFaces) {
    value(std::uint8_t{4});
    for (const int index : face) value(index);
    value(std::uint8_t{255});
  }
  return ply;
}

TEST_F(OwnFormats, PlyIsReadInEveryFormat) {
  for (const Bytes bytes : {Bytes::text, Bytes::little, Bytes::big})
    for (const char* end : {"\n", "\r\n", "\r"}) {
      SCOPED_TRACE(static_cast<int>(bytes));
      const Scene scene = read("a.ply", cube_ply(bytes, end));
      expect_cube(scene);
      EXPECT_THAT(scene.report.warnings, IsEmpty());
    }
  EXPECT_THAT(read("a.ply", cube_ply(Bytes::big) + "xyz").report.warnings,
              ElementsAre("3 bytes behind the last element are not read"));
}

TEST_F(OwnFormats, PlyReadsStrips) {
  const Scene scene =
      read("a.ply",
           "ply\nformat ascii 1.0\nelement vertex 5\nproperty float x\nproperty float y\nproperty float z\n"
           "element tristrips 1\nproperty list int int vertex_indices\nend_header\n"
           "0 0 0 1 0 0 0 1 0 1 1 0 0 0 1\n8 0 1 2 3 -1 0 1 4\n");
  EXPECT_EQ(scene.unique_triangles(), 3U);
  for (const UInt3& t : std::span(scene.meshes[0].triangles).first(2)) {
    const auto at = [&](std::uint32_t i) { return scene.meshes[0].vertices[i]; };
    const Float3 a = at(t.x), b = at(t.y), c = at(t.z);
    EXPECT_GT((b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x), 0) << "all look up";
  }
}

TEST_F(OwnFormats, PlyThatIsCutOffIsRefused) {
  for (const Bytes bytes : {Bytes::text, Bytes::little}) {
    const std::string whole = cube_ply(bytes);
    for (std::size_t size = 1; size + 4 < whole.size(); size += 5)
      (void)refused(ErrorKind::malformed, "a.ply", whole.substr(0, size));
  }
  EXPECT_THAT(refused(ErrorKind::malformed, "a.ply",
                      "ply\nformat ascii 1.0\nelement vertex 4000000000\nproperty float x\nproperty float y\n"
                      "property float z\nend_header\n0 0 0\n")
                  .what(),
              HasSubstr("states 4000000000 rows"));
}

// 3MF ---------------------------------------------------------------------------------------------------------------

class ThreeMf : public OwnFormats {
 protected:
  std::filesystem::path zip(const std::vector<std::pair<std::string, std::string>>& entries) {
    const auto path = folder_.path() / "part.3mf";
    zip_t* const archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr);
    for (const auto& [entry, text] : entries) {
      zip_source_t* const source = zip_source_buffer(archive, text.data(), text.size(), 0);
      EXPECT_GE(zip_file_add(archive, entry.c_str(), source, ZIP_FL_ENC_UTF_8), 0);
    }
    EXPECT_EQ(zip_close(archive), 0);
    return path;
  }
  static std::pair<std::string, std::string> relations() {
    return {"_rels/.rels",
            "<Relationships><Relationship Type='http://schemas.openxmlformats.org/package/2006/relationships/metadata/"
            "thumbnail' Target='/Metadata/t.png'/><Relationship Target='/3D/main.model' "
            "Type='http://schemas.microsoft.com/3dmanufacturing/2013/01/3dmodel'/></Relationships>"};
  }
  static std::string model(const std::string& attributes, const std::string& resources, const std::string& build) {
    return "<?xml version='1.0'?><model " + attributes +
           " xmlns='http://schemas.microsoft.com/3dmanufacturing/core/2015/02' "
           "xmlns:p='http://schemas.microsoft.com/3dmanufacturing/production/2015/06' "
           "xmlns:b='http://schemas.microsoft.com/3dmanufacturing/beamlattice/2017/02'><metadata "
           "name='Application'>a test</metadata><resources>" +
           resources + "</resources><build>" + build + "</build></model>";
  }
  static std::string cube(const std::string& id, const std::string& attributes = "") {
    std::string text = "<object id='" + id + "' " + attributes + "><mesh><vertices>";
    for (int i = 0; i != 8; ++i) {
      const auto [x, y, z] = corner(i);
      text += "<vertex x='" + std::to_string(x) + "' y='" + std::to_string(y) + "' z='" + std::to_string(z) + "'/>";
    }
    text += "</vertices><triangles>";
    for (const auto& f : kFaces)
      for (const auto& t : {std::array{f[0], f[1], f[2]}, std::array{f[0], f[2], f[3]}})
        text += "<triangle v1='" + std::to_string(t[0]) + "' v2='" + std::to_string(t[1]) + "' v3='" +
                std::to_string(t[2]) + "'/>";
    return text + "</triangles></mesh></object>";
  }
  Scene load_model(const std::string& text) { return load(zip({relations(), {"3D/main.model", text}})); }
};

TEST_F(ThreeMf, UnitsAreTheFiles) {
  for (const auto& [unit, mm] :
       {std::pair{"micron", 1e-3}, {"millimeter", 1.0}, {"inch", 25.4}, {"foot", 304.8}, {"meter", 1e3}}) {
    const Scene scene = load_model(model("unit='" + std::string(unit) + "'", cube("1"), "<item objectid='1'/>"));
    expect_cube(scene, mm);
    EXPECT_EQ(scene.unit_from, Scene::Provenance::file);
  }
  const Scene scene = load_model(model("", cube("1", "name='box'"), "<item objectid='1'/>"));
  EXPECT_EQ(scene.unit_from, Scene::Provenance::convention);
  EXPECT_EQ(scene.up_axis, UpAxis::z);
  EXPECT_EQ(scene.generator, "a test");
  EXPECT_EQ(scene.solid_name(scene.instances.at(0)), "box");
}

TEST_F(ThreeMf, UnitsAreTheFilesForAssimpsReaderToo) {
  // Assimp takes no relationship without an Id.
  const std::pair<std::string, std::string> relation{
      "_rels/.rels",
      "<Relationships><Relationship Id='r' Type='http://schemas.microsoft.com/3dmanufacturing/2013/01/3dmodel' "
      "Target='/3D/main.model'/></Relationships>"};
  LoadOptions options;
  options.reader = LoadOptions::Reader::assimp;
  const Scene scene =
      load(zip({relation, {"3D/main.model", model("unit='inch'", cube("1"), "<item objectid='1'/>")}}), options);
  EXPECT_EQ(scene.unique_triangles(), 12U);
  EXPECT_EQ(scene.bounds.size(), Eigen::Vector3d::Constant(25.4));
  EXPECT_EQ(scene.unit_from, Scene::Provenance::file);
  EXPECT_EQ(scene.up_axis, UpAxis::z);
}

TEST_F(ThreeMf, ComponentsOfOtherPartsArePlaced) {
  const std::string other = model("", cube("7"), "");
  const std::string main = model(
      "requiredextensions='p'",
      cube("2") +
          "<object id='1'><components><component objectid='2'/><component "
          "p:path='/3D/Objects/a.model' objectid='7' transform='0 1 0 -1 0 0 0 0 1 5 0 0'/></components></object>",
      "<item objectid='1' transform='2 0 0 0 2 0 0 0 2 0 0 10'/><item objectid='2'/>");
  const Scene scene =
      load(zip({relations(), {"3D/main.model", main}, {"3D/Objects/a.model", other}, {"Metadata/t.png", "no image"}}));
  EXPECT_THAT(scene.meshes, SizeIs(2));
  ASSERT_THAT(scene.instances, SizeIs(3));
  EXPECT_EQ(scene.path(scene.instances[1]), "/part.3mf/object 1/object 7");
  // x -> y, y -> -x, then +5 in x; twice as large; +10 in z.
  EXPECT_EQ(to_eigen(scene.instances[1].transform) * Eigen::Vector3d(1, 0, 0), Eigen::Vector3d(10, 2, 10));
  EXPECT_EQ(scene.bounds.min, Eigen::Vector3d(0, 0, 0));
  EXPECT_EQ(scene.bounds.max, Eigen::Vector3d(10, 2, 12));
}

TEST_F(ThreeMf, TrianglesHaveTheirMaterials) {
  std::string body = cube("1", "pid='9' pindex='1'");
  body.replace(body.find("<triangle "), 10, "<triangle pid='9' p1='0' ");
  const Scene scene =
      load_model(model("",
                       "<basematerials id='9'><base name='red' displaycolor='#FF0000'/><base name='glass' "
                       "displaycolor='#0000FF80'/></basematerials>" +
                           body,
                       "<item objectid='1'/>"));
  ASSERT_THAT(scene.meshes.at(0).parts, SizeIs(2));
  EXPECT_EQ(scene.meshes[0].parts[0].triangle_count, 1U);
  EXPECT_EQ(scene.materials.at(scene.material(scene.instances[0], 0)).name, "red");
  const Material& glass = scene.materials.at(scene.material(scene.instances[0], 1));
  EXPECT_EQ(glass.name, "glass");
  EXPECT_EQ(glass.color, (std::array<float, 4>{0, 0, 1, 128 / 255.0F}));
}

TEST_F(ThreeMf, WhatIsWrongIsNamed) {
  const auto message = [this](ErrorKind kind, const std::string& text) -> std::string {
    return expect_error(kind, [&] { (void)load_model(text); }).what();
  };
  const std::string item = "<item objectid='1'/>";
  EXPECT_THAT(message(ErrorKind::malformed, model("unit='parsec'", cube("1"), item)), HasSubstr("'parsec'"));
  EXPECT_THAT(message(ErrorKind::malformed, model("", cube("2"), item)), HasSubstr("no object of id '1'"));
  EXPECT_THAT(message(ErrorKind::malformed, model("", cube("1") + cube("1"), item)), HasSubstr("occurs twice"));
  EXPECT_THAT(message(ErrorKind::unsupported, model("requiredextensions='b'", cube("1"), item)),
              HasSubstr("beamlattice"));
  EXPECT_THAT(message(ErrorKind::limit,
                      model("", "<object id='1'><components><component objectid='1'/></components></object>", item)),
              HasSubstr("levels of components"));
  std::string wrong = cube("1");
  wrong.replace(wrong.find("v1='0'"), 6, "v1='8'");
  EXPECT_THAT(message(ErrorKind::malformed, model("", wrong, item)),
              HasSubstr("object 1 in 3D/main.model, triangle 0"));
  EXPECT_THAT(expect_error(ErrorKind::malformed, [&] { (void)load(zip({relations()})); }).what(),
              HasSubstr("3D/main.model"));
  EXPECT_THAT(expect_error(ErrorKind::malformed,
                           [&] {
                             (void)load(zip({{"a", "b"}}));
                           })
                  .what(),
              HasSubstr("_rels/.rels"));
}

// Units of other formats --------------------------------------------------------------------------------------------

TEST_F(OwnFormats, AmfHasItsUnit) {
  const auto amf = [](const std::string& unit) {
    return "<?xml version=\"1.0\"?>\n<amf " + unit +
           " version=\"1.1\"><object "
           "id=\"0\"><mesh><vertices><vertex><coordinates><x>0</x><y>0</y><z>0</z></coordinates>"
           "</vertex><vertex><coordinates><x>1</x><y>0</y><z>0</z></coordinates></vertex><vertex><coordinates><x>0</"
           "x><y>2"
           "</y><z>0</z></coordinates></vertex></vertices><volume><triangle><v1>0</v1><v2>1</v2><v3>2</v3></triangle>"
           "</volume></mesh></object></amf>\n";
  };
  const Scene scene = read("a.amf", amf("unit=\"inch\""));
  EXPECT_EQ(scene.bounds.max, Eigen::Vector3d(25.4, 50.8, 0));
  EXPECT_EQ(scene.unit_from, Scene::Provenance::file);
  EXPECT_FALSE(scene.report.faces_checked);
  EXPECT_EQ(read("a.amf", amf("")).unit_from, Scene::Provenance::convention);
  EXPECT_THAT(refused(ErrorKind::malformed, "a.amf", amf("unit=\"parsec\"")).what(), HasSubstr("parsec"));
}

TEST_F(OwnFormats, DxfHasItsUnit) {
  const auto dxf = [](const std::string& unit) {
    return "0\nSECTION\n2\nHEADER\n9\n$INSUNITS\n70\n" + unit +
           "\n0\nENDSEC\n0\nSECTION\n2\nENTITIES\n0\n3DFACE\n8\n0\n10\n0\n20\n0\n30\n0\n11\n1\n21\n0\n31\n0\n12\n0\n22"
           "\n2\n32\n0\n"
           "13\n0\n23\n2\n33\n0\n0\nENDSEC\n0\nEOF\n";
  };
  EXPECT_EQ(read("a.dxf", dxf("5")).unit_mm, 10);
  EXPECT_EQ(read("a.dxf", dxf("5")).unit_from, Scene::Provenance::file);
  EXPECT_EQ(read("a.dxf", dxf("0")).unit_from, Scene::Provenance::assumed);
  EXPECT_THAT(refused(ErrorKind::malformed, "a.dxf", dxf("99")).what(), HasSubstr("'99'"));
  LoadOptions options;
  options.unit_mm = 7;
  EXPECT_EQ(read("a.dxf", dxf("5"), options).unit_mm, 7);
}

}  // namespace
}  // namespace raylift
