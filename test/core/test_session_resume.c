/*
 * Tests of session_resume.c: connections that resume, and those that must not.
 */
#include "tls_peer.h"

#include <openssl/err.h>
#include <openssl/rand.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine_internal.h"

enum { NOW = 1000, HOUR_MS = 3600000 };

#define EACH_VERSION(version)                                                  \
  for (int version = TLS1_2_VERSION; version <= TLS1_3_VERSION; version++)

static struct etls_session_store *store_new(void) {
  const struct etls_session_limits limits = {true, 100, 8, 2 * HOUR_MS};
  struct etls_session_store *store = etls_session_store_new(&limits);
  assert_non_null(store);
  return store;
}

static void use(struct duo *duo, struct etls_session_store *store,
                const char *key) {
  stale_entry();
  assert_int_equal(etls_engine_use_store(duo->engine, store, key, strlen(key),
                                         true, NOW, &duo->error),
                   ETLS_OK);
  assert_queue_empty();
}

static void accept_sessions(struct duo *duo) {
  stale_entry();
  etls_engine_accept_sessions(duo->engine, NOW);
  assert_queue_empty();
}

/* A new connection under this key, open, accepted, its tickets read. True if
 * it was resumed. */
static bool connect_with(struct duo *duo, struct etls_session_store *store,
                         const char *key) {
  duo_again(duo);
  use(duo, store, key);
  tls_open(duo->engine, duo->peer);
  accept_sessions(duo);
  tls_drain(duo->engine, duo->peer);
  assert_int_equal(SSL_session_reused(duo->peer->ssl),
                   etls_engine_session_reused(duo->engine));
  return etls_engine_session_reused(duo->engine);
}

static void assert_counters(struct etls_session_store *store, uint64_t offered,
                            uint64_t resumed, uint64_t rejected) {
  struct etls_session_counters counters;
  etls_session_store_get_counters(store, &counters);
  assert_int_equal(counters.offered, offered);
  assert_int_equal(counters.resumed, resumed);
  assert_int_equal(counters.rejected, rejected);
}

static uint64_t stored(struct etls_session_store *store) {
  struct etls_session_counters counters;
  etls_session_store_get_counters(store, &counters);
  return counters.stored;
}

static void add_der(void *arg, const uint8_t *der, size_t len) {
  bytes_append(arg, der, len);
}

/* The certificates as the application sees them. */
static struct bytes chain_of(struct duo *duo) {
  struct bytes chain = {NULL, 0};
  bool self_signed = false;
  assert_int_equal(
      etls_engine_visit_peer_certificates(duo->engine, true, add_der, &chain,
                                          &self_signed, &duo->error),
      ETLS_OK);
  assert_true(self_signed);
  return chain;
}

/* ---- what resumes ----------------------------------------------------------
 */

static void the_second_connection_resumes(void **state) {
  (void)state;
  EACH_VERSION(version) {
    struct duo duo = duo_new(version);
    struct etls_session_store *store = store_new();
    uint8_t print[2][ETLS_DIGEST_LEN];
    assert_false(connect_with(&duo, store, "key"));
    assert_int_equal(etls_engine_verify_result(duo.engine), X509_V_OK);
    struct bytes first = chain_of(&duo);
    assert_true(etls_engine_peer_fingerprint(duo.engine, print[0]));
    for (uint64_t i = 1; i <= 5; i++) {
      assert_true(connect_with(&duo, store, "key"));
      assert_counters(store, i, i, 0);
      assert_int_equal(etls_engine_verify_result(duo.engine), X509_V_OK);
      struct bytes again = chain_of(&duo);
      assert_int_equal(again.len, first.len);
      assert_memory_equal(again.data, first.data, first.len);
      free(again.data);
      assert_true(etls_engine_peer_fingerprint(duo.engine, print[1]));
      assert_memory_equal(print[0], print[1], ETLS_DIGEST_LEN);
      duo_talk(&duo);
    }
    free(first.data);
    duo_free(&duo);
    etls_session_store_free(store);
  }
}

static void a_burst_uses_each_ticket_once(void **state) {
  (void)state;
  struct duo duo = duo_new(TLS1_3_VERSION);
  struct etls_session_store *store = store_new();
  SSL_CTX_set_num_tickets(duo.ctx, 3);
  connect_with(&duo, store, "key");
  assert_int_equal(stored(store), 3);
  struct etls_engine *engines[32];
  struct tls_peer *peers[32];
  for (int i = 0; i < 32; i++) {
    engines[i] = etls_engine_new(duo.context, duo.pool, &duo.error);
    peers[i] = tls_peer_new(duo.ctx);
    assert_int_equal(etls_engine_use_store(engines[i], store, "key", 3, true,
                                           NOW, &duo.error),
                     ETLS_OK);
  }
  for (int i = 0; i < 32; i++) {
    const uint8_t *ticket = NULL;
    const uint8_t *other = NULL;
    size_t len = etls_engine_ticket(engines[i], &ticket);
    assert_true(len > 0);
    for (int j = 0; j < i && i < 3; j++)
      assert_true(etls_engine_ticket(engines[j], &other) != len ||
                  memcmp(ticket, other, len) != 0);
    tls_open(engines[i], peers[i]);
    assert_true(etls_engine_session_reused(engines[i]));
    etls_engine_accept_sessions(engines[i], NOW);
  }
  assert_counters(store, 32, 32, 0);
  for (int i = 0; i < 32; i++) {
    etls_engine_free(engines[i]);
    tls_peer_free(peers[i]);
  }
  duo_free(&duo);
  etls_session_store_free(store);
}

static void without_new_tickets_the_last_one_serves_on(void **state) {
  (void)state;
  struct duo duo = duo_new(TLS1_3_VERSION);
  struct etls_session_store *store = store_new();
  connect_with(&duo, store, "key");
  SSL_CTX_set_num_tickets(duo.ctx, 0);
  for (int i = 0; i < 10; i++)
    assert_true(connect_with(&duo, store, "key"));
  duo_free(&duo);
  etls_session_store_free(store);
}

static void late_tickets_are_stored_when_they_come(void **state) {
  (void)state;
  struct duo duo = duo_new(TLS1_3_VERSION);
  struct etls_session_store *store = store_new();
  SSL_CTX_set_num_tickets(duo.ctx, 0);
  connect_with(&duo, store, "key");
  assert_int_equal(stored(store), 0);
  duo_talk(&duo);
  assert_int_equal(SSL_new_session_ticket(duo.peer->ssl), 1);
  tls_peer_write(duo.peer, "x", 1);
  tls_drain(duo.engine, duo.peer);
  assert_int_equal(stored(store), 1);
  assert_true(connect_with(&duo, store, "key"));
  duo_free(&duo);
  etls_session_store_free(store);
}

/* The ways a connection can end. */
static void end_it(struct duo *duo, int how) {
  struct etls_error error;
  etls_error_init(&error);
  struct bytes got = {NULL, 0};
  switch (how) {
  case 0: /* destroyed */
    break;
  case 1: /* both say goodbye */
    assert_int_equal(x_shutdown(duo->engine, &error), ETLS_OK);
    tls_peer_step(duo->peer, duo->engine);
    SSL_shutdown(duo->peer->ssl);
    tls_peer_collect(duo->peer);
    assert_int_equal(tls_read(duo->engine, duo->peer, 0, &got, &error),
                     ETLS_END);
    break;
  case 2: /* FIN without close_notify */
    etls_engine_feed_end(duo->engine);
    assert_int_equal(tls_read(duo->engine, duo->peer, 0, &got, &error),
                     ETLS_END);
    break;
  case 3: /* a broken record */
    tls_peer_write(duo->peer, "x", 1);
    duo->peer->wire.data[duo->peer->wire.len - 1] ^= 1;
    assert_int_equal(tls_read(duo->engine, duo->peer, 0, &got, &error),
                     ETLS_ERR_TLS);
    break;
  default: /* garbage instead of a record */
    assert_int_equal(x_feed(duo->engine, "garbage garbage", 15), ETLS_OK);
    assert_int_equal(tls_read(duo->engine, duo->peer, 0, &got, &error),
                     ETLS_ERR_TLS);
    break;
  }
  free(got.data);
}

static void no_way_of_closing_poisons_the_sessions(void **state) {
  (void)state;
  EACH_VERSION(version) {
    for (int how = 0; how < 5; how++) {
      struct duo duo = duo_new(version);
      struct etls_session_store *store = store_new();
      connect_with(&duo, store, "key");
      end_it(&duo, how);
      assert_true(connect_with(&duo, store, "key"));
      end_it(&duo, how); /* one that was resumed */
      assert_true(connect_with(&duo, store, "key"));
      duo_free(&duo);
      etls_session_store_free(store);
    }
  }
}

static void a_donor_may_go_while_its_session_is_used(void **state) {
  (void)state;
  EACH_VERSION(version) {
    struct duo duo = duo_new(version);
    struct etls_session_store *store = store_new();
    connect_with(&duo, store, "key");
    struct etls_engine *donor = duo.engine;
    duo.engine = NULL;
    duo_again(&duo);
    use(&duo, store, "key");
    assert_int_equal(x_handshake(duo.engine, &duo.error), ETLS_WANT_INPUT);
    etls_engine_free(donor);
    tls_open(duo.engine, duo.peer);
    assert_true(etls_engine_session_reused(duo.engine));
    duo_free(&duo);
    etls_session_store_free(store);
  }
}

/* ---- what does not ---------------------------------------------------------
 */

static void nothing_is_stored_before_it_is_accepted(void **state) {
  (void)state;
  EACH_VERSION(version) {
    struct duo duo = duo_new(version);
    struct etls_session_store *store = store_new();
    use(&duo, store, "key");
    accept_sessions(&duo); /* too early: no effect */
    tls_open(duo.engine, duo.peer);
    tls_drain(duo.engine, duo.peer);
    assert_int_equal(stored(store), 0);
    duo_again(&duo); /* freed without having been accepted */
    assert_int_equal(stored(store), 0);
    use(&duo, store, "key");
    tls_open(duo.engine, duo.peer);
    tls_drain(duo.engine, duo.peer);
    accept_sessions(&duo);
    assert_true(stored(store) > 0);
    duo_free(&duo);
    etls_session_store_free(store);
  }
}

static void keys_keep_connections_apart(void **state) {
  (void)state;
  EACH_VERSION(version) {
    struct duo duo = duo_new(version);
    struct etls_session_store *store = store_new();
    connect_with(&duo, store, "strict/hosta");
    assert_false(connect_with(&duo, store, "strict/hostb"));
    assert_false(connect_with(&duo, store, "Strict/hosta"));
    assert_false(connect_with(&duo, store, "strict/hosta/"));
    assert_false(connect_with(&duo, store, ""));
    assert_true(connect_with(&duo, store, "strict/hosta"));
    assert_true(connect_with(&duo, store, ""));
    assert_counters(store, 2, 2, 0);
    duo_free(&duo);
    etls_session_store_free(store);
  }
}

/* The same engine in another context; duo_free releases that one. */
static void switch_context(struct duo *duo, struct etls_context *other) {
  etls_engine_free(duo->engine);
  duo->engine = NULL;
  etls_context_release(duo->context);
  duo->context = other;
  duo_again(duo);
}

static void contexts_keep_connections_apart(void **state) {
  (void)state;
  EACH_VERSION(version) {
    struct duo duo = duo_new(version);
    struct etls_session_store *store = store_new();
    struct identity other_ca = identity_new("Test CA", NULL, true, -60, 3600);
    connect_with(&duo, store, "key");
    switch_context(&duo, context_for(duo.cache, &other_ca, version, version));
    assert_false(connect_with(&duo, store, "key"));
    assert_int_not_equal(etls_engine_verify_result(duo.engine), X509_V_OK);
    /* The same CA with an own certificate: another identity. */
    struct etls_config *config = config_new();
    struct blob ca = identity_cert_pem(&duo.ca);
    struct blob cert = identity_cert_pem(&duo.leaf);
    struct blob key = identity_key_pem(&duo.leaf);
    config_blob(config, ETLS_OPTION_CA, &ca);
    config_blob(config, ETLS_OPTION_CERT, &cert);
    assert_int_equal(etls_config_add_secret(config, ETLS_OPTION_KEY, key.bytes,
                                            key.len, NULL, 0),
                     ETLS_OK);
    switch_context(&duo, context_of(duo.cache, config));
    assert_false(connect_with(&duo, store, "key"));
    assert_true(connect_with(&duo, store, "key"));
    switch_context(&duo, context_for(duo.cache, &duo.ca, version, version));
    assert_true(connect_with(&duo, store, "key"));
    blob_free(&ca);
    blob_free(&cert);
    blob_free(&key);
    identity_free(&other_ca);
    duo_free(&duo);
    etls_session_store_free(store);
  }
}

static void change_ticket_keys(SSL_CTX *ctx) {
  uint8_t keys[80];
  assert_int_equal(RAND_bytes(keys, sizeof(keys)), 1);
  long size = SSL_CTX_set_tlsext_ticket_keys(ctx, NULL, 0);
  assert_int_equal(SSL_CTX_set_tlsext_ticket_keys(ctx, keys, size), 1);
}

static void declined_sessions_are_dropped(void **state) {
  (void)state;
  EACH_VERSION(version) {
    struct duo duo = duo_new(version);
    struct etls_session_store *store = store_new();
    connect_with(&duo, store, "key");
    uint64_t before = stored(store);
    change_ticket_keys(duo.ctx);
    duo_again(&duo);
    use(&duo, store, "key");
    tls_open(duo.engine, duo.peer); /* a full handshake, no failure */
    assert_false(etls_engine_session_reused(duo.engine));
    assert_int_equal(etls_engine_verify_result(duo.engine), X509_V_OK);
    accept_sessions(&duo);
    assert_counters(store, 1, 0, 1);
    tls_drain(duo.engine, duo.peer);
    assert_true(stored(store) <= before + 2);
    while (!connect_with(&duo, store, "key"))
      continue;
    duo_free(&duo);
    etls_session_store_free(store);
  }
}

static void after_a_failure_the_next_handshake_is_full(void **state) {
  (void)state;
  EACH_VERSION(version) {
    for (int how = 0; how < 3; how++) {
      struct duo duo = duo_new(version);
      struct etls_session_store *store = store_new();
      connect_with(&duo, store, "key");
      connect_with(&duo, store, "other");
      duo_again(&duo);
      use(&duo, store, "key");
      assert_int_equal(x_handshake(duo.engine, &duo.error), ETLS_WANT_INPUT);
      if (how == 0) { /* an alert: handshake_failure */
        static const uint8_t alert[] = {21, 3, 3, 0, 2, 2, 40};
        assert_int_equal(x_feed(duo.engine, alert, sizeof(alert)), ETLS_OK);
        assert_int_equal(x_handshake(duo.engine, &duo.error), ETLS_ERR_TLS);
      } else if (how == 1) { /* FIN */
        etls_engine_feed_end(duo.engine);
        assert_int_equal(x_handshake(duo.engine, &duo.error), ETLS_END);
      } /* else RST: just freed */
      duo_again(&duo);
      assert_counters(store, 1, 0, 1);
      assert_false(connect_with(&duo, store, "key"));
      assert_true(connect_with(&duo, store, "key"));
      assert_true(connect_with(&duo, store, "other"));
      duo_free(&duo);
      etls_session_store_free(store);
    }
  }
}

static void a_handshake_that_never_began_gives_its_session_back(void **state) {
  (void)state;
  EACH_VERSION(version) {
    struct duo duo = duo_new(version);
    struct etls_session_store *store = store_new();
    connect_with(&duo, store, "key");
    uint64_t before = stored(store);
    for (int i = 0; i < 5; i++) {
      duo_again(&duo);
      use(&duo, store, "key");
    }
    duo_again(&duo);
    assert_int_equal(stored(store), before);
    assert_counters(store, 0, 0, 0);
    assert_true(connect_with(&duo, store, "key"));
    duo_free(&duo);
    etls_session_store_free(store);
  }
}

static void ocsp_switches_resumption_off(void **state) {
  (void)state;
  EACH_VERSION(version) {
    for (int order = 0; order < 2; order++) {
      struct duo duo = duo_new(version);
      struct etls_session_store *store = store_new();
      connect_with(&duo, store, "key");
      uint64_t before = stored(store);
      duo_again(&duo);
      if (order == 0)
        use(&duo, store, "key");
      assert_int_equal(etls_engine_request_ocsp(duo.engine, &duo.error),
                       ETLS_OK);
      if (order == 1)
        use(&duo, store, "key");
      tls_open(duo.engine, duo.peer);
      accept_sessions(&duo);
      tls_drain(duo.engine, duo.peer);
      assert_false(etls_engine_session_reused(duo.engine));
      assert_int_equal(stored(store), before);
      assert_counters(store, 0, 0, 0);
      duo_free(&duo);
      etls_session_store_free(store);
    }
  }
}

static void another_identity_switches_resumption_off(void **state) {
  (void)state;
  EACH_VERSION(version) {
    struct duo duo = duo_new(version);
    struct etls_session_store *store = store_new();
    struct etls_config *config = config_new();
    config_file(config, ETLS_OPTION_CERT, "client-a.crt");
    config_secret(config, ETLS_OPTION_KEY, "client-a.key", NULL);
    struct etls_context *other = context_of(duo.cache, config);
    connect_with(&duo, store, "key");
    uint64_t before = stored(store);
    duo_again(&duo);
    use(&duo, store, "key");
    assert_int_equal(etls_engine_use_identity_of(duo.engine, other, &duo.error),
                     ETLS_OK);
    tls_open(duo.engine, duo.peer);
    accept_sessions(&duo);
    tls_drain(duo.engine, duo.peer);
    assert_false(etls_engine_session_reused(duo.engine));
    assert_int_equal(stored(store), before);
    etls_context_release(other);
    duo_free(&duo);
    etls_session_store_free(store);
  }
}

static void offer_false_only_stores(void **state) {
  (void)state;
  struct duo duo = duo_new(TLS1_3_VERSION);
  struct etls_session_store *store = store_new();
  connect_with(&duo, store, "key");
  uint64_t before = stored(store);
  duo_again(&duo);
  assert_int_equal(etls_engine_use_store(duo.engine, store, "key", 3, false,
                                         NOW, &duo.error),
                   ETLS_OK);
  tls_open(duo.engine, duo.peer);
  accept_sessions(&duo);
  tls_drain(duo.engine, duo.peer);
  assert_false(etls_engine_session_reused(duo.engine));
  assert_true(stored(store) > before);
  assert_int_equal(
      etls_engine_use_store(duo.engine, store, "key", 3, true, NOW, &duo.error),
      ETLS_ERR_USAGE);
  duo_free(&duo);
  etls_session_store_free(store);
}

/* ---- verdicts and their end ------------------------------------------------
 */

static void verdicts_are_inherited(void **state) {
  (void)state;
  EACH_VERSION(version) {
    struct duo duo = duo_new(version);
    struct etls_session_store *store = store_new();
    switch_context(&duo, context_for(duo.cache, NULL, version, version));
    assert_false(connect_with(&duo, store, "not strict"));
    long verdict = etls_engine_verify_result(duo.engine);
    assert_string_equal(etls_verify_code_name(verdict),
                        "UNABLE_TO_VERIFY_LEAF_SIGNATURE");
    for (int i = 0; i < 3; i++) {
      assert_true(connect_with(&duo, store, "not strict"));
      assert_int_equal(etls_engine_verify_result(duo.engine), verdict);
    }
    duo_free(&duo);
    etls_session_store_free(store);
  }
}

static void dates_are_checked_again(void **state) {
  (void)state;
  EACH_VERSION(version) {
    struct duo duo = duo_new(version);
    struct etls_session_store *store = store_new();
    connect_with(&duo, store, "key");
    assert_true(connect_with(&duo, store, "key"));
    int64_t now = (int64_t)time(NULL);
    struct etls_session_bound *bound = &duo.engine->resume.bound;
    bound->not_after = now;
    assert_int_equal(etls_engine_verify_result(duo.engine),
                     X509_V_ERR_CERT_HAS_EXPIRED);
    bound->not_after = now + 100;
    bound->not_before = now + 50;
    assert_int_equal(etls_engine_verify_result(duo.engine),
                     X509_V_ERR_CERT_NOT_YET_VALID);
    duo_free(&duo);
    etls_session_store_free(store);
  }
}

/* Whether the store has a session for this context and key at `wall`. Takes
 * it, if so. */
static bool has_at(struct duo *duo, struct etls_session_store *store,
                   const char *text, int64_t wall) {
  uint8_t key[100];
  struct etls_session_offer offer;
  size_t len = strlen(text);
  memcpy(key, etls_context_get0_digest(duo->context), ETLS_DIGEST_LEN);
  memcpy(key + ETLS_DIGEST_LEN, text, len);
  if (!etls_session_store_take(store, key, ETLS_DIGEST_LEN + len, NOW, wall,
                               &offer))
    return false;
  SSL_SESSION_free(offer.session);
  return true;
}

static void resumption_ends_with_the_first_certificate(void **state) {
  (void)state;
  EACH_VERSION(version) {
    /* The leaf, the intermediate, the root, the CRL: one of them ends. */
    for (int which = 0; which < 4; which++) {
      long ends[4] = {5000, 5000, 5000, 5000};
      ends[which] = 600;
      struct duo duo = duo_new(version);
      struct etls_session_store *store = store_new();
      struct identity root = identity_new("R", NULL, true, -60, ends[2]);
      struct identity middle = identity_new("M", &root, true, -60, ends[1]);
      struct identity leaf = identity_new("L", &middle, false, -60, ends[0]);
      SSL_CTX_free(duo.ctx);
      duo.ctx = server_ctx(&leaf, middle.cert, version);
      struct etls_config *config = config_new();
      struct blob ca = identity_cert_pem(&root);
      struct blob crls[] = {identity_crl_pem(&root, 5000),
                            identity_crl_pem(&middle, ends[3])};
      config_blob(config, ETLS_OPTION_CA, &ca);
      for (int i = 0; which == 3 && i < 2; i++)
        config_blob(config, ETLS_OPTION_CRL, &crls[i]);
      switch_context(&duo, context_of(duo.cache, config));
      /* A chain of resumptions: each inherits the end. */
      connect_with(&duo, store, "key");
      assert_int_equal(etls_engine_verify_result(duo.engine), X509_V_OK);
      for (int i = 0; i < 3; i++)
        assert_true(connect_with(&duo, store, "key"));
      int64_t now = (int64_t)time(NULL);
      assert_true(has_at(&duo, store, "key", now + 590));
      assert_false(has_at(&duo, store, "key", now + 601));
      blob_free(&ca);
      blob_free(&crls[0]);
      blob_free(&crls[1]);
      identity_free(&root);
      identity_free(&middle);
      identity_free(&leaf);
      duo_free(&duo);
      etls_session_store_free(store);
    }
  }
}

static void expired_certificates_are_never_stored(void **state) {
  (void)state;
  EACH_VERSION(version) {
    struct duo duo = duo_new(version);
    struct etls_session_store *store = store_new();
    struct identity old = identity_new("old", &duo.ca, false, -500, -100);
    SSL_CTX_free(duo.ctx);
    duo.ctx = server_ctx(&old, NULL, version);
    for (int i = 0; i < 2; i++) {
      assert_false(connect_with(&duo, store, "not strict"));
      assert_int_equal(etls_engine_verify_result(duo.engine),
                       X509_V_ERR_CERT_HAS_EXPIRED);
    }
    assert_int_equal(stored(store), 0);
    identity_free(&old);
    duo_free(&duo);
    etls_session_store_free(store);
  }
}

int main(void) {
  support_init();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_second_connection_resumes),
      cmocka_unit_test(a_burst_uses_each_ticket_once),
      cmocka_unit_test(without_new_tickets_the_last_one_serves_on),
      cmocka_unit_test(late_tickets_are_stored_when_they_come),
      cmocka_unit_test(no_way_of_closing_poisons_the_sessions),
      cmocka_unit_test(a_donor_may_go_while_its_session_is_used),
      cmocka_unit_test(nothing_is_stored_before_it_is_accepted),
      cmocka_unit_test(keys_keep_connections_apart),
      cmocka_unit_test(contexts_keep_connections_apart),
      cmocka_unit_test(declined_sessions_are_dropped),
      cmocka_unit_test(after_a_failure_the_next_handshake_is_full),
      cmocka_unit_test(a_handshake_that_never_began_gives_its_session_back),
      cmocka_unit_test(ocsp_switches_resumption_off),
      cmocka_unit_test(another_identity_switches_resumption_off),
      cmocka_unit_test(offer_false_only_stores),
      cmocka_unit_test(verdicts_are_inherited),
      cmocka_unit_test(dates_are_checked_again),
      cmocka_unit_test(resumption_ends_with_the_first_certificate),
      cmocka_unit_test(expired_certificates_are_never_stored),
  };
  return cmocka_run_group_tests_name("session_resume", tests, NULL, NULL);
}
