#!/bin/bash
# MariaDB on 127.0.0.1:$PORT. TLS by capability flag, required. User tester,
# password secret, database t.
. "$(dirname "$0")/common.sh"
port=${PORT:-23306}

start() {
  local user
  user=$(run_user mysql)
  fresh_data
  cat >"$data/my.cnf" <<CONF
[mariadbd]
user = $user
datadir = $data/db
socket = $data/sock
pid-file = $pid_file
bind-address = 127.0.0.1
port = $port
ssl-cert = $data/server.crt
ssl-key = $data/server.key
ssl-ca = $data/ca.crt
require-secure-transport = ON
max_allowed_packet = 64M
innodb_flush_log_at_trx_commit = 0
innodb_buffer_pool_size = 32M
innodb_log_file_size = 8M
CONF
  cat >"$data/init.sql" <<SQL
CREATE DATABASE IF NOT EXISTS t;
CREATE OR REPLACE USER 'tester'@'%' IDENTIFIED VIA mysql_native_password USING PASSWORD('secret') REQUIRE SSL;
GRANT ALL ON t.* TO 'tester'@'%';
SQL
  give "$user" "$data"
  mariadb-install-db --defaults-file="$data/my.cnf" --user="$user" \
    --datadir="$data/db" --auth-root-authentication-method=normal \
    --skip-test-db >"$data/install.log" 2>&1
  mariadbd --defaults-file="$data/my.cnf" --init-file="$data/init.sql" \
    >"$data/log" 2>&1 </dev/null &
  wait_port "$port"
}

main "$@"
