#!/bin/bash
# Redis on 127.0.0.1:$PORT, TLS from the first byte, no plaintext port; client
# certificates are asked for, not demanded. Password secret.
. "$(dirname "$0")/common.sh"
port=${PORT:-26379}

start() {
  local user
  user=$(run_user redis)
  fresh_data
  cat >"$data/redis.conf" <<CONF
bind 127.0.0.1
port 0
tls-port $port
tls-cert-file $data/server.crt
tls-key-file $data/server.key
tls-ca-cert-file $data/ca.crt
tls-auth-clients optional
requirepass secret
dir $data
pidfile $pid_file
save ""
daemonize no
CONF
  give "$user" "$data"
  run_as "$user" redis-server "$data/redis.conf" >"$data/log" 2>&1 </dev/null &
  wait_port "$port"
}

main "$@"
