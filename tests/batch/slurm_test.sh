#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the jobs of examples/slurm in a Slurm of this test's own: one node, in a folder that is removed again. Needs root,
# Slurm and munge (scripts/setup test); exits with 77, for skipped, where one of them is missing.
set -euo pipefail
source_dir=$1 programs=$2

skip() {
  echo "skipped: $1"
  exit 77
}
[ "$(id -u)" -eq 0 ] || skip "Slurm's daemons need root here"
export PATH=$programs:$PATH:/usr/sbin
for program in munged slurmctld slurmd sbatch; do
  command -v $program >/dev/null || skip "no $program"
done

work=$(mktemp -d /tmp/raylift-slurm-XXXXXX) # short: a socket's path has 107 bytes
export SLURM_CONF=$work/slurm.conf          # from here on, never a Slurm of this machine
export HWLOC_COMPONENTS=-gl                 # daemons and mpirun would ask X servers that other tests start and stop
daemons=()
stop() {
  code=$?
  if [ $code -ne 0 ]; then squeue 2>/dev/null || true; tail -n 20 "$work"/*.log "$work"/*.out 2>/dev/null || true; fi
  # Jobs first: they outlive the daemons.
  scancel --full --signal=KILL --user=root 2>/dev/null || true
  for ((i = 0; i != 50; ++i)); do
    [ -n "$(squeue --noheader --states=running,completing 2>/dev/null)" ] || break
    sleep 0.1
  done
  kill "${daemons[@]}" 2>/dev/null || true
  sleep 1
  kill -KILL "${daemons[@]}" 2>/dev/null || true
  wait 2>/dev/null || true
  rm -rf "$work"
  exit $code
}
trap stop EXIT

start_slurm() {
  # Two ports that are free now.
  read -r controller_port node_port < <(python3 -c '
import socket
sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
print(*(one.getsockname()[1] for one in sockets))')
  host=$(hostname -s)
  mkdir -m 700 "$work/munge" "$work/state" "$work/spool"
  (umask 077 && head -c 128 /dev/urandom >"$work/munge/key")
  # GPUs that are none: Slurm hands out files.
  for file in null zero full urandom; do echo "Name=gpu File=/dev/$file"; done >"$work/gres.conf"
  cat >"$work/slurm.conf" <<END
ClusterName=raylift
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$controller_port
SlurmdPort=$node_port
SlurmUser=root
AuthInfo=socket=$work/munge/socket
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
SchedulerType=sched/builtin
MpiDefault=none
KillWait=5
GresTypes=gpu
NodeName=$host NodeAddr=127.0.0.1 CPUs=32 Gres=gpu:4
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE
END
  munged --foreground --force --key-file="$work/munge/key" --socket="$work/munge/socket" \
    --pid-file="$work/munge/pid" --log-file="$work/munge.log" --seed-file="$work/munge/seed" >"$work/munged.out" 2>&1 &
  daemons+=($!)
  until [ -S "$work/munge/socket" ]; do sleep 0.1; done
  slurmctld -D >"$work/slurmctld.out" 2>&1 &
  daemons+=($!)
  slurmd -D >"$work/slurmd.out" 2>&1 &
  daemons+=($!)
  for ((i = 0; i != 150; ++i)); do
    ! sinfo --noheader --format=%T 2>/dev/null | grep -q idle || return 0
    sleep 0.2
  done
  echo "Slurm did not start" >&2
  return 1
}

# rows REPORT: the rows without what differs from run to run.
rows() {
  python3 -c '
import json, sys
for line in list(open(sys.argv[1]))[1:]:  # behind the head
    row = json.loads(line)
    del row["run"]
    print(json.dumps(row))' "$1"
}

wait_for_rows() {
  for ((i = 0; i != 300; ++i)); do
    [ "$(cat "$1" 2>/dev/null | wc -l)" -lt "$2" ] || return 0
    sleep 0.1
  done
  echo "no rows came to $1" >&2
  return 1
}

wait_for_end() {
  for ((i = 0; i != 600; ++i)); do
    [ -n "$(squeue --noheader --jobs="$1" 2>/dev/null)" ] || return 0
    sleep 0.1
  done
  echo "job $1 did not end" >&2
  return 1
}

start_slurm
cd "$work"
mkdir scenes
for ((i = 0; i != 24; ++i)); do cp "$source_dir/data/cube.dae" "scenes/$i.dae"; done
ls -d scenes/* >list
raylift batch @list --do info,check,upload --report single.jsonl --sort >/dev/null

# OpenMPI leaves memory of its own behind, which the leak sanitizer would take for raylift's.
export ASAN_OPTIONS=detect_leaks=0 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# Slow enough to be stopped in the middle.
mkdir bin
ln -s "$programs/raylift-faulty" bin/raylift
export RAYLIFT_BATCH_SLOW=400 PATH=$work/bin:$PATH

echo "an array, one task of which is requeued in the middle"
job=$(sbatch --parsable --open-mode=append --array=1-3 "$source_dir/examples/slurm/array.sbatch" list reports --jobs 1)
wait_for_rows reports/0002.jsonl 2
scontrol requeue "${job}_2"
for ((i = 0; i != 100; ++i)); do
  ! scontrol show job "${job}_2" | grep -q JobState=PENDING || break
  sleep 0.1
done
[ "$(wc -l <reports/0002.jsonl)" -lt 9 ] # the head, and not all 8 rows
scontrol update JobId="${job}_2" StartTime=now # and not in two minutes
wait_for_end "$job"
raylift batch --merge reports/*.jsonl --report merged.jsonl
cmp <(rows merged.jsonl) <(rows single.jsonl)

if raylift serve --digest "$source_dir/data/detector.dae" >/dev/null 2>&1; then
  echo "a server of photons, and a client"
  raylift serve --keygen keys
  job=$(RAYLIFT_PORT=0 sbatch --parsable --output=serve.out --nodes=1 --ntasks=2 --ntasks-per-node=2 --cpus-per-task=4 \
    "$source_dir/examples/slurm/serve.sh" "$source_dir/data/detector.dae" keys addresses --device host)
  for ((i = 0; i != 600; ++i)); do
    [ ! -s addresses ] || break
    sleep 0.1
  done
  [ "$(tr , '\n' <addresses | grep -c '^tcp://')" -eq 2 ]
  run=(raylift photons "$source_dir/data/detector.dae" --source ball:0,0,0,500 --photons 4k --batch 500)
  "${run[@]}" --server="$(cat addresses)" --keys keys/client.key --output there >/dev/null
  "${run[@]}" --device host --output here >/dev/null
  cmp here/hits.npy there/hits.npy
  scancel --signal=TERM "$job"
  wait_for_end "$job"
  [ "$(grep -c 'is served' serve.out)" -eq 2 ]
  [ ! -e addresses ]
else
  echo "no service in this build: its job is left out"
fi

if [ ! -e "$programs/raylift-mpi.so" ] || ! command -v mpirun >/dev/null; then
  echo "no MPI: the other job is left out"
  exit 0
fi
echo "a job of two ranks that is terminated and submitted again"
submit() {
  sbatch --parsable --open-mode=append --output=batch.out --nodes=1 --ntasks-per-node=2 --cpus-per-task=4 \
    "$source_dir/examples/slurm/batch.sbatch" list batch.jsonl --jobs 1
}
job=$(submit)
wait_for_rows batch.jsonl 4
scancel --batch --signal=TERM "$job" # as --signal=B:TERM@60 does
wait_for_end "$job"
grep -q 'not done' batch.out # rank 0 ended in order
[ "$(wc -l <batch.jsonl)" -lt 25 ]
wait_for_end "$(submit)"
cmp <(rows batch.jsonl | sort) <(rows single.jsonl | sort)
[ "$(grep -o '"rank":[0-9]*' batch.jsonl | sort -u | wc -l)" -eq 2 ]
