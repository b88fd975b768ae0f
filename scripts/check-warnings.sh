#!/bin/bash
# Compiles every C file with gcc and clang, optimized, as the addon is built
# but with every warning an error.
set -uo pipefail
. "$(dirname "$0")/c-sources.sh"

# NAPI_MODULE_INIT defines functions without prototypes, which clang, unlike
# gcc, reports although the macro is not ours.
gcc=(gcc)
clang=(clang -Wno-missing-prototypes)
for compiler in gcc clang; do
  declare -n command=$compiler
  c_sources | xargs -P "$(nproc)" -I FILE "${command[0]}" "${c_flags[@]}" \
    @src/warnings.flags "${command[@]:1}" -Werror -O2 -DNDEBUG -fPIC \
    -fvisibility=hidden -fstack-protector-strong -fno-common \
    -c -o /dev/null FILE || exit 1
done
