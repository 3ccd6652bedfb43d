#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# How photons' time, memory and traffic grow: the figures of docs/scale.md. For a machine with GPUs.
#
#   bench/scale.sh BIN DATA      BIN: the folder of the programs; DATA: that of the scenes
set -euo pipefail
bin=$1 data=$2
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

echo "== sensors of the tank"
for sensors in 1000 5000 20000 45000 100000; do
  echo "$sensors sensors"
  "$bin/bench_photons" --device cuda:0 --sensors $sensors --photons 16777216 | tail -n +2
done

echo "== photons, whose hits come to the host"
"$bin/bench_photons" --device cuda:0 --stream 1000000 --stream 10000000 --stream 100000000 --stream 1000000000 \
  --stream 10000000000

echo "== GPUs: the whole command, hits written"
gpus=$(nvidia-smi -L | wc -l)
devices=cuda:0
for ((n = 1; n <= gpus; n *= 2)); do
  while [ "$(tr , '\n' <<<"$devices" | wc -l)" -lt $n ]; do devices+=,cuda:$(tr , '\n' <<<"$devices" | wc -l); done
  for run in "water_sphere.dae 500M" "detector.dae 64M"; do
    read -r scene photons <<<"$run"
    "$bin/raylift" photons "$data/$scene" --source point:0,0,0 --photons "$photons" --device "$devices" --output "$out/run" \
      >"$out/log"
    python3 - "$out/run/summary.json" "$scene" $n "$out/run/hits.npy" <<'PYTHON'
import hashlib, json, sys
summary = json.load(open(sys.argv[1]))
digest = hashlib.md5(open(sys.argv[4], "rb").read()).hexdigest()
print(f"{sys.argv[2]:18} {sys.argv[3]} GPUs {summary['seconds']:8.2f} s {summary['photons'] / summary['seconds'] / 1e6:9.1f} million/s  {digest}")
PYTHON
    rm -rf "$out/run"
  done
done
