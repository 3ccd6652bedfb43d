// SPDX-License-Identifier: Apache-2.0
// Misbehaviour on demand, so that tests see what becomes of it: $RAYLIFT_IMPORT_FAULT is the name of a fault, and, for
// some, a blank and an argument. The faults are those of an importer that breaks, and of one that was taken over.
#pragma once

namespace raylift::import {

/// Acts out what happens while a file is read: segv, abort, term, hang, memory, stacks, exit, garbage, flood, forge; or
/// tries to reach beyond this process, as the table in the source says, and throws Error(malformed) that says how that
/// ended.
void act_out_fault();

/// Acts out what happens once the result is written: keep.
void act_out_late_fault();

}  // namespace raylift::import
