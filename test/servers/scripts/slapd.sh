#!/bin/bash
# OpenLDAP (Debian builds it with GnuTLS) on 127.0.0.1:$PORT. StartTLS, binds
# refused without TLS. cn=admin,dc=example,dc=test, password secret; 500 entries
# cn=user1 ... cn=user500.
. "$(dirname "$0")/common.sh"
port=${PORT:-20389}

entries() {
  local i filler
  filler=$(printf 'x%.0s' $(seq 400))
  printf '%s\n' 'dn: dc=example,dc=test' 'objectClass: dcObject' \
    'objectClass: organization' 'dc: example' 'o: Example' ''
  for i in $(seq 500); do
    printf '%s\n' "dn: cn=user$i,dc=example,dc=test" \
      'objectClass: inetOrgPerson' "cn: user$i" "sn: Sur$i" \
      "mail: user$i@example.test" "description: $filler" ''
  done
}

start() {
  local user
  user=$(run_user openldap)
  fresh_data
  mkdir "$data/db"
  cat >"$data/slapd.conf" <<CONF
include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
pidfile $pid_file
argsfile $data/args
modulepath /usr/lib/ldap
moduleload back_mdb
TLSCACertificateFile $data/ca.crt
TLSCertificateFile $data/server.crt
TLSCertificateKeyFile $data/server.key
security simple_bind=128
sizelimit unlimited
sockbuf_max_incoming_auth 16777216
database mdb
maxsize 134217728
suffix "dc=example,dc=test"
rootdn "cn=admin,dc=example,dc=test"
rootpw secret
directory $data/db
CONF
  entries >"$data/data.ldif"
  slapadd -q -f "$data/slapd.conf" -l "$data/data.ldif" 2>"$data/slapadd.log"
  give "$user" "$data"
  # -d 0: in the foreground, quietly
  slapd_args=(-h "ldap://127.0.0.1:$port/" -f "$data/slapd.conf" -d 0)
  if root; then slapd_args+=(-u openldap -g openldap); fi
  slapd "${slapd_args[@]}" >"$data/log" 2>&1 </dev/null &
  wait_port "$port"
}

main "$@"
