// SPDX-License-Identifier: Apache-2.0
// What the commands say about scenes, as text and as JSON.
#include <gmock/gmock.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "geometry/src/import/import_process.h"
#include "run_program.h"
#include "support/thin_scene.h"

namespace raylift::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(Info, SaysWhatASceneHolds) {
  const Ended ended = raylift({"info", data_file("instances.dae")});
  EXPECT_EQ(ended.code, 0);
  EXPECT_THAT(ended.err, IsEmpty());
  for (const char* word :
       {"COLLADA", "unit", "up axis", "instances", "triangles", "bounds", "two-level", "flattened", "total"})
    EXPECT_THAT(ended.out, HasSubstr(word));
}

TEST(Info, AgreesWithItselfInJson) {
  const json info = raylift({"info", "--json", data_file("detector.dae")}).one();
  std::uint64_t unique = 0;
  std::uint64_t expanded = 0;
  std::uint64_t instances = 0;
  for (const json& mesh : info["meshes"]) {
    unique += mesh["triangles"].get<std::uint64_t>();
    expanded += mesh["triangles"].get<std::uint64_t>() * mesh["instances"].get<std::uint64_t>();
    instances += mesh["instances"].get<std::uint64_t>();
  }
  EXPECT_EQ(info["triangles"]["unique"], unique);
  EXPECT_EQ(info["triangles"]["expanded"], expanded);
  EXPECT_EQ(info["instances"], instances);
  EXPECT_GT(expanded, unique);
  std::uint64_t filled = info["without_material"]["triangles"];
  for (const json& material : info["materials"]) filled += material["triangles"].get<std::uint64_t>();
  EXPECT_EQ(filled, expanded);
  for (int axis = 0; axis != 3; ++axis)
    EXPECT_NEAR(info["bounds_mm"]["max"][axis].get<double>() - info["bounds_mm"]["min"][axis].get<double>(),
                info["bounds_mm"]["size"][axis].get<double>(), 1e-6);
}

TEST(Info, PredictsTheArraysThatAnUploadMakes) {
  for (const char* name : {"instances.dae", "materials.dae", "detector.dae"}) {
    const json info = raylift({"info", "--json", data_file(name)}).one();
    for (const bool flat : {false, true}) {
      std::vector<std::string> arguments{"upload", "--json", "--device", "host", data_file(name)};
      if (flat) arguments.emplace_back("--flatten");
      const json uploaded = raylift(arguments).one()["residency"];
      const json& predicted = info[flat ? "flattened" : "two_level"];
      EXPECT_EQ(predicted["bytes"], uploaded["bytes"]) << name;
      std::vector<std::pair<std::string, std::uint64_t>> a;
      std::vector<std::pair<std::string, std::uint64_t>> b;
      for (const json& one : predicted["arrays"]) a.emplace_back(one["name"], one["bytes"]);
      for (const json& one : uploaded["arrays"]) b.emplace_back(one["name"], one["bytes"]);
      std::sort(a.begin(), a.end());
      std::sort(b.begin(), b.end());
      EXPECT_EQ(a, b) << name << " flat " << flat;
    }
  }
}

TEST(Info, TellsWhereUnitAndAxisComeFrom) {
  const json stated = raylift({"info", "--json", data_file("units_inch_y_up.dae")}).one();
  EXPECT_DOUBLE_EQ(stated["unit_mm"], 25.4);
  EXPECT_EQ(stated["unit_from"], "file");
  EXPECT_EQ(stated["up_axis"], "y");
  const json given = raylift({"info", "--json", "--unit", "cm", "--up", "z", data_file("units_inch_y_up.dae")}).one();
  EXPECT_DOUBLE_EQ(given["unit_mm"], 10);
  EXPECT_EQ(given["unit_from"], "option");
  EXPECT_EQ(given["up_axis"], "z");
  EXPECT_EQ(given["up_axis_from"], "option");
  const double inches = stated["bounds_mm"]["size"][0];
  EXPECT_NEAR(given["bounds_mm"]["size"][0], inches / 25.4 * 10, 1e-9);
}

TEST(Info, ReadsByAssimpOnRequest) {
  const json by_assimp = raylift({"info", "--json", "--reader", "assimp", data_file("instances.dae")}).one();
  const json own = raylift({"info", "--json", "--reader", "raylift", data_file("instances.dae")}).one();
  EXPECT_EQ(by_assimp["format"], "Collada Importer");
  EXPECT_EQ(own["format"], "COLLADA 1.4.1");
  for (const char* fact : {"instances", "bounds_mm", "unit_mm", "up_axis"}) EXPECT_EQ(by_assimp[fact], own[fact]);
  EXPECT_THAT(raylift({"info", "--reader", "assimp", data_file("instances.dae")}).out, HasSubstr("Assimp has read it"));
}

TEST(Info, RefusesOptionsThatAssimpCannotHonour) {
  for (const char* option : {"--external", "--strict-optics"}) {
    const Ended ended = raylift({"info", "--reader", "assimp", option, data_file("instances.dae")});
    EXPECT_EQ(ended.code, 2) << option;
    EXPECT_THAT(ended.err, HasSubstr(std::string("leave out --reader or ") + option));
  }
  EXPECT_THAT(raylift({"info", "--reader", "assip", data_file("instances.dae")}).err,
              HasSubstr("did you mean 'assimp'?"));
}

TEST(Info, ListsTheTreeDownToADepth) {
  const std::string all = raylift({"info", "--tree", data_file("nested_transforms.dae")}).out;
  const std::string top = raylift({"info", "--depth", "1", data_file("nested_transforms.dae")}).out;
  EXPECT_THAT(all, AllOf(HasSubstr("\nnodes\n"), HasSubstr("triangles]"), Not(HasSubstr("..."))));
  EXPECT_THAT(top, HasSubstr("... "));
  EXPECT_LT(top.size(), all.size());
  const json tree = raylift({"info", "--json", "--tree", data_file("nested_transforms.dae")}).one()["tree"];
  ASSERT_FALSE(tree.empty());
  EXPECT_TRUE(tree[0]["parent"].is_null());
}

TEST(Info, LeavesVerticesAloneWhenAskedToBeRaw) {
  TemporaryFolder folder;
  const auto file =
      folder.write("two.stl",
                   "solid s\n"
                   "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n"
                   "facet normal 0 0 1\nouter loop\nvertex 1 0 0\nvertex 1 1 0\nvertex 0 1 0\nendloop\nendfacet\n"
                   "endsolid s\n");
  EXPECT_EQ(raylift({"info", "--json", file}).one()["vertices"]["unique"], 4);
  EXPECT_EQ(raylift({"info", "--json", "--weld", "off", file}).one()["vertices"]["unique"], 6);
}

TEST(Check, ExitsByWhetherMeshesAreWatertight) {
  const Ended closed = raylift({"check", data_file("cube.dae")});
  EXPECT_EQ(closed.code, 0);
  EXPECT_THAT(closed.out, HasSubstr("watertight: yes"));
  EXPECT_THAT(raylift({"check", "--all", data_file("cube.dae")}).out, HasSubstr("  8 m^3  watertight"));
  const Ended open = raylift({"check", data_file("open_box.dae")});
  EXPECT_EQ(open.code, 1);
  EXPECT_THAT(open.out, AllOf(HasSubstr("watertight: no"), HasSubstr("open edge at triangle")));
  EXPECT_THAT(open.err, IsEmpty());
}

TEST(Check, CountsFlawsInJson) {
  const json open = raylift({"check", "--json", "--examples", "2", data_file("open_box.dae")}).one();
  EXPECT_EQ(open["watertight"], false);
  EXPECT_EQ(open["counts"]["open_edge"], 4);
  EXPECT_EQ(open["meshes"][0]["examples"].size(), 2U);
  EXPECT_EQ(open["meshes"][0]["verdict"], "open");
  EXPECT_TRUE(open["meshes"][0]["volume"].is_null());
  EXPECT_TRUE(open["meshes"][0]["solid_volume_mm3"].is_null());
}

/// A cube of 2 x 2 x 2, placed in centimetres inside a document in metres, and once at twice the size.
TEST(Check, GivesTheVolumesOfSolidsByTheirTransforms) {
  const TemporaryFolder folder;
  std::string text = bytes_in(data_file("cube.dae"));
  const std::string scene = "<visual_scene ";
  const auto inside = text.find('>', text.find(scene)) + 1;
  text.insert(inside, "<asset><unit meter=\"0.01\"/></asset>");
  const std::string once = folder.write("once.dae", text);
  EXPECT_THAT(raylift({"check", "--all", once}).out, HasSubstr("  8e-06 m^3  watertight"));
  const auto url = text.find("#", text.find("<instance_geometry")) + 1;
  const std::string id = text.substr(url, text.find('"', url) - url);
  text.insert(text.find("</visual_scene>"),
              "<node><scale>2 2 -2</scale><instance_geometry url=\"#" + id + "\"/></node>");
  const std::string twice = folder.write("twice.dae", text);
  EXPECT_THAT(raylift({"check", "--all", "--no-overlaps", twice}).out, HasSubstr("  8e-06 m^3 to 6.4e-05 m^3  "));
  const json mesh = raylift({"check", "--json", "--no-overlaps", twice}).one()["meshes"][0];
  EXPECT_NEAR(mesh["solid_volume_mm3"]["min"].get<double>(), 8000, 1e-6);
  EXPECT_NEAR(mesh["solid_volume_mm3"]["max"].get<double>(), 64000, 1e-6);
}

TEST(Check, GivesAnErrorPrecedenceOverALeak) {
  const Ended ended =
      raylift({"check", "--json", data_file("open_box.dae"), "/does/not/exist.dae", data_file("cube.dae")});
  EXPECT_EQ(ended.code, 3);
  const json all = ended.json();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0]["watertight"], false);
  EXPECT_EQ(all[1]["error"]["kind"], "io");
  EXPECT_EQ(all[2]["watertight"], true);
  EXPECT_EQ(raylift({"check", data_file("open_box.dae"), data_file("cube.dae")}).code, 1);
}

TEST(Check, ListsSolidsThatOverlap) {
  const Ended ended = raylift({"check", data_file("nested_transforms.dae")});
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.out,
              AllOf(HasSubstr("watertight: yes"), HasSubstr("overlaps: yes: 1 pair of solids, by up to 5 mm"),
                    HasSubstr("/World/outer/matrix/deep  is outside its mother  /World/outer/matrix  "),
                    HasSubstr("A solid's mother is"), Not(HasSubstr("No solid of this file has a mother"))));
  EXPECT_THAT(ended.err, IsEmpty());
  for (const auto& option : {std::vector<std::string>{"--no-overlaps"}, {"--overlap-tolerance", "1cm"}}) {
    std::vector<std::string> arguments{"check", data_file("nested_transforms.dae")};
    arguments.insert(arguments.end(), option.begin(), option.end());
    EXPECT_EQ(raylift(arguments).code, 0) << option[0];
  }
  const Ended none = raylift({"check", data_file("detector.dae")});
  EXPECT_EQ(none.code, 0);
  EXPECT_THAT(none.out, HasSubstr("\noverlaps: no ("));
  EXPECT_EQ(raylift({"check", "--overlap-tolerance", "-1", data_file("cube.dae")}).code, 2);
}

TEST(Check, ListsOverlapsByTessellationApart) {
  const TemporaryFolder folder;
  // A tube that touches its box, or sticks out of it by a millimetre.
  const auto scene = [&](const std::string& radius) {
    return folder
        .write(radius + ".gdml", R"(<gdml><materials><material name="Air"/></materials><solids>
          <box name="box" x="200" y="200" z="200"/><tube name="tube" rmax=")" +
                                     radius + R"(" z="100" deltaphi="6.3"/>
          </solids><structure>
          <volume name="T"><materialref ref="Air"/><solidref ref="tube"/></volume>
          <volume name="W"><materialref ref="Air"/><solidref ref="box"/><physvol name="t"><volumeref ref="T"/></physvol>
          </volume></structure><setup name="Default" version="1"><world ref="W"/></setup></gdml>)")
        .string();
  };
  const Ended touching = raylift({"check", scene("100")});
  EXPECT_EQ(touching.code, 0) << touching.err;
  EXPECT_THAT(touching.out, AllOf(HasSubstr("\noverlaps: no (1 pair of solids tested)"),
                                  HasSubstr("overlaps that may be by tessellation alone"), HasSubstr("facets, mm"),
                                  HasSubstr("/W_PV/t  crosses its mother  /W_PV"),
                                  HasSubstr("  by tessellation: 1 further pair overlaps by no more")));
  const json report = raylift({"check", "--json", scene("100")}).one()["overlaps"];
  EXPECT_EQ(report["overlapping_pairs"], 0);
  EXPECT_EQ(report["tessellation_pairs"], 1);
  EXPECT_TRUE(report["found"].empty());
  ASSERT_EQ(report["by_tessellation"].size(), 1U);
  EXPECT_GT(report["by_tessellation"][0]["depth_mm"], 0.01);
  EXPECT_GE(report["by_tessellation"][0]["facets_mm"], report["by_tessellation"][0]["depth_mm"].get<double>() - 1e-4);
  const Ended out = raylift({"check", scene("101")});
  EXPECT_EQ(out.code, 1);
  EXPECT_THAT(out.out, AllOf(HasSubstr("overlaps: yes: 1 pair of solids, by up to 1."), HasSubstr("facets, mm"),
                             Not(HasSubstr("by tessellation"))));
}

TEST(Check, ListsSolidsThatOverlapInJson) {
  const json overlaps = raylift({"check", "--json", data_file("nested_transforms.dae")}).one()["overlaps"];
  EXPECT_EQ(overlaps["overlapping_pairs"], 1);
  EXPECT_EQ(overlaps["touching_pairs"], 0);
  EXPECT_EQ(overlaps["untested_solids"], 0);
  ASSERT_EQ(overlaps["found"].size(), 1U);
  const json& found = overlaps["found"][0];
  EXPECT_EQ(found["kind"], "outside_mother");
  EXPECT_EQ(found["first"], "/World/outer/matrix/deep");
  EXPECT_EQ(found["second"], "/World/outer/matrix");
  EXPECT_NEAR(found["depth_mm"].get<double>(), 5, 1e-6);
  EXPECT_EQ(found["place_mm"].size(), 3U);
  EXPECT_EQ(found["pairs"], 1);
  EXPECT_EQ(overlaps["deepest_mm"], found["depth_mm"]);
  EXPECT_TRUE(raylift({"check", "--json", "--no-overlaps", data_file("cube.dae")}).one()["overlaps"].is_null());
}

/// Two cubes from 0 to 1 m, the second one a little apart from the first, or in it.
std::string two_cubes(double at) {
  const std::string cube =
      "<geometry id=\"c\"><mesh><source id=\"p\"><float_array id=\"a\" count=\"24\">0 0 0  1 0 0  1 1 0  0 1 0  0 0 1  "
      "1 0 "
      "1  1 1 1  0 1 1</float_array><technique_common><accessor source=\"#a\" count=\"8\" stride=\"3\"><param "
      "name=\"X\" "
      "type=\"float\"/><param name=\"Y\" type=\"float\"/><param name=\"Z\" type=\"float\"/></accessor>"
      "</technique_common></source><vertices id=\"v\"><input semantic=\"POSITION\" "
      "source=\"#p\"/></vertices><triangles "
      "count=\"12\"><input semantic=\"VERTEX\" source=\"#v\" offset=\"0\"/><p>0 2 1 0 3 2 4 5 6 4 6 7 0 1 5 0 5 4 1 2 "
      "6 1 6 "
      "5 2 3 7 2 7 6 3 0 4 3 4 7</p></triangles></mesh></geometry>";
  return "<?xml version=\"1.0\"?><COLLADA xmlns=\"http://www.collada.org/2005/11/COLLADASchema\" version=\"1.4.1\">"
         "<asset/><library_geometries>" +
         cube +
         "</library_geometries><library_visual_scenes><visual_scene id=\"s\"><node name=\"one\"><instance_geometry "
         "url=\"#c\"/></node><node name=\"two\"><translate>" +
         std::to_string(at) +
         " 0 0</translate><instance_geometry url=\"#c\"/></node></visual_scene></library_visual_scenes><scene>"
         "<instance_visual_scene url=\"#s\"/></scene></COLLADA>";
}

TEST(Check, ExplainsOverlapsOfAFileWithoutMothers) {
  const TemporaryFolder folder;
  const Ended ended = raylift({"check", folder.write("two.dae", two_cubes(0.75))});
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.out, AllOf(HasSubstr("crosses its sibling"), HasSubstr("by up to 250 mm"),
                               HasSubstr("No solid of this file has a mother")));
}

TEST(Check, ToldOfPairsThatTouchIsContent) {
  const TemporaryFolder folder;
  const std::string file = folder.write("two.dae", two_cubes(1));
  const Ended ended = raylift({"check", file});
  EXPECT_EQ(ended.code, 0);
  EXPECT_THAT(ended.out, AllOf(HasSubstr("pairs that touch"), HasSubstr("one and "), HasSubstr("1 pair touches")));
  EXPECT_EQ(raylift({"check", "--json", file}).one()["overlaps"]["touching"].size(), 1U);
}

TEST(Check, ListsSolidsThatAreThinnerThanCanBeResolved) {
  const TemporaryFolder folder;
  const std::string thin = folder.write("thin.dae", thin_film(2e-7)), fine = folder.write("fine.dae", thin_film(0.002));
  const Ended none = raylift({"check", "--strict", fine});
  EXPECT_EQ(none.code, 0) << none.err;
  EXPECT_THAT(none.out, AllOf(HasSubstr("/s/world/film0          0.002     4.54747e-09  "),
                              HasSubstr("\nthickness: resolved: 0.002 mm or more (704 rays)\n")));
  const Ended found = raylift({"check", thin});
  EXPECT_EQ(found.code, 1);
  EXPECT_THAT(found.out,
              AllOf(HasSubstr("  /s/world/film0: 2e-07 mm thick, and resolved to 4.54747e-09 mm\n"),
                    HasSubstr("\nthickness: not resolved: 1 of 2 solids (704 rays)\n"), HasSubstr("overlaps: no")));
  const std::string many = folder.write("many.dae", thin_film(2e-7, 25));
  EXPECT_THAT(raylift({"check", many}).out, AllOf(HasSubstr("film19: 2e-07"), Not(HasSubstr("film20: 2e-07")),
                                                  HasSubstr("  and 5 further solids (--all lists them)")));
  EXPECT_THAT(raylift({"check", "--all", many}).out, HasSubstr("film24: 2e-07"));
  const Ended refused = raylift({"check", "--strict", thin});
  EXPECT_EQ(refused.code, 5);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("solid '/s/world/film0'"), HasSubstr("2e-07 mm thick"),
                                 HasSubstr("or leave out --strict")));
}

TEST(Check, ListsThicknessesInJson) {
  const TemporaryFolder folder;
  const json thickness = raylift({"check", "--json", folder.write("thin.dae", thin_film(2e-7, 3))}).one()["thickness"];
  EXPECT_EQ(thickness["rays"], 704);
  EXPECT_EQ(thickness["measured_solids"], 4);
  EXPECT_EQ(thickness["unmeasured_solids"], 0);
  EXPECT_EQ(thickness["unresolved_solids"], 3);
  EXPECT_NEAR(thickness["thinnest_mm"].get<double>(), 2e-7, 1e-13);
  ASSERT_EQ(thickness["found"].size(), 2U);
  EXPECT_EQ(thickness["found"][0]["solids"], 3);
  EXPECT_EQ(thickness["found"][0]["resolved"], false);
  EXPECT_EQ(thickness["found"][1]["first_solid"], "/s/world");
  EXPECT_EQ(thickness["found"][1]["resolved"], true);
  EXPECT_NEAR(thickness["found"][1]["thickness_mm"].get<double>(), 20'000, 1e-6);
  ASSERT_EQ(thickness["unresolved"].size(), 3U);
  EXPECT_EQ(thickness["unresolved"][2]["solid"], "/s/world/film2");
}

TEST(Upload, SaysWhereEachArrayWent) {
  const Ended ended = raylift({"upload", "--device", "host", data_file("detector.dae")});
  EXPECT_EQ(ended.code, 0);
  for (const char* word : {"device host", "triangles", "vertices", "instances", "device", "total", "placement"})
    EXPECT_THAT(ended.out, HasSubstr(word));
}

TEST(Upload, SaysWhyOnlyOfWhatDidNotFit) {
  const std::string file = data_file("detector.dae");
  const std::string all = raylift({"upload", "--device", "host", file}).out;
  EXPECT_THAT(all, AllOf(Not(HasSubstr("why")), Not(HasSubstr("fits"))));
  const std::string some = raylift({"upload", "--device", "host", "--budget", "200kB", "--reserve", "0", file}).out;
  EXPECT_THAT(some, AllOf(HasSubstr("share  why\n"), testing::ContainsRegex("mapped .* 0 % +does not fit"),
                          testing::ContainsRegex("instances .*100 %\n")));
}

TEST(Upload, TakesTheHierarchyAlong) {
  const auto arrays_of = [](const std::vector<std::string>& arguments) {
    const json uploaded = raylift(arguments).one();
    std::vector<std::string> names;
    for (const json& array : uploaded["residency"]["arrays"]) names.push_back(array["name"]);
    return names;
  };
  const std::vector<std::string> plain{"upload", "--json", "--verify", "--device", "host", data_file("instances.dae")};
  std::vector<std::string> with = plain;
  with.emplace_back("--bvh");
  EXPECT_THAT(arrays_of(plain), Not(testing::Contains("nodes")));
  EXPECT_THAT(arrays_of(with), testing::IsSupersetOf({"nodes", "pairs", "pair_ids", "triangles"}));
}

TEST(Upload, KeepsToTheBudget) {
  const json residency =
      raylift({"upload", "--json", "--device", "host", "--budget", "100kB", data_file("detector.dae")})
          .one()["residency"];
  EXPECT_EQ(residency["budget_bytes"], 100'000);
  EXPECT_LE(residency["device_bytes"], 100'000);
  EXPECT_GT(residency["host_bytes"], 0);
  EXPECT_EQ(residency["device_bytes"].get<std::uint64_t>() + residency["host_bytes"].get<std::uint64_t>(),
            residency["bytes"]);
}

TEST(Upload, FailsWhereThePolicyCannotBeKept) {
  const Ended ended =
      raylift({"upload", "--device", "host", "--policy", "device", "--budget", "1kB", data_file("detector.dae")});
  EXPECT_EQ(ended.code, 8);
  EXPECT_THAT(ended.out, IsEmpty());
  EXPECT_THAT(ended.err, HasSubstr("raylift: error: out_of_device_memory: "));
}

TEST(Upload, ReadsBackWhatItUploaded) {
  for (const char* name : {"cube.dae", "nested_transforms.dae", "materials.dae", "detector.dae"})
    for (const char* policy : {"auto", "chroma", "mapped"})
      for (const bool flat : {false, true}) {
        std::vector<std::string> arguments{"upload",   "--json", "--verify", "--device", "host",
                                           "--budget", "200kB",  "--policy", policy,     data_file(name)};
        if (flat) arguments.emplace_back("--flatten");
        const Ended ended = raylift(arguments);
        EXPECT_EQ(ended.code, 0) << name << ' ' << policy << ' ' << ended.err;
        EXPECT_GT(ended.one()["verified_bytes"], 0);
      }
}

TEST(Upload, GoesToSeveralDevicesAtOnce) {
  for (const bool flat : {false, true}) {
    std::vector<std::string> arguments{"upload", "--json",         "--verify",
                                       "--to",   "host,host,host", data_file("detector.dae")};
    if (flat) arguments.emplace_back("--flatten");
    const Ended ended = raylift(arguments);
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(ended.one()["devices"].size(), 3U);
    EXPECT_GT(ended.one()["verified_bytes"], 0);
  }
  EXPECT_EQ(raylift({"upload", "--to", "host,nowhere", data_file("cube.dae")}).code, 2);
}

TEST(Upload, TakesHelp) {
  const Ended ended = raylift(
      {"upload", "--json", "--verify", "--device", "host", "--helpers", "host,host", data_file("detector.dae")});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_GT(ended.one()["verified_bytes"], 0);
}

TEST(Timings, AddUp) {
  const TemporaryFolder folder;
  const std::string cache = "--cache=" + folder.path().string();
  // With a missing, and with a present cache file.
  for (const std::vector<std::string>& command : {std::vector<std::string>{"upload", "--verify", cache},
                                                  {"upload", "--verify", cache},
                                                  {"trace", "--rays", "1k"}}) {
    std::vector<std::string> arguments = command;
    arguments.insert(arguments.end(), {"--json", "--timings", "--device", "host", data_file("detector.dae")});
    const json timings = raylift(arguments).one()["timings"];
    std::vector<std::string> stages;
    double sum = 0;
    for (const json& one : timings) {
      stages.push_back(one["stage"]);
      EXPECT_GE(one["seconds"], 0);
      if (stages.back() != "total") sum += one["seconds"].get<double>();
    }
    ASSERT_EQ(stages.back(), "total");
    EXPECT_NEAR(timings.back()["seconds"].get<double>(), sum, 1e-9);
    EXPECT_EQ(std::set<std::string>(stages.begin(), stages.end()).size(), stages.size());
    for (const char* stage : {"preflight", "import", "weld", "transfer", "upload", "other"})
      EXPECT_THAT(stages, testing::Contains(stage));
  }
}

TEST(Devices, ListsTheHostLast) {
  const Ended ended = raylift({"devices", "--json"});
  const json devices = ended.json()["devices"];
  ASSERT_FALSE(devices.empty());
  EXPECT_EQ(devices.back()["id"], "host");
  EXPECT_GT(devices.back()["total_bytes"], 0);
  EXPECT_THAT(raylift({"devices"}).out, HasSubstr("host"));
}

TEST(Devices, SayWhatConfinesImports) {
  const ImportSandbox sandbox = import_sandbox();
  const json said = raylift({"devices", "--json"}).json()["import_sandbox"];
  EXPECT_EQ(said, json({{"landlock", sandbox.landlock}, {"seccomp", sandbox.seccomp}}));
  EXPECT_THAT(raylift({"devices"}).out,
              testing::ContainsRegex(sandbox.landlock ? "Landlock +they" : "Landlock +missing"));
}

TEST(Devices, FailWhereTheOneAskedForDoesNotWork) {
  const Ended ended = raylift({"devices", "--json"}, {{"CUDA_DEVICE=99"}, ""});
  EXPECT_EQ(ended.code, 9);
  EXPECT_TRUE(ended.json()["auto"].is_null());
  EXPECT_THAT(ended.err, HasSubstr("CUDA_DEVICE"));
  EXPECT_EQ(raylift({"upload", data_file("cube.dae")}, {{"CUDA_DEVICE=99"}, ""}).code, 9);
  EXPECT_EQ(raylift({"upload", "--device", "host", data_file("cube.dae")}, {{"CUDA_DEVICE=99"}, ""}).code, 0);
}

}  // namespace
}  // namespace raylift::test
