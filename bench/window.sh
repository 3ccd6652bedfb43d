#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# How soon the viewer's window shows a large scene, and follows the camera, where OpenGL draws on the CPU: seconds until the
# middle of the screen shows something and until it rests, and from a request to turn the camera to the first change on screen.
# Looks at the screen's memory (Xvfb -fbdir), so what is counted is what a user would see.
#
#   bench/window.sh [BUILD_DIR [OPTION...]]     build/release; options of raylift-make-detector: --sensors 20000 --segments 24
set -euo pipefail
cd "$(dirname "$0")/.."
PATH=$PWD/${1:-build/release}/bin:$PATH
shift || true
[ $# -gt 0 ] || set -- --sensors 20000 --segments 24
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
raylift-make-detector "$@" -o "$folder/scene.dae"
Xvfb -displayfd 3 -screen 0 1280x720x24 -fbdir "$folder" 3>"$folder/display" 2>/dev/null &
until [ -s "$folder/display" ]; do sleep 0.05; done
DISPLAY=:$(cat "$folder/display") XDG_RUNTIME_DIR=$folder python3 - "$folder" <<'PYTHON'
import json, mmap, os, socket, statistics, struct, subprocess, sys, time
folder = sys.argv[1]
file = open(folder + "/Xvfb_screen0", "rb")
screen = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
head, = struct.unpack_from(">I", screen, 0)
width, height = struct.unpack_from(">II", screen, 16)
line, = struct.unpack_from(">I", screen, 48)
colors, = struct.unpack_from(">I", screen, 76)
pixels = head + 12 * colors
def middle():
    rows = range(height // 4, 3 * height // 4, 4)
    return b"".join(screen[pixels + y * line + 4 * (width // 3):pixels + y * line + 4 * (2 * width // 3):4] for y in rows)
def wait(test, limit=120):
    end = time.monotonic() + limit
    while not test():
        if time.monotonic() > end:
            sys.exit("window.sh: nothing changed on the screen for %d s" % limit)
        time.sleep(0.002)
    return time.monotonic()
def rest(seconds=6):
    last, seen = time.monotonic(), middle()
    while time.monotonic() - last < seconds:
        now = middle()
        if now != seen:
            last, seen = time.monotonic(), now
        time.sleep(0.005)
    return last
start = time.monotonic()
viewer = subprocess.Popen(["raylift-view", "--no-config", "--gl", "software", "-r", "1280x720", folder + "/scene.dae"])
try:
    first = wait(lambda: len(set(middle())) > 100)
    print("first picture %.2f s, at rest %.2f s after the start" % (first - start, rest() - start), flush=True)
    client = socket.socket(socket.AF_UNIX)
    client.connect("%s/raylift/view-%d.sock" % (folder, viewer.pid))
    answers = client.makefile("r")
    def send(method, **parameters):
        client.sendall((json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}) + "\n").encode())
    changes, replies = [], []
    for turn in range(40):
        before = middle()
        sent = time.monotonic()
        send("look", azimuth=7.0)
        answers.readline()
        replies.append(1000 * (time.monotonic() - sent))
        changes.append(1000 * (wait(lambda: middle() != before) - sent))
    rest()
    # While the whole image is drawn, in turns: an event at any moment of it.
    drawing = []
    for pause in (0.2, 0.35, 0.5, 0.65, 0.8, 0.95, 1.1, 1.25):
        send("look", azimuth=3.0)
        answers.readline()
        time.sleep(pause)
        before = middle()
        sent = time.monotonic()
        send("look", azimuth=3.0)
        answers.readline()
        drawing.append(1000 * (wait(lambda: middle() != before) - sent))
    for name, times in (("answer", replies), ("change on screen, turning", changes), ("change on screen, after a pause", drawing)):
        print("%s: median %.0f ms, at most %.0f ms" % (name, statistics.median(times), max(times)), flush=True)
finally:
    viewer.terminate()
    viewer.wait()
PYTHON
