# SPDX-License-Identifier: Apache-2.0
# The example simulator, as installed: built by itself for the host alone, and with CUDA where that is; both give the
# same result, byte for byte, on every device there is and by any number of ranks.
. "$(dirname "$0")/common.sh"
cp -r "$(find "$PREFIX" -path '*/examples/simulator')" simulator
[ "$(cat simulator/* | wc -l)" -le 300 ] || fail "the example is to stay within 300 lines"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

build() {
  "$CMAKE" -S simulator -B "$1" -G "$GENERATOR" -DCMAKE_PREFIX_PATH="$PREFIX" "${@:2}" >log 2>&1 || fail "$(cat log)"
  "$CMAKE" --build "$1" >log 2>&1 || fail "$(tail -n 30 log)"
}

build host -DCMAKE_CUDA_COMPILER=NO
detector=$SOURCE/data/detector.dae
expect_text "50000 photons by 1 ranks" host/simulator "$detector" host.npy 50000
# The program's own counts of the same photons, and what the response's constants come to. By Debian's NumPy.
"$PREFIX/bin/raylift" photons "$detector" --device host --source point:0,0,0 --photons 50000 --seed 1 --output run >log 2>&1 ||
  fail "$(cat log)"
/usr/bin/python3 - <<'PYTHON' || fail "host.npy has other photons than raylift photons, or a response that is not the example's"
import numpy
pulses, channels = numpy.load("host.npy"), numpy.load("run/channels.npy")
assert (pulses[:, :2] == channels).all()
photons, above, charge = (int(pulses[:, i].sum()) for i in (1, 2, 3))
assert photons > 2000
# The share of a normal distribution above the threshold, and its mean there; within four standard errors.
share, mean = 0.98394, 1.01428
assert abs(above / photons - share) < 4 * (share * (1 - share) / photons) ** 0.5
assert abs(charge / 1024 / above - mean) < 4 * 0.34 / above ** 0.5
never = numpy.uint64(0xFFFFFFFFFFFFFFFF)
first = pulses[pulses[:, 2] > 0, 4]
assert (pulses[pulses[:, 2] == 0, 4] == never).all() and (first < never).all()
hits = numpy.load("run/hits.npy")
earliest = numpy.full(len(pulses), numpy.inf)
numpy.minimum.at(earliest, hits.view(numpy.uint32)[:, 3, 1] - 1, hits[:, 0, 3])
after = (first / 1000 - earliest[pulses[:, 2] > 0])  # the transit time of the first, or of another one
assert after.min() > -7 and abs(numpy.median(after)) < 1.5, after
PYTHON
export HWLOC_COMPONENTS=-gl  # mpirun would ask X servers that other tests start and stop
if command -v mpirun >/dev/null && grep -q SIMULATOR_MPI -r host --include=build.ninja --include=flags.make; then
  expect_text "50000 photons by 3 ranks" mpirun --oversubscribe -n 3 host/simulator "$detector" ranks.npy 50000
  cmp host.npy ranks.npy || fail "three ranks give something else than one"
fi

[ -z "$CUDACXX" ] || {
  CUDACXX=$CUDACXX build cuda
  CUDA_VISIBLE_DEVICES='' expect_text "device host" cuda/simulator "$detector" again.npy 50000
  cmp host.npy again.npy || fail "built with CUDA, the host gives something else"
  if "$PREFIX/bin/raylift" devices | grep 'cuda:' >/dev/null; then
    expect_text "device cuda" cuda/simulator "$detector" gpu.npy 50000
    cmp host.npy gpu.npy || fail "the GPU gives something else than the host"
  fi
}

expect_failure "usage:" host/simulator
expect_failure "usage:" host/simulator "$detector" out.npy -5
expect_failure "nowhere.dae" host/simulator nowhere.dae out.npy
expect_failure "no sensors" host/simulator "$SOURCE/data/cube.dae" out.npy 10
expect_failure "can't be written" host/simulator "$detector" no_folder/out.npy 10
[ ! -e out.npy ] || fail "a run that failed left its file"
