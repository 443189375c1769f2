#!/bin/sh
# The first program of a lab node, run by tini as the init's only child, inside the node's own
# network, PID, mount, UTS and IPC namespaces. It makes the place look like a machine of its own,
# then keeps dockerd running until it is told to halt.
#
# Needs in its environment: LAB_NODE (host name), LAB_NODE_DIR (the node's directory),
# LAB_DIR (the instance's directory), LAB_NODE_DISK (the image file of the node's own disk, or empty).
set -eu

echo "$LAB_NODE" > /proc/sys/kernel/hostname

# Mounts of the host that this private copy would keep alive: other namespaces, other daemons.
sed -n 's/^[^ ]* [^ ]* [^ ]* [^ ]* \([^ ]*\) .*/\1/p' /proc/self/mountinfo | sort -r |
while read -r point; do
    case "$point" in
        /run/?* | /var/run/?* | "$LAB_DIR"/?* | /var/lib/docker/?* | /var/lib/containerd/?*)
            umount -l "$point" 2>/dev/null || : ;;
    esac
done

mount -t proc proc /proc

# A fresh /sys shows this node's network; it hides the cgroups, so they are bound back under it.
cgroups="$LAB_NODE_DIR/cgroup"
mkdir -p "$cgroups"
mount --rbind /sys/fs/cgroup "$cgroups"
mount -t sysfs sysfs /sys
mount --move "$cgroups" /sys/fs/cgroup

# A disk of its own is mounted here alone, so that it is free once the node is off.
[ -z "$LAB_NODE_DISK" ] || mount -o loop "$LAB_NODE_DISK" "$LAB_NODE_DIR/data"

mount -t tmpfs -o mode=755,nosuid,nodev tmpfs /run
mkdir -p /run/lock

for name in hosts hostname resolv.conf; do
    target=$(readlink -m "/etc/$name")
    mkdir -p "$(dirname "$target")"
    [ -e "$target" ] || : > "$target"
    mount --bind "$LAB_NODE_DIR/etc/$name" "$target"
done
mkdir -p /etc/docker
mount --bind "$LAB_NODE_DIR/etc/docker" /etc/docker

halting=
child=
halt() {
    halting=yes
    [ -z "$child" ] || kill -TERM "$child" 2>/dev/null || :
}
trap halt TERM INT

while [ -z "$halting" ]; do
    rm -f /run/docker.pid "$LAB_NODE_DIR/docker.sock"
    dockerd --config-file "$LAB_NODE_DIR/daemon.json" &
    child=$!
    # A signal interrupts wait; go on until the daemon itself has ended.
    while kill -0 "$child" 2>/dev/null; do wait "$child" || :; done
    [ -n "$halting" ] || { echo "node-init: dockerd ended, starting it again"; sleep 0.2; }
done
