#!/bin/bash
# RabbitMQ (AMQP) on 127.0.0.1:$PORT, TLS from the first byte. User tester,
# password secret. $EPMD_PORT and $DIST_PORT are those of Erlang.
. "$(dirname "$0")/common.sh"
port=${PORT:-25671}
epmd=${EPMD_PORT:-24369}
dist=${DIST_PORT:-25672}

start() {
  local user
  user=$(run_user rabbitmq)
  fresh_data
  mkdir "$data/home" "$data/db" "$data/logs"
  cat >"$data/rabbitmq.conf" <<CONF
listeners.tcp = none
listeners.ssl.1 = 127.0.0.1:$port
ssl_options.certfile = $data/server.crt
ssl_options.keyfile = $data/server.key
ssl_options.versions.1 = tlsv1.3
ssl_options.versions.2 = tlsv1.2
default_user = tester
default_pass = secret
log.file = false
log.console = true
CONF
  touch "$data/enabled_plugins"
  give "$user" "$data"
  cd "$data"
  # Not Debian's wrapper, which knows one server and its user only.
  run_as "$user" env HOME="$data/home" ERL_EPMD_PORT="$epmd" \
    ERL_EPMD_ADDRESS=127.0.0.1 RABBITMQ_DIST_PORT="$dist" \
    RABBITMQ_NODENAME="rabbit$port@localhost" RABBITMQ_NODE_IP_ADDRESS= \
    RABBITMQ_CONFIG_FILE="$data/rabbitmq.conf" RABBITMQ_PID_FILE="$pid_file" \
    RABBITMQ_MNESIA_BASE="$data/db" RABBITMQ_LOG_BASE="$data/logs" \
    RABBITMQ_ENABLED_PLUGINS_FILE="$data/enabled_plugins" \
    RABBITMQ_CONF_ENV_FILE=/dev/null \
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS='+S 1:1 +sbwt none' \
    /usr/lib/rabbitmq/bin/rabbitmq-server >"$data/log" 2>&1 </dev/null &
  wait_port "$port" 60
}

stop() {
  stop_server
  # Erlang's table of names, which the server has started for itself.
  ERL_EPMD_PORT=$epmd epmd -kill >/dev/null 2>&1 || true
}

main "$@"
