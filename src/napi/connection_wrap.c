/*
 * connection_wrap.c - the Connection class: construction, the list of open
 * ones, close, and the pump that turns the engine's progress into event bits.
 *
 * Methods need no type tag on their receiver: napi_define_class gives each a
 * V8 signature, so that calling one on another object throws before it gets
 * here.
 */
#include <errno.h>

#include <openssl/crypto.h>

#include "args.h"
#include "binding.h"
#include "error.h"
#include "loop.h"

enum { READ_MAX = 1 << 30 }; /* of plaintext at once: SHARED_LENGTH is an int */

void connection_pin(struct connection *connection) {
  connection->pins++;
}

static void free_connection(struct connection *connection) {
  OPENSSL_free(connection);
}

void connection_unpin(struct connection *connection) {
  connection->pins--;
  if (connection->pins == 0 && connection->finalized)
    free_connection(connection);
}

static void drop_reference(napi_env env, napi_ref *ref) {
  if (*ref == NULL)
    return;
  napi_delete_reference(env, *ref);
  *ref = NULL;
}

void connection_close(struct connection *connection) {
  struct binding *binding = connection->binding;
  if (connection->engine == NULL)
    return;
  if (connection->in_psk) {
    connection->close_deferred = true;
    return;
  }
  /* What was written in this callback, or the alert that says what was wrong,
   * has not been sent yet. Before the peer is verified nothing else is. */
  if (connection->emitting)
    loop_flush_last(connection);
  loop_detach(connection);
  etls_engine_free(connection->engine);
  connection->engine = NULL;
  drop_reference(binding->env, &connection->psk_ref);
  drop_reference(binding->env, &connection->buffer_ref);
  if (connection->prev != NULL)
    connection->prev->next = connection->next;
  else
    binding->connections = connection->next;
  if (connection->next != NULL)
    connection->next->prev = connection->prev;
  connection->prev = NULL;
  connection->next = NULL;
}

uint32_t connection_fail(struct connection *connection, enum etls_status status,
                         int sys_errno, const char *syscall) {
  if (connection->failed)
    return 0;
  connection->failed = true;
  connection->failure = status;
  connection->failure_errno = sys_errno;
  connection->failure_syscall = syscall;
  return EVENT_ERROR;
}

void connection_failure(struct connection *connection,
                        struct etls_error *error) {
  etls_error_init(error);
  /* An engine that has failed says the same again each time. */
  if (etls_engine_state(connection->engine) == ETLS_STATE_FAILED &&
      etls_engine_handshake(connection->engine, error) < 0)
    return;
  error->status =
      connection->failure < 0 ? connection->failure : ETLS_ERR_INTERNAL;
  error->sys_errno = connection->failure_errno;
  error->syscall = connection->failure_syscall;
}

static void finalize(napi_env env, void *data, void *hint) {
  struct connection *connection = data;
  (void)env;
  (void)hint;
  connection_close(connection);
  connection->finalized = true;
  if (connection->pins == 0)
    free_connection(connection);
}

/* new Connection(context, fields, singleUse): a Context handle, or null and
 * the fields to make or find one from. */
static napi_value construct(napi_env env, napi_callback_info info) {
  struct binding *binding = binding_get(env);
  struct connection *connection = NULL;
  struct etls_context *context = NULL;
  size_t argc = 3;
  napi_value argv[3];
  napi_value self;
  bool single_use = false;

  if (napi_get_cb_info(env, info, &argc, argv, &self, NULL) != napi_ok ||
      !args_bool(env, argv[2], &single_use))
    return NULL;
  if (args_is_nullish(env, argv[0])) {
    context = context_from_fields(env, argv[1], single_use);
  } else {
    context = context_unwrap(env, argv[0]);
    if (context != NULL)
      etls_context_up_ref(context);
  }
  if (context == NULL)
    return NULL;
  connection = OPENSSL_zalloc(sizeof *connection);
  if (connection == NULL) {
    etls_context_release(context);
    args_throw(env, "out of memory");
    return NULL;
  }
  connection->binding = binding;
  connection->transport.fd = -1;
  connection->reading = true;
  etls_error_init(&binding->error);
  connection->engine = etls_engine_new(context, binding->pool, &binding->error);
  etls_context_release(context); /* the engine has its own reference */
  if (connection->engine == NULL) {
    error_throw_connection(env, &binding->error);
    free_connection(connection);
    return NULL;
  }
  connection->next = binding->connections;
  if (connection->next != NULL)
    connection->next->prev = connection;
  binding->connections = connection;
  if (napi_wrap(env, self, connection, finalize, NULL, NULL) != napi_ok) {
    finalize(env, connection, NULL);
    args_throw(env, "cannot wrap");
    return NULL;
  }
  return self;
}

struct connection *connection_this(napi_env env, napi_callback_info info,
                                   size_t *argc, napi_value *argv) {
  struct connection *connection = NULL;
  napi_value self;
  void *data = NULL;
  if (napi_get_cb_info(env, info, argc, argv, &self, NULL) != napi_ok ||
      napi_unwrap(env, self, &data) != napi_ok) {
    args_throw(env, "not a Connection");
    return NULL;
  }
  connection = data;
  if (connection->engine == NULL) {
    args_throw(env, "the connection is closed");
    return NULL;
  }
  return connection;
}

/* What the callbacks of OpenSSL recorded. */
static uint32_t recorded(struct connection *connection) {
  unsigned bits = etls_engine_recorded(connection->engine);
  uint32_t events = 0;
  if ((bits & ETLS_RECORDED_KEYLOG) != 0)
    events |= EVENT_KEYLOG;
  if ((bits & ETLS_RECORDED_SESSION) != 0)
    events |= EVENT_SESSION;
  if ((bits & ETLS_RECORDED_OCSP) != 0)
    events |= EVENT_OCSP;
  if ((bits & ETLS_RECORDED_HANDSHAKE) != 0)
    events |= EVENT_HANDSHAKE;
  if ((bits & ETLS_RECORDED_BEHIND) != 0)
    events |= EVENT_BEHIND;
  return events;
}

static uint32_t pump_handshake(struct connection *connection) {
  struct binding *binding = connection->binding;
  enum etls_status status;
  etls_error_init(&binding->error);
  connection_pin(connection);
  status = etls_engine_handshake(connection->engine, &binding->error);
  if (connection->close_deferred) {
    connection->close_deferred = false;
    connection_close(connection);
  }
  connection_unpin(connection);
  if (connection->engine == NULL)
    return 0;
  if (status == ETLS_OK) {
    connection->secured = true;
    return EVENT_HANDSHAKE | EVENT_MORE;
  }
  if (status == ETLS_END) {
    connection->ended = true;
    return EVENT_END;
  }
  return status > 0 ? 0 : connection_fail(connection, status, 0, NULL);
}

/* Where the next plaintext goes; *cap 0: JavaScript has taken that away. */
static uint8_t *find_target(const struct connection *connection, size_t *cap) {
  struct binding *binding = connection->binding;
  const int32_t offset = binding->shared[SHARED_OFFSET];
  uint8_t *target = NULL;
  if (connection->buffer_ref != NULL) {
    args_referenced(binding->env, connection->buffer_ref, &target, cap);
  } else {
    args_referenced(binding->env, binding->slab_ref, &target, cap);
    if (offset < 0 || (size_t)offset >= *cap) {
      *cap = 0;
    } else {
      target += offset;
      *cap -= (size_t)offset;
    }
  }
  if (*cap > READ_MAX)
    *cap = READ_MAX;
  return target;
}

/* As libuv has it for a buffer of no length, which would never be filled. */
static uint32_t no_target(struct connection *connection) {
  return connection->buffer_ref == NULL
             ? EVENT_SLAB | EVENT_MORE
             : connection_fail(connection, ETLS_ERR_IO, ENOBUFS, "read");
}

static bool is_readable(const struct connection *connection) {
  const enum etls_state state = etls_engine_state(connection->engine);
  return state == ETLS_STATE_OPEN || state == ETLS_STATE_SHUT_SENT;
}

static uint32_t pump_read(struct connection *connection) {
  struct binding *binding = connection->binding;
  uint32_t events = 0;
  size_t cap = 0;
  size_t used = 0;
  enum etls_status status = ETLS_OK;
  uint8_t *target = find_target(connection, &cap);

  etls_error_init(&binding->error);
  if (cap == 0)
    return no_target(connection);
  while (used < cap && status == ETLS_OK) {
    size_t n = 0;
    status = etls_engine_read(connection->engine, target + used, cap - used, &n,
                              &binding->error);
    used += n;
    /* Room left, and neither an end nor a failure to be told: it has found
     * nothing more, and asking again costs a buffer's allocation. */
    if (status == ETLS_OK && used < cap && is_readable(connection))
      status = ETLS_WANT_INPUT;
  }
  binding->shared[SHARED_LENGTH] = (int32_t)used;
  if (used > 0)
    events |= EVENT_DATA;
  if (status == ETLS_OK)
    events |= EVENT_MORE;
  if (status == ETLS_END && !connection->ended) {
    connection->ended = true;
    events |= EVENT_END;
  }
  if (status < 0)
    events |= connection_fail(connection, status, 0, NULL);
  return events;
}

uint32_t connection_pump(struct connection *connection) {
  uint32_t events =
      connection->secured ? pump_read(connection) : pump_handshake(connection);
  if (connection->engine == NULL)
    return 0;
  events |= recorded(connection);
  /* Without a descriptor nobody else sees a write that waited for input (a
   * renegotiation) go on. */
  if (connection->poll == NULL && connection->blocked) {
    connection->blocked = false;
    events |= EVENT_DRAIN;
  }
  return events;
}

/* close(reset): frees the engine and its context's reference now; idempotent.
 * reset: the descriptor must go now, too. */
static napi_value method_close(napi_env env, napi_callback_info info) {
  napi_value self;
  napi_value argv[1];
  void *data = NULL;
  size_t argc = 1;
  struct connection *connection = NULL;
  if (napi_get_cb_info(env, info, &argc, argv, &self, NULL) != napi_ok ||
      napi_unwrap(env, self, &data) != napi_ok) {
    args_throw(env, "not a Connection");
    return NULL;
  }
  connection = data;
  if (args_is_nullish(env, argv[0]) ||
      args_bool(env, argv[0], &connection->reset))
    connection_close(connection);
  return NULL;
}

napi_status connection_define(napi_env env, napi_value exports) {
  static const napi_property_descriptor close_method =
      METHOD("close", method_close);
  napi_property_descriptor methods[64];
  size_t count = 0;
  napi_value constructor = NULL;
  napi_status status;
  methods[count++] = close_method;
  for (size_t i = 0; i < connection_setup_method_count; i++)
    methods[count++] = connection_setup_methods[i];
  for (size_t i = 0; i < connection_io_method_count; i++)
    methods[count++] = connection_io_methods[i];
  for (size_t i = 0; i < connection_info_method_count; i++)
    methods[count++] = connection_info_methods[i];
  status = napi_define_class(env, "Connection", NAPI_AUTO_LENGTH, construct,
                             NULL, count, methods, &constructor);
  if (status != napi_ok)
    return status;
  return napi_set_named_property(env, exports, "Connection", constructor);
}
