# SPDX-License-Identifier: Apache-2.0
# Installs each component by itself, then all into the prefix that other tests use, and moves that: nothing may depend on
# where it was first.
. "$(dirname "$0")/common.sh"

for component in library programs viewer development; do
  "$CMAKE" --install "$BUILD" --prefix "$WORK/$component" --component $component >log 2>&1 || fail "$(tail -n 5 log)"
done
mkdir -p viewer  # empty, where there is none
files() { (cd "$WORK/$1" && find . ! -type d | sort); }
both=$(for component in library programs viewer development; do files $component; done | sort | uniq -d)
[ -z "$both" ] || fail "two components install $both"

files library | grep '/libexec/raylift/raylift-import$' >/dev/null || fail "no raylift-import in the component library"
for program in raylift raylift-make-detector; do
  [ -x "programs/bin/$program" ] || fail "no $program in the component programs"
done
for header in $(find "$SOURCE"/*/include -name '*.h'); do
  [ -f "development/include/${header#*/include/}" ] || fail "${header#*/include/} is not installed"
done
for page in docs/kernels.md docs/modules.md docs/README.md README.md; do
  [ -f "development/share/doc/raylift/$page" ] || fail "the page $page is not installed"
done
for example in upload.cpp own_scene.cpp service.cpp simulator/CMakeLists.txt python/detector.ipynb python/kernel.py; do
  [ -f "development/share/raylift/examples/$example" ] || fail "the example $example is not installed"
done
! find library programs -name '*.h' -o -name '*.a' -o -name '*.cmake' | grep . || fail "development files elsewhere"
! grep -rlF -e "$SOURCE" -e "$BUILD" development --include='*.cmake' --include='*.pc' --include='*.h' ||
  fail "these installed files name the source or the build folder"

# What a public header may include: raylift's own, the standard library's (no slash, no ending), CUDA's types; and eigen.h
# includes Eigen. The client is headers alone, over POSIX and libzmq.
foreign=$(grep -rhoE '^ *# *include *[<"][^>"]+[>"]' development/include --exclude=eigen.h --exclude-dir=client | sed -E 's/.*[<"](.*)[>"]/\1/' | sort -u |
  grep -vE '^raylift/|^[a-z_]+$|^(cuda_runtime(_api)?|vector_types)\.h$' || true)
[ -z "$foreign" ] || fail "public headers include $foreign"

rm -rf "$PREFIX" "$PREFIX-first"
"$CMAKE" --install "$BUILD" --prefix "$PREFIX-first" >log 2>&1 || fail "$(tail -n 5 log)"
mv "$PREFIX-first" "$PREFIX"
expect_text "raylift $VERSION" "$PREFIX/bin/raylift" --version
expect_text "906" "$PREFIX/bin/raylift" info "$PREFIX/share/raylift/detector.dae"  # in a child: raylift-import is found
