# SPDX-License-Identifier: Apache-2.0
# The .tar.gz on a machine that has the C library and nothing else: not even a shell. Needs the right to change the root
# folder; skipped where there is none.
. "$(dirname "$0")/common.sh"

mkdir -p root/proc root/dev root/tmp root/opt
cp -r "$TARBALL"/anywhere/raylift-* root/opt/raylift
# The C library's own files, wherever the program interpreter and the libraries are on this machine.
ldd root/opt/raylift/bin/raylift | grep -oE '/[^ ]*/(ld-linux[^ ]*|lib(c|m|dl|rt|pthread|resolv|mvec)\.so[^ ]*)' | sort -u |
  while read -r file; do
    mkdir -p "root$(dirname "$file")"
    cp -L "$file" "root$file"
  done
chroot=$(PATH=$PATH:/usr/sbin:/sbin command -v chroot) || skip "no chroot"
space=(unshare --mount)
[ "$(id -u)" -eq 0 ] || space=(unshare --mount --map-root-user)
# shellcheck disable=SC2016  # for the inner shell
on_node() {
  "${space[@]}" bash -c 'mount --rbind /proc root/proc && mount --rbind /dev root/dev && exec env -i HOME=/tmp "$0" root "$@"' "$chroot" "$@"
}
on_node /opt/raylift/bin/raylift --version >log 2>&1 || {
  ! grep -qE 'unshare:|mount:|chroot: cannot change' log || skip "$(cat log)"
  fail "$(cat log)"
}

expect_text "raylift $VERSION" on_node /opt/raylift/bin/raylift --version
expect_text "906" on_node /opt/raylift/bin/raylift info /opt/raylift/share/raylift/detector.dae
expect_text "verified" on_node /opt/raylift/bin/raylift upload --verify /opt/raylift/share/raylift/detector.dae
on_node /opt/raylift/bin/raylift-make-detector --sensors 20 -o /tmp/made.dae >log 2>&1 || fail "$(cat log)"
expect_text "watertight" on_node /opt/raylift/bin/raylift check /tmp/made.dae
