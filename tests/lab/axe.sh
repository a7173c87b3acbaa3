#!/usr/bin/env bash
# axe-core, the rules of accessibility that browsers' own audits use, from the package index, in a folder of its own under
# target/lab/. Called by install.sh. What cannot be had is said in a line `skipped: REASON`.
set -uo pipefail
cd "$(dirname "$0")/../.."

version=4.14.1
# What the index states of this version (SHA-512, base64).
digest=FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ==
folder=target/lab/axe-$version
if [ -e "$folder/axe.min.js" ]; then
  exit 0
fi
if ! command -v npm >/dev/null 2>&1; then
  echo "skipped: axe-core $version not installed: no npm on this machine"
  exit 0
fi
mkdir -p "$folder"
if said=$(npm pack "axe-core@$version" --silent --pack-destination "$folder" 2>&1 >/dev/null) &&
  [ "$(openssl dgst -sha512 -binary "$folder/axe-core-$version.tgz" | base64 -w 0)" = "$digest" ] &&
  tar -xzf "$folder/axe-core-$version.tgz" -C "$folder" --strip-components=1 package/axe.min.js package/LICENSE; then
  rm -f "$folder/axe-core-$version.tgz"
  echo "installed axe-core $version in $folder"
else
  rm -rf "$folder"
  echo "skipped: axe-core $version not installed: $(tail -n 1 <<<"${said:-the archive is not the one of this version}")"
fi
