# SPDX-License-Identifier: Apache-2.0
"""Events of a history, by their numbers in seq.npy (docs/photons.md)."""
BIRTH, SCATTERED, REEMITTED, TRANSMITTED, REFLECTED = 13, 6, 5, 12, 11
ABSORBED, ABSORBED_AT_SURFACE, DETECTED, ESCAPED, NO_INDEX, CUT = 4, 8, 7, 3, 14, 15
ENDS = {"absorbed": ABSORBED, "absorbed_at_surface": ABSORBED_AT_SURFACE, "detected": DETECTED, "escaped": ESCAPED,
        "no_index": NO_INDEX, "cut": CUT}
