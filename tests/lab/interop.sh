#!/usr/bin/env bash
# Other people's SOAP stacks for the interoperability tests of byteio: zeep from PyPI, Apache CXF, Metro and Axis from
# Maven Central, each with our small client and service, built once under target/interop. Fast when all is there. What
# cannot be had is said in a line `skipped: REASON`; its tests then skip themselves.
set -uo pipefail
cd "$(dirname "$0")/../.."
out=${CARGO_TARGET_DIR:-target}/interop
mkdir -p "$out"

zeep() {
  [ -e "$out/zeep/ready" ] && return 0
  command -v python3 >/dev/null 2>&1 || { echo "skipped: zeep: no python3"; return 0; }
  rm -rf "$out/zeep"
  local log
  log=$(mktemp)
  if python3 -m venv "$out/zeep" >"$log" 2>&1 && "$out/zeep/bin/pip" install -q 'zeep==4.3.3' >"$log" 2>&1; then
    touch "$out/zeep/ready"
    echo "installed zeep under $out"
  else
    echo "skipped: zeep: $(tail -n 1 "$log")"
  fi
  rm -f "$log"
}

# NAME SOURCES...: jars by Maven, classes by javac; rebuilt when a source is newer.
java_peer() {
  local name=$1 newest log
  shift
  newest=$(ls -t tests/interop/"$name"/pom.xml "$@" | head -n 1)
  [ "$out/$name/ready" -nt "$newest" ] && return 0
  command -v javac >/dev/null 2>&1 || { echo "skipped: $name: no javac"; return 0; }
  log=$(mktemp)
  if ! [ "$out/$name/lib" -nt tests/interop/"$name"/pom.xml ]; then
    rm -rf "${out:?}/$name"
    command -v mvn >/dev/null 2>&1 || { echo "skipped: $name: no mvn"; rm -f "$log"; return 0; }
    if ! mvn -q -B -f tests/interop/"$name"/pom.xml dependency:copy-dependencies \
      -DoutputDirectory="$(realpath "$out")/$name/lib" >"$log" 2>&1; then
      echo "skipped: $name: $(grep -m 1 ERROR "$log" | cut -c 1-200)"
      rm -rf "${out:?}/$name" "$log"
      return 0
    fi
  fi
  if javac -nowarn -d "$out/$name/classes" -cp "$out/$name/lib/*" "$@" >"$log" 2>&1; then
    [ -e tests/interop/"$name"/server-config.wsdd ] && cp tests/interop/"$name"/server-config.wsdd "$out/$name/classes"
    touch "$out/$name/ready"
    echo "built the peer $name under $out"
  else
    echo "skipped: $name: $(head -n 1 "$log")"
  fi
  rm -f "$log"
}

zeep
java_peer cxf tests/interop/jaxws/*.java
java_peer metro tests/interop/jaxws/*.java
java_peer axis tests/interop/axis/*.java
