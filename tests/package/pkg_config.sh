# SPDX-License-Identifier: Apache-2.0
# A compiler's command line with flags from pkg-config.
. "$(dirname "$0")/common.sh"
command -v pkg-config >/dev/null || skip "no pkg-config"

PKG_CONFIG_PATH=$(dirname "$(find "$PREFIX" -name raylift-gpu.pc)")
export PKG_CONFIG_PATH
expect_text "$VERSION" pkg-config --modversion raylift-geometry
pkg-config --validate raylift-geometry raylift-gpu raylift-module raylift-photon || fail "a .pc file is not valid"
# shellcheck disable=SC2046  # flags are words
{
  "$CXX" -std=c++20 "$SOURCE/tests/package/consumer/count.cpp" -o count $(pkg-config --cflags --libs raylift-geometry)
  "$CXX" -std=c++20 "$SOURCE/examples/upload.cpp" -o upload $(pkg-config --cflags --libs raylift-gpu)
  "$CXX" -std=c++20 -O2 -pthread "$SOURCE/examples/simulator/simulator.cpp" -o simulator \
    $(pkg-config --cflags --libs raylift-photon)
  "$CXX" -std=c++20 "$SOURCE/tests/package/consumer/kernel.cpp" -o kernel $(pkg-config --cflags --libs raylift-module)
  [[ $COMPONENTS != *interop* ]] ||
    "$CXX" -std=c++20 "$SOURCE/tests/package/consumer/context.cpp" -o context $(pkg-config --cflags --libs raylift-interop)
  [[ $COMPONENTS != *client* ]] ||
    "$CXX" -std=c++17 -pthread "$SOURCE/tests/package/consumer/client.cpp" -o client $(pkg-config --cflags --libs raylift-client)
}
export LD_LIBRARY_PATH=$PREFIX/lib  # where the libraries are shared ones
expect_text "1 mesh(es)" ./count "$SOURCE/data/cube.dae"
expect_text "need a CUDA device" ./kernel
[[ $COMPONENTS != *interop* ]] || expect_text "OpenGL:" ./context
[[ $COMPONENTS != *client* ]] || expect_text "1 gensteps, and no server" ./client
expect_text "1000 photons by 1 ranks" ./simulator "$SOURCE/data/detector.dae" pulses.npy 1000
expect_upload ./upload
