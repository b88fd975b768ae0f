#!/bin/bash
# dovecot on 127.0.0.1 and 127.0.0.2: $IMAP_PORT (STARTTLS), $POP3_PORT (STLS),
# $IMAPS_PORT, $POP3S_PORT. User tester, password secret.
#
# It takes a connection whose two addresses are equal for a secure one and lets
# it log in without TLS. A connection to 127.0.0.2 comes from 127.0.0.1: that
# one is refused until STARTTLS.
. "$(dirname "$0")/common.sh"
imap=${IMAP_PORT:-20143}
pop3=${POP3_PORT:-20110}
imaps=${IMAPS_PORT:-20993}
pop3s=${POP3S_PORT:-20995}

start() {
  local mail group unprivileged=
  fresh_data
  mkdir -p "$data/base" "$data/mail"
  mail=$(run_user mail)
  group=$(id -gn "$mail")
  give "$mail" "$data/mail"
  if ! root; then
    unprivileged="default_internal_user = $mail
default_internal_group = $group
default_login_user = $mail"
  fi
  echo 'tester:{PLAIN}secret' >"$data/users"
  cat >"$data/dovecot.conf" <<CONF
base_dir = $data/base
log_path = $data/log
protocols = imap pop3
listen = 127.0.0.1, 127.0.0.2
$unprivileged
ssl = required
ssl_cert = <$data/server.crt
ssl_key = <$data/server.key
ssl_min_protocol = TLSv1.2
disable_plaintext_auth = yes
auth_mechanisms = plain login
mail_location = maildir:$data/mail/%u
mail_uid = $mail
mail_gid = $group
first_valid_uid = 1
first_valid_gid = 1
passdb {
  driver = passwd-file
  args = $data/users
}
userdb {
  driver = static
  args = uid=$mail gid=$group home=$data/mail/%u
}
service imap-login {
  chroot =
  inet_listener imap {
    port = $imap
  }
  inet_listener imaps {
    port = $imaps
    ssl = yes
  }
}
service pop3-login {
  chroot =
  inet_listener pop3 {
    port = $pop3
  }
  inet_listener pop3s {
    port = $pop3s
    ssl = yes
  }
}
service anvil {
  chroot =
}
service stats {
  chroot =
}
CONF
  dovecot -F -c "$data/dovecot.conf" >"$data/out" 2>&1 </dev/null &
  echo $! >"$pid_file"
  wait_port "$imap"
  wait_port "$pop3s"
}

main "$@"
