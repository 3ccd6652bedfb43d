// SPDX-License-Identifier: Apache-2.0
// For viewer/state/options/path.h.
#pragma once
