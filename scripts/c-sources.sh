# Sourced by the checks: where the C sources are and how they are compiled.
# The directory is the project's.
cd "$(dirname "${BASH_SOURCE[0]}")/.."

node_include=$(node -p "require('./scripts/node-dir').findNodeDir() ?? ''")/include/node
c_flags=(-std=c11 -D_GNU_SOURCE -DNAPI_VERSION=8
  -isystem node_modules/node-api-headers/include
  -isystem "$node_include" -isystem deps/uthash)
c_sources() { ls src/core/*.c src/napi/*.c; }
c_tests() { ls test/core/*.c; }
c_headers() { ls src/core/*.h src/napi/*.h test/core/*.h 2>/dev/null || true; }
