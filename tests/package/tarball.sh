# SPDX-License-Identifier: Apache-2.0
# The .tar.gz: unpacked anywhere, its programs take no library from this machine but the C library and what belongs to
# the display.
. "$(dirname "$0")/common.sh"

"$CPACK" -G TGZ --config "$BUILD/CPackConfig.cmake" -B "$WORK" >log 2>&1 || fail "$(tail -n 20 log)"
mkdir anywhere
tar xzf raylift-*.tar.gz -C anywhere
tree=$(echo "$WORK"/anywhere/raylift-"$VERSION"-*)
[ -d "$tree" ] || fail "the archive has another top folder: $(ls anywhere)"
expect_text "906" "$tree/bin/raylift" info "$tree/share/raylift/detector.dae"

own='^(ld-linux.*|linux-vdso|lib(c|m|dl|rt|pthread|resolv|util|mvec))\.so'
display='^lib((GL|EGL|GLX|OpenGL|GLdispatch|GLESv2|gbm|drm|stdc\+\+|gcc_s|bsd|md|ffi|expat)\.so|X|xcb|wayland|xkbcommon)'
for program in "$tree"/bin/* "$tree"/libexec/raylift/*; do
  system=$own
  # Open CASCADE's reader of STEP links its own viewer.
  [[ ! $(basename "$program") =~ ^raylift-(view|step\.so)$ ]] || system="$own|$display"
  while read -r name _ path _; do
    [ "$path" != not ] || fail "$program: $name is not found"
    [[ $path == "$tree"/* || $(basename "$name") =~ $system ]] || fail "$program takes $name from this machine"
  done < <(ldd "$program")
done

# Each bundled library comes with its licence.
if command -v dpkg-query >/dev/null; then
  libraries=$(find "$tree" -path '*/raylift/*' -type f -name '*.so*' | wc -l)
  licences=$(find "$tree/share/doc/raylift/bundled" -name copyright | wc -l)
  [ "$libraries" -gt 8 ] || fail "only $libraries libraries are bundled"
  [ "$licences" -gt $((libraries / 2)) ] || fail "$licences licences for $libraries libraries"
fi
