#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Holds a batch under load: every file of assimp-testmodels, scene or not, and the malformed set, again and again. Fails
# if the batch itself fails, if two reports differ in more than times, or if the supervisor's memory grows.
#
#   bench/soak.sh [RUNS [JOBS [ACTIONS]]]      10, 4 and info,check,upload by default
#
# RAYLIFT names the program; by default that of the release build, else what is on the PATH.
set -euo pipefail
cd "$(dirname "$0")/.."
runs=${1:-10} jobs=${2:-4} actions=${3:-info,check,upload}
program=${RAYLIFT:-build/release/bin/raylift}
[ -x "$program" ] || program=$(command -v raylift) || { echo "soak: no raylift; set RAYLIFT" >&2; exit 2; }
[ -d /usr/share/assimp/models ] || { echo "soak: needs the package assimp-testmodels" >&2; exit 77; }
command -v python3 >/dev/null || { echo "soak: needs python3" >&2; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

find /usr/share/assimp/models tests/data/malformed -type f | sort >"$work/list"
echo "$(wc -l <"$work/list") files, $jobs jobs, $actions, on $(nproc) cores"
printf '%4s %8s %6s %8s %8s %10s %12s %12s %8s\n' run seconds rows ok leaks failed "RSS at 1/4" "RSS at end" same
for run in $(seq "$runs"); do
  report=$work/$run.jsonl
  "$program" batch "@$work/list" --do "$actions" --device host --jobs "$jobs" --report "$report" \
    --timeout 300 --memory 4GB --json -q >"$work/summary" 2>"$work/errors" &
  batch=$!
  python3 - "$batch" "$report" "$work/list" >"$work/memory" <<'END'
# Samples the supervisor's resident memory, with how many rows there are.
import os, sys, time
pid, report, total = sys.argv[1], sys.argv[2], sum(1 for _ in open(sys.argv[3]))
quarter = last = 0
while True:
    try:
        resident = int(open(f"/proc/{pid}/statm").read().split()[1]) * os.sysconf("SC_PAGESIZE")
    except (OSError, IndexError):
        break
    if resident == 0:
        break
    rows = open(report, "rb").read().count(b"\n") if os.path.exists(report) else 0
    if rows >= total // 4 and quarter == 0:
        quarter = resident
    last = resident
    time.sleep(0.05)
print(quarter, last)
END
  code=0
  wait "$batch" || code=$?
  # 3 to 6: files were missing, malformed, unsupported, or over a limit, which many of these are meant to be.
  case $code in 0 | 1 | 3 | 4 | 5 | 6) ;; *) echo "soak: the batch ended with $code" >&2; cat "$work/errors" >&2; exit 1 ;; esac
  python3 - "$run" "$work" <<'END'
import hashlib, json, sys
run, work = sys.argv[1:]
rows = [json.loads(line) for line in open(f"{work}/{run}.jsonl")][1:]  # behind the head
for row in rows:
    row.pop("run")
lines = sorted(json.dumps(row, sort_keys=True) for row in rows)
files = [row["file"] for row in rows]
wanted = open(f"{work}/list").read().splitlines()
if sorted(files) != sorted(wanted):
    sys.exit("soak: rows were lost or doubled")
summary = json.load(open(f"{work}/summary"))
quarter, last = map(int, open(f"{work}/memory").read().split())
digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()
if run == "1":
    open(f"{work}/first", "w").write("\n".join(lines))
first = open(f"{work}/first").read().split("\n")
same = lines == first
count = lambda status: sum(row["status"] == status for row in rows)
print(f"{run:>4} {summary['seconds']:8.1f} {len(rows):6} {count('ok'):8} {count('negative'):8} {count('failed'):10} "
      f"{quarter / 1e6:9.1f} MB {last / 1e6:9.1f} MB {digest[:8]:>8}")
if run == "1":
    kinds = {}
    for row in rows:
        if row["status"] == "failed":
            key = row["error"]["kind"] + (" by " + row["error"]["signal"] if row["error"]["signal"] else "")
            kinds[key] = kinds.get(key, 0) + 1
    print("     failed: " + ", ".join(f"{n} {kind}" for kind, n in sorted(kinds.items())))
if not same:
    for old, new in zip(first, lines):
        if old != new:
            print("was", old, "\nis ", new, file=sys.stderr)
    sys.exit("soak: the report is not the first one's")
if quarter and last > quarter * 1.2 + 2e6:
    sys.exit("soak: the supervisor's memory grows")
END
done
echo "the same report each time, the supervisor's memory flat"
