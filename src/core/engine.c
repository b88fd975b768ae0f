/*
 * engine.c - the pump of one client connection: ciphertext in and out,
 * plaintext in and out, and the state machine above OpenSSL's.
 *
 * Invariants:
 * - `state` has one writer. FAILED is final; `failed` and `failure` say why,
 *   and each later call of the pump reports the same. Misuse (ETLS_ERR_USAGE)
 *   and what only refuses a request leave the state alone.
 * - OpenSSL's error queue is empty before each call into it (SSL_get_error
 *   looks at the queue) and on return.
 * - The BIO never blocks on writing, so OpenSSL only ever asks for input.
 * - An end of the transport is not shown to OpenSSL (see span_bio.c): when
 *   it asks for more than there will be, that is the end. As in node a
 *   missing close_notify is no error; protocols that care for truncation
 *   have their own framing.
 * - The handshake touches nothing but the engine, its SSL and the pool, so it
 *   may run on another thread while the owner leaves the engine alone.
 */
#include "engine.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include "engine_internal.h"
#include "mem.h"
#include "status.h"

enum { RECORD_MAX = 16384 }; /* plaintext of one record */

void etls_engine_set_state(struct etls_engine *engine, enum etls_state state) {
  engine->state = state;
}

static void peer_closed(struct etls_engine *engine) {
  if (engine->state == ETLS_STATE_OPEN)
    etls_engine_set_state(engine, ETLS_STATE_SHUT_RECEIVED);
  else if (engine->state == ETLS_STATE_SHUT_SENT)
    etls_engine_set_state(engine, ETLS_STATE_CLOSED);
}

/* Tells the caller why the engine is FAILED. */
static enum etls_status report(const struct etls_engine *engine,
                               struct etls_error *error) {
  if (engine->failure != NULL && error->status == ETLS_OK)
    *error = *engine->failure;
  else
    etls_error_set(error, engine->failed, "The connection has failed");
  return engine->failed;
}

/* Takes what OpenSSL said, and makes the engine FAILED. */
static void fail(struct etls_engine *engine) {
  struct etls_error seen;
  etls_error_init(&seen);
  if (engine->span.no_memory)
    etls_error_set_memory(&seen);
  else
    etls_error_drain(&seen, ETLS_ERR_TLS, "OpenSSL failed without a reason");
  engine->failed = seen.status;
  engine->failure = etls_memdup(&seen, sizeof(seen));
  etls_engine_set_state(engine, ETLS_STATE_FAILED);
}

static enum etls_status misuse(struct etls_error *error, const char *text) {
  return etls_error_set(error, ETLS_ERR_USAGE, text);
}

static void enter(struct etls_engine *engine) {
  engine->entered = true;
}

/* Call right after the SSL function that returned rc. Leaves the queue empty,
 * ready for the next one. */
static enum etls_status leave(struct etls_engine *engine, int rc) {
  enum etls_status status = ETLS_OK;
  engine->entered = false;
  if (rc <= 0) {
    switch (SSL_get_error(engine->ssl, rc)) {
    case SSL_ERROR_WANT_READ:
      status = ETLS_WANT_INPUT;
      if (engine->input_ended && etls_span_bio_input(&engine->span) == 0)
        status = ETLS_END;
      break;
    case SSL_ERROR_ZERO_RETURN:
      status = ETLS_END;
      break;
    default:
      fail(engine);
      status = engine->failed;
      break;
    }
  }
  if (status == ETLS_END)
    peer_closed(engine);
  etls_queue_forget();
  return status;
}

enum etls_status etls_engine_handshake(struct etls_engine *engine,
                                       struct etls_error *error) {
  etls_queue_forget();
  if (engine->state == ETLS_STATE_FAILED)
    return report(engine, error);
  if (engine->entered)
    return misuse(error, "handshake() inside a callback");
  if (engine->state == ETLS_STATE_IDLE)
    etls_engine_set_state(engine, ETLS_STATE_HANDSHAKE);
  if (engine->state != ETLS_STATE_HANDSHAKE)
    return ETLS_OK;
  enter(engine);
  enum etls_status status = leave(engine, SSL_do_handshake(engine->ssl));
  if (status == ETLS_OK) {
    etls_engine_set_state(engine, ETLS_STATE_OPEN);
    engine->opened = true;
  }
  return status < 0 ? report(engine, error) : status;
}

enum etls_status etls_engine_read(struct etls_engine *engine, uint8_t *dst,
                                  size_t cap, size_t *n,
                                  struct etls_error *error) {
  *n = 0;
  etls_queue_forget();
  if (engine->state == ETLS_STATE_FAILED)
    return report(engine, error);
  if (engine->entered || cap == 0)
    return misuse(error, "read() inside a callback, or of nothing");
  if (engine->state < ETLS_STATE_OPEN)
    return misuse(error, "read() before the handshake is done");
  if (engine->state != ETLS_STATE_OPEN && engine->state != ETLS_STATE_SHUT_SENT)
    return ETLS_END;
  enum etls_status status = ETLS_OK;
  bool had_sessions = engine->sessions != NULL;
  while (status == ETLS_OK && *n < cap) {
    const size_t before = *n;
    size_t done = 0;
    enter(engine);
    status = leave(engine, SSL_read_ex(engine->ssl, dst + *n, cap - *n, &done));
    *n += done;
    if (before > 0 && engine->sessions != NULL && !had_sessions)
      engine->sessions_later = true;
    had_sessions = engine->sessions != NULL;
  }
  /* SSL_MODE_RELEASE_BUFFERS forgets one: to take in a ticket, OpenSSL sets up
   * a write buffer, 16 KB that would stay until the next write. */
  if (status == ETLS_WANT_INPUT)
    (void)SSL_free_buffers(engine->ssl);
  /* What was decrypted before an end or a failure goes out first; the next
   * call finds the state. */
  if (*n > 0)
    return ETLS_OK;
  return status < 0 ? report(engine, error) : status;
}

static bool may_write(const struct etls_engine *engine) {
  return engine->state == ETLS_STATE_OPEN ||
         engine->state == ETLS_STATE_SHUT_RECEIVED;
}

/*
 * In a renegotiation only reading makes progress: OpenSSL takes data that the
 * peer sends meanwhile for a fault when it finds it while writing.
 */
static enum etls_status must_read_first(const struct etls_engine *engine) {
  if (!SSL_in_init(engine->ssl))
    return ETLS_OK;
  return engine->input_ended ? ETLS_END : ETLS_WANT_INPUT;
}

static size_t output_pending(const struct etls_engine *engine) {
  const uint8_t *data = NULL;
  return etls_span_bio_output(&engine->span, &data);
}

enum etls_status etls_engine_write(struct etls_engine *engine,
                                   const uint8_t *src, size_t len,
                                   size_t *consumed, struct etls_error *error) {
  *consumed = 0;
  etls_queue_forget();
  if (engine->state == ETLS_STATE_FAILED)
    return report(engine, error);
  if (engine->entered)
    return misuse(error, "write() inside a callback");
  if (!may_write(engine))
    return misuse(error, "write() before the handshake or after shutdown()");
  enum etls_status status = must_read_first(engine);
  while (status == ETLS_OK && *consumed < len) {
    if (output_pending(engine) >= ETLS_OUTPUT_HIGH)
      return ETLS_WANT_OUTPUT;
    size_t left = len - *consumed;
    size_t done = 0;
    enter(engine);
    status = leave(engine,
                   SSL_write_ex(engine->ssl, src + *consumed,
                                left < RECORD_MAX ? left : RECORD_MAX, &done));
    *consumed += done;
  }
  return status < 0 ? report(engine, error) : status;
}

enum etls_status etls_engine_shutdown(struct etls_engine *engine,
                                      struct etls_error *error) {
  etls_queue_forget();
  if (engine->state == ETLS_STATE_FAILED)
    return report(engine, error);
  if (engine->entered)
    return misuse(error, "shutdown() inside a callback");
  if (engine->state < ETLS_STATE_OPEN)
    return misuse(error, "shutdown() before the handshake is done");
  if (!may_write(engine))
    return ETLS_OK;
  enum etls_status status = must_read_first(engine);
  if (status != ETLS_OK)
    return status;
  enter(engine);
  int rc = SSL_shutdown(engine->ssl);
  /* 0: ours is sent, the peer's has not come. Not a failure. */
  status = leave(engine, rc == 0 ? 1 : rc);
  if (status < 0)
    return report(engine, error);
  etls_engine_set_state(engine, engine->state == ETLS_STATE_OPEN
                                    ? ETLS_STATE_SHUT_SENT
                                    : ETLS_STATE_CLOSED);
  return ETLS_OK;
}

enum etls_status etls_engine_renegotiate(struct etls_engine *engine,
                                         struct etls_error *error) {
  etls_queue_forget();
  if (engine->state == ETLS_STATE_FAILED)
    return report(engine, error);
  if (engine->entered || engine->state != ETLS_STATE_OPEN)
    return misuse(error, "renegotiate() of a connection that is not open");
  if (SSL_renegotiate(engine->ssl) != 1) /* TLS 1.3: refused, no harm done */
    return etls_error_drain(error, ETLS_ERR_TLS, "Cannot renegotiate");
  enter(engine);
  enum etls_status status = leave(engine, SSL_do_handshake(engine->ssl));
  if (status < 0)
    return report(engine, error);
  return status == ETLS_END ? ETLS_END : ETLS_OK;
}

enum etls_status etls_engine_feed(struct etls_engine *engine,
                                  const uint8_t *data, size_t len) {
  if (engine->entered || engine->input_ended)
    return ETLS_ERR_USAGE;
  if (engine->state >= ETLS_STATE_SHUT_RECEIVED)
    return ETLS_OK; /* nobody will read it: do not let it pile up */
  enum etls_status status = etls_engine_keep_input(engine);
  return status == ETLS_OK ? etls_span_bio_lend(&engine->span, data, len)
                           : status;
}

enum etls_status etls_engine_keep_input(struct etls_engine *engine) {
  if (engine->entered)
    return ETLS_ERR_USAGE;
  if (etls_span_bio_keep(&engine->span) == ETLS_OK)
    return ETLS_OK;
  /* The span is not ours any more: what is left of it is lost. */
  etls_span_bio_give_back(&engine->span);
  if (engine->state >= ETLS_STATE_SHUT_RECEIVED)
    return ETLS_OK; /* nobody would have read it */
  engine->span.no_memory = true;
  fail(engine);
  return engine->failed;
}

size_t etls_engine_input_pending(const struct etls_engine *engine) {
  return etls_span_bio_input(&engine->span);
}

void etls_engine_feed_end(struct etls_engine *engine) {
  engine->input_ended = true;
}

size_t etls_engine_output(const struct etls_engine *engine,
                          const uint8_t **data) {
  return etls_span_bio_output(&engine->span, data);
}

void etls_engine_consume_output(struct etls_engine *engine, size_t n) {
  etls_span_bio_consume(&engine->span, n);
}

enum etls_state etls_engine_state(const struct etls_engine *engine) {
  return engine->state;
}

const char *etls_state_name(enum etls_state state) {
  switch (state) {
  case ETLS_STATE_IDLE:
    return "IDLE";
  case ETLS_STATE_HANDSHAKE:
    return "HANDSHAKE";
  case ETLS_STATE_OPEN:
    return "OPEN";
  case ETLS_STATE_SHUT_SENT:
    return "SHUT_SENT";
  case ETLS_STATE_SHUT_RECEIVED:
    return "SHUT_RECEIVED";
  case ETLS_STATE_CLOSED:
    return "CLOSED";
  case ETLS_STATE_FAILED:
    return "FAILED";
  }
  return "UNKNOWN";
}
