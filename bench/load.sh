#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The loading figures of docs/performance.md: makes detectors of a million triangles (and more), and runs bench_load.
#
#   bench/load.sh [BUILD_DIR] [TRIANGLES...]       build/release and 1000000 by default
set -euo pipefail
cd "$(dirname "$0")/.."
bin=${1:-build/release}/bin
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- 1000000
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for triangles in "$@"; do
  for options in "--flat" "--flat --normals"; do
    # shellcheck disable=SC2086  # two options
    "$bin/raylift-make-detector" --triangles "$triangles" $options -o "$folder/detector.dae"
    "$bin/bench_load" "$folder/detector.dae"
    echo
  done
done
