/*
 * connection_info.c - methods of Connection that tell facts. lib/ gives them
 * node's shapes.
 */
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "binding.h"
#include "error.h"

enum { FINISHED_MAX = 256, SIGALG_MAX = 128, EXPORT_MAX = 65536 };

static struct connection *begin(napi_env env, napi_callback_info info,
                                napi_value *argv, size_t want) {
  size_t argc = want;
  struct connection *connection = connection_this(env, info, &argc, argv);
  if (connection != NULL)
    etls_error_init(&connection->binding->error);
  return connection;
}

/* takeError() -> Error, or [errno, syscall]: of the last event */
static napi_value take_error(napi_env env, napi_callback_info info) {
  size_t argc = 0;
  struct connection *connection = connection_this(env, info, &argc, NULL);
  if (connection == NULL)
    return NULL;
  connection_failure(connection, &connection->binding->error);
  return error_of_connection(env, &connection->binding->error);
}

/* state() -> number, enum etls_state */
static napi_value state(napi_env env, napi_callback_info info) {
  struct connection *connection = begin(env, info, NULL, 0);
  if (connection == NULL)
    return NULL;
  return args_new_number(env, etls_engine_state(connection->engine));
}

/* verifyError() -> null or Error with node's code */
static napi_value verify_error(napi_env env, napi_callback_info info) {
  struct connection *connection = begin(env, info, NULL, 0);
  long result;
  napi_value value = NULL;
  if (connection == NULL)
    return NULL;
  result = etls_engine_verify_result(connection->engine);
  if (result == 0) {
    napi_get_null(env, &value);
    return value;
  }
  if (napi_create_error(env,
                        args_new_string(env, etls_verify_code_name(result)),
                        args_new_string(env, etls_verify_code_text(result)),
                        &value) != napi_ok)
    return NULL;
  return value;
}

static napi_value session_reused(napi_env env, napi_callback_info info) {
  struct connection *connection = begin(env, info, NULL, 0);
  if (connection == NULL)
    return NULL;
  return args_new_bool(env, etls_engine_session_reused(connection->engine));
}

static napi_value protocol(napi_env env, napi_callback_info info) {
  struct connection *connection = begin(env, info, NULL, 0);
  if (connection == NULL)
    return NULL;
  return args_new_string(env, etls_engine_protocol(connection->engine));
}

/* cipher() -> { name, standardName, version } or undefined */
static napi_value cipher(napi_env env, napi_callback_info info) {
  struct connection *connection = begin(env, info, NULL, 0);
  const char *name = NULL;
  const char *standard = NULL;
  const char *version = NULL;
  napi_value object = NULL;
  if (connection == NULL ||
      !etls_engine_cipher(connection->engine, &name, &standard, &version) ||
      napi_create_object(env, &object) != napi_ok)
    return NULL;
  napi_set_named_property(env, object, "name", args_new_string(env, name));
  napi_set_named_property(env, object, "standardName",
                          args_new_string(env, standard));
  napi_set_named_property(env, object, "version",
                          args_new_string(env, version));
  return object;
}

/* alpn() -> string, or false when none was agreed on */
static napi_value alpn(napi_env env, napi_callback_info info) {
  struct connection *connection = begin(env, info, NULL, 0);
  const uint8_t *name = NULL;
  napi_value value = NULL;
  size_t len;
  if (connection == NULL)
    return NULL;
  len = etls_engine_alpn(connection->engine, &name);
  if (len == 0)
    return args_new_bool(env, false);
  if (napi_create_string_latin1(env, (const char *)name, len, &value) !=
      napi_ok)
    return NULL;
  return value;
}

/* servername() -> string, or false when no SNI was sent */
static napi_value servername(napi_env env, napi_callback_info info) {
  struct connection *connection = begin(env, info, NULL, 0);
  const char *name = NULL;
  if (connection == NULL)
    return NULL;
  name = etls_engine_servername(connection->engine);
  return name == NULL ? args_new_bool(env, false) : args_new_string(env, name);
}

/* peerFingerprint() -> 32 characters (latin1 of the SHA-256), or undefined */
static napi_value peer_fingerprint(napi_env env, napi_callback_info info) {
  struct connection *connection = begin(env, info, NULL, 0);
  uint8_t digest[ETLS_DIGEST_LEN];
  napi_value value = NULL;
  if (connection == NULL ||
      !etls_engine_peer_fingerprint(connection->engine, digest) ||
      napi_create_string_latin1(env, (const char *)digest, sizeof digest,
                                &value) != napi_ok)
    return NULL;
  return value;
}

struct collector {
  napi_env env;
  napi_value list;
  uint32_t count;
};

static void collect(void *arg, const uint8_t *der, size_t len) {
  struct collector *collector = arg;
  napi_value buffer = args_new_buffer(collector->env, der, len);
  if (buffer == NULL)
    return;
  napi_set_element(collector->env, collector->list, collector->count++, buffer);
}

/* peerCertificates(chain) -> [selfSigned, sent, leaf, issuer, ...] as DER
 * Buffers, `sent` of them by the server; undefined when the peer has none */
static napi_value peer_certificates(napi_env env, napi_callback_info info) {
  napi_value argv[1];
  struct connection *connection = begin(env, info, argv, 1);
  struct collector collector = {env, NULL, 2};
  bool chain = false;
  bool self_signed = false;
  size_t sent;
  if (connection == NULL || !args_bool(env, argv[0], &chain) ||
      napi_create_array(env, &collector.list) != napi_ok)
    return NULL;
  /* Now: a setter of Array.prototype may close the connection. */
  sent = etls_engine_peer_chain_len(connection->engine);
  if (etls_engine_visit_peer_certificates(connection->engine, chain, collect,
                                          &collector, &self_signed,
                                          &connection->binding->error) < 0) {
    error_throw_connection(env, &connection->binding->error);
    return NULL;
  }
  if (collector.count == 2)
    return NULL;
  napi_set_element(env, collector.list, 0, args_new_bool(env, self_signed));
  napi_set_element(env, collector.list, 1, args_new_number(env, (double)sent));
  return collector.list;
}

/* ownCertificate() -> [DER Buffer] or [] */
static napi_value own_certificate(napi_env env, napi_callback_info info) {
  struct connection *connection = begin(env, info, NULL, 0);
  struct collector collector = {env, NULL, 0};
  if (connection == NULL || napi_create_array(env, &collector.list) != napi_ok)
    return NULL;
  if (etls_engine_visit_own_certificate(connection->engine, collect, &collector,
                                        &connection->binding->error) < 0) {
    error_throw_connection(env, &connection->binding->error);
    return NULL;
  }
  return collector.list;
}

/* ephemeralKey() -> { type, name, size } with what there is, as node has it */
static napi_value ephemeral_key(napi_env env, napi_callback_info info) {
  struct connection *connection = begin(env, info, NULL, 0);
  struct etls_key_info key = {NULL, NULL, 0};
  napi_value object = NULL;
  if (connection == NULL || napi_create_object(env, &object) != napi_ok)
    return NULL;
  etls_engine_ephemeral_key(connection->engine, &key);
  if (key.type == NULL)
    return object;
  napi_set_named_property(env, object, "type", args_new_string(env, key.type));
  if (key.name != NULL)
    napi_set_named_property(env, object, "name",
                            args_new_string(env, key.name));
  napi_set_named_property(env, object, "size", args_new_number(env, key.bits));
  return object;
}

/* hybridGroup() -> the group's name, or undefined: another key exchange */
static napi_value hybrid_group(napi_env env, napi_callback_info info) {
  struct connection *connection = begin(env, info, NULL, 0);
  const char *name = NULL;
  if (connection == NULL)
    return NULL;
  name = etls_engine_hybrid_group(connection->engine);
  return name == NULL ? NULL : args_new_string(env, name);
}

/* dhBits() -> size of an ephemeral DH key, 0: none */
static napi_value dh_bits(napi_env env, napi_callback_info info) {
  struct connection *connection = begin(env, info, NULL, 0);
  struct etls_key_info key = {NULL, NULL, 0};
  if (connection == NULL)
    return NULL;
  etls_engine_ephemeral_key(connection->engine, &key);
  return args_new_number(
      env, key.type != NULL && strcmp(key.type, "DH") == 0 ? key.bits : 0);
}

/* finished(peer) -> Buffer or undefined */
static napi_value finished(napi_env env, napi_callback_info info) {
  napi_value argv[1];
  struct connection *connection = begin(env, info, argv, 1);
  uint8_t bytes[FINISHED_MAX];
  bool peer = false;
  size_t len;
  if (connection == NULL || !args_bool(env, argv[0], &peer))
    return NULL;
  len = etls_engine_finished(connection->engine, peer, bytes, sizeof bytes);
  return len == 0 ? NULL : args_new_buffer(env, bytes, len);
}

/* session() -> Buffer (i2d_SSL_SESSION) or undefined */
static napi_value session(napi_env env, napi_callback_info info) {
  struct connection *connection = begin(env, info, NULL, 0);
  uint8_t *der = NULL;
  size_t len = 0;
  napi_value buffer = NULL;
  if (connection == NULL)
    return NULL;
  etls_engine_remember_sessions(connection->engine,
                                connection->binding->sessions);
  if (etls_engine_get1_session(connection->engine, &der, &len,
                               &connection->binding->error) < 0) {
    error_throw_connection(env, &connection->binding->error);
    return NULL;
  }
  if (len > 0)
    buffer = args_new_buffer(env, der, len);
  etls_clear_free(der, len);
  return buffer;
}

/* takeSession() -> Buffer or undefined: the next new session */
static napi_value take_session(napi_env env, napi_callback_info info) {
  struct connection *connection = begin(env, info, NULL, 0);
  uint8_t *der = NULL;
  size_t len = 0;
  napi_value buffer = NULL;
  if (connection == NULL)
    return NULL;
  etls_engine_remember_sessions(connection->engine,
                                connection->binding->sessions);
  if (etls_engine_take_session(connection->engine, &der, &len,
                               &connection->binding->error) < 0) {
    error_throw_connection(env, &connection->binding->error);
    return NULL;
  }
  if (len > 0)
    buffer = args_new_buffer(env, der, len);
  etls_clear_free(der, len);
  return buffer;
}

/* takeKeylog() -> string (no newline) or undefined */
static napi_value take_keylog(napi_env env, napi_callback_info info) {
  struct connection *connection = begin(env, info, NULL, 0);
  const char *line = NULL;
  if (connection == NULL)
    return NULL;
  line = etls_engine_take_keylog(connection->engine);
  return line == NULL ? NULL : args_new_string(env, line);
}

/* takeOcsp() -> Buffer, or null: the server sent none */
static napi_value take_ocsp(napi_env env, napi_callback_info info) {
  struct connection *connection = begin(env, info, NULL, 0);
  const uint8_t *der = NULL;
  size_t len = 0;
  napi_value value = NULL;
  if (connection == NULL)
    return NULL;
  if (etls_engine_take_ocsp(connection->engine, &der, &len) && len > 0)
    return args_new_buffer(env, der, len);
  napi_get_null(env, &value);
  return value;
}

/* ticket() -> Buffer or undefined */
static napi_value ticket(napi_env env, napi_callback_info info) {
  struct connection *connection = begin(env, info, NULL, 0);
  const uint8_t *bytes = NULL;
  size_t len;
  if (connection == NULL)
    return NULL;
  len = etls_engine_ticket(connection->engine, &bytes);
  return len == 0 ? NULL : args_new_buffer(env, bytes, len);
}

/* exportKeyingMaterial(length, label, context | undefined) -> Buffer */
static napi_value export_keying_material(napi_env env,
                                         napi_callback_info info) {
  napi_value argv[3];
  struct connection *connection = begin(env, info, argv, 3);
  const uint8_t *context = NULL;
  size_t context_len = 0;
  size_t label_len = 0;
  int64_t len = 0;
  char *label = NULL;
  void *out = NULL;
  napi_value buffer = NULL;
  bool use_context;
  enum etls_status status;
  if (connection == NULL || !args_int(env, argv[0], &len))
    return NULL;
  use_context = !args_is_nullish(env, argv[2]);
  if (use_context && !args_bytes(env, argv[2], &context, &context_len))
    return NULL;
  if (len < 0 ||
      napi_create_buffer(env, (size_t)len, &out, &buffer) != napi_ok) {
    args_throw(env, "out of memory");
    return NULL;
  }
  label = args_string(env, argv[1], &label_len);
  if (label == NULL)
    return NULL;
  status = etls_engine_export_keying_material(
      connection->engine, label, label_len, context, context_len, use_context,
      out, (size_t)len, &connection->binding->error);
  args_string_free(label, label_len);
  if (status >= 0)
    return buffer;
  error_throw_context(env, &connection->binding->error);
  return NULL;
}

/* sharedSigalgs() -> array of strings */
static napi_value shared_sigalgs(napi_env env, napi_callback_info info) {
  struct connection *connection = begin(env, info, NULL, 0);
  napi_value list = NULL;
  char name[SIGALG_MAX];
  if (connection == NULL || napi_create_array(env, &list) != napi_ok)
    return NULL;
  /* A setter of Array.prototype may close the connection. */
  for (int i = 0;
       connection->engine != NULL &&
       etls_engine_shared_sigalg(connection->engine, i, name, sizeof name);
       i++)
    napi_set_element(env, list, (uint32_t)i, args_new_string(env, name));
  return list;
}

/* bytesRead(), bytesWritten(): ciphertext on the descriptor */
static napi_value bytes_read(napi_env env, napi_callback_info info) {
  struct connection *connection = begin(env, info, NULL, 0);
  if (connection == NULL)
    return NULL;
  return args_new_number(env, (double)connection->transport.bytes_read);
}

static napi_value bytes_written(napi_env env, napi_callback_info info) {
  struct connection *connection = begin(env, info, NULL, 0);
  if (connection == NULL)
    return NULL;
  return args_new_number(env, (double)connection->transport.bytes_written);
}

/* remotePort() -> number; -1: the peer has none, or there is no descriptor */
static napi_value remote_port(napi_env env, napi_callback_info info) {
  struct connection *connection = begin(env, info, NULL, 0);
  if (connection == NULL)
    return NULL;
  return args_new_number(
      env, connection->poll == NULL
               ? -1
               : etls_fd_transport_remote_port(&connection->transport));
}

const napi_property_descriptor connection_info_methods[] = {
    METHOD("takeError", take_error),
    METHOD("state", state),
    METHOD("verifyError", verify_error),
    METHOD("sessionReused", session_reused),
    METHOD("protocol", protocol),
    METHOD("cipher", cipher),
    METHOD("alpn", alpn),
    METHOD("servername", servername),
    METHOD("peerFingerprint", peer_fingerprint),
    METHOD("peerCertificates", peer_certificates),
    METHOD("ownCertificate", own_certificate),
    METHOD("ephemeralKey", ephemeral_key),
    METHOD("hybridGroup", hybrid_group),
    METHOD("dhBits", dh_bits),
    METHOD("finished", finished),
    METHOD("session", session),
    METHOD("takeSession", take_session),
    METHOD("takeKeylog", take_keylog),
    METHOD("takeOcsp", take_ocsp),
    METHOD("ticket", ticket),
    METHOD("exportKeyingMaterial", export_keying_material),
    METHOD("sharedSigalgs", shared_sigalgs),
    METHOD("bytesRead", bytes_read),
    METHOD("bytesWritten", bytes_written),
    METHOD("remotePort", remote_port),
};
const size_t connection_info_method_count =
    sizeof connection_info_methods / sizeof connection_info_methods[0];
