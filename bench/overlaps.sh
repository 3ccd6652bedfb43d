#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The figures on overlaps of docs/performance.md: raylift check of detectors, with the search for overlaps and without.
#
#   bench/overlaps.sh [BUILD_DIR] [REPEATS]     build/release and 5 by default; the best time counts
set -euo pipefail
cd "$(dirname "$0")/.."
PATH=$PWD/${1:-build/release}/bin:$PATH
repeats=${2:-5}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

best() {  # the least seconds that the command took
  for _ in $(seq "$repeats"); do
    local start=$EPOCHREALTIME
    "$@" >"$folder/out"
    echo "$start $EPOCHREALTIME"
  done | awk '{ t = $2 - $1; if (NR == 1 || t < best) best = t } END { printf "%.3f", best }'
}

echo "| detector | solids | pairs, tests | check, s | with overlaps, s |"
echo "|---|---|---|---|---|"
for options in "--sensors 20000" "--sensors 20000 --segments 64" "--sensors 20000 --shape cylinder" "--sensors 1000 --flat"; do
  # shellcheck disable=SC2086  # several options
  raylift-make-detector $options -o "$folder/detector.dae" 2>/dev/null
  without=$(best raylift check --no-overlaps --json "$folder/detector.dae")
  with=$(best raylift check --json "$folder/detector.dae")
  facts=$(python3 -c 'import json, sys
scene = json.load(open(sys.argv[1]))[0]
overlaps = scene["overlaps"]
print(sum(mesh["solids"] for mesh in scene["meshes"]), "|", overlaps["pairs"], ",", overlaps["tests"])' "$folder/out")
  echo "| \`$options\` | ${facts/ ,/,} | $without | $with |"
done
