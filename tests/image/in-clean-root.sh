#!/bin/sh
# Runs the image's content as a container does: its own root, read-only, without privileges. in-clean-root.sh <root> <program of the check>
# Run within `unshare --mount --net --pid --fork`; nothing of it is left when it ends.
set -eu
root=$1
ip link set lo up
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
inside() {
  chroot --userspec=10001:10001 "$root" \
    env -i PATH=/millrace/bin:/usr/bin:/bin MILLRACE_HOST=0.0.0.0 MILLRACE_DATA_DIR=/millrace/data "$@"
}
cp "$root/source/scripts/image/warm-up.sh" "$2" "$root/tmp"
chmod 644 "$root"/tmp/*
inside sh /tmp/warm-up.sh
mount -o remount,ro,bind "$root"
mount -t tmpfs -o uid=10001,gid=10001,mode=700 data "$root/millrace/data"
inside node "/tmp/$(basename "$2")"
