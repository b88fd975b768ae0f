#!/bin/bash
# vsftpd on 127.0.0.1:$PORT. AUTH TLS and PROT P are required, data connections
# must resume the session of the control connection (REUSE=NO relaxes that),
# uploads must end with close_notify (STRICT=NO). Anonymous; /pub is writable.
. "$(dirname "$0")/common.sh"
port=${PORT:-20021}

start() {
  local user
  user=$(run_user ftp)
  fresh_data
  mkdir -p "$data/root/pub" "$data/empty"
  give "$user" "$data/root/pub"
  chmod 555 "$data/root" "$data/empty"
  cat >"$data/vsftpd.conf" <<CONF
listen=YES
listen_address=127.0.0.1
listen_port=$port
background=NO
run_as_launching_user=$(if root; then echo NO; else echo YES; fi)
anonymous_enable=YES
no_anon_password=YES
local_enable=NO
write_enable=YES
anon_upload_enable=YES
anon_mkdir_write_enable=YES
anon_other_write_enable=YES
anon_world_readable_only=NO
anon_umask=022
anon_root=$data/root
ftp_username=$user
secure_chroot_dir=$data/empty
pasv_enable=YES
pasv_address=127.0.0.1
connect_from_port_20=NO
seccomp_sandbox=NO
isolate=NO
isolate_network=NO
xferlog_enable=YES
vsftpd_log_file=$data/log
log_ftp_protocol=YES
ssl_enable=YES
allow_anon_ssl=YES
force_anon_logins_ssl=YES
force_anon_data_ssl=YES
rsa_cert_file=$data/server.crt
rsa_private_key_file=$data/server.key
require_ssl_reuse=${REUSE:-YES}
strict_ssl_read_eof=${STRICT:-YES}
strict_ssl_write_shutdown=NO
ssl_ciphers=HIGH
debug_ssl=YES
CONF
  chmod 600 "$data/vsftpd.conf"
  vsftpd "$data/vsftpd.conf" >"$data/out" 2>&1 </dev/null &
  echo $! >"$pid_file"
  wait_port "$port"
}

main "$@"
