// SPDX-License-Identifier: Apache-2.0
// An include against the arrows within a library, for the test of scripts/check-includes.
#include "memory/block.h"
