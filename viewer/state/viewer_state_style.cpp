// SPDX-License-Identifier: Apache-2.0
// How the state draws solids that are to be drawn in a way of their own.
#include <cstdint>
#include <numeric>
#include <vector>

#include "model/reveal.h"
#include "state/viewer_state.h"

namespace raylift::viewer {
namespace {

std::vector<std::uint32_t> all_of(const Solids& solids) {
  std::vector<std::uint32_t> all(solids.scene().instances.size());
  std::iota(all.begin(), all.end(), 0U);
  return all;
}

}  // namespace

void ViewerState::set_style(Style style) {
  if (!selection_ || !solids_) return;
  solids_->set_style(selection_->solids, style);
  ++revision_;
}

void ViewerState::slide_opacity(double opacity) {
  if (!selection_ || !solids_) return;
  solids_->slide_opacity(selection_->solids, hundredths(opacity));
  ++revision_;
}

void ViewerState::end_slide() {
  if (solids_) solids_->end_slide();
}

void ViewerState::set_glass(double opacity) {
  if (!solids_) return;
  solids_->end_slide();
  solids_->slide_opacity(all_of(*solids_), hundredths(opacity));
  solids_->end_slide();
  ++revision_;
}

void ViewerState::ghost_others() {
  if (!solids_) return;
  if (!selection_ && !solids_->has_styles()) return say("nothing is selected");
  if (solids_->has_styles()) {
    solids_->set_style(all_of(*solids_), Style::plain);
  } else {
    solids_->set_style(all_but(*solids_, selection_->solids), Style::ghost);
  }
  ++revision_;
}

}  // namespace raylift::viewer
