// SPDX-License-Identifier: Apache-2.0
// An include against the arrows of a floor's rooms.
#pragma once

#include "state/shown/camera.h"
