# SPDX-License-Identifier: Apache-2.0
# The example simulator, as installed: built by itself for the host alone, and with CUDA where that is; both give the
# same result, byte for byte, on every device there is.
. "$(dirname "$0")/common.sh"
cp -r "$(find "$PREFIX" -path '*/examples/simulator')" simulator
[ "$(cat simulator/* | wc -l)" -le 200 ] || fail "the example is to stay under 200 lines"

build() {
  "$CMAKE" -S simulator -B "$1" -G "$GENERATOR" -DCMAKE_PREFIX_PATH="$PREFIX" "${@:2}" >log 2>&1 || fail "$(cat log)"
  "$CMAKE" --build "$1" >log 2>&1 || fail "$(tail -n 30 log)"
}

build host -DCMAKE_CUDA_COMPILER=NO
# From the middle of a cube with edges of 2000 mm, the mean way to its surface is 1221.37 mm; these rays' is within 1 mm.
expect_text "1 solids in cube.npy; longest: 1221." host/simulator "$SOURCE/data/cube.dae" cube.npy 200000
expect_text "longest: 0.000 mm" host/simulator "$SOURCE/data/cube.dae" away.npy 1 0 0 1e6
expect_text "906 solids" host/simulator "$SOURCE/data/detector.dae" host.npy 20000
python3 - host.npy <<'PYTHON' || fail "host.npy is not what NumPy reads, or its numbers are wrong"
import struct, sys
data = open(sys.argv[1], "rb").read()
assert data[:8] == b"\x93NUMPY\x01\x00"
header, = struct.unpack("<H", data[8:10])
assert (10 + header) % 64 == 0 and data[9 + header:10 + header] == b"\n"
about = eval(data[10:10 + header])
assert about == {"descr": "<f8", "fortran_order": False, "shape": (906,)}, about
means = struct.unpack("<906d", data[10 + header:])
assert all(0 <= mean < means[0] for mean in means[1:]), "a solid sticks out of the outermost, or leaks"
PYTHON

[ -z "$CUDACXX" ] || {
  build cuda -DCMAKE_CUDA_COMPILER="$CUDACXX" -DCMAKE_CUDA_ARCHITECTURES="$CUDA_ARCHITECTURES"
  CUDA_VISIBLE_DEVICES='' expect_text "device host" cuda/simulator "$SOURCE/data/detector.dae" again.npy 20000
  cmp host.npy again.npy || fail "built with CUDA, the host gives something else"
  if "$PREFIX/bin/raylift" devices | grep 'cuda:' >/dev/null; then
    expect_text "device cuda" cuda/simulator "$SOURCE/data/detector.dae" gpu.npy 20000
    cmp host.npy gpu.npy || fail "the GPU gives something else than the host"
  fi
}

expect_failure "usage:" host/simulator
expect_failure "usage:" host/simulator "$SOURCE/data/cube.dae" out.npy -5
expect_failure "nowhere.dae" host/simulator nowhere.dae out.npy
expect_failure "can't write" host/simulator "$SOURCE/data/cube.dae" no_folder/out.npy 10
