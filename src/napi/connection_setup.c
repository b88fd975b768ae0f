/*
 * connection_setup.c - methods of Connection that set it up: most of them are
 * for before start(). Each throws what went wrong, in node's shape where node
 * has one.
 */
#include <string.h>

#include <openssl/crypto.h>

#include "args.h"
#include "binding.h"
#include "error.h"
#include "loop.h"

/* Turns a status into an exception; true: all is well. */
static bool check(struct connection *connection, enum etls_status status) {
  napi_env env = connection->binding->env;
  if (status >= 0)
    return true;
  if (connection->binding->error.status == ETLS_OK)
    args_throw(env, etls_status_name(status));
  else
    error_throw_connection(env, &connection->binding->error);
  return false;
}

/* Receiver and one argument. */
static struct connection *begin(napi_env env, napi_callback_info info,
                                napi_value *argv, size_t want) {
  size_t argc = want;
  struct connection *connection = connection_this(env, info, &argc, argv);
  if (connection != NULL)
    etls_error_init(&connection->binding->error);
  return connection;
}

/* setServername(name) */
static napi_value set_servername(napi_env env, napi_callback_info info) {
  napi_value argv[1];
  struct connection *connection = begin(env, info, argv, 1);
  size_t len = 0;
  char *name = NULL;
  if (connection == NULL)
    return NULL;
  name = args_string(env, argv[0], &len);
  if (name == NULL)
    return NULL;
  check(connection, etls_engine_set_servername(connection->engine, name, len,
                                               &connection->binding->error));
  args_string_free(name, len);
  return NULL;
}

/* setAlpn(wire) */
static napi_value set_alpn(napi_env env, napi_callback_info info) {
  napi_value argv[1];
  struct connection *connection = begin(env, info, argv, 1);
  const uint8_t *wire = NULL;
  size_t len = 0;
  if (connection == NULL || !args_bytes(env, argv[0], &wire, &len))
    return NULL;
  check(connection, etls_engine_set_alpn(connection->engine, wire, len,
                                         &connection->binding->error));
  return NULL;
}

/* requestOcsp() */
static napi_value request_ocsp(napi_env env, napi_callback_info info) {
  struct connection *connection = begin(env, info, NULL, 0);
  if (connection == NULL)
    return NULL;
  check(connection, etls_engine_request_ocsp(connection->engine,
                                             &connection->binding->error));
  return NULL;
}

/* setSession(der): an explicit session, which wins over the store */
static napi_value set_session(napi_env env, napi_callback_info info) {
  napi_value argv[1];
  struct connection *connection = begin(env, info, argv, 1);
  const uint8_t *der = NULL;
  size_t len = 0;
  if (connection == NULL || !args_bytes(env, argv[0], &der, &len))
    return NULL;
  check(connection, etls_engine_set_session(connection->engine,
                                            connection->binding->sessions, der,
                                            len, &connection->binding->error));
  return NULL;
}

/* useStore(key, offer): resume from the session store, and feed it */
static napi_value use_store(napi_env env, napi_callback_info info) {
  napi_value argv[2];
  struct connection *connection = begin(env, info, argv, 2);
  struct binding *binding = NULL;
  size_t len = 0;
  char *key = NULL;
  bool offer = false;
  if (connection == NULL || !args_bool(env, argv[1], &offer))
    return NULL;
  binding = connection->binding;
  key = args_string(env, argv[0], &len);
  if (key == NULL)
    return NULL;
  check(connection,
        etls_engine_use_store(connection->engine, binding->sessions, key, len,
                              offer, loop_now_ms(binding), &binding->error));
  args_string_free(key, len);
  return NULL;
}

/* acceptSessions(): this connection was verified */
static napi_value accept_sessions(napi_env env, napi_callback_info info) {
  struct connection *connection = begin(env, info, NULL, 0);
  if (connection == NULL)
    return NULL;
  connection->accepted = true;
  etls_engine_accept_sessions(connection->engine,
                              loop_now_ms(connection->binding));
  return NULL;
}

/* wantKeylog(boolean) */
static napi_value want_keylog(napi_env env, napi_callback_info info) {
  napi_value argv[1];
  struct connection *connection = begin(env, info, argv, 1);
  bool want = false;
  if (connection != NULL && args_bool(env, argv[0], &want))
    etls_engine_want_keylog(connection->engine, want);
  return NULL;
}

/* wantSessions(boolean) */
static napi_value want_sessions(napi_env env, napi_callback_info info) {
  napi_value argv[1];
  struct connection *connection = begin(env, info, argv, 1);
  bool want = false;
  if (connection != NULL && args_bool(env, argv[0], &want))
    etls_engine_want_sessions(connection->engine, want);
  return NULL;
}

/* setMaxSendFragment(size) -> boolean */
static napi_value set_max_send_fragment(napi_env env, napi_callback_info info) {
  napi_value argv[1];
  struct connection *connection = begin(env, info, argv, 1);
  int64_t size = 0;
  if (connection == NULL || !args_int(env, argv[0], &size))
    return NULL;
  return args_new_bool(
      env, etls_engine_set_max_send_fragment(connection->engine, (long)size));
}

/* useIdentityOf(context): that context's certificate and key */
static napi_value use_identity_of(napi_env env, napi_callback_info info) {
  napi_value argv[1];
  struct connection *connection = begin(env, info, argv, 1);
  struct etls_context *context = NULL;
  if (connection == NULL)
    return NULL;
  context = context_unwrap(env, argv[0]);
  if (context == NULL)
    return NULL;
  check(connection, etls_engine_use_identity_of(connection->engine, context,
                                                &connection->binding->error));
  return NULL;
}

/* Copies what the callback returned: { identity, psk }, checked by lib/. */
static size_t read_psk(napi_env env, napi_value result, char *identity,
                       size_t max_identity_len, uint8_t *psk,
                       size_t max_psk_len) {
  napi_value value = NULL;
  const uint8_t *bytes = NULL;
  size_t len = 0;
  size_t identity_len = 0;
  char *name = NULL;
  if (args_is_nullish(env, result))
    return 0;
  if (napi_get_named_property(env, result, "identity", &value) != napi_ok)
    return 0;
  name = args_string(env, value, &identity_len);
  if (name == NULL)
    return 0;
  if (identity_len <= max_identity_len)
    memcpy(identity, name, identity_len + 1);
  args_string_free(name, identity_len);
  if (identity_len > max_identity_len)
    return 0;
  if (napi_get_named_property(env, result, "psk", &value) != napi_ok ||
      !args_bytes(env, value, &bytes, &len) || len > max_psk_len)
    return 0;
  if (len > 0)
    memcpy(psk, bytes, len);
  return len;
}

/* On OpenSSL's stack: JavaScript runs, so the connection may ask to be closed;
 * close() is put off until OpenSSL has returned (pump_handshake). */
static size_t on_psk(void *arg, const char *hint, char *identity,
                     size_t max_identity_len, uint8_t *psk,
                     size_t max_psk_len) {
  struct connection *connection = arg;
  napi_env env = connection->binding->env;
  napi_handle_scope scope = NULL;
  napi_value argv[3];
  napi_value callback = NULL;
  napi_value self = NULL;
  napi_value result = NULL;
  size_t len = 0;
  /* In a renegotiation JavaScript would run in the midst of a read. */
  if (connection->psk_ref == NULL || connection->binding->exiting ||
      connection->secured)
    return 0;
  if (napi_open_handle_scope(env, &scope) != napi_ok)
    return 0;
  self = args_undefined(env);
  argv[0] = hint == NULL ? self : args_new_string(env, hint);
  argv[1] = args_new_number(env, (double)max_psk_len);
  argv[2] = args_new_number(env, (double)max_identity_len);
  connection->in_psk = true;
  if (napi_get_reference_value(env, connection->psk_ref, &callback) ==
          napi_ok &&
      callback != NULL &&
      napi_call_function(env, self, callback, 3, argv, &result) == napi_ok)
    len = read_psk(env, result, identity, max_identity_len, psk, max_psk_len);
  loop_report_exception(env); /* runs JavaScript, too */
  connection->in_psk = false;
  /* It may tell of another connection by now. */
  etls_error_init(&connection->binding->error);
  napi_close_handle_scope(env, scope);
  return connection->close_deferred ? 0 : len;
}

/* setPskCallback(function (hint, maxPskLength, maxIdentityLength)), which is
 * to be a property of this, too: a reference that kept it alive would keep
 * what it knows, the socket, and with it this. */
static napi_value set_psk_callback(napi_env env, napi_callback_info info) {
  napi_value argv[1];
  struct connection *connection = begin(env, info, argv, 1);
  if (connection == NULL || connection->psk_ref != NULL)
    return NULL;
  if (napi_create_reference(env, argv[0], 0, &connection->psk_ref) != napi_ok) {
    args_throw(env, "not a function");
    return NULL;
  }
  etls_engine_set_psk_cb(connection->engine, on_psk, connection);
  return NULL;
}

/* setReadBuffer(buffer | null): plaintext goes there instead of the slab */
static napi_value set_read_buffer(napi_env env, napi_callback_info info) {
  napi_value argv[1];
  struct connection *connection = begin(env, info, argv, 1);
  uint8_t *data = NULL;
  size_t len = 0;
  napi_ref ref = NULL;
  if (connection == NULL)
    return NULL;
  if (!args_is_nullish(env, argv[0])) {
    if (!args_buffer(env, argv[0], &data, &len))
      return NULL;
    if (napi_create_reference(env, argv[0], 1, &ref) != napi_ok) {
      args_throw(env, "cannot reference");
      return NULL;
    }
  }
  if (connection->buffer_ref != NULL)
    napi_delete_reference(env, connection->buffer_ref);
  connection->buffer_ref = ref;
  return NULL;
}

const napi_property_descriptor connection_setup_methods[] = {
    METHOD("setServername", set_servername),
    METHOD("setAlpn", set_alpn),
    METHOD("requestOcsp", request_ocsp),
    METHOD("setSession", set_session),
    METHOD("useStore", use_store),
    METHOD("acceptSessions", accept_sessions),
    METHOD("wantKeylog", want_keylog),
    METHOD("wantSessions", want_sessions),
    METHOD("setMaxSendFragment", set_max_send_fragment),
    METHOD("useIdentityOf", use_identity_of),
    METHOD("setPskCallback", set_psk_callback),
    METHOD("setReadBuffer", set_read_buffer),
};
const size_t connection_setup_method_count =
    sizeof connection_setup_methods / sizeof connection_setup_methods[0];
