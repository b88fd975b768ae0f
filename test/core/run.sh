#!/bin/bash
# Runs cmocka programs one after the other, each in its own process:
#
#   run.sh [--valgrind] PROGRAM...
#
# Ends with a line `core: N passed, N failed, N skipped`. A program that dies
# or that a sanitizer ends counts as one failure more.
set -uo pipefail

with=() limit=300
if [ "${1:-}" = --valgrind ]; then
  shift
  with=(valgrind --quiet --leak-check=full --show-leak-kinds=definite,possible
    --errors-for-leak-kinds=definite --error-exitcode=99 --track-fds=no)
  limit=1800
fi

export ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=1:${ASAN_OPTIONS:-}
export UBSAN_OPTIONS=print_stacktrace=1:${UBSAN_OPTIONS:-}

passed=0 failed=0 skipped=0
out=$(mktemp)
trap 'rm -f "$out"' EXIT

# total WORD: the number in the line `[  WORD  ] N test(s)` at the end
total() {
  local n
  n=$(sed -n "s/^\[ *$1 *\] \([0-9][0-9]*\) test(s).*/\1/p" "$out" | tail -n 1)
  echo "${n:-0}"
}

for program; do
  echo "== $(basename "$program")"
  timeout "$limit" "${with[@]}" "$program" >"$out" 2>&1 </dev/null
  status=$?
  cat "$out"
  ok=$(total PASSED)
  bad=$(total FAILED)
  if [ "$status" != 0 ] && [ "$bad" = 0 ]; then
    echo "$(basename "$program"): ended with status $status"
    bad=1
  fi
  # Nothing run is not a success.
  if [ "$status" = 0 ] && [ "$ok" = 0 ] && [ "$bad" = 0 ]; then
    echo "$(basename "$program"): ran no test"
    bad=1
  fi
  passed=$((passed + ok))
  failed=$((failed + bad))
  skipped=$((skipped + $(total SKIPPED)))
done

echo "core: $passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
