#!/bin/bash
# Every function of OpenSSL, libuv and Node-API that the binary asks for has to
# be exported by every version of node at hand: the one on the PATH, and those
# that scripts/get-runtimes.sh has fetched. With arguments: of these nodes.
#
#   scripts/check-symbols.sh [NODE...]
set -euo pipefail
cd "$(dirname "$0")/.."
export LC_ALL=C

binaries=()
for file in build/Release/eager_tls.node \
  prebuilds/"$(node -p 'process.platform + "-" + process.arch')"/*.node; do
  [ ! -e "$file" ] || binaries+=("$file")
done
if [ ${#binaries[@]} = 0 ]; then
  echo "check-symbols.sh: no binary: node scripts/build.js" >&2
  exit 1
fi

if [ $# = 0 ]; then
  set -- "$(command -v node)"
  for node in .runtimes/node-*/node_modules/*/bin/node; do
    [ ! -x "$node" ] || set -- "$@" "$node"
  done
fi

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# Those with a version (malloc@GLIBC_2.2.5) are the C library's.
imports() {
  nm -D --undefined-only "$1" | awk '$1 == "U" && $2 !~ /@/ { print $2 }' |
    sort -u
}

exports() {
  nm -D --defined-only "$1" | awk '{ sub(/@.*/, "", $3); print $3 }' | sort -u
}

failed=0
for node; do
  version=$("$node" --version)
  exports "$(readlink -f "$node")" >"$dir/exports"
  for binary in "${binaries[@]}"; do
    imports "$binary" >"$dir/imports"
    count=$(wc -l <"$dir/imports")
    missing=$(comm -23 "$dir/imports" "$dir/exports")
    if ! grep -q '^SSL_new$' "$dir/imports"; then
      echo "$binary imports no OpenSSL: it carries a copy, or nm failed"
      failed=1
    elif [ -n "$missing" ]; then
      echo "node $version does not export what $binary needs:"
      sed 's/^/  /' <<<"$missing"
      failed=1
    else
      echo "node $version has all $count functions that $binary needs"
    fi
  done
done
exit $failed
