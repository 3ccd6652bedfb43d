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
raylift-make-detector --sensors 20000 --segments 24 -o "$scene"
view=(raylift-view --no-config --gl "${2:-device}" --resolution 1920x1080 -v "$scene")
cut=(--hide top --hide 'Pool*' --hide 'Tank*' --clip -y --view front --azimuth 25 --elevation 20)
rays=(--device "${3:-auto}" --ray-cast)
# frames NAME OPTION...: draws an orbit
frames() {
  echo "$1:"
  shift
  "${view[@]}" "$@"
}
frames "as opened" --frames 600
frames "1 sample" --frames 600 --samples 1
frames "nothing simplified" --frames 200 --detail 0
frames "sensors alone" --frames 600 --shells hidden
frames "cut open" --frames 600 "${cut[@]}"
frames "transparent" --frames 60 --opacity 0.3
frames "transparent, 1 sample" --frames 60 --opacity 0.3 --samples 1
frames "edges" --frames 100 --edges
frames "feature edges" --frames 100 --feature-edges
frames "feature edges alone" --frames 100 --feature-edges --wireframe
frames "as opened, ray-cast" --frames 120 "${rays[@]}" shaded
for mode in depth normal solid shaded crossings; do
  echo "$mode:"
  "${view[@]}" --frames 60 "${cut[@]}" "${rays[@]}" "$mode"
done
frames "cut open, ray-cast without caps" --frames 60 "${cut[@]}" "${rays[@]}" shaded --no-caps
if [ -n "${OUT:-}" ]; then
  "${view[@]}" "${cut[@]}" -o "$OUT/cut.png"
  "${view[@]}" "${cut[@]}" "${rays[@]}" shaded --ray-samples 64 -o "$OUT/rays.png"
fi
