// SPDX-License-Identifier: Apache-2.0
// Reading a scene from a file.
#pragma once

#include <raylift/geometry/import/fineness.h>
#include <raylift/geometry/progress.h>
#include <raylift/geometry/scene/scene.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace raylift {

/// Limits on what a file may need. Exceeding one is an Error(limit) that names it. 0 does not mean "no limit".
struct LoadLimits {
  std::uint64_t file_bytes = std::uint64_t{8} << 30;   ///< size of the file on disk
  std::uint64_t text_bytes = std::uint64_t{16} << 30;  ///< after decompression
  std::uint32_t expansion = 100;            ///< times the stored bytes: of archives and sparse files, above 64 MiB
  std::uint32_t documents = 1000;           ///< that a scene is read from, its own included
  std::uint32_t node_depth = 512;           ///< of XML elements, and of the expanded node tree
  std::uint64_t instances = 5'000'000;      ///< solids after expansion
  std::uint64_t nodes = 10'000'000;         ///< nodes after expansion
  std::uint64_t triangles = 1'000'000'000;  ///< unique ones, over all meshes
  std::uint32_t polygon_vertices = 10'000;  ///< of one polygon: its triangulation takes quadratic time
  double isolate_seconds = 600;             ///< wall time of an isolated import
  std::uint64_t isolate_bytes = 0;          ///< address space of an isolated import, and three times the largest
                                            ///< document; 0: 3/4 of the memory of machine and control group
};

struct LoadOptions {
  /// What reads COLLADA, OBJ, STL, PLY and 3MF. GDML and STEP are read by raylift in any case, all other formats by
  /// Assimp's importers.
  enum class Reader : std::uint8_t {
    raylift,  ///< raylift's importers
    assimp,   ///< Assimp's own importers, for comparison: docs/formats.md lists where they are not right
  };
  /// How vertices at the same place become one.
  struct Weld {
    bool enabled = true;
    double tolerance = 0;  ///< in the file's unit; 0: only vertices that are equal (0 and -0 count as equal)
  };

  Reader reader = Reader::raylift;  ///< `assimp` excludes `external` and `strict_optics`
  std::optional<double> unit_mm;    ///< millimetres per unit; overrides every unit in the file
  std::optional<UpAxis> up_axis;    ///< overrides every up axis in the file
  Weld weld;
  bool external = false;            ///< read other COLLADA documents that the file refers to, beneath its folder
  bool repair = false;              ///< drop and count NaN vertices and indices out of range
  bool drop_degenerate = false;     ///< drop degenerate triangles; changes triangle ids
  std::filesystem::path optics;     ///< a sidecar (.json) or GDML (.gdml), which overrides the file's own optics
  bool optics_beside = true;        ///< where `optics` is empty, the sidecar beside the file: optics_file()
  bool sensor_materials = true;     ///< solids of a material with EFFICIENCY detect (docs/optics.md)
  bool compute_rayleigh = true;     ///< RAYLEIGH where Geant4 computes it: "Water", ISOTHERMAL_COMPRESSIBILITY
  Fineness fineness;                ///< of the solids of GDML and STEP
  std::string setup;                ///< GDML: the setup that names the world; empty: "Default", or else the first one
  bool skip_failed_solids = false;  ///< GDML, STEP: leave out volumes whose solids can't be made, each with a warning
  bool strict_optics = false;       ///< refuse scenes with properties that are not honoured: unhonoured_properties()
  bool rests = false;          ///< keep Mesh::rests of COLLADA and GDML in any case, not only where layers are thin
  bool isolate = false;        ///< import in a child process; needs the program raylift-import
  std::string import_program;  ///< raylift-import's path; empty: $RAYLIFT_IMPORT, then beside the program, then where
                               ///< it was installed
  LoadLimits limits;
};

/// Reads COLLADA (.dae, .zae, .dae.gz), GDML, STEP, OBJ, STL, PLY, 3MF, and every other format that Assimp reads. For
/// those of which LoadReport::faces_checked is false, nothing proves that all faces of the file were read.
///
/// COLLADA goes through a preflight first: structure, references, accessor arithmetic, index ranges. raylift reads the
/// node tree, units and materials itself, in double, and the geometries' numbers, each rounded once to the nearest
/// float; Assimp triangulates polygons. Every vertex and index is checked. With `external`, references to other
/// documents are followed: by relative paths, to files beneath the folder of `path`, links resolved, or in the same
/// archive. Scene::files lists them. The optics of optics_file() override the file's own; then all are checked, and
/// resolve_optics() resolves their solids.
///
/// The solids of GDML and STEP are tessellated by `fineness`: each that the scene uses once. The entities and modules
/// of a file are read from its folder or below. docs/gdml.md lists its elements.
///
/// With LoadOptions::Reader::assimp, Assimp's importers read COLLADA, OBJ, STL, PLY and 3MF too: no preflight, nothing
/// of `<extra>`, and LoadReport::faces_checked is false. Use `isolate` with it: Assimp calls abort() on some valid
/// files.
/// Errors: io, malformed, unsupported, limit, out_of_host_memory, cancelled; usage for options that exclude each other.
[[nodiscard]] Scene load(const std::filesystem::path& path, const LoadOptions& options = {},
                         const Progress& progress = {});

/// The sidecar or GDML file that load() takes for a scene: LoadOptions::optics; or else "detector.dae.optics.json"
/// beside "detector.dae", or else "detector.optics.json" beside that or "detector.dae.gz", where there is such a file.
/// Empty: none.
[[nodiscard]] std::filesystem::path optics_file(const std::filesystem::path& path, const LoadOptions& options = {});
/// "detector.dae.optics.json" for "detector.dae": the sidecar of that file alone, whether it is there or not.
[[nodiscard]] std::filesystem::path own_optics_file(const std::filesystem::path& path);
/// optics_file(), and the files with columns of numbers that it refers to. Errors: io, malformed, limit.
[[nodiscard]] std::vector<std::filesystem::path> optics_files(const std::filesystem::path& path,
                                                              const LoadOptions& options = {});

/// The file name endings that `load` accepts, lower case, without the dot: "dae", "zae", "dae.gz", "obj", ...
[[nodiscard]] std::vector<std::string> supported_extensions();

}  // namespace raylift
