/*
 * session_store.c - peer key -> sessions, for resumption.
 *
 * Data structure: a hash table of peers by their whole key, a list of the same
 * peers in the order of their last use (oldest first), and per peer a list of
 * entries, oldest first. Each peer has at least one entry.
 *
 * Threat model. A session offered where it does not belong skips the
 * verification of a certificate. So a key is compared byte by byte; nothing
 * comes in that was not verified under exactly this key; and each entry ends
 * with the certificates it stands for, however many resumptions lie between.
 *
 * An entry's SSL_SESSION is never given to an SSL: OpenSSL marks sessions as
 * not resumable when they were used or when a connection ends badly. What
 * goes out is a duplicate, which shares the certificates.
 *
 * TLS 1.3 tickets are meant for one use: a fresh one leaves the store when it
 * is taken. The last one of a peer stays, marked as used, because some servers
 * give no new ticket on a resumed connection; it goes when a fresh one comes,
 * or when a server declines it.
 *
 * Threads: one.
 */
/* Runs with any OpenSSL 3, so only what 3.0 has is used. */
#define OPENSSL_SUPPRESS_DEPRECATED

#include "session_store.h"

#include "hash_table.h"
#include "mem.h"

struct entry {
  struct entry *prev, *next;
  SSL_SESSION *session; /* one reference */
  struct etls_session_bound bound;
  uint64_t id;
  int64_t until_ms;   /* limit of the store */
  int64_t until_wall; /* limit of the ticket and of its certificates */
  bool tls13;
  bool used;
};

struct peer {
  struct peer *prev, *next;
  struct entry *entries;
  size_t count;
  size_t key_len;
  UT_hash_handle hh;
  uint8_t key[];
};

struct etls_session_store {
  struct etls_session_limits limits;
  struct etls_session_counters counters;
  struct peer *table;
  struct peer *by_use; /* least recently used first */
  struct etls_session_exports *exports;
  uint64_t last_id;
};

static void drop_entry(struct etls_session_store *store, struct peer *peer,
                       struct entry *entry) {
  DL_DELETE(peer->entries, entry);
  peer->count -= 1;
  store->counters.stored -= 1;
  SSL_SESSION_free(entry->session);
  etls_free(entry);
}

static void drop_peer(struct etls_session_store *store, struct peer *peer) {
  while (peer->entries != NULL)
    drop_entry(store, peer, peer->entries);
  HASH_DEL(store->table, peer);
  DL_DELETE(store->by_use, peer);
  store->counters.peers -= 1;
  etls_free(peer);
}

static struct peer *find_peer(struct etls_session_store *store,
                              const uint8_t *key, size_t key_len) {
  struct peer *peer = NULL;
  HASH_FIND(hh, store->table, key, key_len, peer);
  return peer;
}

static void touch(struct etls_session_store *store, struct peer *peer) {
  DL_DELETE(store->by_use, peer);
  DL_APPEND(store->by_use, peer);
}

static struct peer *add_peer(struct etls_session_store *store,
                             const uint8_t *key, size_t key_len) {
  struct peer *peer = etls_calloc(1, sizeof(*peer) + key_len);
  if (peer == NULL)
    return NULL;
  memcpy(peer->key, key, key_len);
  peer->key_len = key_len;
  HASH_ADD_KEYPTR(hh, store->table, peer->key, key_len, peer);
  if (peer->hh.tbl == NULL) {
    etls_free(peer);
    return NULL;
  }
  DL_APPEND(store->by_use, peer);
  store->counters.peers += 1;
  return peer;
}

/* Drops what has expired and what a fresh session makes superfluous. */
static void tidy(struct etls_session_store *store, struct peer *peer,
                 int64_t now_ms, int64_t wall) {
  struct entry *entry = NULL;
  struct entry *next = NULL;
  bool fresh = false;
  DL_FOREACH_SAFE(peer->entries, entry, next) {
    if (now_ms >= entry->until_ms || wall >= entry->until_wall)
      drop_entry(store, peer, entry);
    else if (!entry->used)
      fresh = true;
  }
  DL_FOREACH_SAFE(peer->entries, entry, next) {
    if (fresh && entry->used)
      drop_entry(store, peer, entry);
  }
}

/* When the ticket itself ends. */
static int64_t ticket_end(const SSL_SESSION *session) {
  int64_t lifetime = SSL_SESSION_get_timeout(session);
  int64_t hint = (int64_t)SSL_SESSION_get_ticket_lifetime_hint(session);
  bool tls13 = SSL_SESSION_get_protocol_version(session) == TLS1_3_VERSION;
  if (tls13 || (hint != 0 && hint < lifetime))
    lifetime = hint;
  if (lifetime > ETLS_TICKET_LIFETIME_MAX)
    lifetime = ETLS_TICKET_LIFETIME_MAX;
  return SSL_SESSION_get_time(session) + lifetime;
}

static struct entry *new_entry(struct etls_session_store *store,
                               SSL_SESSION *session,
                               const struct etls_session_bound *bound,
                               int64_t until_ms, int64_t wall) {
  int64_t until = ticket_end(session);
  if (bound->until < until)
    until = bound->until;
  if (wall >= until || !SSL_SESSION_is_resumable(session))
    return NULL;
  struct entry *entry = etls_calloc(1, sizeof(*entry));
  if (entry == NULL)
    return NULL;
  entry->bound = *bound;
  entry->id = ++store->last_id;
  entry->until_ms = until_ms;
  entry->until_wall = until;
  entry->tls13 = SSL_SESSION_get_protocol_version(session) == TLS1_3_VERSION;
  SSL_SESSION_up_ref(session);
  entry->session = session;
  return entry;
}

/* The peer of this key, made if need be. NULL: no memory, or no room. */
static struct peer *get_peer(struct etls_session_store *store,
                             const uint8_t *key, size_t key_len) {
  struct peer *peer = find_peer(store, key, key_len);
  if (peer != NULL) {
    touch(store, peer);
    return peer;
  }
  while (store->counters.peers >= store->limits.max_peers)
    drop_peer(store, store->by_use);
  return add_peer(store, key, key_len);
}

static void put_until(struct etls_session_store *store, const uint8_t *key,
                      size_t key_len, SSL_SESSION *session,
                      const struct etls_session_bound *bound, int64_t until_ms,
                      int64_t now_ms, int64_t wall) {
  const struct etls_session_limits *limits = &store->limits;
  if (!limits->enabled || limits->max_peers == 0 || limits->per_peer == 0 ||
      now_ms >= until_ms)
    return;
  struct entry *entry = new_entry(store, session, bound, until_ms, wall);
  if (entry == NULL)
    return;
  struct peer *peer = get_peer(store, key, key_len);
  if (peer == NULL) {
    SSL_SESSION_free(entry->session);
    etls_free(entry);
    return;
  }
  DL_APPEND(peer->entries, entry);
  peer->count += 1;
  store->counters.stored += 1;
  tidy(store, peer, now_ms, wall);
  while (peer->count > limits->per_peer)
    drop_entry(store, peer, peer->entries);
}

void etls_session_store_put(struct etls_session_store *store,
                            const uint8_t *key, size_t key_len,
                            SSL_SESSION *session,
                            const struct etls_session_bound *bound,
                            int64_t now_ms, int64_t wall) {
  put_until(store, key, key_len, session, bound,
            now_ms + store->limits.timeout_ms, now_ms, wall);
}

static struct entry *find_entry(const struct peer *peer, uint64_t id) {
  struct entry *entry = NULL;
  DL_FOREACH(peer->entries, entry) {
    if (entry->id == id)
      return entry;
  }
  return NULL;
}

void etls_session_store_put_back(struct etls_session_store *store,
                                 const uint8_t *key, size_t key_len,
                                 const struct etls_session_offer *offer,
                                 int64_t now_ms, int64_t wall) {
  struct peer *peer = find_peer(store, key, key_len);
  struct entry *entry = peer == NULL ? NULL : find_entry(peer, offer->id);
  if (entry != NULL)
    entry->used = offer->was_used;
  else if (offer->id == 0)
    put_until(store, key, key_len, offer->session, &offer->bound,
              offer->until_ms, now_ms, wall);
}

/* Fresh tickets of TLS 1.3, the oldest first; then the newest session of
 * TLS 1.2; then the ticket that was used before. */
static struct entry *choose(const struct peer *peer) {
  struct entry *entry = NULL;
  struct entry *best = NULL;
  DL_FOREACH(peer->entries, entry) {
    if (entry->tls13 && !entry->used)
      return entry;
    if (best == NULL || !entry->tls13)
      best = entry;
  }
  return best;
}

bool etls_session_store_take(struct etls_session_store *store,
                             const uint8_t *key, size_t key_len, int64_t now_ms,
                             int64_t wall, struct etls_session_offer *out) {
  struct peer *peer =
      store->limits.enabled ? find_peer(store, key, key_len) : NULL;
  if (peer == NULL)
    return false;
  tidy(store, peer, now_ms, wall);
  struct entry *entry = choose(peer);
  if (entry == NULL) {
    drop_peer(store, peer);
    return false;
  }
  SSL_SESSION *copy = SSL_SESSION_dup(entry->session);
  if (copy == NULL)
    return false;
  *out = (struct etls_session_offer){.session = copy,
                                     .bound = entry->bound,
                                     .id = entry->id,
                                     .until_ms = entry->until_ms,
                                     .was_used = entry->used};
  touch(store, peer);
  if (!entry->tls13)
    return true;
  entry->used = true;
  if (peer->count > 1) {
    drop_entry(store, peer, entry);
    out->id = 0;
  }
  return true;
}

static void drop_by_id(struct etls_session_store *store, struct peer *peer,
                       uint64_t id) {
  struct entry *entry = find_entry(peer, id);
  if (entry != NULL)
    drop_entry(store, peer, entry);
  if (peer->entries == NULL)
    drop_peer(store, peer);
}

void etls_session_store_settle(struct etls_session_store *store,
                               const uint8_t *key, size_t key_len, uint64_t id,
                               enum etls_session_outcome outcome) {
  struct peer *peer = key == NULL ? NULL : find_peer(store, key, key_len);
  store->counters.offered += 1;
  switch (outcome) {
  case ETLS_SESSION_RESUMED:
    store->counters.resumed += 1;
    break;
  case ETLS_SESSION_DECLINED:
    store->counters.rejected += 1;
    if (peer != NULL)
      drop_by_id(store, peer, id);
    break;
  case ETLS_SESSION_FAILED:
    store->counters.rejected += 1;
    if (peer != NULL)
      drop_peer(store, peer);
    break;
  }
}

struct etls_session_store *
etls_session_store_new(const struct etls_session_limits *limits) {
  struct etls_session_store *store = etls_calloc(1, sizeof(*store));
  if (store == NULL)
    return NULL;
  store->exports = etls_session_exports_new();
  if (store->exports == NULL) {
    etls_free(store);
    return NULL;
  }
  etls_session_store_set_limits(store, limits);
  return store;
}

void etls_session_store_free(struct etls_session_store *store) {
  if (store == NULL)
    return;
  etls_session_store_clear(store);
  etls_session_exports_free(store->exports);
  etls_free(store);
}

static size_t export_limit(const struct etls_session_limits *limits) {
  size_t peers = limits->max_peers;
  size_t each = limits->per_peer;
  if (peers == 0 || each == 0)
    return 0;
  return peers > ETLS_SESSION_EXPORTS_MAX / each ? ETLS_SESSION_EXPORTS_MAX
                                                 : peers * each;
}

static void drop_all_peers(struct etls_session_store *store) {
  while (store->by_use != NULL)
    drop_peer(store, store->by_use);
}

void etls_session_store_set_limits(struct etls_session_store *store,
                                   const struct etls_session_limits *limits) {
  store->limits = *limits;
  etls_session_exports_set_max(store->exports, export_limit(limits));
  if (!limits->enabled || limits->per_peer == 0)
    drop_all_peers(store);
  while (store->counters.peers > limits->max_peers)
    drop_peer(store, store->by_use);
  struct peer *peer = NULL;
  DL_FOREACH(store->by_use, peer) {
    while (peer->count > limits->per_peer)
      drop_entry(store, peer, peer->entries);
  }
}

void etls_session_store_clear(struct etls_session_store *store) {
  drop_all_peers(store);
  etls_session_exports_clear(store->exports);
}

void etls_session_store_get_counters(const struct etls_session_store *store,
                                     struct etls_session_counters *out) {
  *out = store->counters;
}

void etls_session_store_remember(struct etls_session_store *store,
                                 const uint8_t digest[ETLS_DIGEST_LEN],
                                 const uint8_t *der, size_t len,
                                 SSL_SESSION *session,
                                 const struct etls_session_bound *bound) {
  etls_session_exports_add(store->exports, digest, der, len, session, bound);
}

bool etls_session_store_recall(struct etls_session_store *store,
                               const uint8_t digest[ETLS_DIGEST_LEN],
                               const uint8_t *der, size_t len,
                               struct etls_session_offer *out) {
  return etls_session_exports_find(store->exports, digest, der, len, out);
}
