// SPDX-License-Identifier: Apache-2.0
// The selection: a solid, a group of solids, or a photon, and the facts of the selected solids.
#pragma once

#include <raylift/geometry/checks/check.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "draw/photons/photon_layer.h"
#include "state/shown/shown_scene.h"

namespace raylift::viewer {

/// The selected solid or group of solids, as the panel shows it.
struct SelectedSolids {
  std::uint32_t instance = kNone;         ///< kNone: a group or a set
  std::uint32_t group = kNone;            ///< a node, selected with all solids at and below it; kNone: a solid
  std::vector<std::uint32_t> solids;      ///< the selected instances, ascending where they are not a group
  std::optional<std::uint32_t> triangle;  ///< in its mesh; none of a cap, or where the solid was selected by name
  bool clicked = false;                   ///< not selected by name
  Eigen::Vector3d position{0, 0, 0};      ///< in the world, mm: the clicked point, or the centre of the solid's box
  std::string name, path, mesh, inside, outside;
  std::string entering, leaving;   ///< the optical surfaces from its mother into it and back, and why these
  std::uint32_t material = kNone;  ///< inside
  std::uint32_t surface_in = kNone, surface_out = kNone;  ///< indices in Optics::surfaces
  [[nodiscard]] bool is_one() const { return instance != kNone; }
  [[nodiscard]] bool is_set() const { return instance == kNone && group == kNone; }  ///< any solids
};

/// The input of the facts that are still to be computed.
struct FactsRequest {
  std::uint64_t selection = 0;  ///< Selection::version()
  std::shared_ptr<SolidMeasurer> measurer;
  std::vector<std::uint32_t> solids;
  std::shared_ptr<const SceneCheck> check;  ///< null: not ended yet
};

/// Reads as std::optional<SelectedSolids>.
class Selection {
 public:
  explicit Selection(ShownScene& shown) : shown_(shown) {}

  explicit operator bool() const { return selected_.has_value(); }
  const SelectedSolids& operator*() const { return *selected_; }
  const SelectedSolids* operator->() const { return &*selected_; }
  /// Raised by each change of the selection.
  [[nodiscard]] std::uint64_t version() const { return version_; }

  void select(std::optional<std::uint32_t> instance);
  /// Selects a node of the tree: the solids of the node and of all nodes below it.
  void select_group(std::uint32_t node);
  /// Selects solids, ascending, which are marked as those of a search. `name`: what they have in common.
  void select_all(std::span<const std::uint32_t> solids, const std::string& name);
  /// Selects the solid that a click at `cursor` met, or none.
  void select(const std::optional<Picked>& picked, const Cursor& cursor);
  void select_photon(const std::optional<PickedPhoton>& picked);

  /// The facts of the selected solids; nothing until they are computed.
  [[nodiscard]] const std::optional<SolidFacts>& facts() const { return facts_; }
  /// What facts() lacks, with a check that is null while it runs; nothing where they are complete. Volumes need the
  /// check.
  [[nodiscard]] std::optional<FactsRequest> facts_request(const std::shared_ptr<const SceneCheck>& check) const;
  /// Facts of an earlier version() are dropped.
  void set_facts(std::uint64_t version, SolidFacts facts);
  /// Marks solids that a search finds in the image: the first ones, up to kMaxMarked triangles.
  void mark_found(std::span<const std::uint32_t> solids);
  [[nodiscard]] const std::vector<std::uint32_t>& found() const { return found_; }
  static constexpr std::size_t kMaxMarked = 400'000;

  /// Name, path and facts as text; empty until they are computed.
  [[nodiscard]] std::string text() const;

 private:
  ShownScene& shown_;
  std::optional<SelectedSolids> selected_;
  std::optional<SolidFacts> facts_;
  std::uint64_t version_ = 0;
  std::vector<std::uint32_t> found_;
};

}  // namespace raylift::viewer
