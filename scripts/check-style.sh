#!/bin/bash
# Rules of style that a grep can check.
set -uo pipefail
cd "$(dirname "$0")/.."
bad=0

# forbid WHY PATTERN FILE...: no line of the files has the pattern
forbid() {
  local why=$1 pattern=$2 found
  shift 2
  found=$(grep -nHE -- "$pattern" "$@") || return 0
  echo "$why:"
  echo "$found" | sed 's/^/  /'
  bad=1
}

mapfile -t all < <(git ls-files --cached --others --exclude-standard \
  -- src lib test bench scripts bin docs .ci '*.md' '*.gyp' 'package*.json')
existing=()
for file in "${all[@]}"; do [ -f "$file" ] && existing+=("$file"); done
mapfile -t c < <(printf '%s\n' "${existing[@]}" | grep -E '\.[ch]$')
mapfile -t source < <(printf '%s\n' "${existing[@]}" |
  grep -E '\.([ch]|m?js|sh|d\.ts)$' | grep -v '^scripts/check-style\.sh$')
mapfile -t product < <(printf '%s\n' "${c[@]}" | grep -E '^src/')
mapfile -t no_mem < <(printf '%s\n' "${product[@]}" | grep -v '/mem\.c$')

forbid 'unbounded or unchecked functions' \
  '\b(strcpy|strcat|strncpy|strncat|sprintf|vsprintf|gets|atoi|atol|atoll|atof|strtok)\(' \
  "${c[@]}"
forbid 'allocation is the business of mem.c' \
  '\b(malloc|calloc|realloc|free|strdup|strndup|reallocarray|alloca)\(' \
  "${no_mem[@]}"
forbid 'no typedef of a struct, union or enum' \
  '\btypedef[[:space:]]+(struct|union|enum)\b' "${product[@]}"
forbid 'left behind' '\b(TODO|FIXME|XXX|HACK)\b' "${source[@]}"
forbid 'tabs' $'\t' "${source[@]}"
forbid 'white space at the end of a line' '[[:blank:]]$' "${source[@]}"
forbid 'the lock file names no registry' '"resolved":' package-lock.json

for file in "${source[@]}"; do
  lines=$(wc -l <"$file")
  if [ "$lines" -gt 500 ]; then
    echo "$file: $lines lines; 500 is the most, one job per file"
    bad=1
  fi
done

for file in "${product[@]}"; do
  if [ "$(head -c 2 "$file")" != '/*' ]; then
    echo "$file: does not open with a comment on what it is"
    bad=1
  fi
done

exit "$bad"
