/*
 * tls_peer.h - a TLS server in memory to connect engines to, certificates made
 * on the spot, and the engine's functions with a check of OpenSSL's error
 * queue around them.
 */
#ifndef ETLS_TEST_TLS_PEER_H
#define ETLS_TEST_TLS_PEER_H

#include "support.h"

#include <openssl/ssl.h>

/* ---- certificates -------------------------------------------------------- */

struct identity {
  X509 *cert;
  EVP_PKEY *key;
};

/* issuer NULL: self-signed. Valid from `from` to `to`, seconds from now. */
struct identity identity_new(const char *name, const struct identity *issuer,
                             bool is_ca, long from, long to);
void identity_free(struct identity *identity);
struct blob identity_cert_pem(const struct identity *identity);
struct blob identity_key_pem(const struct identity *identity);
/* A revocation list of this issuer, without entries, good for `to` seconds. */
struct blob identity_crl_pem(const struct identity *issuer, long to);

/* ---- contexts of engines ------------------------------------------------- */

/* A context that trusts `ca` (NULL: nobody) with versions [min, max]. */
struct etls_context *context_for(struct etls_context_cache *cache,
                                 const struct identity *ca, int min, int max);
/* The same for a config that may hold more; frees the config. */
struct etls_context *context_of(struct etls_context_cache *cache,
                                struct etls_config *config);
struct etls_context_cache *cache_new(void);

/* ---- the server ---------------------------------------------------------- */

struct bytes {
  uint8_t *data;
  size_t len;
};

struct tls_peer {
  SSL *ssl;
  BIO *in, *out;
  struct bytes wire;     /* to the engine, not delivered yet */
  struct bytes received; /* plaintext from the engine */
  unsigned long error;   /* the server's first failure, packed, or 0 */
  bool closed;           /* it saw close_notify */
};

/* An SSL_CTX of a server; `chain` (may be NULL) is sent, too. */
SSL_CTX *server_ctx(const struct identity *identity, const X509 *chain,
                    int version);
struct tls_peer *tls_peer_new(SSL_CTX *ctx);
void tls_peer_free(struct tls_peer *peer);
/* Takes the engine's output, then does what the server can do. */
void tls_peer_step(struct tls_peer *peer, struct etls_engine *engine);
void tls_peer_write(struct tls_peer *peer, const void *bytes, size_t len);
/* Moves what the SSL wrote to `wire`. */
void tls_peer_collect(struct tls_peer *peer);

void bytes_append(struct bytes *bytes, const void *data, size_t len);
void bytes_drop(struct bytes *bytes, size_t n); /* from the front */

/* ---- both ---------------------------------------------------------------- */

/* Steps both sides, feeding `chunk` bytes at a time (0: all at once), until
 * the engine's handshake gives something else than ETLS_WANT_INPUT, or nothing
 * moves any more. */
enum etls_status tls_connect(struct etls_engine *engine, struct tls_peer *peer,
                             size_t chunk, struct etls_error *error);
/* As tls_connect, but must succeed; then gives the rest to the server. */
void tls_open(struct etls_engine *engine, struct tls_peer *peer);
/* Delivers the wire in chunks, appending what the engine reads to *out, until
 * it wants input and there is none, or says something else. */
enum etls_status tls_read(struct etls_engine *engine, struct tls_peer *peer,
                          size_t chunk, struct bytes *out,
                          struct etls_error *error);
/* Reads all and throws it away. */
void tls_drain(struct etls_engine *engine, struct tls_peer *peer);

/* A CA, a server that it certified, and an engine that trusts it. */
struct duo {
  struct etls_context_cache *cache;
  struct etls_buffer_pool *pool;
  struct identity ca, leaf;
  SSL_CTX *ctx; /* the server's */
  struct etls_context *context;
  struct etls_engine *engine;
  struct tls_peer *peer;
  struct etls_error error;
};

struct duo duo_new(int version);
/* Also frees what a test has freed and set to NULL; fails if an engine or a
 * context is left over. */
void duo_free(struct duo *duo);
/* A new engine and a new server connection in place of the old ones. */
void duo_again(struct duo *duo);
/* The engine's and the server's messages arrive in both directions. */
void duo_talk(struct duo *duo);

/* ---- the engine's functions, watched ------------------------------------- */

/* With a stale entry in the queue before each call, unless switched off. */
extern bool tls_stale_entries;

enum etls_status x_handshake(struct etls_engine *engine,
                             struct etls_error *error);
enum etls_status x_read(struct etls_engine *engine, void *dst, size_t cap,
                        size_t *n, struct etls_error *error);
enum etls_status x_write(struct etls_engine *engine, const void *src,
                         size_t len, size_t *consumed,
                         struct etls_error *error);
enum etls_status x_shutdown(struct etls_engine *engine,
                            struct etls_error *error);
/* Feeds a copy that is gone afterwards. */
enum etls_status x_feed(struct etls_engine *engine, const void *bytes,
                        size_t len);
/* Puts a stale entry into the queue. */
void stale_entry(void);

#endif
