# SPDX-License-Identifier: Apache-2.0
# A CMake project that finds the installed package.
. "$(dirname "$0")/common.sh"

configure() { "$CMAKE" -S "$SOURCE/tests/package/consumer" -G "$GENERATOR" -DCMAKE_PREFIX_PATH="$PREFIX" "$@"; }

configure -B build -DCMAKE_LIBRARY_OUTPUT_DIRECTORY="$WORK/build" -DCOMPONENTS="${COMPONENTS// /;}" >log 2>&1 || fail "$(cat log)"
"$CMAKE" --build build >log 2>&1 || fail "$(tail -n 30 log)"
expect_upload build/upload
expect_text "1 mesh(es)" build/count "$SOURCE/data/cube.dae"
expect_text "need a CUDA device" build/kernel
# Built, it starts; whether there is a display to make a context on is this machine's affair.
[[ $COMPONENTS != *interop* ]] || expect_text "OpenGL:" build/context
[[ $COMPONENTS != *client* ]] || expect_text "1 gensteps, and no server" build/client
[ -x "$(sed -n 's/^import program: //p' build/import_program.txt)" ] || fail "raylift_IMPORT_PROGRAM is no program"

# A shared library that links the archives exports none of their symbols. What its own sources instantiate of inline
# functions is weak, unless they are compiled with hidden symbols: then nothing is left.
if find "$PREFIX" -name libraylift_gpu.a | grep . >/dev/null; then
  exported() { nm -D --defined-only "$1" | grep -E "$2"; }
  exported build/libplugin.so ' T triangles_of$' >/dev/null || fail "the plugin exports nothing at all"
  exported build/libplugin_hidden.so ' T triangles_of$' >/dev/null || fail "the hidden plugin exports nothing at all"
  ! exported build/libplugin.so ' [TDBR] .*raylift' || fail "a plugin exports raylift's symbols"
  ! exported build/libplugin_hidden.so 'raylift' || fail "a plugin with hidden symbols exports raylift's"
fi

# What is asked for and isn't there is named.
expect_failure "no component 'teapot'; it was built with: $COMPONENTS" configure -B teapot -DCOMPONENTS="geometry;teapot"
expect_failure "version \"99\"" configure -B version -DVERSION=99
configure -B optional -DCOMPONENTS=geometry -DOPTIONAL=teapot >log 2>&1 || fail "$(cat log)"
# Archives need what they were made with, and the package says what of it is missing.
if find "$PREFIX" -name libraylift_geometry.a | grep . >/dev/null; then
  PKG_CONFIG_LIBDIR=$WORK expect_failure ", which pkg-config does not find" configure -B no_libzip
fi
