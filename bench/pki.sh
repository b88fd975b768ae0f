#!/bin/bash
# Makes the keys and certificates of the demo and the benchmarks with the
# openssl command line:
#
#   bench/pki.sh DIR [bundle]
#
#   ca.crt, ca.key          the root that signs the others
#   server.crt, server.key  RSA-2048, for localhost
#   client.crt, client.key  RSA-2048, for mutual TLS
#   bundle.pem              with `bundle`: 120 roots, ca.crt the last of them
#
# Does nothing if they are there, made by this very script, less than 20 days
# ago (they are valid for 30). Processes that come at the same time wait.
set -euo pipefail

self=$(cd "$(dirname "$0")" && pwd)/$(basename "$0")
mkdir -p "$1"
cd "$1"
exec 9>lock
flock 9

days=30
stamp=$(sha256sum <"$self" | cut -d ' ' -f 1)

q() {
  openssl "$@" 2>>log || {
    tail -n 20 log >&2
    exit 1
  }
}

fresh() {
  [ -f "$1" ] && [ "$(cat "$1")" = "$stamp" ] && [ -z "$(find "$1" -mtime +19)" ]
}

root_ca() { # KEY NAME CN
  q req -x509 -new -key "$1" -sha256 -days "$days" -out "$2" \
    -subj "/O=Benchmark/CN=$3" -addext 'keyUsage=critical,keyCertSign,cRLSign'
}

leaf() { # NAME CN EXTENSIONS
  q req -new -newkey rsa:2048 -nodes -keyout "$1.key" -out "$1.csr" -subj "/CN=$2"
  q x509 -req -in "$1.csr" -CA ca.crt -CAkey ca.key -CAcreateserial -sha256 \
    -days "$days" -out "$1.crt" -extfile <(printf '%s\n' "$3")
  rm "$1.csr"
}

if ! fresh stamp; then
  rm -f stamp stamp-bundle
  q genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out ca.key
  root_ca ca.key ca.crt 'Benchmark Root CA'
  leaf server localhost 'subjectAltName=DNS:localhost,IP:127.0.0.1
extendedKeyUsage=serverAuth'
  leaf client 'benchmark client' 'extendedKeyUsage=clientAuth'
  echo "$stamp" >stamp
fi

# What a cloud database's bundle holds: mostly RSA, some on curves. The roots
# are distinct certificates; that many of them have the same key changes nothing
# for whoever parses them.
if [ "${2:-}" = bundle ] && ! fresh stamp-bundle; then
  q genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out rsa.key
  q genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-384 -out ec.key
  : >bundle.pem
  for i in $(seq 1 119); do
    if [ $((i % 5)) = 0 ]; then key=ec.key; else key=rsa.key; fi
    root_ca "$key" one.crt "Bundle Root CA $i"
    cat one.crt >>bundle.pem
  done
  cat ca.crt >>bundle.pem
  rm one.crt rsa.key ec.key
  echo "$stamp" >stamp-bundle
fi
