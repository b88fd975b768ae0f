/*
 * session_export.c - remembers sessions that were handed out as bytes.
 *
 * Bytes that come back can be forged or come from elsewhere, so nothing in
 * them is trusted; but if they are the very bytes that this store gave for a
 * connection of this very context, the session in memory is used instead:
 * with the whole chain, its verdict, and no certificate to parse again.
 *
 * A hash table by SHA-256 over the context's digest and the bytes, bounded;
 * a list in the order of use says who goes. The bytes are not kept. Sessions
 * are never given to an SSL, only duplicates of them.
 */
#include "digest.h"
#include "hash_table.h"
#include "mem.h"
#include "session_store.h"

struct export {
  struct export *prev, *next;
  UT_hash_handle hh;
  uint8_t id[ETLS_DIGEST_LEN];
  SSL_SESSION *session;
  struct etls_session_bound bound;
};

struct etls_session_exports {
  struct export *table;
  struct export *by_use; /* least recently used first */
  size_t count;
  size_t max;
};

struct etls_session_exports *etls_session_exports_new(void) {
  return etls_calloc(1, sizeof(struct etls_session_exports));
}

static void drop(struct etls_session_exports *exports, struct export *item) {
  HASH_DEL(exports->table, item);
  DL_DELETE(exports->by_use, item);
  exports->count -= 1;
  SSL_SESSION_free(item->session);
  etls_free(item);
}

static bool drop_oldest(struct etls_session_exports *exports) {
  struct export *oldest = exports->by_use;
  if (oldest == NULL || exports->table == NULL)
    return false;
  drop(exports, oldest);
  return true;
}

void etls_session_exports_set_max(struct etls_session_exports *exports,
                                  size_t max) {
  exports->max = max;
  while (exports->count > max && drop_oldest(exports))
    continue;
}

void etls_session_exports_clear(struct etls_session_exports *exports) {
  while (drop_oldest(exports))
    continue;
}

void etls_session_exports_free(struct etls_session_exports *exports) {
  etls_session_exports_clear(exports);
  etls_free(exports);
}

size_t etls_session_exports_count(const struct etls_session_exports *exports) {
  return exports->count;
}

static bool identify(const uint8_t digest[ETLS_DIGEST_LEN], const uint8_t *der,
                     size_t len, uint8_t id[ETLS_DIGEST_LEN]) {
  const struct etls_piece pieces[] = {{digest, ETLS_DIGEST_LEN}, {der, len}};
  return etls_digest_pieces(pieces, 2, id);
}

static struct export *find(struct etls_session_exports *exports,
                           const uint8_t id[ETLS_DIGEST_LEN]) {
  struct export *item = NULL;
  HASH_FIND(hh, exports->table, id, ETLS_DIGEST_LEN, item);
  return item;
}

static void touch(struct etls_session_exports *exports, struct export *item) {
  DL_DELETE(exports->by_use, item);
  DL_APPEND(exports->by_use, item);
}

/* NULL: no memory. */
static struct export *add(struct etls_session_exports *exports,
                          const uint8_t id[ETLS_DIGEST_LEN]) {
  struct export *item = etls_calloc(1, sizeof(*item));
  if (item == NULL)
    return NULL;
  memcpy(item->id, id, ETLS_DIGEST_LEN);
  HASH_ADD(hh, exports->table, id, ETLS_DIGEST_LEN, item);
  if (item->hh.tbl == NULL) {
    etls_free(item);
    return NULL;
  }
  DL_APPEND(exports->by_use, item);
  exports->count += 1;
  return item;
}

void etls_session_exports_add(struct etls_session_exports *exports,
                              const uint8_t digest[ETLS_DIGEST_LEN],
                              const uint8_t *der, size_t len,
                              SSL_SESSION *session,
                              const struct etls_session_bound *bound) {
  uint8_t id[ETLS_DIGEST_LEN];
  if (exports->max == 0 || !identify(digest, der, len, id))
    return;
  struct export *item = find(exports, id);
  if (item == NULL) {
    while (exports->count >= exports->max && drop_oldest(exports))
      continue;
    item = add(exports, id);
  }
  if (item == NULL)
    return;
  SSL_SESSION_up_ref(session);
  SSL_SESSION_free(item->session);
  item->session = session;
  item->bound = *bound;
  touch(exports, item);
}

bool etls_session_exports_find(struct etls_session_exports *exports,
                               const uint8_t digest[ETLS_DIGEST_LEN],
                               const uint8_t *der, size_t len,
                               struct etls_session_offer *out) {
  uint8_t id[ETLS_DIGEST_LEN];
  if (!identify(digest, der, len, id))
    return false;
  struct export *item = find(exports, id);
  SSL_SESSION *copy = item == NULL ? NULL : SSL_SESSION_dup(item->session);
  if (copy == NULL)
    return false;
  touch(exports, item);
  *out = (struct etls_session_offer){.session = copy, .bound = item->bound};
  return true;
}
