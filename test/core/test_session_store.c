/*
 * Tests of session_store.c and session_export.c by their inner interface. What
 * connections make of them is in test_session_resume.c.
 */
#include "tls_peer.h"

#include <openssl/err.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "session_store.h"

enum { KEY_LEN = ETLS_DIGEST_LEN + 20, HOUR_MS = 3600000 };

static SSL_SESSION *tls12, *tls13;
static int64_t wall;

static const struct etls_session_bound no_bound = {
    .not_before = INT64_MIN, .not_after = INT64_MAX, .until = INT64_MAX};

/* A session that a real handshake produced. */
static SSL_SESSION *harvest(int version) {
  struct duo duo = duo_new(version);
  etls_engine_want_sessions(duo.engine, true);
  tls_open(duo.engine, duo.peer);
  tls_drain(duo.engine, duo.peer);
  uint8_t *der = NULL;
  size_t len = 0;
  assert_int_equal(etls_engine_take_session(duo.engine, &der, &len, &duo.error),
                   ETLS_OK);
  assert_true(len > 0);
  const unsigned char *at = der;
  SSL_SESSION *session = d2i_SSL_SESSION(NULL, &at, (long)len);
  assert_non_null(session);
  etls_free(der);
  duo_free(&duo);
  return session;
}

static int set_up(void **state) {
  (void)state;
  tls12 = harvest(TLS1_2_VERSION);
  tls13 = harvest(TLS1_3_VERSION);
  wall = (int64_t)time(NULL);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  SSL_SESSION_free(tls12);
  SSL_SESSION_free(tls13);
  return 0;
}

static struct etls_session_store *store_of(size_t max_peers, size_t per_peer) {
  const struct etls_session_limits limits = {.enabled = true,
                                             .max_peers = max_peers,
                                             .per_peer = per_peer,
                                             .timeout_ms = 2 * HOUR_MS};
  struct etls_session_store *store = etls_session_store_new(&limits);
  assert_non_null(store);
  return store;
}

static struct etls_session_counters counters_of(struct etls_session_store *s) {
  struct etls_session_counters counters;
  etls_session_store_get_counters(s, &counters);
  return counters;
}

static const uint8_t *key_of(unsigned n) {
  static uint8_t key[KEY_LEN];
  memset(key, 0xab, sizeof(key));
  memcpy(key + ETLS_DIGEST_LEN, &n, sizeof(n));
  return key;
}

/* Puts a new session, and returns it for comparison. */
static void put(struct etls_session_store *store, unsigned n,
                SSL_SESSION *model, uint8_t mark, int64_t now_ms) {
  SSL_SESSION *session = SSL_SESSION_dup(model);
  /* Marked in a field that goes along. */
  assert_int_equal(SSL_SESSION_set1_id_context(session, &mark, 1), 1);
  etls_session_store_put(store, key_of(n), KEY_LEN, session, &no_bound, now_ms,
                         wall);
  SSL_SESSION_free(session);
}

/* The mark of what is taken, -1: nothing. */
static int take_at(struct etls_session_store *store, unsigned n, int64_t now_ms,
                   int64_t at_wall) {
  struct etls_session_offer offer;
  if (!etls_session_store_take(store, key_of(n), KEY_LEN, now_ms, at_wall,
                               &offer))
    return -1;
  unsigned int len = 0;
  const unsigned char *id = SSL_SESSION_get0_id_context(offer.session, &len);
  int mark = id[0];
  SSL_SESSION_free(offer.session);
  return mark;
}

static int take(struct etls_session_store *store, unsigned n) {
  return take_at(store, n, 0, wall);
}

static void fresh_tickets_go_out_once_oldest_first(void **state) {
  (void)state;
  struct etls_session_store *store = store_of(10, 8);
  for (uint8_t i = 0; i < 4; i++)
    put(store, 1, tls13, i, 0);
  assert_int_equal(counters_of(store).stored, 4);
  assert_int_equal(take(store, 1), 0);
  assert_int_equal(take(store, 1), 1);
  assert_int_equal(take(store, 1), 2);
  assert_int_equal(counters_of(store).stored, 1);
  /* The last one stays for those who get no other. */
  for (int i = 0; i < 30; i++)
    assert_int_equal(take(store, 1), 3);
  /* ... until there is a fresh one. */
  put(store, 1, tls13, 4, 0);
  put(store, 1, tls13, 5, 0);
  assert_int_equal(counters_of(store).stored, 2);
  assert_int_equal(take(store, 1), 4);
  assert_int_equal(take(store, 1), 5);
  etls_session_store_free(store);
}

static void tls12_sessions_go_out_again_newest_first(void **state) {
  (void)state;
  struct etls_session_store *store = store_of(10, 8);
  for (uint8_t i = 0; i < 4; i++)
    put(store, 1, tls12, i, 0);
  for (int i = 0; i < 32; i++)
    assert_int_equal(take(store, 1), 3);
  assert_int_equal(counters_of(store).stored, 4);
  put(store, 1, tls13, 9, 0);
  assert_int_equal(take(store, 1), 9); /* a fresh ticket goes first */
  assert_int_equal(take(store, 1), 3);
  etls_session_store_free(store);
}

static void what_goes_out_is_a_duplicate(void **state) {
  (void)state;
  struct etls_session_store *store = store_of(10, 8);
  put(store, 1, tls12, 1, 0);
  struct etls_session_offer a;
  struct etls_session_offer b;
  assert_true(etls_session_store_take(store, key_of(1), KEY_LEN, 0, wall, &a));
  assert_true(etls_session_store_take(store, key_of(1), KEY_LEN, 0, wall, &b));
  assert_ptr_not_equal(a.session, b.session);
  assert_ptr_equal(SSL_SESSION_get0_peer(a.session),
                   SSL_SESSION_get0_peer(b.session));
  SSL_SESSION_free(a.session);
  SSL_SESSION_free(b.session);
  etls_session_store_free(store);
}

static void each_byte_of_the_key_counts(void **state) {
  (void)state;
  struct etls_session_store *store = store_of(10, 8);
  put(store, 1, tls12, 1, 0);
  struct etls_session_offer offer;
  uint8_t key[KEY_LEN + 1];
  for (size_t i = 0; i < KEY_LEN; i++) {
    memcpy(key, key_of(1), KEY_LEN);
    key[i] ^= 1;
    assert_false(etls_session_store_take(store, key, KEY_LEN, 0, wall, &offer));
  }
  memcpy(key, key_of(1), KEY_LEN);
  key[KEY_LEN] = 0;
  assert_false(
      etls_session_store_take(store, key, KEY_LEN + 1, 0, wall, &offer));
  assert_false(
      etls_session_store_take(store, key, KEY_LEN - 1, 0, wall, &offer));
  assert_int_equal(take(store, 1), 1);
  etls_session_store_free(store);
}

static void per_peer_the_oldest_goes(void **state) {
  (void)state;
  struct etls_session_store *store = store_of(10, 3);
  for (uint8_t i = 0; i < 10; i++)
    put(store, 1, tls13, i, 0);
  assert_int_equal(counters_of(store).stored, 3);
  assert_int_equal(take(store, 1), 7);
  assert_int_equal(take(store, 1), 8);
  assert_int_equal(take(store, 1), 9);
  etls_session_store_free(store);
}

static void peers_are_bounded_the_least_recently_used_goes(void **state) {
  (void)state;
  struct etls_session_store *store = store_of(100, 2);
  for (unsigned i = 0; i < 10000; i++) {
    put(store, i, tls12, (uint8_t)i, 0);
    put(store, i, tls12, (uint8_t)i, 0);
    assert_true(counters_of(store).peers <= 100);
    assert_true(counters_of(store).stored <= 200);
    /* Number 5 is used all the time. */
    assert_int_equal(take(store, 5), i < 5 ? -1 : 5);
  }
  assert_int_equal(take(store, 9999), 9999 & 0xff);
  assert_int_equal(take(store, 9000), -1);
  assert_int_equal(counters_of(store).peers, 100);
  etls_session_store_free(store);
}

static void entries_expire_by_the_stores_limit(void **state) {
  (void)state;
  struct etls_session_store *store = store_of(10, 8);
  put(store, 1, tls13, 1, 1000);
  put(store, 1, tls13, 2, 5000);
  assert_int_equal(take_at(store, 1, 1000 + 2 * HOUR_MS, wall), 2);
  assert_int_equal(take_at(store, 1, 4999 + 2 * HOUR_MS, wall), 2);
  assert_int_equal(take_at(store, 1, 5000 + 2 * HOUR_MS, wall), -1);
  assert_int_equal(counters_of(store).stored, 0);
  assert_int_equal(counters_of(store).peers, 0);
  etls_session_store_free(store);
}

static void entries_expire_with_their_ticket(void **state) {
  (void)state;
  struct etls_session_store *store = store_of(10, 8);
  int64_t hint = (int64_t)SSL_SESSION_get_ticket_lifetime_hint(tls13);
  int64_t end = SSL_SESSION_get_time(tls13) + hint;
  assert_true(hint > 0);
  put(store, 1, tls13, 1, 0);
  assert_int_equal(take_at(store, 1, 0, end - 1), 1);
  assert_int_equal(take_at(store, 1, 0, end), -1);
  /* No ticket lives longer than a week, whatever the server says. */
  SSL_SESSION *old = SSL_SESSION_dup(tls12);
  SSL_SESSION_set_timeout(old, 100 * 24 * 3600);
  SSL_SESSION_set_time(old, (long)wall - ETLS_TICKET_LIFETIME_MAX);
  put(store, 1, old, 1, 0);
  assert_int_equal(counters_of(store).stored, 0);
  /* In TLS 1.2, too, the server's word counts if it is shorter. */
  hint = (int64_t)SSL_SESSION_get_ticket_lifetime_hint(old);
  assert_true(hint > 0);
  SSL_SESSION_set_time(old, (long)wall);
  put(store, 2, old, 1, 0);
  assert_int_equal(take_at(store, 2, 0, wall + hint - 1), 1);
  assert_int_equal(take_at(store, 2, 0, wall + hint), -1);
  SSL_SESSION_free(old);
  etls_session_store_free(store);
}

static void entries_expire_with_their_certificates(void **state) {
  (void)state;
  struct etls_session_store *store = store_of(10, 8);
  struct etls_session_bound bound = no_bound;
  bound.until = wall + 60;
  etls_session_store_put(store, key_of(1), KEY_LEN, tls12, &bound, 0, wall);
  assert_true(take_at(store, 1, 0, wall + 59) != -1);
  assert_int_equal(take_at(store, 1, 0, wall + 60), -1);
  bound.until = wall;
  etls_session_store_put(store, key_of(1), KEY_LEN, tls12, &bound, 0, wall);
  assert_int_equal(counters_of(store).stored, 0);
  etls_session_store_free(store);
}

static void outcomes_are_booked(void **state) {
  (void)state;
  struct etls_session_store *store = store_of(10, 8);
  struct etls_session_offer offer;
  for (uint8_t i = 0; i < 3; i++)
    put(store, 1, tls12, i, 0);
  put(store, 2, tls12, 7, 0);

  assert_true(
      etls_session_store_take(store, key_of(1), KEY_LEN, 0, wall, &offer));
  SSL_SESSION_free(offer.session);
  etls_session_store_settle(store, key_of(1), KEY_LEN, offer.id,
                            ETLS_SESSION_RESUMED);
  assert_int_equal(take(store, 1), 2);
  /* Declined: this one goes, the next is offered. */
  etls_session_store_settle(store, key_of(1), KEY_LEN, offer.id,
                            ETLS_SESSION_DECLINED);
  assert_int_equal(take(store, 1), 1);
  /* Twice by two connections that offered the same. */
  etls_session_store_settle(store, key_of(1), KEY_LEN, offer.id,
                            ETLS_SESSION_DECLINED);
  assert_int_equal(take(store, 1), 1);
  /* Failed: the next handshake of this peer is a full one. */
  etls_session_store_settle(store, key_of(1), KEY_LEN, offer.id,
                            ETLS_SESSION_FAILED);
  assert_int_equal(take(store, 1), -1);
  assert_int_equal(take(store, 2), 7);
  etls_session_store_settle(store, NULL, 0, 0, ETLS_SESSION_RESUMED);

  struct etls_session_counters counters = counters_of(store);
  assert_int_equal(counters.offered, 5);
  assert_int_equal(counters.resumed, 2);
  assert_int_equal(counters.rejected, 3);
  assert_int_equal(counters.stored, 1);
  assert_int_equal(counters.peers, 1);
  etls_session_store_free(store);
}

static void an_unused_offer_goes_back(void **state) {
  (void)state;
  struct etls_session_store *store = store_of(10, 8);
  struct etls_session_offer offer;
  for (uint8_t i = 0; i < 2; i++)
    put(store, 1, tls13, i, 1000);
  for (int i = 0; i < 2; i++) { /* one that left the store, one that did not */
    assert_true(
        etls_session_store_take(store, key_of(1), KEY_LEN, 1000, wall, &offer));
    assert_int_equal(offer.id == 0, i == 0);
    if (i == 1) {
      etls_session_store_put_back(store, key_of(1), KEY_LEN, &offer, 1000,
                                  wall);
      put(store, 1, tls13, 5, 1000);
      assert_int_equal(counters_of(store).stored, 2); /* still fresh */
    }
    SSL_SESSION_free(offer.session);
  }
  /* Its limit is not extended. */
  assert_true(
      etls_session_store_take(store, key_of(1), KEY_LEN, 1000, wall, &offer));
  assert_int_equal(offer.id, 0);
  etls_session_store_put_back(store, key_of(1), KEY_LEN, &offer, HOUR_MS, wall);
  SSL_SESSION_free(offer.session);
  assert_int_equal(take_at(store, 1, 999 + 2 * HOUR_MS, wall), 5);
  assert_int_equal(take_at(store, 1, 1000 + 2 * HOUR_MS, wall), -1);
  etls_session_store_free(store);
}

static void limits_take_effect_at_once(void **state) {
  (void)state;
  struct etls_session_store *store = store_of(10, 8);
  for (unsigned n = 0; n < 10; n++)
    for (uint8_t i = 0; i < 8; i++)
      put(store, n, tls12, i, 0);
  assert_int_equal(counters_of(store).stored, 80);
  struct etls_session_limits limits = {true, 4, 2, HOUR_MS};
  etls_session_store_set_limits(store, &limits);
  assert_int_equal(counters_of(store).stored, 8);
  assert_int_equal(counters_of(store).peers, 4);
  assert_int_equal(take(store, 5), -1);
  assert_int_equal(take(store, 6), 7);
  limits.enabled = false;
  etls_session_store_set_limits(store, &limits);
  assert_int_equal(counters_of(store).stored, 0);
  put(store, 1, tls12, 1, 0);
  assert_int_equal(take(store, 1), -1);
  for (int i = 0; i < 3; i++) { /* each kind of nothing */
    limits = (struct etls_session_limits){true, i != 0, i != 1,
                                          i != 2 ? HOUR_MS : 0};
    etls_session_store_set_limits(store, &limits);
    put(store, 1, tls12, 1, 0);
    assert_int_equal(counters_of(store).stored, 0);
  }
  limits = (struct etls_session_limits){true, 4, 2, HOUR_MS};
  etls_session_store_set_limits(store, &limits);
  put(store, 1, tls12, 1, 0);
  etls_session_store_clear(store);
  assert_int_equal(counters_of(store).stored, 0);
  assert_int_equal(counters_of(store).peers, 0);
  etls_session_store_free(store);
  etls_session_store_free(NULL);
}

static void exports_are_found_by_their_bytes_and_context(void **state) {
  (void)state;
  struct etls_session_store *store = store_of(10, 8);
  struct etls_session_offer offer;
  uint8_t digest[ETLS_DIGEST_LEN] = {1};
  uint8_t der[] = "these bytes stand for a session";
  struct etls_session_bound bound = no_bound;
  bound.verdict = X509_V_ERR_CERT_REVOKED;
  etls_session_store_remember(store, digest, der, sizeof(der), tls12, &bound);
  assert_true(
      etls_session_store_recall(store, digest, der, sizeof(der), &offer));
  assert_ptr_not_equal(offer.session, tls12);
  assert_int_equal(offer.bound.verdict, X509_V_ERR_CERT_REVOKED);
  SSL_SESSION_free(offer.session);
  for (size_t i = 0; i < sizeof(der); i++) {
    der[i] ^= 1;
    assert_false(
        etls_session_store_recall(store, digest, der, sizeof(der), &offer));
    der[i] ^= 1;
  }
  digest[31] = 1;
  assert_false(
      etls_session_store_recall(store, digest, der, sizeof(der), &offer));
  digest[31] = 0;
  etls_session_store_clear(store);
  assert_false(
      etls_session_store_recall(store, digest, der, sizeof(der), &offer));
  etls_session_store_free(store);
}

static void exports_are_bounded(void **state) {
  (void)state;
  static const struct {
    size_t peers, each;
    unsigned kept;
  } cases[] = {{1000, 8, ETLS_SESSION_EXPORTS_MAX},
               {SIZE_MAX, SIZE_MAX, ETLS_SESSION_EXPORTS_MAX},
               {5, 4, 20},
               {0, 4, 0}};
  for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
    struct etls_session_store *store = store_of(cases[c].peers, cases[c].each);
    uint8_t digest[ETLS_DIGEST_LEN] = {1};
    struct etls_session_offer offer;
    unsigned kept = 0;
    for (unsigned i = 0; i < 1000; i++)
      etls_session_store_remember(store, digest, (uint8_t *)&i, sizeof(i),
                                  tls12, &no_bound);
    for (unsigned i = 0; i < 1000; i++) {
      if (!etls_session_store_recall(store, digest, (uint8_t *)&i, sizeof(i),
                                     &offer))
        continue;
      SSL_SESSION_free(offer.session);
      assert_true(i >= 1000 - cases[c].kept);
      kept++;
    }
    assert_int_equal(kept, cases[c].kept);
    etls_session_store_free(store);
  }
}

static void any_allocation_may_fail(void **state) {
  (void)state;
  bool fired = true;
  for (unsigned long n = 1; fired; n++) {
    const struct etls_session_limits limits = {true, 3, 2, HOUR_MS};
    uint8_t digest[ETLS_DIGEST_LEN] = {1};
    struct etls_session_offer offer;
    fail_at(n, FAIL_ALL);
    struct etls_session_store *store = etls_session_store_new(&limits);
    for (unsigned i = 0; store != NULL && i < 12; i++) {
      etls_session_store_put(store, key_of(i / 2), KEY_LEN, tls13, &no_bound, 0,
                             wall);
      etls_session_store_remember(store, digest, (uint8_t *)&i, sizeof(i),
                                  tls13, &no_bound);
      if (etls_session_store_take(store, key_of(i / 4), KEY_LEN, 0, wall,
                                  &offer))
        SSL_SESSION_free(offer.session);
      if (etls_session_store_recall(store, digest, (uint8_t *)&i, sizeof(i),
                                    &offer))
        SSL_SESSION_free(offer.session);
      struct etls_session_counters counters = counters_of(store);
      assert_true(counters.peers <= 3 && counters.stored <= 6);
    }
    etls_session_store_free(store);
    fired = fail_end();
    ERR_clear_error();
    assert_true(fired || n > 30);
  }
}

int main(void) {
  support_init();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fresh_tickets_go_out_once_oldest_first),
      cmocka_unit_test(tls12_sessions_go_out_again_newest_first),
      cmocka_unit_test(what_goes_out_is_a_duplicate),
      cmocka_unit_test(each_byte_of_the_key_counts),
      cmocka_unit_test(per_peer_the_oldest_goes),
      cmocka_unit_test(peers_are_bounded_the_least_recently_used_goes),
      cmocka_unit_test(entries_expire_by_the_stores_limit),
      cmocka_unit_test(entries_expire_with_their_ticket),
      cmocka_unit_test(entries_expire_with_their_certificates),
      cmocka_unit_test(outcomes_are_booked),
      cmocka_unit_test(an_unused_offer_goes_back),
      cmocka_unit_test(limits_take_effect_at_once),
      cmocka_unit_test(exports_are_found_by_their_bytes_and_context),
      cmocka_unit_test(exports_are_bounded),
      cmocka_unit_test(any_allocation_may_fail),
  };
  return cmocka_run_group_tests_name("session_store", tests, set_up, tear_down);
}
