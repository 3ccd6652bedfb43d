// SPDX-License-Identifier: Apache-2.0
// A STEP file as Open CASCADE reads it. No header of that library is included here, so that all else builds without it.
#pragma once

#include <raylift/geometry/vector_types.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/gdml/booleans/occt/operation.h"

namespace raylift::step {

using Color = std::array<float, 4>;  // RGBA, 0 to 1

/// A solid of a product, or what it has of faces that bound none.
struct Body {
  std::string name;  // its own in the file; may be empty
  std::optional<Color> color;
  bool solid = true;
};

/// A product at a place in an assembly.
struct Component {
  std::uint32_t product = 0;
  Transform placed;  // millimetres
  std::string name;
  std::optional<Color> color;
};

/// A part, which has bodies, or an assembly, which has components.
struct Product {
  std::string name;
  std::string material;  // as the file names it; may be empty
  std::optional<Color> color;
  std::vector<Body> bodies;
  std::vector<Component> components;
};

struct Contents {
  std::vector<Product> products;  // components of an assembly stand before it
  std::vector<Component> roots;
  std::vector<double> units;       // millimetres, each once
  std::uint64_t entities = 0;      // that the library has read
  std::uint64_t unread_faces = 0;  // of which the library has made nothing
  std::string first_unread;        // of these, its entity
  std::uint64_t unknown = 0;       // entities of types that the library does not know
  std::string first_unknown;       // of these, its type
};

/// A body's triangles, in millimetres and in its product's frame.
struct BodyMesh {
  gdml::Surface surface;
  std::uint64_t bare_faces = 0;  // that could not be cut into triangles
};

class Model {
 public:
  virtual ~Model() = default;

  [[nodiscard]] virtual const Contents& contents() const = 0;
  /// The diagonal of a body's bounds, mm.
  [[nodiscard]] virtual double size(std::uint32_t product, std::uint32_t body) const = 0;
  /// The volume and the area of a body's B-rep, mm3 and mm2.
  [[nodiscard]] virtual double volume(std::uint32_t product, std::uint32_t body) const = 0;
  [[nodiscard]] virtual double area(std::uint32_t product, std::uint32_t body) const = 0;
  /// For several products at once, but for one body of a product at a time. Throws Failure.
  [[nodiscard]] virtual BodyMesh mesh(std::uint32_t product, std::uint32_t body,
                                      const gdml::occt::Meshing& meshing) const = 0;
  /// Whether faces of the body have colours that differ from its own.
  [[nodiscard]] virtual bool has_colored_faces(std::uint32_t product, std::uint32_t body) const = 0;
};

/// The file can't be read; what() is the reason.
using gdml::occt::Failure;

/// What it has is not read.
class Unsupported : public Failure {
 public:
  using Failure::Failure;
};

/// What it has is more than a limit allows.
class TooLarge : public Failure {
 public:
  using Failure::Failure;
};

/// The one function of the module; most_nodes: of the expanded tree, which the library walks. Throws Failure.
using ReadModel = Model* (*)(std::string_view text, std::uint64_t most_nodes);
/// Its name, with the number of this interface.
inline constexpr const char* kReadModel = "raylift_step_1";

}  // namespace raylift::step
