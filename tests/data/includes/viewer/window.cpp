// SPDX-License-Identifier: Apache-2.0
// An include against the arrows, for the test of scripts/check-includes: a viewer that uses what is the batch's.
#include "batch/report.h"
