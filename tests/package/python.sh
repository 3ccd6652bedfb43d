# SPDX-License-Identifier: Apache-2.0
# import raylift: built over the installed package by the commands of docs/python.md, as installed, with its own tests.
. "$(dirname "$0")/common.sh"
python=/usr/bin/python3
"$python" -c 'import numpy, sysconfig, os; exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' ||
  fail "no python3-dev or python3-numpy"

# All sources as one, and little optimised: a fifth of the time.
"$CMAKE" -S "$SOURCE/python" -B build -G "$GENERATOR" -DCMAKE_PREFIX_PATH="$PREFIX" -DPython_EXECUTABLE=$python \
  -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=0 -DCMAKE_CXX_FLAGS_RELEASE=-O1 >log 2>&1 || fail "$(cat log)"
"$CMAKE" --build build >log 2>&1 || fail "$(tail -n 30 log)"
! grep -F "warning:" log || fail "the compiler warns"
"$CMAKE" --install build --prefix "$WORK/installed" >log 2>&1 || fail "$(tail -n 5 log)"

# What the package says of itself, and where each file is.
export PYTHONPATH=$WORK/installed PYTHONDONTWRITEBYTECODE=1
expect_text "$VERSION" "$python" -c 'import raylift; print(raylift.__version__)'
for file in "$SOURCE"/python/raylift/*; do
  [ -d "$file" ] || [ -f "installed/raylift/$(basename "$file")" ] || fail "$file is not installed"
done
expect_text 906 "$python" -c 'import raylift as rl; print(len(rl.load(rl.data_folder / "detector.dae")))'

export RAYLIFT_DATA=$PREFIX/share/raylift RAYLIFT_PROGRAM=$PREFIX/bin/raylift RAYLIFT_TEST_DEVICE=host
[ ! -x "$PREFIX/bin/raylift-view" ] || export RAYLIFT_VIEW=$PREFIX/bin/raylift-view
"$python" -m unittest discover -s "$SOURCE/python/tests" -v >log 2>&1 || fail "$(tail -n 60 log)"
grep -E 'skipped|^Ran' log
