#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The viewer's frame rates of docs/performance.md: makes a detector of 20,000 sensors, and draws it in each way.
#
#   bench/view.sh [BUILD_DIR] [RENDERER] [DEVICE]     build/release, device and auto by default
#
# RENDERER: as raylift-view --gl takes it; device draws on the GPU. Pictures go to $OUT, where that is set.
set -euo pipefail
cd "$(dirname "$0")/.."
PATH=$PWD/${1:-build/release}/bin:$PATH
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
scene=$folder/detector.dae
raylift-make-detector --sensors 20000 --segments 12 -o "$scene"
view=(raylift-view --no-config --gl "${2:-device}" --resolution 1920x1080 -v "$scene")
cut=(--hide top --hide 'Pool*' --hide 'Tank*' --clip -y --view front --azimuth 25 --elevation 20)
rays=(--device "${3:-auto}" --ray-cast)
"${view[@]}" --frames 600
"${view[@]}" --frames 600 --samples 1
"${view[@]}" --frames 600 "${cut[@]}"
"${view[@]}" --frames 600 --opacity 0.3
for mode in depth normal solid shaded crossings; do
  echo "$mode:"
  "${view[@]}" --frames 60 "${cut[@]}" "${rays[@]}" "$mode"
done
if [ -n "${OUT:-}" ]; then
  "${view[@]}" "${cut[@]}" -o "$OUT/cut.png"
  "${view[@]}" "${cut[@]}" "${rays[@]}" shaded --ray-samples 64 -o "$OUT/rays.png"
fi
