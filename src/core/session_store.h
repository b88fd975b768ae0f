/*
 * session_store.h - the store's inner interface, for session_resume.c. What
 * users of the core see is in eager_tls.h.
 *
 * A key is ETLS_DIGEST_LEN bytes of the context's digest plus the caller's
 * bytes. now_ms is the caller's monotonic clock, `wall` seconds since the
 * epoch. OpenSSL's error queue may hold entries after these calls.
 */
#ifndef ETLS_SESSION_STORE_H
#define ETLS_SESSION_STORE_H

#include <openssl/ssl.h>

#include "eager_tls.h"
#include "session_bound.h"

/* RFC 8446 allows a ticket a week. */
enum { ETLS_TICKET_LIFETIME_MAX = 7 * 24 * 3600 };

/* A session to offer. */
struct etls_session_offer {
  SSL_SESSION *session; /* a duplicate of the caller's own */
  struct etls_session_bound bound;
  uint64_t id;      /* the stored one that is still there, 0: none */
  int64_t until_ms; /* when the store would have dropped it */
  bool was_used;    /* it had been taken before */
};

enum etls_session_outcome {
  ETLS_SESSION_RESUMED,  /* the server took it */
  ETLS_SESSION_DECLINED, /* it did a full handshake instead */
  ETLS_SESSION_FAILED    /* the handshake did not come to its end */
};

/*
 * Stores `session`, which must never have been given to an SSL, taking a
 * reference of its own. Without memory, or if it is of no use any more,
 * nothing happens.
 */
void etls_session_store_put(struct etls_session_store *store,
                            const uint8_t *key, size_t key_len,
                            SSL_SESSION *session,
                            const struct etls_session_bound *bound,
                            int64_t now_ms, int64_t wall);
/* False: there is none, or no memory. */
bool etls_session_store_take(struct etls_session_store *store,
                             const uint8_t *key, size_t key_len, int64_t now_ms,
                             int64_t wall, struct etls_session_offer *out);
/* Undoes a take, whose offer was not used. Its session stays the
 * caller's. */
void etls_session_store_put_back(struct etls_session_store *store,
                                 const uint8_t *key, size_t key_len,
                                 const struct etls_session_offer *offer,
                                 int64_t now_ms, int64_t wall);
/*
 * Books the outcome of an offered session. DECLINED drops the one it was
 * taken from; FAILED all of the peer, so that the next handshake is a full
 * one. key NULL: books only.
 */
void etls_session_store_settle(struct etls_session_store *store,
                               const uint8_t *key, size_t key_len, uint64_t id,
                               enum etls_session_outcome outcome);

/*
 * Remembers that these bytes are `session` (never given to an SSL; a reference
 * is taken) under this context. Bounded; without memory nothing happens.
 */
void etls_session_store_remember(struct etls_session_store *store,
                                 const uint8_t digest[ETLS_DIGEST_LEN],
                                 const uint8_t *der, size_t len,
                                 SSL_SESSION *session,
                                 const struct etls_session_bound *bound);
/* Finds what was remembered for these bytes and this context. out->id is 0. */
bool etls_session_store_recall(struct etls_session_store *store,
                               const uint8_t digest[ETLS_DIGEST_LEN],
                               const uint8_t *der, size_t len,
                               struct etls_session_offer *out);

/* ---- session_export.c, used by session_store.c ------------------------- */

/* Serialised bytes -> session, the least recently used goes first. */
struct etls_session_exports;

enum { ETLS_SESSION_EXPORTS_MAX = 256 };

ETLS_MUST_USE struct etls_session_exports *etls_session_exports_new(void);
void etls_session_exports_free(struct etls_session_exports *exports);
void etls_session_exports_clear(struct etls_session_exports *exports);
size_t etls_session_exports_count(const struct etls_session_exports *exports);
/* max 0: forgets all. */
void etls_session_exports_set_max(struct etls_session_exports *exports,
                                  size_t max);
void etls_session_exports_add(struct etls_session_exports *exports,
                              const uint8_t digest[ETLS_DIGEST_LEN],
                              const uint8_t *der, size_t len,
                              SSL_SESSION *session,
                              const struct etls_session_bound *bound);
bool etls_session_exports_find(struct etls_session_exports *exports,
                               const uint8_t digest[ETLS_DIGEST_LEN],
                               const uint8_t *der, size_t len,
                               struct etls_session_offer *out);

#endif
