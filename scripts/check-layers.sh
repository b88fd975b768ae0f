#!/bin/bash
# Arrows point down only: lib -> src/napi -> src/core -> libc and OpenSSL.
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

core=(src/core/*.[ch])
napi=(src/napi/*.[ch])
napi_without_loop=()
for file in "${napi[@]}"; do
  case $file in src/napi/loop.[ch]) ;; *) napi_without_loop+=("$file") ;; esac
done
mapfile -t lib < <(find lib -name '*.js' -o -name '*.mjs')

include='^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"]'
forbid 'src/core knows nothing of Node, V8 or libuv' \
  "$include(node|js_native|uv|v8)" "${core[@]}"
forbid 'src/core includes nothing outside of it' "$include\\.\\./" "${core[@]}"
forbid 'only src/napi/loop.c uses libuv' \
  "$include"'uv[./]|\buv_[a-z_]+\(' "${napi_without_loop[@]}"
forbid 'src/napi uses of OpenSSL only its allocator' \
  "$include"'openssl/([^c]|c[^r])|\b(SSL|SSL_CTX|X509|ERR|EVP|BIO)_[A-Za-z0-9_]+\(' \
  "${napi[@]}"

# Of the core's headers the binding sees one.
for header in src/core/*.h; do
  name=$(basename "$header")
  [ "$name" = eager_tls.h ] && continue
  [ -e "src/napi/$name" ] && continue
  forbid 'src/napi includes of the core only eager_tls.h' \
    "$include(\\.\\./core/)?${name//./\\.}\"" "${napi[@]}"
done

forbid "lib does not reach into node's own binding" \
  'process\.binding|internalBinding|--expose-internals' "${lib[@]}"
load="(require\\(|^(import|export) .* from )'[^']+'"
found=$(grep -nHE "$load" "${lib[@]}" | grep -vE '^[^:]+:[0-9]+: *(\*|//)' |
  grep -vE "'(node:[a-z_/]+|\\./[^']*|node-gyp-build(/[a-z-]+)?(\\.js)?)'" |
  grep -vE "'\\.\\./package\\.json'")
if [ -n "$found" ]; then
  echo "lib requires node's modules, its own and node-gyp-build:"
  echo "$found" | sed 's/^/  /'
  bad=1
fi

exit "$bad"
