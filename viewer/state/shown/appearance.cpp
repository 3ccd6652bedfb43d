// SPDX-License-Identifier: Apache-2.0
#include "state/shown/appearance.h"

#include <numeric>
#include <utility>

#include "model/solids/display_name.h"
#include "model/solids/reveal.h"

namespace raylift::viewer {
namespace {

std::vector<std::uint32_t> all_of(const Solids& solids) {
  std::vector<std::uint32_t> all(solids.scene().instances.size());
  std::iota(all.begin(), all.end(), 0U);
  return all;
}

}  // namespace

const std::vector<std::uint8_t>& Appearance::looks() const {
  if (!shown_.solids) return looks_;
  Key key{shown_.solids->version(), shown_.settings.cuts_open(), shown_.settings.shells, in_the_way_};
  if (looks_of_ == key) return looks_;
  looks_ = viewer::looks(*shown_.solids, shown_.settings, in_the_way_);
  looks_of_ = std::move(key);
  ++version_;
  return looks_;
}

void Appearance::reset() {
  looks_of_.reset();
  in_the_way_.clear();
}

void Appearance::hide_selection(bool stays_selected) {
  if (!selection_) return;
  shown_.solids->set_visible(selection_->solids, false);
  shown_.messages.show("hidden: " + display_name(selection_->name) + "; Ctrl+Z shows it again");
  ++shown_.revision;
  if (!stays_selected) selection_.select(std::nullopt);
}

void Appearance::set_style(Style style) {
  if (!selection_) return;
  shown_.solids->set_style(selection_->solids, style);
  ++shown_.revision;
}

void Appearance::slide_opacity(double opacity) {
  if (!selection_) return;
  shown_.solids->slide_opacity(selection_->solids, hundredths(opacity));
  ++shown_.revision;
}

void Appearance::slide_color(std::span<const std::uint32_t> solids, std::uint32_t color) {
  if (!shown_.solids) return;
  shown_.solids->slide_color(solids, color);
  ++shown_.revision;
}

void Appearance::end_slide() {
  if (shown_.solids) shown_.solids->end_slide();
}

void Appearance::set_glass(double opacity) {
  if (!shown_.solids) return;
  shown_.solids->end_slide();
  shown_.solids->slide_opacity(all_of(*shown_.solids), hundredths(opacity));
  shown_.solids->end_slide();
  ++shown_.revision;
}

void Appearance::ghost_others() {
  if (!shown_.solids) return;
  Solids& solids = *shown_.solids;
  if (!selection_ && !solids.has_styles()) return shown_.messages.show("nothing is selected");
  if (solids.has_styles())
    solids.set_style(all_of(solids), Style::plain);
  else
    solids.set_style(all_but(solids, selection_->solids), Style::ghost);
  ++shown_.revision;
}

void Appearance::undo() {
  if (!shown_.solids) return;
  if (!shown_.solids->undo()) return shown_.messages.show("nothing to undo");
  shown_.messages.show(shown_.solids->can_undo() ? "undone; Ctrl+Z again undoes the change before" : "undone");
  ++shown_.revision;
}

}  // namespace raylift::viewer
