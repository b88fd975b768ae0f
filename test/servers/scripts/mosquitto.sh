#!/bin/bash
# Mosquitto (MQTT) on 127.0.0.1:$PORT, TLS from the first byte. User tester,
# password secret.
. "$(dirname "$0")/common.sh"
port=${PORT:-28883}

start() {
  local user
  user=$(run_user mosquitto)
  fresh_data
  mosquitto_passwd -b -c "$data/passwords" tester secret
  cat >"$data/mosquitto.conf" <<CONF
listener $port 127.0.0.1
certfile $data/server.crt
keyfile $data/server.key
password_file $data/passwords
pid_file $pid_file
user $user
CONF
  give "$user" "$data"
  mosquitto -c "$data/mosquitto.conf" >"$data/log" 2>&1 </dev/null &
  wait_port "$port"
}

main "$@"
