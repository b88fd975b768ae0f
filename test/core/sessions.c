/*
 * sessions.c - see sessions.h.
 */
#include "sessions.h"

#include <string.h>

struct etls_session_store *sessions_store_new(void) {
  const struct etls_session_limits limits = {true, 100, 8,
                                             2 * SESSIONS_HOUR_MS};
  struct etls_session_store *store = etls_session_store_new(&limits);
  assert_non_null(store);
  return store;
}

void sessions_use(struct duo *duo, struct etls_session_store *store,
                  const char *key) {
  stale_entry();
  assert_int_equal(etls_engine_use_store(duo->engine, store, key, strlen(key),
                                         true, SESSIONS_NOW, &duo->error),
                   ETLS_OK);
  assert_queue_empty();
}

void sessions_accept(struct duo *duo) {
  stale_entry();
  etls_engine_accept_sessions(duo->engine, SESSIONS_NOW);
  assert_queue_empty();
}

bool sessions_connect(struct duo *duo, struct etls_session_store *store,
                      const char *key) {
  duo_again(duo);
  sessions_use(duo, store, key);
  tls_open(duo->engine, duo->peer);
  sessions_accept(duo);
  tls_drain(duo->engine, duo->peer);
  assert_int_equal(SSL_session_reused(duo->peer->ssl),
                   etls_engine_session_reused(duo->engine));
  return etls_engine_session_reused(duo->engine);
}

void sessions_assert(struct etls_session_store *store, uint64_t offered,
                     uint64_t resumed, uint64_t rejected) {
  struct etls_session_counters counters;
  etls_session_store_get_counters(store, &counters);
  assert_int_equal(counters.offered, offered);
  assert_int_equal(counters.resumed, resumed);
  assert_int_equal(counters.rejected, rejected);
}

uint64_t sessions_stored(struct etls_session_store *store) {
  struct etls_session_counters counters;
  etls_session_store_get_counters(store, &counters);
  return counters.stored;
}

void duo_switch_context(struct duo *duo, struct etls_context *other) {
  etls_engine_free(duo->engine);
  duo->engine = NULL;
  etls_context_release(duo->context);
  duo->context = other;
  duo_again(duo);
}
