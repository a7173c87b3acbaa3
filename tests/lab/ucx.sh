#!/usr/bin/env bash
# A newer UCX beside that of the distribution, as a wheel from the package index, in a folder of its own under target/lab/.
# Called by install.sh; mpi.sh brings a third one, inside Open MPI. What cannot be had is said in a line `skipped: REASON`.
set -uo pipefail
cd "$(dirname "$0")/../.."

folder=target/lab/ucx22 package=libucx-cu12==1.22.0
if compgen -G "$folder/lib/python*/site-packages/libucx/lib/libucp.so.0" >/dev/null; then
  exit 0
fi
if ! command -v python3 >/dev/null 2>&1; then
  echo "skipped: $package not installed: no python3 on this machine"
  exit 0
fi
mkdir -p "$folder"
# It names CUDA's libraries as wanted; what is measured here needs none of them.
if said=$(python3 -m venv "$folder" 2>&1 && "$folder/bin/python" -m pip install --quiet --no-input --no-deps "$package" 2>&1); then
  echo "installed $package in $folder"
else
  rm -rf "$folder"
  echo "skipped: $package not installed: $(tail -n 1 <<<"$said")"
fi
