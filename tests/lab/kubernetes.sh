#!/usr/bin/env bash
# kubernetes-validate, which has the schemas of Kubernetes with it, from the package index, in a folder of its own under
# target/lab/. Called by install.sh. What cannot be had is said in a line `skipped: REASON`.
set -uo pipefail
cd "$(dirname "$0")/../.."

version=1.37.0
folder=target/lab/kubernetes-validate-$version
if [ -e "$folder/ready" ]; then
  exit 0
fi
if ! command -v python3 >/dev/null 2>&1; then
  echo "skipped: kubernetes-validate $version not installed: no python3 on this machine"
  exit 0
fi
rm -rf "$folder"
mkdir -p target/lab
if said=$(python3 -m venv "$folder" 2>&1 && "$folder/bin/pip" install -q --disable-pip-version-check \
  "kubernetes-validate==$version" 2>&1); then
  touch "$folder/ready"
  echo "installed kubernetes-validate $version in $folder"
else
  rm -rf "$folder"
  echo "skipped: kubernetes-validate $version not installed: $(tail -n 1 <<<"$said")"
fi
