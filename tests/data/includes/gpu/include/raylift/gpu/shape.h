// SPDX-License-Identifier: Apache-2.0
// Eigen in a public header, for the test of scripts/check-includes.
#pragma once

#include <Eigen/Core>
