/*
 * trust_store.c - the pool of X509_STOREs.
 *
 * Building a store means parsing, which costs 34 ms for a bundle of 120
 * certificates, and hashing the bundle to find out that the store is there
 * still costs 0.2 ms on each connect. So there are two indexes:
 *
 * - stores: key -> store, a hash table. The key is a SHA-256 of what is in a
 *   store: the trust segment of a config with the default roots of its time,
 *   or, for an extended store, the key of the other and the certificates.
 *   This alone decides whether a store exists.
 * - buckets: a fingerprint of a few sampled bytes -> stores with a copy of
 *   their trust segment. It finds out cheaply that a segment is known, by
 *   comparing all of its bytes, and gives the SHA-256 of it. Neither a match
 *   nor a miss here decides anything else.
 *
 * The default roots are parsed once, into a store that the pool owns while
 * they are in force; a config that trusts just them gets that very X509_STORE,
 * others get the same X509 objects in one of their own, so that flags (CRL
 * checks) never leak.
 *
 * A store owns its X509_STORE and its copy of the segment, and unlinks itself
 * with its last reference. One thread, except that OpenSSL locks X509_STOREs.
 */
#include "trust_store.h"

#include <openssl/err.h>
#include <openssl/x509_vfy.h>
#include <string.h>

#include "config.h"
#include "digest.h"
#include "hash_table.h"
#include "mem.h"
#include "pem.h"
#include "roots.h"
#include "status.h"

enum { BUCKETS = 64, SAMPLES = 32 };

struct etls_trust_store {
  struct etls_trust_pool *pool;
  size_t refs;
  X509_STORE *x509;
  bool openssl_ca;
  int64_t crl_expiry;
  uint8_t key[ETLS_DIGEST_LEN];
  UT_hash_handle hh;
  /* Only of stores made from a config: */
  uint8_t *segment;
  size_t segment_len;
  uint64_t fingerprint;
  uint8_t segment_digest[ETLS_DIGEST_LEN];
  struct etls_trust_store *next; /* in its bucket */
};

struct etls_trust_pool {
  struct etls_context_counters *counters;
  struct etls_trust_store *stores;
  struct etls_trust_store *buckets[BUCKETS];
  struct etls_roots roots;
};

/* ---- the pool ----------------------------------------------------------- */

struct etls_trust_pool *
etls_trust_pool_new(struct etls_context_counters *counters) {
  struct etls_trust_pool *pool = etls_calloc(1, sizeof(*pool));
  if (pool == NULL)
    return NULL;
  pool->counters = counters;
  if (!etls_roots_init(&pool->roots)) {
    etls_free(pool);
    return NULL;
  }
  return pool;
}

void etls_trust_pool_free(struct etls_trust_pool *pool) {
  if (pool == NULL)
    return;
  etls_roots_dispose(&pool->roots);
  etls_free(pool);
}

enum etls_status etls_trust_pool_set_roots(struct etls_trust_pool *pool,
                                           const void *const *pems,
                                           const size_t *lens, size_t count,
                                           struct etls_error *error) {
  return etls_roots_set(&pool->roots, pems, lens, count, error);
}

/*
 * Length and SAMPLES words spread over the bytes, mixed as in FNV-1a. Enough
 * to keep different bundles apart; a clash costs one memcmp.
 */
static uint64_t fingerprint_of(const uint8_t *bytes, size_t len) {
  const uint64_t prime = 0x100000001b3u;
  uint64_t hash = 0xcbf29ce484222325u ^ len;
  uint64_t word;
  size_t step = len / SAMPLES < sizeof(word) ? sizeof(word) : len / SAMPLES;

  for (size_t at = 0; at < len; at += step) {
    size_t n = len - at < sizeof(word) ? len - at : sizeof(word);
    word = 0;
    memcpy(&word, bytes + at, n);
    hash = (hash ^ word) * prime;
    hash ^= hash >> 29;
  }
  return hash;
}

static const struct etls_trust_store *
find_segment(const struct etls_trust_pool *pool, const uint8_t *bytes,
             size_t len, uint64_t fingerprint) {
  const struct etls_trust_store *store = pool->buckets[fingerprint % BUCKETS];
  for (; store != NULL; store = store->next) {
    if (store->fingerprint == fingerprint && store->segment_len == len &&
        (len == 0 || memcmp(store->segment, bytes, len) == 0))
      return store;
  }
  return NULL;
}

/* What identifies the trust segment of a config. */
struct identity {
  const uint8_t *bytes;
  size_t len;
  uint64_t fingerprint;
  uint8_t digest[ETLS_DIGEST_LEN];
  const uint8_t *roots_digest; /* NULL: not concerned */
};

static bool identify(const struct etls_trust_pool *pool,
                     const struct etls_config *config, struct identity *id) {
  const struct etls_trust_store *known;
  id->bytes = etls_config_segment(config, ETLS_SEGMENT_TRUST, &id->len);
  id->fingerprint = fingerprint_of(id->bytes, id->len);
  id->roots_digest =
      etls_config_has_default_roots(config) ? pool->roots.digest : NULL;
  known = find_segment(pool, id->bytes, id->len, id->fingerprint);
  if (known != NULL) {
    memcpy(id->digest, known->segment_digest, ETLS_DIGEST_LEN);
    return true;
  }
  return etls_digest_pieces(&(struct etls_piece){id->bytes, id->len}, 1,
                            id->digest);
}

enum etls_status etls_trust_pool_digest(struct etls_trust_pool *pool,
                                        const struct etls_config *config,
                                        uint8_t out[ETLS_DIGEST_LEN],
                                        struct etls_error *error) {
  struct identity id;
  if (!identify(pool, config, &id) ||
      !etls_config_digest(config, id.digest, id.roots_digest, out))
    return etls_error_set_memory(error);
  return ETLS_OK;
}

/* ---- stores ------------------------------------------------------------- */

static struct etls_trust_store *find_store(struct etls_trust_pool *pool,
                                           const uint8_t *key) {
  struct etls_trust_store *store;
  HASH_FIND(hh, pool->stores, key, ETLS_DIGEST_LEN, store);
  if (store != NULL)
    store->refs++;
  return store;
}

static struct etls_trust_store *new_store(struct etls_trust_pool *pool,
                                          const uint8_t *key) {
  struct etls_trust_store *store = etls_calloc(1, sizeof(*store));
  if (store == NULL)
    return NULL;
  store->pool = pool;
  store->refs = 1;
  memcpy(store->key, key, ETLS_DIGEST_LEN);
  return store;
}

static void free_store(struct etls_trust_store *store) {
  X509_STORE_free(store->x509);
  etls_free(store->segment);
  etls_free(store);
}

static enum etls_status link_store(struct etls_trust_store *store,
                                   struct etls_error *error) {
  struct etls_trust_pool *pool = store->pool;
  HASH_ADD_KEYPTR(hh, pool->stores, store->key, ETLS_DIGEST_LEN, store);
  if (store->hh.tbl == NULL)
    return etls_error_set_memory(error);
  if (store->segment != NULL)
    LL_PREPEND(pool->buckets[store->fingerprint % BUCKETS], store);
  return ETLS_OK;
}

void etls_trust_store_up_ref(struct etls_trust_store *store) {
  store->refs++;
}

void etls_trust_store_release(struct etls_trust_store *store) {
  struct etls_trust_pool *pool;
  if (store == NULL || --store->refs > 0)
    return;
  pool = store->pool;
  HASH_DEL(pool->stores, store);
  if (store->segment != NULL)
    LL_DELETE(pool->buckets[store->fingerprint % BUCKETS], store);
  free_store(store);
}

X509_STORE *etls_trust_store_get0(const struct etls_trust_store *store) {
  return store->x509;
}

int64_t etls_trust_store_crl_expiry(const struct etls_trust_store *store) {
  return store->crl_expiry;
}

/* Puts the objects of one store into another one: no parsing, no copies. */
static bool copy_objects(X509_STORE *to, X509_STORE *from) {
  bool done = true;
  const STACK_OF(X509_OBJECT) * objects;

  /* Handshakes on other threads may look things up in `from` meanwhile. */
  if (X509_STORE_lock(from) != 1)
    return false;
  objects = X509_STORE_get0_objects(from);
  for (int i = 0; done && i < sk_X509_OBJECT_num(objects); i++) {
    const X509_OBJECT *object = sk_X509_OBJECT_value(objects, i);
    if (X509_OBJECT_get_type(object) == X509_LU_X509)
      done = X509_STORE_add_cert(to, X509_OBJECT_get0_X509(object)) == 1;
    else if (X509_OBJECT_get_type(object) == X509_LU_CRL)
      done = X509_STORE_add_crl(to, X509_OBJECT_get0_X509_CRL(object)) == 1;
  }
  X509_STORE_unlock(from);
  return done;
}

/* As node, takes what is there; only want of memory is an error. */
static enum etls_status add_openssl_ca(struct etls_trust_store *store,
                                       struct etls_error *error) {
  store->openssl_ca = true;
  ERR_clear_error();
  X509_STORE_set_default_paths(store->x509);
  return etls_queue_clear() ? etls_error_set_memory(error) : ETLS_OK;
}

static enum etls_status apply(struct etls_trust_store *store,
                              const struct etls_config_item *item,
                              struct etls_error *error) {
  struct etls_context_counters *counters = store->pool->counters;
  enum etls_status status = ETLS_OK;

  switch (item->option) {
  case ETLS_OPTION_CA:
    status =
        etls_pem_add_certificates(store->x509, item->bytes, item->len, false,
                                  &counters->certificates_parsed, error);
    break;
  case ETLS_OPTION_DEFAULT_ROOTS:
    status =
        etls_roots_parse(&store->pool->roots, store->pool->counters, error);
    if (status == ETLS_OK &&
        !copy_objects(store->x509, store->pool->roots.x509))
      status = etls_error_set_memory(error);
    break;
  case ETLS_OPTION_OPENSSL_CA:
    status = add_openssl_ca(store, error);
    break;
  case ETLS_OPTION_PARTIAL_CHAIN:
    X509_STORE_set_flags(store->x509, X509_V_FLAG_PARTIAL_CHAIN);
    break;
  case ETLS_OPTION_CRL:
    status = etls_pem_add_crl(store->x509, item->bytes, item->len,
                              &store->crl_expiry, error);
    if (status == ETLS_OK)
      counters->certificates_parsed++;
    break;
  case ETLS_OPTION_METHOD:
  case ETLS_OPTION_MIN_VERSION:
  case ETLS_OPTION_MAX_VERSION:
  case ETLS_OPTION_SECURE_OPTIONS:
  case ETLS_OPTION_CIPHER_SUITES:
  case ETLS_OPTION_CIPHER_LIST:
  case ETLS_OPTION_CERT:
  case ETLS_OPTION_KEY:
  case ETLS_OPTION_SIGALGS:
  case ETLS_OPTION_ECDH_CURVE:
  case ETLS_OPTION_DH_PARAM:
  case ETLS_OPTION_SESSION_ID_CONTEXT:
  case ETLS_OPTION_PFX:
  case ETLS_OPTION_TICKET_KEYS:
  case ETLS_OPTION_SESSION_TIMEOUT:
    return ETLS_OK;
  }
  if (status != ETLS_OK && error->option == 0)
    error->option = (int)item->option;
  return status;
}

/* True if the trust segment says "the default roots" and nothing else. */
static bool is_plain_roots(const struct etls_config *config) {
  struct etls_config_cursor cursor = {{0}};
  struct etls_config_item item;
  size_t first;
  size_t len;

  if (!etls_config_has_default_roots(config))
    return false;
  (void)etls_config_segment(config, ETLS_SEGMENT_TRUST, &len);
  while (etls_config_next(config, &cursor, &item)) {
    first = cursor.at[ETLS_SEGMENT_TRUST];
    if (first > 0)
      return item.option == ETLS_OPTION_DEFAULT_ROOTS && first == len;
  }
  return false;
}

static enum etls_status build(struct etls_trust_store *store,
                              const struct etls_config *config,
                              struct etls_error *error) {
  struct etls_config_cursor cursor = {{0}};
  struct etls_config_item item;
  enum etls_status status;

  if (is_plain_roots(config)) {
    status =
        etls_roots_parse(&store->pool->roots, store->pool->counters, error);
    if (status != ETLS_OK)
      return status;
    if (X509_STORE_up_ref(store->pool->roots.x509) != 1)
      return etls_error_set_memory(error);
    store->x509 = store->pool->roots.x509;
    return ETLS_OK;
  }
  store->x509 = X509_STORE_new();
  if (store->x509 == NULL)
    return etls_error_set_memory(error);
  while (etls_config_next(config, &cursor, &item)) {
    status = apply(store, &item, error);
    if (status != ETLS_OK)
      return status;
  }
  store->pool->counters->stores_built++;
  return ETLS_OK;
}

enum etls_status etls_trust_pool_acquire(struct etls_trust_pool *pool,
                                         const struct etls_config *config,
                                         struct etls_trust_store **out,
                                         struct etls_error *error) {
  struct identity id;
  uint8_t key[ETLS_DIGEST_LEN];
  struct etls_trust_store *store;
  struct etls_piece pieces[2];

  *out = NULL;
  if (!identify(pool, config, &id))
    return etls_error_set_memory(error);
  pieces[0] = (struct etls_piece){id.digest, ETLS_DIGEST_LEN};
  pieces[1] = (struct etls_piece){id.roots_digest,
                                  id.roots_digest ? ETLS_DIGEST_LEN : 0};
  if (!etls_digest_pieces(pieces, 2, key))
    return etls_error_set_memory(error);
  *out = find_store(pool, key);
  if (*out != NULL)
    return ETLS_OK;

  store = new_store(pool, key);
  if (store == NULL)
    return etls_error_set_memory(error);
  store->segment = etls_memdup(id.bytes, id.len);
  store->segment_len = id.len;
  store->fingerprint = id.fingerprint;
  memcpy(store->segment_digest, id.digest, ETLS_DIGEST_LEN);
  if (store->segment == NULL) {
    etls_error_set_memory(error);
  } else if (build(store, config, error) == ETLS_OK &&
             link_store(store, error) == ETLS_OK) {
    *out = store;
    return ETLS_OK;
  }
  free_store(store);
  return error->status;
}

/* ---- extended stores ---------------------------------------------------- */

static bool extended_key(const struct etls_trust_store *base,
                         const STACK_OF(X509) * certificates,
                         uint8_t key[ETLS_DIGEST_LEN]) {
  size_t count = (size_t)sk_X509_num(certificates);
  uint8_t *digests = etls_alloc((count + 1) * ETLS_DIGEST_LEN);
  bool done = digests != NULL;

  for (size_t i = 0; done && i < count; i++)
    done = X509_digest(sk_X509_value(certificates, (int)i), EVP_sha256(),
                       digests + (i + 1) * ETLS_DIGEST_LEN, NULL) == 1;
  if (done) {
    struct etls_piece piece = {digests, (count + 1) * ETLS_DIGEST_LEN};
    memcpy(digests, base->key, ETLS_DIGEST_LEN);
    done = etls_digest_pieces(&piece, 1, key);
  }
  etls_free(digests);
  return done;
}

static enum etls_status fill_extended(struct etls_trust_store *store,
                                      const struct etls_trust_store *base,
                                      const STACK_OF(X509) * certificates,
                                      struct etls_error *error) {
  store->crl_expiry = base->crl_expiry;
  store->x509 = X509_STORE_new();
  if (store->x509 == NULL || !copy_objects(store->x509, base->x509) ||
      X509_STORE_set1_param(store->x509, X509_STORE_get0_param(base->x509)) !=
          1)
    return etls_error_set_memory(error);
  if (base->openssl_ca && add_openssl_ca(store, error) != ETLS_OK)
    return error->status;
  for (int i = 0; i < sk_X509_num(certificates); i++) {
    if (X509_STORE_add_cert(store->x509, sk_X509_value(certificates, i)) != 1)
      return etls_error_set_memory(error);
  }
  store->pool->counters->stores_built++;
  return ETLS_OK;
}

enum etls_status etls_trust_store_extend(struct etls_trust_store *base,
                                         const STACK_OF(X509) * certificates,
                                         struct etls_trust_store **out,
                                         struct etls_error *error) {
  uint8_t key[ETLS_DIGEST_LEN];
  struct etls_trust_store *store;

  *out = NULL;
  if (!extended_key(base, certificates, key))
    return etls_error_set_memory(error);
  *out = find_store(base->pool, key);
  if (*out != NULL)
    return ETLS_OK;
  store = new_store(base->pool, key);
  if (store == NULL)
    return etls_error_set_memory(error);
  if (fill_extended(store, base, certificates, error) != ETLS_OK ||
      link_store(store, error) != ETLS_OK) {
    free_store(store);
    return error->status;
  }
  *out = store;
  return ETLS_OK;
}
