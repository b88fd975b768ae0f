/*
 * connection_io.c - methods of Connection that move bytes.
 *
 * On a descriptor (after attach) ciphertext never passes JavaScript: what
 * write() and shutdown() produce is sent before they return, or after the
 * running callback. Without one, receive() takes ciphertext, takeOutput()
 * gives it, and the event bits are what these return.
 */
#include <errno.h>
#include <string.h>

#include "args.h"
#include "binding.h"
#include "error.h"
#include "loop.h"

/* SHARED_QUEUED, bits: wait for EVENT_DRAIN; not all was taken. */
enum { QUEUED_WAIT = 1, QUEUED_REST = 2 };

enum encoding { ENCODING_BUFFER = 0, ENCODING_UTF8 = 1, ENCODING_LATIN1 = 2 };

static struct connection *begin(napi_env env, napi_callback_info info,
                                napi_value *argv, size_t want) {
  size_t argc = want;
  struct connection *connection = connection_this(env, info, &argc, argv);
  if (connection == NULL)
    return NULL;
  connection->binding->shared[SHARED_EVENTS] = 0;
  connection->binding->shared[SHARED_QUEUED] = 0;
  etls_error_init(&connection->binding->error);
  return connection;
}

static napi_value new_events(napi_env env, uint32_t events) {
  napi_value value = NULL;
  if (napi_create_uint32(env, events, &value) != napi_ok)
    return NULL;
  return value;
}

/* attach(owner, fd) -> 0 or a negative errno */
static napi_value attach(napi_env env, napi_callback_info info) {
  napi_value argv[2];
  struct connection *connection = begin(env, info, argv, 2);
  int64_t fd = -1;
  if (connection == NULL || !args_int(env, argv[1], &fd))
    return NULL;
  return args_new_number(env, loop_attach(connection, argv[0], (int)fd));
}

/* start() -> event bits: sends the ClientHello */
static napi_value start(napi_env env, napi_callback_info info) {
  struct connection *connection = begin(env, info, NULL, 0);
  uint32_t events;
  if (connection == NULL)
    return NULL;
  events = connection_pump(connection);
  if (connection->engine != NULL && connection->poll != NULL)
    (void)loop_flush(connection);
  return new_events(env, events);
}

/* receive(ciphertext) -> event bits. Only without a descriptor. */
static napi_value receive(napi_env env, napi_callback_info info) {
  napi_value argv[1];
  struct connection *connection = begin(env, info, argv, 1);
  const uint8_t *data = NULL;
  size_t len = 0;
  uint32_t events = 0;
  enum etls_status status;
  if (connection == NULL || !args_bytes(env, argv[0], &data, &len))
    return NULL;
  status = etls_engine_feed(connection->engine, data, len);
  /* The PSK callback may give the Buffer's memory away. */
  if (status >= 0 && connection->psk_ref != NULL && !connection->secured)
    status = etls_engine_keep_input(connection->engine);
  if (status >= 0 && (!connection->secured || connection->reading))
    events = connection_pump(connection);
  if (connection->engine == NULL)
    return new_events(env, 0);
  /* The Buffer is the caller's again. */
  if (status >= 0)
    status = etls_engine_keep_input(connection->engine);
  if (status < 0)
    events |= connection_fail(connection, status, 0, NULL);
  return new_events(env, events);
}

/* receiveEnd() -> event bits: the Duplex ended */
static napi_value receive_end(napi_env env, napi_callback_info info) {
  struct connection *connection = begin(env, info, NULL, 0);
  uint32_t events = 0;
  if (connection == NULL)
    return NULL;
  etls_engine_feed_end(connection->engine);
  if (!connection->secured || connection->reading)
    events = connection_pump(connection);
  return new_events(env, events);
}

/* pump() -> event bits: what EVENT_MORE announced, or kept input */
static napi_value pump(napi_env env, napi_callback_info info) {
  struct connection *connection = begin(env, info, NULL, 0);
  uint32_t events;
  if (connection == NULL)
    return NULL;
  events = connection_pump(connection);
  /* Input may ask for an answer: a KeyUpdate, an alert. */
  if (connection->engine != NULL && connection->poll != NULL)
    events |= loop_flush(connection);
  return new_events(env, events);
}

/* Inside a callback sending is put off until it returns, so that all that the
 * callback writes shares a segment, but not more than this. */
enum { HOLD_MAX = 32768 };

/* Sends, and tells what the caller should do next (SHARED_QUEUED). */
static void settle(struct connection *connection, enum etls_status status,
                   bool hold) {
  int32_t *shared = connection->binding->shared;
  const uint8_t *data = NULL;
  /* Else in a renegotiation whose end will never come. */
  if (status < 0 || status == ETLS_END) {
    (void)connection_fail(connection, status < 0 ? status : ETLS_ERR_IO, EPIPE,
                          "write");
    shared[SHARED_EVENTS] = EVENT_ERROR;
    return;
  }
  hold = hold && connection->emitting && !connection->stalled &&
         etls_engine_output(connection->engine, &data) <= HOLD_MAX;
  connection->blocked = false;
  if (connection->poll != NULL && !hold) {
    (void)loop_flush(connection);
    /* What could not be written is not acknowledged. */
    connection->blocked =
        etls_engine_output(connection->engine, &data) > 0 ||
        (connection->write_errno != 0 && !connection->finishing);
  }
  if (status == ETLS_WANT_INPUT) /* in a renegotiation */
    connection->blocked = true;
  shared[SHARED_QUEUED] = (connection->blocked ? QUEUED_WAIT : 0) |
                          (status != ETLS_OK ? QUEUED_REST : 0);
}

static bool string_bytes(napi_env env, napi_value value, int64_t encoding,
                         uint8_t *out, size_t cap, size_t *len) {
  napi_status status =
      encoding == ENCODING_UTF8
          ? napi_get_value_string_utf8(env, value, (char *)out, cap, len)
          : napi_get_value_string_latin1(env, value, (char *)out, cap, len);
  if (status == napi_ok)
    return true;
  args_throw(env, "not a string");
  return false;
}

/*
 * write(chunk, encoding) -> bytes of plaintext taken. encoding as above;
 * strings of at most 16384 characters (lib/ converts longer ones). When less
 * than all was taken, the rest is to be given again after EVENT_DRAIN.
 */
static napi_value write_one(napi_env env, napi_callback_info info) {
  napi_value argv[2];
  struct connection *connection = begin(env, info, argv, 2);
  const uint8_t *data = NULL;
  size_t len = 0;
  size_t consumed = 0;
  int64_t encoding = 0;
  enum etls_status status;
  if (connection == NULL || !args_int(env, argv[1], &encoding))
    return NULL;
  if (encoding == ENCODING_BUFFER) {
    if (!args_bytes(env, argv[0], &data, &len))
      return NULL;
  } else {
    uint8_t *gather = connection->binding->gather;
    if (!string_bytes(env, argv[0], encoding, gather, GATHER_SIZE, &len))
      return NULL;
    data = gather;
  }
  status = etls_engine_write(connection->engine, data, len, &consumed,
                             &connection->binding->error);
  connection->spoken = connection->spoken || consumed > 0;
  settle(connection, status, true);
  return args_new_number(env, (double)consumed);
}

struct gatherer {
  struct connection *connection;
  size_t used;     /* bytes in the gather buffer */
  size_t consumed; /* bytes that the engine took, over all chunks */
  enum etls_status status;
};

static void encrypt(struct gatherer *g, const uint8_t *data, size_t len) {
  size_t n = 0;
  if (g->status != ETLS_OK || len == 0)
    return;
  g->status = etls_engine_write(g->connection->engine, data, len, &n,
                                &g->connection->binding->error);
  g->consumed += n;
}

static void encrypt_gathered(struct gatherer *g) {
  encrypt(g, g->connection->binding->gather, g->used);
  g->used = 0;
}

/* Joins small chunks into full records; large ones go straight. */
static bool gather(napi_env env, struct gatherer *g, napi_value chunk,
                   int64_t encoding) {
  uint8_t *buffer = g->connection->binding->gather;
  const uint8_t *data = NULL;
  size_t len = 0;
  if (encoding != ENCODING_BUFFER) {
    if (GATHER_SIZE - g->used < GATHER_SIZE - 1024)
      encrypt_gathered(g);
    if (!string_bytes(env, chunk, encoding, buffer + g->used,
                      GATHER_SIZE - g->used, &len))
      return false;
    g->used += len;
    return true;
  }
  if (!args_bytes(env, chunk, &data, &len))
    return false;
  if (len > GATHER_SIZE - g->used)
    encrypt_gathered(g);
  if (len > GATHER_SIZE) {
    encrypt(g, data, len);
    return true;
  }
  if (len > 0)
    memcpy(buffer + g->used, data, len);
  g->used += len;
  return true;
}

/*
 * writev([chunk, encoding, ...]) -> bytes of plaintext taken, counted over all
 * chunks in order.
 */
static napi_value write_many(napi_env env, napi_callback_info info) {
  napi_value argv[1];
  struct connection *connection = begin(env, info, argv, 1);
  struct gatherer g = {connection, 0, 0, ETLS_OK};
  uint32_t count = 0;
  if (connection == NULL)
    return NULL;
  if (napi_get_array_length(env, argv[0], &count) != napi_ok) {
    args_throw(env, "not an array");
    return NULL;
  }
  for (uint32_t i = 0; i + 1 < count && g.status == ETLS_OK; i += 2) {
    napi_value chunk;
    napi_value how;
    int64_t encoding = 0;
    if (napi_get_element(env, argv[0], i, &chunk) != napi_ok ||
        napi_get_element(env, argv[0], i + 1, &how) != napi_ok ||
        !args_int(env, how, &encoding) || !gather(env, &g, chunk, encoding))
      return NULL;
  }
  encrypt_gathered(&g);
  connection->spoken = connection->spoken || g.consumed > 0;
  settle(connection, g.status, true);
  return args_new_number(env, (double)g.consumed);
}

/* takeOutput() -> Buffer of ciphertext to be sent, or undefined */
static napi_value take_output(napi_env env, napi_callback_info info) {
  struct connection *connection = begin(env, info, NULL, 0);
  const uint8_t *data = NULL;
  size_t len;
  napi_value buffer;
  if (connection == NULL)
    return NULL;
  len = etls_engine_output(connection->engine, &data);
  if (len == 0)
    return NULL;
  buffer = args_new_buffer(env, data, len);
  if (buffer != NULL)
    etls_engine_consume_output(connection->engine, len);
  return buffer;
}

/* shutdown() -> whether it was called from inside a callback of ours. Queues
 * close_notify, unless the handshake is still to be completed; on a descriptor,
 * FIN follows */
static napi_value shutdown_method(napi_env env, napi_callback_info info) {
  struct connection *connection = begin(env, info, NULL, 0);
  enum etls_status status;
  if (connection == NULL)
    return NULL;
  status = connection->secured
               ? etls_engine_shutdown(connection->engine,
                                      &connection->binding->error)
               : ETLS_OK;
  connection->finishing = true;
  /* END: in the middle of a renegotiation. There is no close_notify then. */
  settle(connection, status == ETLS_END ? ETLS_OK : status, false);
  return args_new_bool(env, connection->emitting);
}

/* readStart(): plaintext is wanted; call pump() for what is there already */
static napi_value read_start(napi_env env, napi_callback_info info) {
  struct connection *connection = begin(env, info, NULL, 0);
  if (connection == NULL)
    return NULL;
  connection->reading = true;
  loop_update(connection);
  return NULL;
}

/* readStop() */
static napi_value read_stop(napi_env env, napi_callback_info info) {
  struct connection *connection = begin(env, info, NULL, 0);
  if (connection == NULL)
    return NULL;
  connection->reading = false;
  loop_update(connection);
  return NULL;
}

/* ref(boolean) */
static napi_value ref_method(napi_env env, napi_callback_info info) {
  napi_value argv[1];
  struct connection *connection = begin(env, info, argv, 1);
  bool ref = true;
  if (connection != NULL && args_bool(env, argv[0], &ref))
    loop_ref(connection, ref);
  return NULL;
}

/* renegotiate() */
static napi_value renegotiate(napi_env env, napi_callback_info info) {
  struct connection *connection = begin(env, info, NULL, 0);
  struct binding *binding = NULL;
  enum etls_status status;
  if (connection == NULL)
    return NULL;
  binding = connection->binding;
  status = etls_engine_renegotiate(connection->engine, &binding->error);
  if (status < 0)
    error_throw_context(env, &binding->error);
  else
    settle(connection, ETLS_OK, false);
  return NULL;
}

const napi_property_descriptor connection_io_methods[] = {
    METHOD("attach", attach),
    METHOD("start", start),
    METHOD("receive", receive),
    METHOD("receiveEnd", receive_end),
    METHOD("pump", pump),
    METHOD("write", write_one),
    METHOD("writev", write_many),
    METHOD("takeOutput", take_output),
    METHOD("shutdown", shutdown_method),
    METHOD("readStart", read_start),
    METHOD("readStop", read_stop),
    METHOD("ref", ref_method),
    METHOD("renegotiate", renegotiate),
};
const size_t connection_io_method_count =
    sizeof connection_io_methods / sizeof connection_io_methods[0];
