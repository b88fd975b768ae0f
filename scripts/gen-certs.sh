#!/bin/bash
# Makes the keys and certificates of the tests with the openssl command line:
#
#   scripts/gen-certs.sh [DIR]      default: test/.pki
#
# Does nothing if they are there, made by this very script, less than 20 days
# ago (they are valid for 30). Processes that come at the same time wait.
# test/support/certs.js says what each of the files is.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
dir=${1:-$root/test/.pki}
script=$(cd "$(dirname "$0")" && pwd)/$(basename "$0")
days=30
bundle_rsa=95
bundle_ec=24

mkdir -p "$dir"
cd "$dir"
exec 9>lock
flock 9

stamp=$(sha256sum <"$script" | cut -d ' ' -f 1)
if [ -f stamp ] && [ "$(cat stamp)" = "$stamp" ] &&
  [ -z "$(find stamp -mtime +19)" ]; then
  exit 0
fi
find . -mindepth 1 ! -name lock -delete
trap '[ -f stamp ] || { echo "gen-certs.sh failed:" >&2; tail -n 20 log >&2; }' EXIT

cat >openssl.cnf <<'CNF'
[req]
prompt = no
distinguished_name = dn
string_mask = utf8only
[dn]
CN = unused
[ca]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign, cRLSign
subjectKeyIdentifier = hash
[leaf]
basicConstraints = CA:FALSE
keyUsage = critical, digitalSignature, keyEncipherment
extendedKeyUsage = serverAuth, clientAuth
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
[issuer]
dir = .
database = $dir/index.txt
serial = $dir/serial
crlnumber = $dir/crlnumber
new_certs_dir = $dir/issued
certificate = $dir/ca.crt
private_key = $dir/ca.key
default_md = sha256
default_crl_days = 30
policy = any
unique_subject = no
copy_extensions = copy
[any]
commonName = supplied
organizationName = optional
CNF

q() {
  openssl "$@" 2>>log
}

# new_key NAME TYPE: rsa:BITS or a curve
new_key() {
  case $2 in
  rsa:*) q genrsa -out "$1.key" "${2#rsa:}" ;;
  *) q ecparam -genkey -noout -name "$2" -out "$1.key" ;;
  esac
}

# root_ca NAME TYPE SUBJECT
root_ca() {
  new_key "$1" "$2"
  q req -x509 -new -config openssl.cnf -extensions ca -key "$1.key" -sha256 \
    -days "$days" -subj "$3" -out "$1.crt"
}

# request NAME TYPE SUBJECT SAN: key, signing request, extensions
request() {
  new_key "$1" "$2"
  q req -new -config openssl.cnf -key "$1.key" -subj "$3" -out "$1.csr"
  sed -n '/^\[leaf\]/,/^\[issuer\]/p' openssl.cnf | sed '$d' >"$1.ext"
  [ -z "$4" ] || echo "subjectAltName = $4" >>"$1.ext"
}

# leaf NAME TYPE SUBJECT SAN [ISSUER]: signed by ca or by ISSUER
leaf() {
  request "$1" "$2" "$3" "$4"
  q x509 -req -in "$1.csr" -CA "${5:-ca}.crt" -CAkey "${5:-ca}.key" -sha256 \
    -set_serial "0x$(openssl rand -hex 8 | sed 's/^./1/')" -days "$days" \
    -extfile "$1.ext" -extensions leaf -out "$1.crt"
}

# dated_leaf NAME TYPE SUBJECT SAN NOT_BEFORE NOT_AFTER
dated_leaf() {
  request "$1" "$2" "$3" "$4"
  q ca -batch -config openssl.cnf -name issuer -in "$1.csr" -notext \
    -startdate "$5" -enddate "$6" -extfile "$1.ext" -extensions leaf \
    -out "$1.crt"
}

# bundle_ca NUMBER TYPE: one certificate of the big bundle
bundle_ca() {
  root_ca "bundle/$1" "$2" "/O=Bundle Authority $1/CN=Bundle Root CA $1"
}

all='DNS:localhost,DNS:hosta.test,IP:127.0.0.1,IP:127.0.0.2,IP:::1'

authorities() {
  mkdir issued
  : >index.txt
  echo 01 >crlnumber
  echo 2000 >serial
  root_ca ca rsa:2048 '/O=Eager Test/CN=Test Root A'
  root_ca other-ca rsa:2048 '/O=Eager Test/CN=Test Root B'
  # The same name as CA A, another key: only the content tells them apart.
  root_ca twin-ca rsa:2048 '/O=Eager Test/CN=Test Root A'

  request intermediate rsa:2048 '/O=Eager Test/CN=Test Intermediate A' ''
  q x509 -req -in intermediate.csr -CA ca.crt -CAkey ca.key -sha256 \
    -set_serial 0x1001 -days "$days" -extfile openssl.cnf -extensions ca \
    -out intermediate.crt
}

leaves() {
  leaf server rsa:2048 '/CN=localhost' "$all"
  leaf ec prime256v1 '/CN=localhost' "$all"
  leaf chained rsa:2048 '/CN=localhost' "$all" intermediate
  leaf from-other rsa:2048 '/CN=localhost' "$all" other-ca
  leaf hosta prime256v1 '/CN=hosta.test' 'DNS:hosta.test'
  leaf hostb prime256v1 '/CN=hostb.test' 'DNS:hostb.test'
  leaf wildcard prime256v1 '/CN=wildcard' 'DNS:*.wild.test'
  leaf wrong rsa:2048 '/CN=other.example' 'DNS:other.example'
  leaf ip-only prime256v1 '/CN=address' 'IP:127.0.0.1,IP:::1'
  leaf cn-only prime256v1 '/CN=localhost' ''
  leaf weak rsa:1024 '/CN=localhost' "$all"
  dated_leaf expired prime256v1 '/CN=localhost' "$all" \
    20200101000000Z 20210101000000Z
  dated_leaf not-yet prime256v1 '/CN=localhost' "$all" \
    20900101000000Z 20910101000000Z

  new_key self-signed prime256v1
  q req -x509 -new -config openssl.cnf -key self-signed.key -sha256 \
    -days "$days" -subj '/CN=localhost' -addext "subjectAltName=$all" \
    -out self-signed.crt

  cat server.crt ca.crt >server-chain.crt
  cat chained.crt intermediate.crt >chained-full.crt
}

clients() {
  leaf client-a rsa:2048 '/O=Eager Test/CN=tester' 'DNS:tester'
  leaf client-b prime256v1 '/O=Eager Test/CN=other tester' 'DNS:other-tester'
  leaf client-stranger prime256v1 '/CN=stranger' 'DNS:stranger' other-ca
  q pkcs8 -topk8 -v2 aes-256-cbc -in client-a.key -passout pass:secret \
    -out client-a-encrypted.key
  q rsa -aes128 -traditional -in client-a.key -passout pass:secret \
    -out client-a-encrypted-traditional.key

  pfx() { # NAME OPTIONS...
    local name=$1
    shift
    q pkcs12 -export -in client-a.crt -inkey client-a.key -certfile ca.crt \
      -name client-a -passout pass:secret "$@" -out "$name.pfx"
  }
  pfx client-a -keypbe AES-256-CBC -certpbe AES-256-CBC -macalg SHA1
  pfx client-a-sha256 -keypbe AES-256-CBC -certpbe AES-256-CBC -macalg SHA256
  pfx client-a-legacy -legacy -keypbe PBE-SHA1-3DES -certpbe PBE-SHA1-RC2-40 \
    -macalg SHA1
  q pkcs12 -export -in client-a.crt -inkey client-a.key -passout pass: \
    -out client-a-no-password.pfx
}

revocation() {
  q ca -config openssl.cnf -name issuer -gencrl -out crl-empty.pem
  q ca -config openssl.cnf -name issuer -revoke server.crt
  q ca -config openssl.cnf -name issuer -gencrl -out crl-server-revoked.pem
  q crl -in crl-empty.pem -outform DER -out crl-empty.der
}

# RFC 7919's 2048 bit group, and a small one of our own.
parameters() {
  q genpkey -genparam -algorithm DH -pkeyopt group:ffdhe2048 -out dh2048.pem
  q dhparam -out dh1024.pem 1024
}

bundle() {
  mkdir bundle
  export -f bundle_ca root_ca new_key q
  export days
  {
    for i in $(seq 1 "$bundle_rsa"); do echo "$i rsa:2048"; done
    for i in $(seq "$((bundle_rsa + 1))" "$((bundle_rsa + bundle_ec))"); do
      echo "$i prime256v1"
    done
  } | xargs -P "$(nproc)" -L 1 bash -c 'bundle_ca "$0" "$1"'
  # The last of the 120 is the one that signed the server's certificate.
  for i in $(seq 1 "$((bundle_rsa + bundle_ec))"); do
    cat "bundle/$i.crt"
  done | cat - ca.crt >bundle.pem
  rm -r bundle
}

authorities
leaves
clients
revocation
parameters
bundle

rm -f -- *.csr *.ext
chmod 644 -- *.key *.crt *.pem *.pfx
q verify -CAfile ca.crt server.crt ec.crt client-a.crt client-b.crt >/dev/null
q verify -CAfile ca.crt -untrusted intermediate.crt chained.crt >/dev/null
echo "$stamp" >stamp
