// SPDX-License-Identifier: Apache-2.0
// Faults of the import process for tests: $RAYLIFT_IMPORT_FAULT is the name of one, and for some of them a blank and an
// argument. They are the faults of an importer that breaks, and of one that an attacker controls.
#pragma once

namespace raylift::test {

/// Commits the fault while a file is read: segv, abort, term, hang, memory, stacks, exit, garbage, flood, forge; or
/// attempts to reach beyond this process, as the table in the source lists, and throws Error(malformed) with the
/// result.
void commit_import_fault();

/// Whether the fault is "keep": to report that all is done, and then change the result while it is read.
bool keeps_result();

/// Commits that fault. Returns where the result can't be mapped.
void keep_result();

}  // namespace raylift::test
