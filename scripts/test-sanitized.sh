#!/bin/bash
# Builds the addon with AddressSanitizer and UBSan and runs mocha's suites with
# it, on both transports:
#
#   scripts/test-sanitized.sh [unit] [compat] [servers]
#
# Without the tests of the loader, which look for the ordinary binary. Leaks are
# not looked for (node itself has some); the tests of the core do that.
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- unit compat

bash scripts/ensure-deps.sh build "$@"
node scripts/build.js --sanitize=address,undefined

export EAGER_TLS_PREBUILD=$PWD/.sanitized
export ASAN_OPTIONS=detect_leaks=0:${ASAN_OPTIONS:-}
export UBSAN_OPTIONS=print_stacktrace=1:${UBSAN_OPTIONS:-}
asan=$(gcc -print-file-name=libasan.so)

bad=0
for transport in stream fd; do
  for suite; do
    echo "---- $suite, $transport transport, sanitized"
    LD_PRELOAD=$asan EAGER_TLS_TEST_TRANSPORT=$transport \
      node node_modules/mocha/bin/mocha.js --ignore test/unit/native.test.js \
        "test/$suite/**/*.test.js" || bad=1
  done
done
exit "$bad"
