/*
 * context.h - one reference-counted SSL_CTX: what the rest of the core needs
 * beyond eager_tls.h. Contexts are made by context_cache.c alone.
 */
#ifndef ETLS_CONTEXT_H
#define ETLS_CONTEXT_H

#include <openssl/ssl.h>

#include "eager_tls.h"

struct etls_config;
struct etls_trust_pool;

/*
 * The books of one context cache. Contexts and engines write to them when
 * they come and go, so they outlive all of these.
 */
struct etls_ledger {
  struct etls_context_counters counters;
  uint64_t live_engines;
  etls_context_event_cb event_cb; /* NULL: none */
  void *event_arg;
};

/* Tells the owner of the ledger, if he asked for it. */
void etls_ledger_event(const struct etls_ledger *ledger,
                       enum etls_context_event event,
                       const uint8_t digest[ETLS_DIGEST_LEN]);

/*
 * Builds an SSL_CTX in the order in which node applies the options, with a
 * trust store out of `pool`. `digest` is that of the config. The new context
 * has one reference. error->option says which option was at fault.
 */
ETLS_MUST_USE enum etls_status
etls_context_new(const struct etls_config *config, struct etls_trust_pool *pool,
                 const uint8_t digest[ETLS_DIGEST_LEN], bool single_use,
                 struct etls_ledger *ledger, struct etls_context **out,
                 struct etls_error *error);

/* True if the caller's reference is the only one. */
bool etls_context_is_sole_ref(const struct etls_context *context);

/* ---- for the engine --------------------------------------------------- */

SSL_CTX *etls_context_get0_ssl_ctx(const struct etls_context *context);

/*
 * The index under which an SSL's ex_data holds its struct etls_engine; valid
 * once a context exists. etls_engine_install_callbacks (engine.h) puts the
 * callbacks that use it on each new SSL_CTX.
 */
int etls_context_engine_index(void);

/* Counts SSL objects: call beside SSL_new and SSL_free. */
void etls_context_engine_added(struct etls_context *context);
void etls_context_engine_removed(struct etls_context *context);

/* Seconds since the epoch at which the first of the context's CRLs wants to be
 * replaced, 0: none. Verdicts made before are not good after. */
int64_t etls_context_crl_expiry(const struct etls_context *context);

#endif
