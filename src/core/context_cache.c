/*
 * context_cache.c - digest -> context.
 *
 * Data structure: a hash table over the 32 bytes of the digest (compared
 * whole) and a list of the same entries, most recently used first. The
 * cache holds one reference on each context in it. An entry leaves
 * - by the bound: the least recently used one, whether in use or not,
 * - by idleness: nobody else has a reference, and nobody asked for it for
 *   idle_timeout_ms; being in use at a call of expire counts as being asked,
 * - by clear, if nobody else has a reference.
 * What is evicted lives on until its last reference goes. Content that was
 * rotated has another digest; the old context ages out.
 *
 * The cache owns the pool of trust stores and the ledger in which contexts and
 * engines count themselves. Single-use contexts are made here and then
 * forgotten: only the ledger knows them.
 */
#include <openssl/err.h>

#include "config.h"
#include "context.h"
#include "hash_table.h"
#include "mem.h"
#include "status.h"
#include "trust_store.h"

struct entry {
  struct etls_context *context;
  int64_t used_ms;
  UT_hash_handle hh;
  struct entry *prev;
  struct entry *next;
};

struct etls_context_cache {
  struct etls_ledger ledger;
  struct etls_cache_limits limits;
  struct etls_trust_pool *trust;
  struct entry *by_digest;
  struct entry *by_use; /* head: used last; head->prev: longest ago */
};

struct etls_context_cache *
etls_context_cache_new(const struct etls_cache_limits *limits) {
  struct etls_context_cache *cache = etls_calloc(1, sizeof(*cache));
  if (cache == NULL)
    return NULL;
  cache->limits = *limits;
  cache->trust = etls_trust_pool_new(&cache->ledger.counters);
  if (cache->trust == NULL) {
    etls_free(cache);
    return NULL;
  }
  return cache;
}

static void evict(struct etls_context_cache *cache, struct entry *entry) {
  const uint8_t *digest = etls_context_get0_digest(entry->context);
  HASH_DEL(cache->by_digest, entry);
  DL_DELETE(cache->by_use, entry);
  cache->ledger.counters.cached--;
  cache->ledger.counters.evicted++;
  etls_ledger_event(&cache->ledger, ETLS_CONTEXT_EVICTED, digest);
  etls_context_release(entry->context);
  etls_free(entry);
}

static void evict_surplus(struct etls_context_cache *cache) {
  while (cache->ledger.counters.cached > cache->limits.max)
    evict(cache, cache->by_use->prev);
  ERR_clear_error();
}

void etls_context_cache_free(struct etls_context_cache *cache) {
  if (cache == NULL)
    return;
  cache->limits.max = 0;
  evict_surplus(cache);
  etls_trust_pool_free(cache->trust);
  etls_free(cache);
}

void etls_context_cache_set_limits(struct etls_context_cache *cache,
                                   const struct etls_cache_limits *limits,
                                   int64_t now_ms) {
  cache->limits = *limits;
  evict_surplus(cache);
  (void)etls_context_cache_expire(cache, now_ms);
}

void etls_context_cache_set_event_cb(struct etls_context_cache *cache,
                                     etls_context_event_cb cb, void *arg) {
  cache->ledger.event_cb = cb;
  cache->ledger.event_arg = arg;
}

enum etls_status etls_context_cache_set_default_roots(
    struct etls_context_cache *cache, const void *const *pems,
    const size_t *lens, size_t count, struct etls_error *error) {
  enum etls_status status =
      etls_trust_pool_set_roots(cache->trust, pems, lens, count, error);
  ERR_clear_error();
  return status;
}

static void touch(struct etls_context_cache *cache, struct entry *entry,
                  int64_t now_ms) {
  entry->used_ms = now_ms;
  if (entry == cache->by_use)
    return;
  DL_DELETE(cache->by_use, entry);
  DL_PREPEND(cache->by_use, entry);
}

/* Takes over the caller's reference on success; false: no memory. */
static bool insert(struct etls_context_cache *cache,
                   struct etls_context *context, int64_t now_ms) {
  struct entry *entry = etls_calloc(1, sizeof(*entry));
  if (entry == NULL)
    return false;
  entry->context = context;
  entry->used_ms = now_ms;
  HASH_ADD_KEYPTR(hh, cache->by_digest, etls_context_get0_digest(context),
                  ETLS_DIGEST_LEN, entry);
  if (entry->hh.tbl == NULL) {
    etls_free(entry);
    return false;
  }
  DL_PREPEND(cache->by_use, entry);
  cache->ledger.counters.cached++;
  evict_surplus(cache);
  return true;
}

static enum etls_status build(struct etls_context_cache *cache,
                              const struct etls_config *config,
                              const uint8_t *digest, int64_t now_ms,
                              struct etls_context **out,
                              struct etls_error *error) {
  struct etls_context *context = NULL;
  enum etls_status status = etls_context_new(
      config, cache->trust, digest, false, &cache->ledger, &context, error);
  if (status != ETLS_OK)
    return status;
  cache->ledger.counters.misses++;
  /* A context that could not be kept for want of memory is still good. */
  if (cache->limits.max > 0 && insert(cache, context, now_ms))
    etls_context_up_ref(context);
  *out = context;
  return ETLS_OK;
}

enum etls_status etls_context_cache_acquire(struct etls_context_cache *cache,
                                            const struct etls_config *config,
                                            int64_t now_ms,
                                            struct etls_context **out,
                                            struct etls_error *error) {
  uint8_t digest[ETLS_DIGEST_LEN];
  struct entry *entry;
  enum etls_status status;

  *out = NULL;
  status = etls_trust_pool_digest(cache->trust, config, digest, error);
  if (status != ETLS_OK)
    goto out;
  HASH_FIND(hh, cache->by_digest, digest, ETLS_DIGEST_LEN, entry);
  if (entry == NULL) {
    status = build(cache, config, digest, now_ms, out, error);
    goto out;
  }
  cache->ledger.counters.hits++;
  touch(cache, entry, now_ms);
  etls_context_up_ref(entry->context);
  *out = entry->context;
out:
  ERR_clear_error();
  return status;
}

enum etls_status etls_context_cache_create_single_use(
    struct etls_context_cache *cache, const struct etls_config *config,
    struct etls_context **out, struct etls_error *error) {
  uint8_t digest[ETLS_DIGEST_LEN];
  enum etls_status status;

  *out = NULL;
  status = etls_trust_pool_digest(cache->trust, config, digest, error);
  if (status == ETLS_OK)
    status = etls_context_new(config, cache->trust, digest, true,
                              &cache->ledger, out, error);
  ERR_clear_error();
  return status;
}

int64_t etls_context_cache_expire(struct etls_context_cache *cache,
                                  int64_t now_ms) {
  const int64_t timeout = cache->limits.idle_timeout_ms;
  int64_t soonest = -1;
  struct entry *entry;
  struct entry *next;

  for (entry = cache->by_use; entry != NULL; entry = next) {
    int64_t left;
    next = entry->next; /* the entry may go */
    if (!etls_context_is_sole_ref(entry->context))
      entry->used_ms = now_ms;
    left = entry->used_ms + timeout - now_ms;
    if (left <= 0 && etls_context_is_sole_ref(entry->context))
      evict(cache, entry);
    else if (soonest < 0 || left < soonest)
      soonest = left > 0 ? left : 1;
  }
  ERR_clear_error();
  return soonest;
}

void etls_context_cache_clear(struct etls_context_cache *cache) {
  struct entry *entry;
  struct entry *next;
  for (entry = cache->by_use; entry != NULL; entry = next) {
    next = entry->next;
    if (etls_context_is_sole_ref(entry->context))
      evict(cache, entry);
  }
  ERR_clear_error();
}

void etls_context_cache_get_counters(const struct etls_context_cache *cache,
                                     struct etls_context_counters *out) {
  *out = cache->ledger.counters;
}

uint64_t
etls_context_cache_live_engines(const struct etls_context_cache *cache) {
  return cache->ledger.live_engines;
}
