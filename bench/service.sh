#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The service's figures of docs/performance.md: latency and photons per second of 1k, 100k and 10M photons a request, by 1, 8 and
# 64 clients over ipc, shared memory and TCP on loopback, beside `raylift photons` of the same photons.
#
#   bench/service.sh [BUILD_DIR] [DEVICE] [SECONDS]     build/release, all and 3 by default
#
# PHOTONS and CLIENTS: other lists, such as PHOTONS="1000 100000". SENSORS: 20000 by default. DEPTH: requests of a client on
# their way at a time, 2 by default; 1 for latency. REQUESTS=1M: as many requests of 200 photons, or of PHOTONS, instead, with
# the server's memory before, ten times on the way, and after.
set -euo pipefail
cd "$(dirname "$0")/.."
PATH=$PWD/${1:-build/release}/bin:$PATH
device=${2:-all} seconds=${3:-3}
read -ra photons <<<"${PHOTONS:-1000 100000 10000000}"
read -ra clients <<<"${CLIENTS:-1 8 64}"
folder=$(mktemp -d)
chmod 700 "$folder"
server=
stop() {
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
  [ -z "$server" ] || wait "$server" || true
  rm -rf "$folder"
}
trap stop EXIT
scene=$folder/detector.dae
raylift-make-detector --sensors "${SENSORS:-20000}" -o "$scene"

start() { # ADDRESS [OPTION...]
  raylift serve "$scene" --device "$device" --queue 16GiB --listen "$@" 2>"$folder/said" &
  server=$!
  until grep -q 'is served' "$folder/said"; do
    kill -0 "$server" || { cat "$folder/said" >&2; exit 1; }
    sleep 0.1
  done
}
rss() { awk '/VmRSS/ { print $2 / 1000 " MB" }' "/proc/$server/status"; }

if [ -n "${REQUESTS:-}" ]; then
  start "ipc://$folder/s"
  run=(bench_client --address "ipc://$folder/s" --photons "${PHOTONS:-200}" --depth 16 --clients 8 --requests)
  "${run[@]}" 20000 --head
  echo "memory after the first 20,000 requests: $(rss)"
  all=$(numfmt --from=si "$REQUESTS")
  for i in {1..10}; do
    "${run[@]}" $((all / 10))
    echo "after $((all / 10 * i)) more: $(rss)"
  done
  exit
fi

# The command, of as many photons as take some seconds.
largest=${photons[-1]}
bench_client --photons "$largest" --write "$folder/steps.npy"
rate=$(raylift photons "$scene" --device "$device" --source "gensteps:$folder/steps.npy" --json --output "$folder/run" |
  python3 -c 'import json, sys; print(json.load(sys.stdin)["photons_per_second"])')
echo "raylift photons, $largest photons: $(awk "BEGIN { printf \"%.3f\", $rate / 1e6 }") million photons/s"

raylift serve --keygen "$folder/keys"
start "ipc://$folder/s,tcp://127.0.0.1:*" --keys "$folder/keys"
tcp=$(grep -o 'tcp://.*' "$folder/said")
all=(--depth "${DEPTH:-2}" --seconds "$seconds" --alone "$rate" --photons "${photons[@]}" --clients "${clients[@]}")
bench_client --address "ipc://$folder/s" --way ipc --head "${all[@]}"
bench_client --address "ipc://$folder/s" --way shared --shared "${all[@]}"
bench_client --address "$tcp" --keys "$folder/keys/client.key" --way tcp "${all[@]}"
