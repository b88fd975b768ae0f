/*
 * trust_store.h - X509_STOREs that contexts share.
 *
 * A pool interns them by content: contexts whose configs say the same about
 * trust get the same store, whatever else they say. A store lives as long as
 * somebody has a reference on it.
 */
#ifndef ETLS_TRUST_STORE_H
#define ETLS_TRUST_STORE_H

#include <openssl/x509.h>

#include "eager_tls.h"

struct etls_config;
struct etls_trust_pool;
struct etls_trust_store;

/* `counters` outlives the pool. */
ETLS_MUST_USE struct etls_trust_pool *
etls_trust_pool_new(struct etls_context_counters *counters);
/* All stores must have been released. NULL is fine. */
void etls_trust_pool_free(struct etls_trust_pool *pool);

/* See etls_context_cache_set_default_roots. On failure nothing changed. */
ETLS_MUST_USE enum etls_status
etls_trust_pool_set_roots(struct etls_trust_pool *pool, const void *const *pems,
                          const size_t *lens, size_t count,
                          struct etls_error *error);

/*
 * The digest of a whole config. The part about trust is not hashed if a store
 * with the same content is in the pool; it is compared with that one's copy.
 */
ETLS_MUST_USE enum etls_status
etls_trust_pool_digest(struct etls_trust_pool *pool,
                       const struct etls_config *config,
                       uint8_t out[ETLS_DIGEST_LEN], struct etls_error *error);

/* Gives *out a reference on the store for this config. */
ETLS_MUST_USE enum etls_status etls_trust_pool_acquire(
    struct etls_trust_pool *pool, const struct etls_config *config,
    struct etls_trust_store **out, struct etls_error *error);

/* Gives *out a reference on the store that holds what `store` holds, with its
 * flags, and these certificates. */
ETLS_MUST_USE enum etls_status etls_trust_store_extend(
    struct etls_trust_store *store, const STACK_OF(X509) * certificates,
    struct etls_trust_store **out, struct etls_error *error);

void etls_trust_store_up_ref(struct etls_trust_store *store);
void etls_trust_store_release(struct etls_trust_store *store); /* or NULL */

X509_STORE *etls_trust_store_get0(const struct etls_trust_store *store);
/* Seconds since the epoch: the earliest nextUpdate of its CRLs, 0: none. */
int64_t etls_trust_store_crl_expiry(const struct etls_trust_store *store);

#endif
