#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Kills a server, and clients of it, again and again: whatever ends has the bytes of a run without kills.
#
#   bench/service_kills.sh [BUILD_DIR] [KILLS] [DEVICE]     build/release, 1000 and host by default
#
# Devices have no processes of their own that could be killed: they are threads of the server.
# PACE: the longest time between two kills, in tenths of a second; 10 by default. Runs must have a chance to end.
set -euo pipefail
exec 3>&2 2>/dev/null # bash reports each child that was killed
cd "$(dirname "$0")/.."
PATH=$PWD/${1:-build/release}/bin:$PATH
kills=${2:-1000} device=${3:-host}
scene=$PWD/data/detector.dae
folder=$(mktemp -d)
chmod 700 "$folder"
address=ipc://$folder/s
server=
clients=()
stop() {
  kill -KILL $server "${clients[@]}" 2>/dev/null || true
  wait 2>/dev/null || true
  rm -rf "$folder"
}
trap stop EXIT
run=(raylift photons "$scene" --source ball:0,0,0,500 --photons 6k --seed 3 --final -q)
start_server() {
  raylift serve "$scene" --device "$device" --listen "$address" -q &
  server=$!
}
start_client() { # INDEX
  "${run[@]}" --server="$address" --batch 500 --output "$folder/$1.$RANDOM$RANDOM" >/dev/null 2>"$folder/said$1" &
  clients[$1]=$!
}
"${run[@]}" --device "$device" --output "$folder/reference" >/dev/null
expected=$(cat "$folder"/reference/{hits,final,channels}.npy | sha256sum)
start_server
for i in 0 1 2 3; do start_client "$i"; done
killed=0 ended=0 failed=0 server_kills=0
while [ $killed -lt "$kills" ]; do
  sleep "$(awk "BEGIN { print $((RANDOM % ${PACE:-10})) / 10 }")"
  if [ $((RANDOM % 2)) -eq 0 ]; then
    kill -KILL $server
    wait $server 2>/dev/null || true
    start_server
    server_kills=$((server_kills + 1))
    killed=$((killed + 1))
  else
    i=$((RANDOM % 4))
    if kill -KILL "${clients[$i]}" 2>/dev/null; then killed=$((killed + 1)); fi
  fi
  for i in 0 1 2 3; do
    if ! kill -0 "${clients[$i]}" 2>/dev/null; then
      code=0
      wait "${clients[$i]}" 2>/dev/null || code=$?
      [ $code -eq 0 ] || [ $code -eq 137 ] || { failed=$((failed + 1)); echo "a client ended with $code: $(cat "$folder/said$i")" >&3; }
      start_client "$i"
    fi
  done
  # What is complete is compared, and makes room.
  for summary in "$folder"/[0-9]*/summary.json; do
    [ -f "$summary" ] || continue
    of=$(dirname "$summary")
    [ "$(cat "$of"/{hits,final,channels}.npy | sha256sum)" = "$expected" ] || { echo "other bytes: $of" >&3; failed=$((failed + 1)); }
    ended=$((ended + 1))
    rm -rf "$of"
  done
done
echo "$killed kills, $server_kills of them of the server; $ended runs ended, $failed of them wrong"
[ $failed -eq 0 ] && [ $ended -gt 0 ]
