#!/usr/bin/env bash
# Installs the Debian packages that the tests use and that are missing. What cannot be installed is said in a line
# `skipped: REASON`; the tests that need it then skip themselves in the same words.
set -euo pipefail

# program (or file, by its path) that must be there : package that brings it
wanted=(
  ip:iproute2
  tc:iproute2
  ping:iputils-ping
  nsenter:util-linux
  setpriv:util-linux
  objdump:binutils
  xz:xz-utils
  cc:gcc
  c++:g++
  aarch64-linux-gnu-gcc:gcc-aarch64-linux-gnu
  aarch64-linux-gnu-gcc:libc6-dev-arm64-cross
  groff:groff-base
  zsh:zsh
  javac:openjdk-17-jdk-headless
  mvn:maven
  iperf3:iperf3
  # Beside which `cargo xtask peers` measures; no test starts them.
  sockperf:sockperf
  numactl:numactl
  strace:strace
  fish:fish
  sshd:openssh-server
  slurmctld:slurm-wlm
  slurmd:slurm-wlm-basic-plugins
  munged:munge
  # The plugin pmix of srun loads PMIx by the name that only this package has.
  "/usr/lib/$(uname -m)-linux-gnu/pmix2/lib/libpmix.so:libpmix-dev"
  mpirun.openmpi:openmpi-bin
  mpirun.mpich:mpich
  # The compilers of MPI programs come with the launchers, the header does not.
  "/usr/lib/$(uname -m)-linux-gnu/openmpi/include/mpi.h:libopenmpi-dev"
  "/usr/lib/$(uname -m)-linux-gnu/mpich/include/mpi.h:libmpich-dev"
  chromium:chromium
  ucx_info:ucx-utils
  nginx:nginx-light
  curl:curl
  aria2c:aria2
  xrootd:xrootd-server
  xrdcp:xrootd-client
  globus-url-copy:globus-gass-copy-progs
  globus-gridftp-server:globus-gridftp-server-progs
)

"$(dirname "$0")/mpi.sh"
"$(dirname "$0")/ucx.sh"
"$(dirname "$0")/interop.sh"
"$(dirname "$0")/axe.sh"
"$(dirname "$0")/kubernetes.sh"

PATH=$PATH:/usr/sbin:/sbin
missing=()
for pair in "${wanted[@]}"; do
  [[ $pair == /* && -e ${pair%%:*} ]] || command -v "${pair%%:*}" >/dev/null 2>&1 || missing+=("${pair##*:}")
done
if [ ${#missing[@]} -eq 0 ]; then
  echo "everything that the tests need is here"
  exit 0
fi
mapfile -t packages < <(printf '%s\n' "${missing[@]}" | sort -u)

if ! command -v apt-get >/dev/null 2>&1; then
  echo "skipped: ${packages[*]} not installed: no apt-get on this machine"
  exit 0
fi
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
    as_root=(sudo -n)
  else
    echo "skipped: ${packages[*]} not installed: neither root nor sudo without a password"
    exit 0
  fi
fi
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
# No daemon of a package is to start: the tests start their own, in namespaces.
policy=/usr/sbin/policy-rc.d
if [ -e "$policy" ]; then
  trap 'rm -f "$log"' EXIT
else
  printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee "$policy" >/dev/null
  "${as_root[@]}" chmod 755 "$policy"
  trap 'rm -f "$log"; "${as_root[@]}" rm -f "$policy"' EXIT
fi
# One look at the lists; they may be missing altogether on a fresh machine.
if ! "${as_root[@]}" apt-get update >"$log" 2>&1; then
  echo "apt-get update failed: $(tail -n 1 "$log")"
fi
if "${as_root[@]}" apt-get install -y --no-install-recommends "${packages[@]}" >"$log" 2>&1; then
  echo "installed ${packages[*]}"
else
  echo "skipped: ${packages[*]} not installed: $(tail -n 1 "$log")"
fi
