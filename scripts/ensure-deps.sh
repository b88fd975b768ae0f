#!/bin/bash
# The Debian packages that building, testing and checking need, in one list.
#
#   scripts/ensure-deps.sh [GROUP...]     default: every group but `extended`
#
# Root: installs what is missing. Others: fails and names it. Nothing that is
# installed is started.
set -euo pipefail

# group package
list='
build   gcc
build   g++
build   make
build   python3
core    gcc
core    make
core    libcmocka-dev
core    libssl-dev
core    openssl
unit    openssl
compat  openssl
fallback openssl
package binutils
package libssl-dev
package openssl
servers openssl
servers postgresql
servers mariadb-server
servers vsftpd
extended openssl
extended dovecot-imapd
extended dovecot-pop3d
extended slapd
extended redis-server
extended nats-server
extended mosquitto
extended rabbitmq-server
bench   gcc
bench   libssl-dev
bench   openssl
bench   binutils
bench   libjemalloc2
check   clang
check   clang-format
check   clang-tidy
check   cppcheck
check   libssl-dev
check   libclang-rt-14-dev
check   valgrind
'

default='build core unit compat fallback package servers check'
wanted=$(
  while read -r group package; do
    [ -n "$group" ] || continue
    if [[ " ${*:-$default} " == *" $group "* ]]; then echo "$package"; fi
  done <<<"$list" | sort -u
)
[ -n "$wanted" ] || exit 0

if ! command -v dpkg-query >/dev/null; then
  echo "ensure-deps.sh knows Debian only. What these packages hold is needed:" \
    $wanted >&2
  exit 1
fi

installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' $wanted \
  2>/dev/null | sed -n 's/^installed //p' | sort -u || true)
missing=$(comm -23 <(echo "$wanted") <(echo "$installed"))
[ -n "$missing" ] || exit 0

if [ "$(id -u)" != 0 ]; then
  echo "These Debian packages are needed and missing:" $missing >&2
  echo "Install them as root: apt-get install" $missing >&2
  exit 1
fi

# While policy-rc.d says no, packages do not start the services they bring.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  trap 'rm -f "$policy"' EXIT
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod 755 "$policy"
fi

echo "ensure-deps.sh: installing" $missing
log=$(mktemp)
if ! {
  apt-get update -q &&
    DEBIAN_FRONTEND=noninteractive apt-get install -y -q \
      --no-install-recommends $missing
} >"$log" 2>&1 </dev/null; then
  tail -n 30 "$log" >&2
  echo "ensure-deps.sh: these could not be installed:" $missing >&2
  exit 1
fi
rm -f "$log"
