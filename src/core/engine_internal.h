/*
 * engine_internal.h - the engine's insides, for the engine_*.c files,
 * peer_info*.c and session_resume.c only.
 */
#ifndef ETLS_ENGINE_INTERNAL_H
#define ETLS_ENGINE_INTERNAL_H

#include <openssl/ssl.h>

#include "context.h"
#include "eager_tls.h"
#include "engine.h"
#include "session_store.h"
#include "span_bio.h"

/* Lines of keylog, oldest first; each is secret. */
struct etls_keylog_line {
  struct etls_keylog_line *next;
  size_t size; /* of the allocation */
  char text[]; /* NUL-terminated */
};

/* New sessions, oldest first; the oldest goes when there are too many. */
enum { ETLS_RECORDED_SESSIONS_MAX = 16 };
struct etls_session_list {
  SSL_SESSION *items[ETLS_RECORDED_SESSIONS_MAX];
  size_t len;
};

/* What session_resume.c knows of a connection. */
struct etls_resumption {
  struct etls_session_store *store; /* borrowed; NULL: none */
  uint8_t *key;                     /* NULL: no store for new sessions */
  size_t key_len;
  struct etls_session_offer offer; /* session NULL: none, or booked */
  bool from_store;                 /* offer was taken from under `key` */
  bool bound_known;
  struct etls_session_bound bound;   /* of the current certificates */
  bool accepted;                     /* new sessions go to the store at once */
  int64_t accepted_ms;               /* when, by the caller's clock */
  int64_t accepted_wall;             /* ... and in seconds since the epoch */
  struct etls_session_list *pending; /* new sessions before that */
};

struct etls_engine {
  SSL *ssl;
  struct etls_context *context;
  struct etls_span_bio span;

  enum etls_state state;      /* written by etls_engine_set_state only */
  enum etls_status failed;    /* state FAILED: with this */
  struct etls_error *failure; /* its details; NULL if there was no memory */
  bool opened;                /* the handshake came to its end */
  bool input_ended;           /* feed_end was called */
  bool entered;               /* inside OpenSSL: calls are refused */
  bool renegotiated;          /* and recorded() has not told yet */

  bool want_keylog;
  bool want_sessions;
  bool ocsp_requested;
  bool foreign_identity; /* use_identity_of was called */
  bool ocsp_came;        /* and not taken yet */
  struct etls_keylog_line *keylog;
  struct etls_keylog_line **keylog_end;
  struct etls_keylog_line *keylog_taken; /* lent to the taker */
  struct etls_session_list *sessions;    /* NULL: none recorded; for take */
  bool sessions_later; /* behind plaintext, and recorded() has not told yet */

  etls_psk_cb psk_cb;
  void *psk_arg;

  struct etls_resumption resume;
};

void etls_engine_set_state(struct etls_engine *engine, enum etls_state state);

/* The engine of an SSL. */
struct etls_engine *etls_engine_of(const SSL *ssl);

/* OpenSSL's PSK callback, which asks engine->psk_cb. */
unsigned int etls_engine_on_psk(SSL *ssl, const char *hint, char *identity,
                                unsigned int max_identity_len,
                                unsigned char *psk, unsigned int max_psk_len);

/* Appends a reference that the list then owns. False: no memory. */
bool etls_session_list_add(struct etls_session_list **list,
                           SSL_SESSION *session);
/* The oldest, now the caller's, or NULL. Frees the list with the last. */
SSL_SESSION *etls_session_list_take(struct etls_session_list **list);

/*
 * session_resume.c. on_new_session keeps a reference on `session`, which was
 * never given to an SSL; it may be called on another thread as long as
 * accept_sessions was not. give_up withdraws an offer before the handshake,
 * dispose books what is open and frees.
 */
void etls_resumption_on_new_session(struct etls_engine *engine,
                                    SSL_SESSION *session);
void etls_resumption_give_up(struct etls_engine *engine);
/* Whether the session of the SSL is one that was only offered so far: it is no
 * fact about this connection. */
bool etls_resumption_is_unanswered(const struct etls_engine *engine);
/* ... and nobody but the store knows of it. */
bool etls_resumption_is_hidden(const struct etls_engine *engine);
void etls_resumption_dispose(struct etls_engine *engine);
/* Brings resume.bound up to date; false: no certificate is known. */
bool etls_resumption_bound(struct etls_engine *engine);
/* Serialises a session that was never given to an SSL, and remembers it. */
ETLS_MUST_USE enum etls_status
etls_resumption_export(struct etls_engine *engine, SSL_SESSION *session,
                       uint8_t **der, size_t *len, struct etls_error *error);

/* Frees what the callbacks recorded. */
void etls_engine_drop_recorded(struct etls_engine *engine);

#endif
