// SPDX-License-Identifier: Apache-2.0
// load, for every format but COLLADA: what Assimp reads is checked as hard.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <raylift/geometry/import/load.h>

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "collada_documents.h"
#include "support/expect_error.h"
#include "support/paths.h"

namespace raylift {
namespace {

using test::expect_error;
using ::testing::Contains;
using ::testing::HasSubstr;

class LoadFormats : public ::testing::Test {
 protected:
  test::TemporaryFolder folder_;
};

template <class T>
void append_bytes(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::string binary_stl(const std::vector<std::array<float, 9>>& triangles) {
  std::string bytes(80, ' ');
  append_bytes(bytes, static_cast<std::uint32_t>(triangles.size()));
  for (const auto& corners : triangles) {
    append_bytes(bytes, std::array<float, 3>{0, 0, 1});
    append_bytes(bytes, corners);
    append_bytes(bytes, std::uint16_t{0});
  }
  return bytes;
}

constexpr const char* kSquareObj = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n";

/// A glTF of one triangle whose buffer lies in `uri`, placed by `nodes`.
std::string gltf(const std::string& uri, const std::string& nodes, const std::string& roots) {
  return R"({"asset":{"version":"2.0","generator":"a test"},"scene":0,"scenes":[{"nodes":[)" + roots +
         R"(]}],"nodes":[)" + nodes +
         R"(],"meshes":[{"name":"tri","primitives":[{"attributes":{"POSITION":1},"indices":0,"material":0}]}],)"
         R"("materials":[{"name":"Glass","pbrMetallicRoughness":{"baseColorFactor":[0.25,0.5,1,1]}}],)"
         R"("accessors":[{"bufferView":0,"componentType":5123,"count":3,"type":"SCALAR"},)"
         R"({"bufferView":1,"componentType":5126,"count":3,"type":"VEC3","min":[0,0,0],"max":[1,1,0]}],)"
         R"("bufferViews":[{"buffer":0,"byteOffset":0,"byteLength":6},{"buffer":0,"byteOffset":8,"byteLength":36}],)"
         R"("buffers":[{"uri":")" +
         uri + R"(","byteLength":44}]})";
}

std::string gltf_buffer() {
  std::string bytes;
  for (const std::uint16_t index : std::array<std::uint16_t, 4>{0, 1, 2, 0}) append_bytes(bytes, index);
  for (const float value : {0.0F, 0.0F, 0.0F, 1.0F, 0.0F, 0.0F, 0.0F, 1.0F, 0.0F}) append_bytes(bytes, value);
  return bytes;
}

// Reading -----------------------------------------------------------------------------------------------------------

TEST_F(LoadFormats, NamesTheMeshOfAnStl) {
  const auto name_of = [&](const char* file, const std::string& bytes) {
    return load(folder_.write(file, bytes)).meshes.at(0).name;
  };
  EXPECT_EQ(name_of("vessel.v2.stl", binary_stl({{0, 0, 0, 1, 0, 0, 0, 1, 0}})), "vessel.v2");
  const std::string facet =
      "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid\n";
  EXPECT_EQ(name_of("text.stl", "solid lens\n" + facet), "lens");
  EXPECT_EQ(name_of("text.stl", "solid\n" + facet), "text");
}

TEST_F(LoadFormats, ReadsObjWithItsMaterialsFromBesideIt) {
  (void)folder_.write("paint.mtl", "newmtl Red\nKd 1 0.5 0\nnewmtl Blue\nKd 0 0 1\n");
  const auto path = folder_.write("scene.obj",
                                  "mtllib paint.mtl\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\no thing\n"
                                  "usemtl Red\nf 1 2 3\nusemtl Blue\nf 1 3 4\n");
  const Scene scene = load(path);
  EXPECT_EQ(scene.unique_triangles(), 2U);
  std::vector<std::string> names;
  for (const Instance& instance : scene.instances)
    for (std::size_t part = 0; part != scene.meshes[instance.mesh].parts.size(); ++part)
      names.push_back(scene.materials.at(scene.material(instance, part)).name);
  EXPECT_THAT(names, ::testing::UnorderedElementsAre("Red", "Blue"));
  for (const Material& material : scene.materials)
    if (material.name == "Red") {
      EXPECT_EQ(material.color, (std::array<float, 4>{1, 0.5F, 0, 1}));
    }
}

TEST_F(LoadFormats, ReadsObjFromARelativePath) {
  (void)folder_.write("scene.obj", kSquareObj);
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder_.path());
  const Scene scene = load("scene.obj");
  std::filesystem::current_path(before);
  EXPECT_EQ(scene.unique_triangles(), 2U);
  EXPECT_EQ(scene.unique_vertices(), 4U) << "welded";
  EXPECT_EQ(scene.unit_mm, 1);
  EXPECT_EQ(scene.unit_from, Scene::Provenance::assumed);
}

TEST_F(LoadFormats, ReadsNamesWithSpacesAndLettersBeyondAscii) {
  const Scene scene = load(folder_.write("Größe 1 é.obj", kSquareObj));
  EXPECT_EQ(scene.unique_triangles(), 2U);
}

TEST_F(LoadFormats, TakesExtensionsInAnyCase) {
  EXPECT_EQ(load(folder_.write("SCENE.OBJ", kSquareObj)).unique_triangles(), 2U);
  EXPECT_EQ(load(folder_.write("SCENE.DAE", test::cube_document())).unique_triangles(), 12U);
}

TEST_F(LoadFormats, ReadsBinaryStl) {
  const Scene scene =
      load(folder_.write("part.stl", binary_stl({{0, 0, 0, 1, 0, 0, 0, 1, 0}, {1, 0, 0, 1, 1, 0, 0, 1, 0}})));
  EXPECT_EQ(scene.unique_triangles(), 2U);
  EXPECT_EQ(scene.unique_vertices(), 4U);
  EXPECT_EQ(scene.up_axis, UpAxis::z);
}

TEST_F(LoadFormats, ReadsTextStl) {
  const Scene scene = load(folder_.write("part.stl",
                                         "solid s\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex "
                                         "0 1 0\nendloop\nendfacet\nendsolid s\n"));
  EXPECT_EQ(scene.unique_triangles(), 1U);
}

TEST_F(LoadFormats, ReadsPly) {
  const Scene scene = load(
      folder_.write("part.ply",
                    "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n"
                    "element face 1\nproperty list uchar int vertex_indices\nend_header\n"
                    "0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3\n"));
  EXPECT_EQ(scene.unique_triangles(), 2U);
  EXPECT_EQ(scene.bounds.max, Double3(1, 1, 0));
}

TEST_F(LoadFormats, ReadsOff) {
  EXPECT_EQ(load(folder_.write("part.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n")).unique_triangles(), 1U);
}

TEST_F(LoadFormats, ReadsGltfInMetresAndKeepsItsInstances) {
  (void)folder_.write("tri.bin", gltf_buffer());
  const Scene scene = load(folder_.write(
      "scene.gltf",
      gltf("tri.bin",
           R"({"name":"a","mesh":0},{"name":"b","mesh":0,"translation":[2,0,0]},{"name":"top","children":[0,1]})",
           "2")));
  EXPECT_EQ(scene.meshes.size(), 1U);
  ASSERT_EQ(scene.instances.size(), 2U);
  EXPECT_EQ(scene.unit_mm, 1000);
  EXPECT_EQ(scene.unit_from, Scene::Provenance::convention);
  EXPECT_EQ(scene.up_axis, UpAxis::y);
  EXPECT_EQ(scene.bounds.max, Double3(3000, 1000, 0));
  EXPECT_EQ(scene.materials.at(scene.material(scene.instances[1], 0)).name, "Glass");
  EXPECT_EQ(scene.generator, "a test");
  EXPECT_THAT(scene.path(scene.instances[1]), HasSubstr("/top/b"));
}

TEST_F(LoadFormats, ListsTheEndingsItReads) {
  const std::vector<std::string> endings = supported_extensions();
  for (const char* wanted : {"dae", "zae", "dae.gz", "obj", "stl", "ply", "gltf", "glb", "fbx", "3ds", "off"})
    EXPECT_THAT(endings, Contains(wanted));
  EXPECT_TRUE(std::is_sorted(endings.begin(), endings.end()));
  EXPECT_EQ(std::adjacent_find(endings.begin(), endings.end()), endings.end()) << "each once";
}

// Refusing ----------------------------------------------------------------------------------------------------------

TEST_F(LoadFormats, SaysWhatItReadsWhenAnEndingIsUnknown) {
  const Error error = expect_error(ErrorKind::unsupported, [&] { (void)load(folder_.write("notes.txt", "hello")); });
  EXPECT_THAT(error.what(), HasSubstr("txt"));
  EXPECT_THAT(error.advice(), HasSubstr("dae"));
  expect_error(ErrorKind::unsupported, [&] { (void)load(folder_.write("noending", "hello")); });
}

TEST_F(LoadFormats, SaysThatAFileIsNotThere) {
  const auto path = folder_.path() / "absent.dae";
  const Error error = expect_error(ErrorKind::io, [&] { (void)load(path); });
  EXPECT_EQ(error.file(), path.string());
}

TEST_F(LoadFormats, SaysThatAPathIsAFolder) {
  std::filesystem::create_directory(folder_.path() / "folder.dae");
  const Error error = expect_error(ErrorKind::io, [&] { (void)load(folder_.path() / "folder.dae"); });
  EXPECT_THAT(error.problem(), HasSubstr("folder"));
}

TEST_F(LoadFormats, DoesNotWaitForAPipe) {
  const auto path = folder_.path() / "pipe.dae";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  expect_error(ErrorKind::io, [&] { (void)load(path); });
}

TEST_F(LoadFormats, RefusesEmptyFiles) {
  for (const char* name : {"empty.dae", "empty.obj", "empty.stl", "empty.dae.gz", "empty.zae", "empty.glb"})
    expect_error(ErrorKind::malformed, [&] { (void)load(folder_.write(name, "")); });
}

TEST_F(LoadFormats, RefusesFilesBeyondTheSizeLimit) {
  LoadOptions options;
  options.limits.file_bytes = 16;
  for (const char* name : {"large.dae", "large.obj", "large.dae.gz"}) {
    const Error error =
        expect_error(ErrorKind::limit, [&] { (void)load(folder_.write(name, test::cube_document()), options); });
    EXPECT_THAT(error.what(), HasSubstr("16"));
  }
}

TEST_F(LoadFormats, RefusesFilesThatOnlyPretend) {
  for (const char* name : {"fake.stl", "fake.ply", "fake.glb", "fake.gltf", "fake.fbx", "fake.3ds"}) {
    const Error error = expect_error(ErrorKind::malformed, [&] {
      (void)load(folder_.write(name, "this is no geometry at all, whatever its name says"));
    });
    EXPECT_THAT(error.file(), HasSubstr(name));
  }
}

/// A container of glTF with one chunk.
std::string glb(std::string json, std::uint32_t chunk, std::uint32_t extra = 0) {
  std::string bytes = "glTF";
  append_bytes(
      bytes, std::array<std::uint32_t, 4>{2, static_cast<std::uint32_t>(20 + json.size()) + extra, chunk, 0x4E4F534A});
  return bytes + json;
}

TEST_F(LoadFormats, RefusesGltfWhoseExtensionsDetermineTheGeometry) {
  (void)folder_.write("tri.bin", gltf_buffer());
  const std::string right = gltf("tri.bin", R"({"mesh":0})", "0");
  const auto with = [&](const std::string& members) { return "{" + members + "," + right.substr(1); };
  EXPECT_EQ(load(folder_.write("lit.gltf", with(R"("extensionsRequired":["KHR_materials_unlit"])"))).instances.size(),
            1U);
  std::string shorts = right;
  shorts.replace(shorts.find("5126"), 4, "5123");
  const std::vector<std::pair<std::string, const char*>> refused{
      {with(R"("extensionsRequired":["KHR_mesh_quantization"])"), "KHR_mesh_quantization"},
      {with(R"("extensionsRequired":["KHR_texture_basisu","EXT_meshopt_compression"])"), "EXT_meshopt_compression"},
      {shorts, "KHR_mesh_quantization (positions that are not float) is not read"},
      {gltf("tri.bin", R"({"mesh":0,"extensions":{"EXT_mesh_gpu_instancing":{"attributes":{"TRANSLATION":1}}}})", "0"),
       "EXT_mesh_gpu_instancing"}};
  for (const auto& [text, name] : refused) {
    const auto path = folder_.write("scene.gltf", text);
    const Error error = expect_error(ErrorKind::unsupported, [&] { (void)load(path); });
    EXPECT_THAT(error.what(), HasSubstr(name));
  }
}

TEST_F(LoadFormats, RefusesGltfContainersThatDoNotFitTheFile) {
  const std::vector<std::pair<std::string, const char*>> broken{
      {glb("{\"a\":1}", 7), "7 bytes, is no multiple of 4"},
      {glb("{}  ", 0x7FFFFFFC), "the JSON chunk is 2147483644 bytes long, and the file has 4 bytes left"},
      {glb("{}  ", 4, 1000), "1024 bytes long by its header, and the file has 24"},
      {glb("", 4).substr(0, 18), "ends within its header"},
      {glb("{]  ", 4), "the glTF's JSON: parse error"}};
  for (const auto& [bytes, message] : broken) {
    const auto path = folder_.write("part.glb", bytes);
    const Error error = expect_error(ErrorKind::malformed, [&] { (void)load(path); });
    EXPECT_THAT(error.what(), HasSubstr(message));
  }
}

TEST_F(LoadFormats, RefusesScenesWithoutTriangles) {
  expect_error(ErrorKind::malformed,
               [&] { (void)load(folder_.write("points.obj", "v 0 0 0\nv 1 0 0\np 1\nl 1 2\n")); });
}

TEST_F(LoadFormats, RefusesNumbersThatAreNotFinite) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto path = folder_.write("nan.stl", binary_stl({{0, 0, 0, 1, 0, 0, 0, 1, 0}, {1, 0, 0, 1, nan, 0, 0, 1, 0}}));
  const Error error = expect_error(ErrorKind::malformed, [&] { (void)load(path); });
  EXPECT_THAT(error.element(), HasSubstr("vertex 4"));

  LoadOptions options;
  options.repair = true;
  const Scene scene = load(path, options);
  EXPECT_EQ(scene.unique_triangles(), 1U);
  EXPECT_EQ(scene.report.repaired_vertices, 1U);
  EXPECT_EQ(scene.report.dropped_triangles, 1U);
}

TEST_F(LoadFormats, RefusesIndicesOutOfRange) {
  const auto path =
      folder_.write("range.ply",
                    "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
                    "element face 2\nproperty list uchar int vertex_indices\nend_header\n"
                    "0 0 0\n1 0 0\n1 1 0\n3 0 1 2\n3 0 1 7\n");
  const Error error = expect_error(ErrorKind::malformed, [&] { (void)load(path); });
  EXPECT_THAT(error.element(), HasSubstr("face 1"));

  LoadOptions options;
  options.repair = true;
  const Scene scene = load(path, options);
  EXPECT_EQ(scene.unique_triangles(), 1U);
  EXPECT_EQ(scene.report.dropped_triangles, 1U);
}

TEST_F(LoadFormats, EnforcesLimitsOnTheNodeTree) {
  (void)folder_.write("tri.bin", gltf_buffer());
  // A chain of 40 nodes with the triangle at its end.
  std::string nodes = R"({"name":"n0","mesh":0})";
  for (int i = 1; i != 40; ++i)
    nodes += R"(,{"name":"n)" + std::to_string(i) + R"(","children":[)" + std::to_string(i - 1) + "]}";
  const auto path = folder_.write("deep.gltf", gltf("tri.bin", nodes, "39"));
  EXPECT_EQ(load(path).instances.size(), 1U);

  LoadOptions options;
  options.limits.node_depth = 20;
  expect_error(ErrorKind::limit, [&] { (void)load(path, options); });
  options = {};
  options.limits.nodes = 20;
  expect_error(ErrorKind::limit, [&] { (void)load(path, options); });

  std::string many;
  std::string roots;
  for (int i = 0; i != 30; ++i) {
    many += (i == 0 ? "" : ",") + std::string(R"({"mesh":0})");
    roots += (i == 0 ? "" : ",") + std::to_string(i);
  }
  options = {};
  options.limits.instances = 29;
  expect_error(ErrorKind::limit,
               [&] { (void)load(folder_.write("many.gltf", gltf("tri.bin", many, roots)), options); });
}

TEST_F(LoadFormats, SayWhichOptionsHaveNoEffect) {
  LoadOptions options;
  options.setup = "other";
  options.fineness = {1, 20, Fineness::Fit::area};
  options.skip_failed_solids = true;
  options.external = true;
  const std::filesystem::path obj = folder_.write("scene.obj", kSquareObj);
  const std::vector<std::string> warnings = load(obj, options).report.warnings;
  for (const char* option :
       {"setup", "fineness.chord", "fineness.steps", "fineness.fit", "skip_failed_solids", "external"})
    EXPECT_THAT(warnings, Contains("LoadOptions::" + std::string(option) + " has no effect on a .obj file, only on " +
                                   (std::string_view(option) == "external" ? "COLLADA"
                                    : std::string_view(option) == "setup" || std::string_view(option) == "fineness.fit"
                                        ? "GDML"
                                        : "GDML and STEP")));
  EXPECT_THAT(load(obj).report.warnings, Not(Contains(HasSubstr("has no effect"))));
  options.setup.clear();
  options.external = false;
  EXPECT_THAT(load(test::source_dir() / "data/detector.gdml", options).report.warnings,
              Not(Contains(HasSubstr("has no effect"))));
}

}  // namespace
}  // namespace raylift
