// SPDX-License-Identifier: Apache-2.0
// The actions of the verbs. Each calls the same methods of the state as an option or a key.
#pragma once

#include "remote/verbs.h"

namespace raylift::viewer::act {

/// Sets the verb's settings that are given. Throws Error(usage).
void set_given(const Arguments& with, Settings& settings, const SettingTable& table = setting_table());

[[nodiscard]] Answer open(const ControlTarget& to, const Arguments& with);
[[nodiscard]] Answer reload(const ControlTarget& to, const Arguments& with);
[[nodiscard]] Answer ready(const ControlTarget& to, const Arguments& with);
[[nodiscard]] Answer look(const ControlTarget& to, const Arguments& with);
[[nodiscard]] Answer focus(const ControlTarget& to, const Arguments& with);
[[nodiscard]] Answer hide(const ControlTarget& to, const Arguments& with);
[[nodiscard]] Answer show(const ControlTarget& to, const Arguments& with);
[[nodiscard]] Answer only(const ControlTarget& to, const Arguments& with);
[[nodiscard]] Answer style(const ControlTarget& to, const Arguments& with);
[[nodiscard]] Answer undo(const ControlTarget& to, const Arguments& with);
[[nodiscard]] Answer clip(const ControlTarget& to, const Arguments& with);
[[nodiscard]] Answer draw(const ControlTarget& to, const Arguments& with);
[[nodiscard]] Answer photons(const ControlTarget& to, const Arguments& with);
[[nodiscard]] Answer time(const ControlTarget& to, const Arguments& with);
[[nodiscard]] Answer select(const ControlTarget& to, const Arguments& with);
[[nodiscard]] Answer facts(const ControlTarget& to, const Arguments& with);
[[nodiscard]] Answer measure(const ControlTarget& to, const Arguments& with);
[[nodiscard]] Answer bookmark(const ControlTarget& to, const Arguments& with);
[[nodiscard]] Answer screenshot(const ControlTarget& to, const Arguments& with);
[[nodiscard]] Answer state(const ControlTarget& to, const Arguments& with);
[[nodiscard]] Answer quit(const ControlTarget& to, const Arguments& with);

}  // namespace raylift::viewer::act
