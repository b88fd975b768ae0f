/*
 * session_resume.c - one connection's part in resumption: which session it
 * offers, what became of it, and which of its new sessions are kept.
 *
 * Rules, each with a test in test_session_store.c:
 * - An offer is booked once: when the connection is accepted, or when the
 *   engine is freed. It was not made if the handshake never started; then the
 *   session goes back.
 * - New sessions wait in the engine until accept_sessions, those of a
 *   renegotiation until its next call; if that never comes, they go with the
 *   engine.
 * - resume.bound belongs to the certificates of the connection. A full
 *   handshake makes it anew; a resumed connection inherits it from the
 *   session it offered, and hands it on.
 * - Connections without a certificate, with an OCSP request, or with an
 *   identity that is not their context's are never resumed.
 *
 * An SSL gets duplicates only, and gives only duplicates.
 */
#include <limits.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <string.h>
#include <time.h>

#include "engine_internal.h"
#include "mem.h"
#include "status.h"

static int64_t wall_clock(void) {
  return (int64_t)time(NULL);
}

static bool may_resume(const struct etls_engine *engine) {
  return !engine->ocsp_requested && !engine->foreign_identity;
}

bool etls_resumption_bound(struct etls_engine *engine) {
  struct etls_resumption *resume = &engine->resume;
  SSL *ssl = engine->ssl;
  X509 *leaf = SSL_get0_peer_certificate(ssl);
  if (!engine->opened || leaf == NULL)
    return false;
  if (SSL_session_reused(ssl) == 0) {
    etls_session_bound_init(&resume->bound, SSL_get_verify_result(ssl), leaf,
                            SSL_get0_verified_chain(ssl),
                            etls_context_crl_expiry(engine->context));
    resume->bound_known = true;
  }
  return resume->bound_known;
}

/* ---- offering ---------------------------------------------------------- */

static void forget_offer(struct etls_resumption *resume) {
  SSL_SESSION_free(resume->offer.session);
  resume->offer = (struct etls_session_offer){0};
  resume->from_store = false;
}

/* Makes `offer` (which is consumed) the one of the coming handshake. */
static bool make_offer(struct etls_engine *engine,
                       const struct etls_session_offer *offer,
                       bool from_store) {
  struct etls_resumption *resume = &engine->resume;
  if (SSL_set_session(engine->ssl, offer->session) != 1) {
    SSL_SESSION_free(offer->session);
    return false;
  }
  resume->offer = *offer;
  resume->from_store = from_store;
  resume->bound = offer->bound;
  resume->bound_known = true;
  return true;
}

void etls_resumption_give_up(struct etls_engine *engine) {
  struct etls_resumption *resume = &engine->resume;
  if (resume->offer.session == NULL)
    return;
  /* OpenSSL has not touched the duplicate before the handshake. */
  if (resume->from_store)
    etls_session_store_put_back(resume->store, resume->key, resume->key_len,
                                &resume->offer, resume->accepted_ms,
                                wall_clock());
  (void)SSL_set_session(engine->ssl, NULL);
  forget_offer(resume);
  resume->bound_known = false;
  ERR_clear_error();
}

bool etls_resumption_is_unanswered(const struct etls_engine *engine) {
  const SSL_SESSION *offered = engine->resume.offer.session;
  return offered != NULL && SSL_get0_session(engine->ssl) == offered &&
         SSL_session_reused(engine->ssl) == 0;
}

bool etls_resumption_is_hidden(const struct etls_engine *engine) {
  return engine->resume.from_store && etls_resumption_is_unanswered(engine);
}

static bool set_key(struct etls_engine *engine, const void *key,
                    size_t key_len) {
  struct etls_resumption *resume = &engine->resume;
  if (key_len > SIZE_MAX - ETLS_DIGEST_LEN)
    return false;
  uint8_t *whole = etls_alloc(ETLS_DIGEST_LEN + key_len);
  if (whole == NULL)
    return false;
  memcpy(whole, etls_context_get0_digest(engine->context), ETLS_DIGEST_LEN);
  if (key_len > 0)
    memcpy(whole + ETLS_DIGEST_LEN, key, key_len);
  resume->key = whole;
  resume->key_len = ETLS_DIGEST_LEN + key_len;
  return true;
}

enum etls_status etls_engine_use_store(struct etls_engine *engine,
                                       struct etls_session_store *store,
                                       const void *key, size_t key_len,
                                       bool offer, int64_t now_ms,
                                       struct etls_error *error) {
  struct etls_resumption *resume = &engine->resume;
  if (engine->state != ETLS_STATE_IDLE || resume->key != NULL)
    return etls_error_set(error, ETLS_ERR_USAGE,
                          "The store must be set once, before the handshake");
  if (!set_key(engine, key, key_len))
    return etls_error_set_memory(error);
  resume->store = store;
  resume->accepted_ms = now_ms;
  struct etls_session_offer found;
  if (offer && resume->offer.session == NULL && may_resume(engine) &&
      etls_session_store_take(store, resume->key, resume->key_len, now_ms,
                              wall_clock(), &found))
    (void)make_offer(engine, &found, true);
  ERR_clear_error();
  return ETLS_OK;
}

void etls_engine_remember_sessions(struct etls_engine *engine,
                                   struct etls_session_store *store) {
  if (engine->resume.store == NULL)
    engine->resume.store = store;
}

/* Bytes from outside: their certificate must be good for this context. */
static enum etls_status offer_foreign(struct etls_engine *engine,
                                      const uint8_t *der, size_t len,
                                      struct etls_error *error) {
  const unsigned char *at = der;
  SSL_SESSION *session =
      len > LONG_MAX ? NULL : d2i_SSL_SESSION(NULL, &at, (long)len);
  if (session == NULL)
    return etls_error_drain(error, ETLS_ERR_TLS, "Not a session");
  struct etls_session_offer offer = {.session = session};
  if (!may_resume(engine) ||
      !etls_session_bound_verify(&offer.bound, engine->ssl, session,
                                 etls_context_crl_expiry(engine->context)) ||
      wall_clock() >= offer.bound.until) {
    SSL_SESSION_free(session);
    ERR_clear_error();
    return ETLS_OK; /* the full handshake decides */
  }
  if (!make_offer(engine, &offer, false))
    return etls_error_drain(error, ETLS_ERR_TLS, "SSL_set_session");
  ERR_clear_error();
  return ETLS_OK;
}

enum etls_status etls_engine_set_session(struct etls_engine *engine,
                                         struct etls_session_store *store,
                                         const uint8_t *der, size_t len,
                                         struct etls_error *error) {
  if (engine->state != ETLS_STATE_IDLE)
    return etls_error_set(error, ETLS_ERR_USAGE, "The handshake has started");
  ERR_clear_error();
  etls_resumption_give_up(engine);
  etls_engine_remember_sessions(engine, store);
  struct etls_session_offer offer;
  if (store == NULL ||
      !etls_session_store_recall(
          store, etls_context_get0_digest(engine->context), der, len, &offer))
    return offer_foreign(engine, der, len, error);
  if (!may_resume(engine) || wall_clock() >= offer.bound.until)
    SSL_SESSION_free(offer.session);
  else if (!make_offer(engine, &offer, false))
    return etls_error_drain(error, ETLS_ERR_TLS, "SSL_set_session");
  ERR_clear_error();
  return ETLS_OK;
}

/* ---- what became of it ------------------------------------------------- */

/* A resumption that the caller has not accepted is a failure, too: what it
 * refused, the next full handshake may have changed. */
static void settle(struct etls_engine *engine, bool accepted) {
  struct etls_resumption *resume = &engine->resume;
  if (resume->offer.session == NULL)
    return;
  bool reused = SSL_session_reused(engine->ssl) == 1;
  enum etls_session_outcome outcome = ETLS_SESSION_FAILED;
  if (engine->opened && !reused)
    outcome = ETLS_SESSION_DECLINED;
  else if (engine->opened && accepted)
    outcome = ETLS_SESSION_RESUMED;
  if (resume->store != NULL)
    etls_session_store_settle(resume->store,
                              resume->from_store ? resume->key : NULL,
                              resume->key_len, resume->offer.id, outcome);
  /* The bound was that of the declined session. A renegotiation may resume
   * the one that came instead. */
  if (!reused)
    resume->bound_known = false;
  forget_offer(resume);
}

static void put(struct etls_engine *engine, SSL_SESSION *session,
                int64_t wall) {
  struct etls_resumption *resume = &engine->resume;
  if (!may_resume(engine) || !etls_resumption_bound(engine) ||
      SSL_SESSION_get0_peer(session) == NULL)
    return;
  int64_t passed = wall - resume->accepted_wall;
  etls_session_store_put(
      resume->store, resume->key, resume->key_len, session, &resume->bound,
      resume->accepted_ms + (passed > 0 ? passed : 0) * 1000, wall);
}

void etls_resumption_on_new_session(struct etls_engine *engine,
                                    SSL_SESSION *session) {
  struct etls_resumption *resume = &engine->resume;
  if (resume->key == NULL)
    return;
  /* Before TLS 1.3, sessions come in handshakes only: this one is a
   * renegotiation, and not verified. */
  if (resume->accepted && SSL_version(engine->ssl) >= TLS1_3_VERSION) {
    put(engine, session, wall_clock());
    return;
  }
  SSL_SESSION_up_ref(session);
  if (!etls_session_list_add(&resume->pending, session))
    SSL_SESSION_free(session);
}

void etls_engine_accept_sessions(struct etls_engine *engine, int64_t now_ms) {
  struct etls_resumption *resume = &engine->resume;
  ERR_clear_error();
  if (!engine->opened)
    return;
  settle(engine, true);
  if (resume->key != NULL) {
    resume->accepted = true;
    resume->accepted_ms = now_ms;
    resume->accepted_wall = wall_clock();
    SSL_SESSION *session = NULL;
    while ((session = etls_session_list_take(&resume->pending)) != NULL) {
      put(engine, session, resume->accepted_wall);
      SSL_SESSION_free(session);
    }
  }
  ERR_clear_error();
}

void etls_resumption_dispose(struct etls_engine *engine) {
  struct etls_resumption *resume = &engine->resume;
  if (engine->state == ETLS_STATE_IDLE)
    etls_resumption_give_up(engine);
  settle(engine, false);
  SSL_SESSION *session = NULL;
  while ((session = etls_session_list_take(&resume->pending)) != NULL)
    SSL_SESSION_free(session);
  etls_free(resume->key);
  resume->key = NULL;
}

/* ---- as bytes ---------------------------------------------------------- */

enum etls_status etls_resumption_export(struct etls_engine *engine,
                                        SSL_SESSION *session, uint8_t **der,
                                        size_t *len, struct etls_error *error) {
  struct etls_resumption *resume = &engine->resume;
  *der = NULL;
  *len = 0;
  ERR_clear_error();
  int size = i2d_SSL_SESSION(session, NULL);
  if (size <= 0)
    return etls_error_drain(error, ETLS_ERR_TLS, "i2d_SSL_SESSION");
  uint8_t *bytes = etls_alloc((size_t)size);
  if (bytes == NULL)
    return etls_error_set_memory(error);
  unsigned char *at = bytes;
  if (i2d_SSL_SESSION(session, &at) != size) {
    etls_clear_free(bytes, (size_t)size);
    return etls_error_drain(error, ETLS_ERR_TLS, "i2d_SSL_SESSION");
  }
  if (resume->store != NULL && may_resume(engine) &&
      etls_resumption_bound(engine) && SSL_SESSION_get0_peer(session) != NULL)
    etls_session_store_remember(resume->store,
                                etls_context_get0_digest(engine->context),
                                bytes, (size_t)size, session, &resume->bound);
  *der = bytes;
  *len = (size_t)size;
  ERR_clear_error();
  return ETLS_OK;
}

enum etls_status etls_engine_get1_session(struct etls_engine *engine,
                                          uint8_t **der, size_t *len,
                                          struct etls_error *error) {
  *der = NULL;
  *len = 0;
  ERR_clear_error();
  const SSL_SESSION *current = SSL_get0_session(engine->ssl);
  /* One without a cipher is only being made: it has no encoding. */
  if (current == NULL || SSL_SESSION_get0_cipher(current) == NULL ||
      etls_resumption_is_hidden(engine))
    return ETLS_OK;
  SSL_SESSION *copy = SSL_SESSION_dup(current);
  if (copy == NULL)
    return etls_error_drain(error, ETLS_ERR_MEMORY, "SSL_SESSION_dup");
  enum etls_status status =
      etls_resumption_export(engine, copy, der, len, error);
  SSL_SESSION_free(copy);
  return status;
}
