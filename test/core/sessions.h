/*
 * sessions.h - connections with a session store, for the tests of resumption.
 */
#ifndef ETLS_TEST_SESSIONS_H
#define ETLS_TEST_SESSIONS_H

#include "tls_peer.h"

/* The caller's clock in these tests. */
enum { SESSIONS_NOW = 1000, SESSIONS_HOUR_MS = 3600000 };

#define EACH_VERSION(version)                                                  \
  for (int version = TLS1_2_VERSION; version <= TLS1_3_VERSION; version++)

/* 100 peers, 8 each, two hours. */
struct etls_session_store *sessions_store_new(void);
uint64_t sessions_stored(struct etls_session_store *store);
void sessions_assert(struct etls_session_store *store, uint64_t offered,
                     uint64_t resumed, uint64_t rejected);

/* etls_engine_use_store, etls_engine_accept_sessions; must succeed. */
void sessions_use(struct duo *duo, struct etls_session_store *store,
                  const char *key);
void sessions_accept(struct duo *duo);
/* A new connection under this key, open, accepted, its tickets read. True if
 * it was resumed. */
bool sessions_connect(struct duo *duo, struct etls_session_store *store,
                      const char *key);
/* A new engine in another context, which is released by duo_free. */
void duo_switch_context(struct duo *duo, struct etls_context *other);

#endif
