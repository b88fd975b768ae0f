#!/bin/bash
# `npm run check`: everything that is not a test. With arguments: only those.
#
#   scripts/check.sh [layers] [style] [format] [tidy] [cppcheck] [warnings] [symbols]
#                    [lint]
#                    [package]
set -uo pipefail
. "$(dirname "$0")/c-sources.sh"

layers() { bash scripts/check-layers.sh; }
style() { bash scripts/check-style.sh; }
warnings() { bash scripts/check-warnings.sh; }
symbols() { bash scripts/check-symbols.sh; }
lint() { node_modules/.bin/eslint .; }

format() {
  { c_sources; c_tests; c_headers; } | xargs clang-format --dry-run -Werror
}

tidy() {
  c_sources | xargs -P "$(nproc)" -I FILE bash -c '
    out=$(clang-tidy --quiet "$0" -- "$@" 2>/dev/null) || { echo "$out"; exit 1; }
  ' FILE "${c_flags[@]}"
}

cppcheck() {
  command cppcheck --quiet --std=c11 --enable=warning,performance,portability \
    --inline-suppr --suppress=missingIncludeSystem --suppress='*:deps/*' \
    --error-exitcode=1 -j "$(nproc)" -D_GNU_SOURCE -DNAPI_VERSION=8 -DNDEBUG \
    -Ideps/uthash src/core src/napi
}

# What bundlers and TypeScript will make of the package.
package() {
  local dir ok=0
  node_modules/.bin/publint run --strict . || ok=1
  dir=$(mktemp -d)
  npm pack --silent --ignore-scripts --pack-destination "$dir" >/dev/null &&
    node_modules/.bin/attw --quiet "$dir"/*.tgz || ok=1
  rm -rf "$dir"
  return "$ok"
}

bash scripts/ensure-deps.sh build check || exit 1
[ $# -gt 0 ] || set -- layers style format tidy cppcheck warnings symbols lint package
failed=()
for check; do
  start=$SECONDS
  if "$check"; then verdict=ok; else
    verdict=FAILED
    failed+=("$check")
  fi
  printf 'check: %-8s %s (%d s)\n' "$check" "$verdict" "$((SECONDS - start))"
done
[ ${#failed[@]} = 0 ] || {
  echo "check: failed: ${failed[*]}"
  exit 1
}
