#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From a .dae file to a PNG without a GPU: raylift-view against F3D (Debian's f3d), the same picture size, in one run.
#
#   bench/view_f3d.sh [BUILD_DIR [TRIANGLES [ROUNDS]]]     build/release, 1000000 and 5 by default
#
# Prints the best time of all rounds, and the highest peak of memory: the sum over a program's processes of what they
# hold (proportional set size). F3D draws by GLX and so needs a display: an Xvfb that runs already and is not counted.
# Both draw by Mesa on the CPU.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=$PWD/${1:-build/release}/bin
triangles=${2:-1000000}
rounds=${3:-5}
command -v f3d >/dev/null || { echo "view_f3d: install f3d" >&2; exit 1; }
command -v Xvfb >/dev/null || { echo "view_f3d: install xvfb" >&2; exit 1; }
folder=$(mktemp -d)
trap 'kill "$server" 2>/dev/null || true; rm -rf "$folder"' EXIT
Xvfb -displayfd 1 -screen 0 1280x720x24 -nolisten tcp >"$folder/display" 2>/dev/null &
server=$!
for _ in $(seq 100); do [ -s "$folder/display" ] && break; sleep 0.1; done
display=:$(cat "$folder/display")

cat >"$folder/measure.py" <<'PYTHON'
import os, subprocess, sys, time
def memory(group):  # kB held by all processes of a group
    total = 0
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            if os.getpgid(int(pid)) != group: continue
            with open(f'/proc/{pid}/smaps_rollup') as lines:
                total += next(int(line.split()[1]) for line in lines if line.startswith('Pss:'))
        except (OSError, StopIteration, ProcessLookupError):
            pass
    return total
start = time.monotonic()
child = subprocess.Popen(sys.argv[1:], start_new_session=True, stdout=subprocess.DEVNULL)
peak = 0
while child.poll() is None:
    peak = max(peak, memory(child.pid))
    time.sleep(0.004)
if child.returncode: sys.exit(f'view_f3d: {sys.argv[1]} ended with {child.returncode}')
print(f'{time.monotonic() - start:.3f} {peak / 1024:.0f}')
PYTHON

# measure NAME COMMAND...: a line with the best time and the highest peak
measure() {
  local name=$1 best=1e9 peak=0 seconds mb
  shift
  for _ in $(seq "$rounds"); do
    read -r seconds mb < <(env LIBGL_ALWAYS_SOFTWARE=1 python3 "$folder/measure.py" "$@")
    best=$(awk -v a="$best" -v b="$seconds" 'BEGIN { print (a < b ? a : b) }')
    peak=$(awk -v a="$peak" -v b="$mb" 'BEGIN { print (a > b ? a : b) }')
  done
  printf '| %-42s | %7.3f | %8d |\n' "$name" "$best" "$peak"
}

for options in "--flat --normals" "--flat" ""; do
  # shellcheck disable=SC2086  # two options
  "$bin/raylift-make-detector" --triangles "$triangles" $options -o "$folder/detector.dae" 2>"$folder/made"
  sed 's/.*: //' "$folder/made"
  printf '%s, %d MB\n\n' "${options:-instances}" "$(($(stat -c %s "$folder/detector.dae") / 1000000))"
  printf '| %-42s | %7s | %8s |\n|---|---|---|\n' "file to PNG, 1280 x 720" "s" "peak MB"
  measure "f3d" env DISPLAY="$display" f3d --dry-run --output "$folder/f3d.png" --resolution 1280,720 "$folder/detector.dae"
  measure "raylift-view" "$bin/raylift-view" --no-config --gl software --output "$folder/view.png" "$folder/detector.dae"
  measure "raylift-view --no-isolate" "$bin/raylift-view" --no-config --gl software --no-isolate \
    --output "$folder/view.png" "$folder/detector.dae"
  echo
done
