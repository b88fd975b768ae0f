# Sourced by the scripts that start real servers. Each of them is
#
#   NAME.sh start|stop|status
#
# and takes from the environment TLS_SERVERS_DIR (where it keeps everything it
# writes; several of them can be in use at once) and its ports, with defaults.
# Servers run in the foreground of a background job, so that whoever ends the
# process group ends them too. As root they drop to the user that the Debian
# package made for them; otherwise they run as who started them.
set -eu
umask 022

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
project=$(cd "$here/../../.." && pwd)
pki=$project/test/.pki
base=${TLS_SERVERS_DIR:-${TMPDIR:-/tmp}/eager-tls-servers-$(id -u)}
name=$(basename "$0" .sh)
data=$base/$name
pid_file=$data/pid

root() {
  [ "$(id -u)" = 0 ]
}

# run_user NAME: the user to run as
run_user() {
  if root; then echo "$1"; else id -un; fi
}

# run_as USER COMMAND...
run_as() {
  local user=$1
  shift
  if root; then runuser -u "$user" -- "$@"; else "$@"; fi
}

# give USER FILE...: with all that is below
give() {
  local user=$1
  shift
  if root; then chown -R "$user:" "$@"; fi
}

# fresh_data: an empty $data that holds what every server needs: its key and
# certificate (server.key, server.crt) and the CA that signed it (ca.crt)
fresh_data() {
  bash "$project/scripts/gen-certs.sh"
  mkdir -p "$base"
  rm -rf "$data"
  mkdir "$data"
  install -m 644 "$pki/server.crt" "$pki/ca.crt" "$data"
  install -m 600 "$pki/server.key" "$data"
}

# wait_port PORT [SECONDS]: until something accepts on 127.0.0.1:PORT
wait_port() {
  local i
  for ((i = 0; i < ${2:-30} * 20; i++)); do
    if (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; then return 0; fi
    if [ -s "$pid_file" ] && ! running; then break; fi
    sleep 0.05
  done
  echo "$name: nothing listens on port $1; the log says" >&2
  tail -n 20 "$data/log" >&2 || true
  return 1
}

running() {
  [ -s "$pid_file" ] && kill -0 "$(head -n 1 "$pid_file")" 2>/dev/null
}

# stop_server [SIGNAL]: and wait until it has gone
stop_server() {
  local pid i
  running || return 0
  pid=$(head -n 1 "$pid_file")
  kill "-${1:-TERM}" "$pid" 2>/dev/null || true
  for ((i = 0; i < 300; i++)); do
    if ! kill -0 "$pid" 2>/dev/null; then
      rm -f "$pid_file"
      return 0
    fi
    sleep 0.05
  done
  echo "$name: process $pid does not end" >&2
  return 1
}

# main "$@": calls start() and, if there is one, the script's own stop()
main() {
  case "${1:-}" in
  start) start ;;
  stop) if declare -F stop >/dev/null; then stop; else stop_server; fi ;;
  status) if running; then echo running; else echo stopped; return 1; fi ;;
  *)
    echo "usage: $name.sh start|stop|status" >&2
    return 2
    ;;
  esac
}
