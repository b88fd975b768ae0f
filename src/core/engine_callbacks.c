/*
 * engine_callbacks.c - what OpenSSL calls during a step, and the records that
 * it leaves for take_*.
 *
 * Callbacks only write to their engine; nothing calls out of the core, with
 * the PSK callback as the one exception. Without memory a record is lost,
 * the connection goes on.
 *
 * Recorded sessions are duplicates: the SSL_SESSION that OpenSSL shows here
 * is the connection's own, and OpenSSL marks it as not resumable when the
 * connection ends in certain ways.
 */
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <string.h>

#include "engine_internal.h"
#include "mem.h"

struct etls_engine *etls_engine_of(const SSL *ssl) {
  return SSL_get_ex_data(ssl, etls_context_engine_index());
}

/* ---- sessions ---------------------------------------------------------- */

bool etls_session_list_add(struct etls_session_list **list,
                           SSL_SESSION *session) {
  struct etls_session_list *sessions = *list;
  if (sessions == NULL) {
    sessions = etls_calloc(1, sizeof(*sessions));
    if (sessions == NULL)
      return false;
    *list = sessions;
  }
  if (sessions->len == ETLS_RECORDED_SESSIONS_MAX) {
    SSL_SESSION_free(sessions->items[0]);
    sessions->len -= 1;
    memmove(sessions->items, sessions->items + 1,
            sessions->len * sizeof(sessions->items[0]));
  }
  sessions->items[sessions->len++] = session;
  return true;
}

SSL_SESSION *etls_session_list_take(struct etls_session_list **list) {
  struct etls_session_list *sessions = *list;
  if (sessions == NULL)
    return NULL;
  SSL_SESSION *session = sessions->items[0];
  sessions->len -= 1;
  memmove(sessions->items, sessions->items + 1,
          sessions->len * sizeof(sessions->items[0]));
  if (sessions->len == 0) {
    etls_free(sessions);
    *list = NULL;
  }
  return session;
}

enum etls_status etls_engine_take_session(struct etls_engine *engine,
                                          uint8_t **der, size_t *len,
                                          struct etls_error *error) {
  *der = NULL;
  *len = 0;
  SSL_SESSION *session = etls_session_list_take(&engine->sessions);
  if (session == NULL)
    return ETLS_OK;
  enum etls_status status =
      etls_resumption_export(engine, session, der, len, error);
  SSL_SESSION_free(session);
  return status;
}

static void record_session(struct etls_engine *engine, SSL_SESSION *session) {
  SSL_SESSION *copy = SSL_SESSION_dup(session);
  if (copy == NULL)
    return;
  etls_resumption_on_new_session(engine, copy);
  if (!engine->want_sessions || !etls_session_list_add(&engine->sessions, copy))
    SSL_SESSION_free(copy);
}

static int on_new_session(SSL *ssl, SSL_SESSION *session) {
  struct etls_engine *engine = etls_engine_of(ssl);
  if (engine == NULL || (!engine->want_sessions && engine->resume.key == NULL))
    return 0;
  /* SSL_get_error would take what fails here for a fault of the connection. */
  ERR_set_mark();
  record_session(engine, session);
  ERR_pop_to_mark();
  return 0; /* no reference on `session` is kept */
}

/* ---- keylog ------------------------------------------------------------ */

static void on_keylog(const SSL *ssl, const char *text) {
  struct etls_engine *engine = etls_engine_of(ssl);
  if (engine == NULL || !engine->want_keylog)
    return;
  size_t len = strlen(text);
  size_t size = sizeof(struct etls_keylog_line) + len + 1;
  struct etls_keylog_line *line = etls_alloc(size);
  if (line == NULL)
    return;
  line->next = NULL;
  line->size = size;
  memcpy(line->text, text, len + 1);
  *engine->keylog_end = line;
  engine->keylog_end = &line->next;
}

void etls_engine_want_keylog(struct etls_engine *engine, bool want) {
  engine->want_keylog = want;
  if (want)
    SSL_CTX_set_keylog_callback(SSL_get_SSL_CTX(engine->ssl), on_keylog);
}

static void drop_line(struct etls_keylog_line *line) {
  if (line != NULL)
    etls_clear_free(line, line->size);
}

const char *etls_engine_take_keylog(struct etls_engine *engine) {
  drop_line(engine->keylog_taken);
  struct etls_keylog_line *line = engine->keylog;
  engine->keylog_taken = line;
  if (line == NULL)
    return NULL;
  engine->keylog = line->next;
  if (engine->keylog == NULL)
    engine->keylog_end = &engine->keylog;
  return line->text;
}

/* ---- OCSP -------------------------------------------------------------- */

/* Called once the server's answer is complete, also if there was no stapled
 * response. It cannot be judged here, so it is always accepted, as in node;
 * the application judges it. */
static int on_ocsp(SSL *ssl, void *arg) {
  (void)arg;
  struct etls_engine *engine = etls_engine_of(ssl);
  if (engine != NULL)
    engine->ocsp_came = true;
  return 1;
}

bool etls_engine_take_ocsp(struct etls_engine *engine, const uint8_t **der,
                           size_t *len) {
  *der = NULL;
  *len = 0;
  if (!engine->ocsp_came)
    return false;
  engine->ocsp_came = false;
  const unsigned char *response = NULL;
  long response_len = SSL_get_tlsext_status_ocsp_resp(engine->ssl, &response);
  if (response != NULL && response_len > 0) {
    *der = response;
    *len = (size_t)response_len;
  }
  return true;
}

/* ---- PSK --------------------------------------------------------------- */

unsigned int etls_engine_on_psk(SSL *ssl, const char *hint, char *identity,
                                unsigned int max_identity_len,
                                unsigned char *psk, unsigned int max_psk_len) {
  struct etls_engine *engine = etls_engine_of(ssl);
  if (engine == NULL || engine->psk_cb == NULL)
    return 0;
  size_t len = engine->psk_cb(engine->psk_arg, hint, identity, max_identity_len,
                              psk, max_psk_len);
  /* The callback ran other code, which may have used OpenSSL. */
  ERR_clear_error();
  return len > max_psk_len ? 0 : (unsigned int)len;
}

/* ---- all --------------------------------------------------------------- */

/* TLS 1.3 has no renegotiation; what OpenSSL calls the end of a handshake
 * there is a ticket that came. */
static void on_info(const SSL *ssl, int where, int value) {
  struct etls_engine *engine = NULL;
  (void)value;
  if ((where & SSL_CB_HANDSHAKE_DONE) == 0 ||
      SSL_version(ssl) >= TLS1_3_VERSION)
    return;
  engine = etls_engine_of(ssl);
  if (engine == NULL || !engine->opened)
    return;
  engine->renegotiated = true;
  /* The certificates are others. */
  if (SSL_session_reused(ssl) == 0)
    engine->resume.bound_known = false;
}

unsigned etls_engine_recorded(struct etls_engine *engine) {
  unsigned bits = engine->renegotiated ? ETLS_RECORDED_HANDSHAKE : 0;
  engine->renegotiated = false;
  if (engine->keylog != NULL)
    bits |= ETLS_RECORDED_KEYLOG;
  if (engine->sessions != NULL)
    bits |= ETLS_RECORDED_SESSION;
  if (engine->sessions_later)
    bits |= ETLS_RECORDED_BEHIND;
  engine->sessions_later = false;
  if (engine->ocsp_came)
    bits |= ETLS_RECORDED_OCSP;
  return bits;
}

void etls_engine_drop_recorded(struct etls_engine *engine) {
  bool more = true;
  while (more)
    more = etls_engine_take_keylog(engine) != NULL;
  SSL_SESSION *session = NULL;
  while ((session = etls_session_list_take(&engine->sessions)) != NULL)
    SSL_SESSION_free(session);
}

void etls_engine_install_callbacks(SSL_CTX *ctx) {
  /* The store of sessions is ours; OpenSSL's own is not used. */
  SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_CLIENT |
                                          SSL_SESS_CACHE_NO_INTERNAL |
                                          SSL_SESS_CACHE_NO_AUTO_CLEAR);
  SSL_CTX_sess_set_new_cb(ctx, on_new_session);
  SSL_CTX_set_info_callback(ctx, on_info);
  SSL_CTX_set_tlsext_status_cb(ctx, on_ocsp);
}
