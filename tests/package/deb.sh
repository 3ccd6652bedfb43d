# SPDX-License-Identifier: Apache-2.0
# The Debian packages: what they hold, and what they say they need.
. "$(dirname "$0")/common.sh"
command -v dpkg-deb >/dev/null || skip "no dpkg-deb"

"$CPACK" -G DEB --config "$BUILD/CPackConfig.cmake" -B "$WORK" >log 2>&1 || fail "$(tail -n 20 log)"
library=$(echo libraylift0*.deb) programs=$(echo raylift_*.deb) development=$(echo libraylift-dev_*.deb)
shopt -s nullglob
for package in "$library" "$programs" "$development" raylift-view_*.deb raylift-mpi_*.deb raylift-occt_*.deb raylift-step_*.deb; do
  [ -f "$package" ] || fail "no $package: $(ls)"
  dpkg-deb -x "$package" root
  expect_text "$VERSION" dpkg-deb -f "$package" Version
done

# All that an installation has, where the library looks for it, and no file in two packages.
"$CMAKE" --install "$BUILD" --prefix "$WORK/installed" >log 2>&1 || fail "$(tail -n 5 log)"
list() { (cd "$1" && find . ! -type d | sort); }
diff <(list installed) <(list "root$INSTALL_PREFIX") || fail "the packages differ from an installation"
twice=$(for package in *.deb; do dpkg-deb --fsys-tarfile "$package" | tar t | grep -v '/$'; done | sort | uniq -d)
[ -z "$twice" ] || fail "in two packages: $twice"

! dpkg-deb -c "$programs" | grep -E '\.(a|h|cmake)$' || fail "development files in $programs"
needs() { expect_text "$2" dpkg-deb -f "$1" Depends; }
needs "$programs" "${library%%_*} (= $VERSION)"
needs "$development" "${library%%_*} (= $VERSION)"
if command -v dpkg-shlibdeps >/dev/null; then
  needs "$programs" "libc6"
  needs "$library" "libassimp5"
fi
for viewer in raylift-view_*.deb; do
  expect_text "fonts-droid-fallback" dpkg-deb -f "$viewer" Recommends
  expect_text "fonts-font-awesome" dpkg-deb -f "$viewer" Recommends
done
expect_text "906" "root$INSTALL_PREFIX/bin/raylift" info "$SOURCE/data/detector.dae"
# A cluster node without a display gets no part of one.
expect_no() { ! dpkg-deb -f "$1" Depends | grep -E "$2" || fail "$1 needs $2"; }
expect_no "$development" 'libeigen3-dev'
expect_no "$programs" 'libgl|libegl|libglfw|libglew|libx11'
