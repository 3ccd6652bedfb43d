#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A server of photons on each node of a Slurm job, with all of its GPUs, for clients in other jobs:
#
#   raylift serve --keygen KEYS
#   sbatch --nodes=4 examples/slurm/serve.sh SCENE KEYS ADDRESSES [OPTION...]
#   raylift photons SCENE --server="$(cat ADDRESSES)" --keys KEYS/client.key --photons 10G --output run
#
# ADDRESSES is a file that gets the servers' addresses, with commas, once all of them listen; it is removed at the end of the
# job. SCENE, KEYS and ADDRESSES lie on a file system that all nodes see. Options are those of `raylift serve`. RAYLIFT_PORT is
# the port, by default 5555; with 0 each server takes a free one.
#SBATCH --job-name=raylift-serve
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=8
#SBATCH --time=04:00:00
# A minute before the end of the time, servers take no more requests, and finish those that they have.
#SBATCH --signal=TERM@60

set -euo pipefail
scene=$1 keys=$2 addresses=$3
shift 3
listening=$(mktemp -d "$addresses.XXXXXX")
trap 'rm -rf "$listening" "$addresses"' EXIT
port=${RAYLIFT_PORT:-5555}
[ "$port" != 0 ] || port='*'
export listening port

# Each task's part. The shell gives way to raylift, so that signals reach it; another one reads what it says.
serve='
exec raylift serve "$@" --listen "tcp://*:$port" 2> >(
  trap "" TERM
  while IFS= read -r line; do
    printf "%s\n" "$line" >&2
    case $line in
    *" is served on "*:*) printf "tcp://%s:%s\n" "$(hostname -f)" "${line##*:}" >"$listening/$SLURM_PROCID" ;;
    esac
  done
)'
srun --kill-on-bad-exit=0 bash -c "$serve" serve "$scene" --keys "$keys" "$@" &
servers=$!
until [ "$(find "$listening" -type f -size +0 | wc -l)" -eq "$SLURM_NTASKS" ]; do
  kill -0 "$servers" 2>/dev/null || exit 1 # one of them could not start
  sleep 0.2
done
cat "$listening"/* | paste -s -d , - >"$addresses.new"
mv "$addresses.new" "$addresses"
wait "$servers"
