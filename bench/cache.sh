#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The cache's figures of docs/performance.md: makes a detector of ten million triangles, and runs bench_cache on it.
#
#   bench/cache.sh [BUILD_DIR] [TRIANGLES] [DEVICE]     build/release, 10000000 and auto by default
set -euo pipefail
cd "$(dirname "$0")/.."
PATH=$PWD/${1:-build/release}/bin:$PATH
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
raylift-make-detector --triangles "${2:-10000000}" --flat -o "$folder/detector.dae"
bench_cache "$folder/detector.dae" --device "${3:-auto}" --folder "$folder/cache"
# The same in new processes: "total" is from the scene's name to the device, "process" includes the start of CUDA.
for _ in 1 2 3; do
  TIMEFORMAT='process %R s'
  time raylift upload "$folder/detector.dae" --device "${3:-auto}" --bvh --reserve 0 --cache="$folder/cache" --timings |
    sed -n '/^timings/,$p'
done
