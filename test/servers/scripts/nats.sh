#!/bin/bash
# NATS on 127.0.0.1:$PORT. Greets in plaintext, then demands TLS. User tester,
# password secret; messages of up to 8 MB.
. "$(dirname "$0")/common.sh"
port=${PORT:-24222}

start() {
  local user
  user=$(run_user nats)
  fresh_data
  cat >"$data/nats.conf" <<CONF
listen: 127.0.0.1:$port
max_payload: 8388608
authorization {
  user: tester
  password: secret
}
tls {
  cert_file: "$data/server.crt"
  key_file: "$data/server.key"
}
CONF
  give "$user" "$data"
  run_as "$user" nats-server -c "$data/nats.conf" -P "$pid_file" \
    >"$data/log" 2>&1 </dev/null &
  wait_port "$port"
}

main "$@"
