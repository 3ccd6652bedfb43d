# SPDX-License-Identifier: Apache-2.0
# A CMake project with raylift's tree as a folder of it: its libraries only, and nothing of them gets installed.
. "$(dirname "$0")/common.sh"

# By Clang, where it is installed: in 0.6 of GCC's time.
! command -v clang++ >/dev/null || CXX=clang++
"$CMAKE" -S "$SOURCE/tests/package/consumer" -B build -G "$GENERATOR" -DRAYLIFT_SOURCE="$SOURCE" \
  -DRAYLIFT_CUDA=OFF -DCMAKE_UNITY_BUILD=ON -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0 >log 2>&1 || fail "$(cat log)"
"$CMAKE" --build build >log 2>&1 || fail "$(tail -n 30 log)"
expect_upload build/upload
expect_text "1000 photons by 1 ranks" build/simulator "$SOURCE/data/detector.dae" pulses.npy 1000
expect_text "1 mesh(es)" build/count "$SOURCE/data/cube.dae"
! find build -name raylift -type f -executable | grep . || fail "a part of another project builds no programs"
"$CMAKE" --install build --prefix prefix >log 2>&1 || fail "$(cat log)"
[ -z "$(find prefix -type f 2>/dev/null)" ] || fail "a part of another project installs nothing by itself"
