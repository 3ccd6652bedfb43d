# SPDX-License-Identifier: Apache-2.0
# What the scripts beside this one share: stopping at the first failure, a fresh folder to work in, and checks that say
# what they expected.
set -euo pipefail
# Nothing of the machine's own settings, such as an installed raylift.
unset CMAKE_PREFIX_PATH PKG_CONFIG_PATH LD_LIBRARY_PATH DESTDIR RAYLIFT_IMPORT
# Half of the cores for what a test builds, since ctest runs other tests beside it.
export CMAKE_BUILD_PARALLEL_LEVEL=$((($(nproc) + 1) / 2))
rm -rf "$WORK"
mkdir -p "$WORK"
cd "$WORK"

# What a test leaves behind is for who looks into its failure, or for the tests that build on it.
at_exit() {
  [ $? -ne 0 ] || [ -n "${KEEPS:-}" ] || rm -rf "$WORK"
}
trap at_exit EXIT

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

skip() {
  echo "skipped: $*"
  exit 77
}

# expect_text TEXT COMMAND...: the command succeeds and its output has the text.
expect_text() {
  local text=$1 output
  shift
  output=$("$@" 2>&1) || fail "'$*' ended with $?: $output"
  grep -qF -- "$text" <<<"$output" || fail "'$*' did not print '$text' but: $output"
}

# expect_failure TEXT COMMAND...: the command fails and its output has the text.
expect_failure() {
  local text=$1 output
  shift
  ! output=$("$@" 2>&1) || fail "'$*' succeeded"
  output=$(tr -s ' \n' ' ' <<<"$output")  # CMake breaks lines
  grep -qF -- "$text" <<<"$output" || fail "'$*' did not print '$text' but: $output"
}

# The README's example on the detector; its figures are compared.
expect_upload() {
  CUDA_VISIBLE_DEVICES='' expect_text "11536 triangles in 906 instances" "$1" "$SOURCE/data/detector.dae"
}
