#!/bin/bash
# PostgreSQL on 127.0.0.1:$PORT. TLS by SSLRequest, SCRAM passwords, logins
# without TLS refused. User tester, password secret, database postgres.
. "$(dirname "$0")/common.sh"
port=${PORT:-25432}
pid_file=$data/db/postmaster.pid

start() {
  local bin user
  bin=$(find /usr/lib/postgresql -mindepth 2 -maxdepth 2 -name bin | sort -V | tail -n 1)
  user=$(run_user postgres)
  fresh_data
  echo secret >"$data/password"
  give "$user" "$data"
  cd "$data"
  run_as "$user" "$bin/initdb" -D "$data/db" -U tester \
    --pwfile="$data/password" --auth=scram-sha-256 -E UTF8 --locale=C.UTF-8 \
    --no-sync >"$data/initdb.log"
  cat >>"$data/db/postgresql.conf" <<CONF
listen_addresses = '127.0.0.1'
port = $port
unix_socket_directories = ''
ssl = on
ssl_cert_file = '$data/server.crt'
ssl_key_file = '$data/server.key'
ssl_ca_file = '$data/ca.crt'
fsync = off
shared_buffers = 32MB
CONF
  cat >"$data/db/pg_hba.conf" <<CONF
hostnossl all all 0.0.0.0/0 reject
hostssl   all all 127.0.0.1/32 scram-sha-256
CONF
  run_as "$user" "$bin/postgres" -D "$data/db" >"$data/log" 2>&1 </dev/null &
  wait_port "$port"
}

stop() {
  stop_server INT
}

main "$@"
