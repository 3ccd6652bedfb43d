#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The viewer's frame rates with light, of docs/performance.md: follows photons in a detector of 2,000 sensors, and draws all
# their steps.
#
#   bench/light.sh [BUILD_DIR] [RENDERER] [DEVICE] [PHOTONS]     build/release, device, auto and 1M by default
#
# RENDERER: as raylift-view --gl takes it; device draws on the GPU. Pictures go to $OUT, where that is set.
set -euo pipefail
cd "$(dirname "$0")/.."
PATH=$PWD/${1:-build/release}/bin:$PATH
photons=${4:-1M}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
scene=$folder/detector.dae
raylift-make-detector --sensors 2000 --segments 12 -o "$scene"
raylift photons "$scene" --device "${3:-auto}" --source ball:0,0,0,1m:wavelength=350-550 --photons "$photons" --record "$photons" \
  --final --seq --output "$folder/run" | sed -n 1,3p
view=(raylift-view --no-config --gl "${2:-device}" --photons "$folder/run" --photon-limit "$photons" -v "$scene")
frames=(--frames "${FRAMES:-300}")
for size in 1280x720 1920x1080; do
  "${view[@]}" "${frames[@]}" -r $size --samples 1
  "${view[@]}" "${frames[@]}" -r $size --samples 1 --photon-play --photon-trail 5
done
"${view[@]}" "${frames[@]}" -r 1920x1080
echo "light alone:"
"${view[@]}" "${frames[@]}" -r 1280x720 --samples 1 --hide '*'
"${view[@]}" "${frames[@]}" -r 1280x720 --samples 1 --hide '*' --photon-play
"${view[@]}" "${frames[@]}" -r 1920x1080 --samples 1 --photon-size 2
"${view[@]}" "${frames[@]}" -r 1920x1080 --samples 1 --photon-filter 'TO * RE * SD' --color hits
if [ -n "${OUT:-}" ]; then
  "${view[@]}" -r 1920x1080 --photon-opacity 0.2 -o "$OUT/light.png"
  "${view[@]}" -r 1920x1080 --photon-filter '* SD' --color hits --photon-time 40 --photon-trail 10 -o "$OUT/light_time.png"
fi
