// SPDX-License-Identifier: Apache-2.0
// The actions of the verbs. Each calls the same methods of the state as an option or a key.
#pragma once

#include "remote/verbs.h"

namespace raylift::viewer::act {

/// Sets the verb's settings that are given. Throws Error(usage).
void set_given(const Arguments& with, Settings& settings, const SettingTable& table = setting_table());

Action open, reload, ready, look, focus, hide, show, only, style, undo, clip, draw, photons, event, path, time, select,
    facts, measure, overlaps, bookmark, screenshot, state, quit;

}  // namespace raylift::viewer::act
