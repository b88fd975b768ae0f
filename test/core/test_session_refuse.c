/*
 * Tests of session_resume.c: what is not stored, and not offered.
 */
#include "sessions.h"

#include <openssl/rand.h>
#include <stdlib.h>
#include <string.h>

static void nothing_is_stored_before_it_is_accepted(void **state) {
  (void)state;
  EACH_VERSION(version) {
    struct duo duo = duo_new(version);
    struct etls_session_store *store = sessions_store_new();
    sessions_use(&duo, store, "key");
    sessions_accept(&duo); /* too early: no effect */
    tls_open(duo.engine, duo.peer);
    tls_drain(duo.engine, duo.peer);
    assert_int_equal(sessions_stored(store), 0);
    duo_again(&duo); /* freed without having been accepted */
    assert_int_equal(sessions_stored(store), 0);
    sessions_use(&duo, store, "key");
    tls_open(duo.engine, duo.peer);
    tls_drain(duo.engine, duo.peer);
    sessions_accept(&duo);
    assert_true(sessions_stored(store) > 0);
    duo_free(&duo);
    etls_session_store_free(store);
  }
}

static void keys_keep_connections_apart(void **state) {
  (void)state;
  EACH_VERSION(version) {
    struct duo duo = duo_new(version);
    struct etls_session_store *store = sessions_store_new();
    sessions_connect(&duo, store, "strict/hosta");
    assert_false(sessions_connect(&duo, store, "strict/hostb"));
    assert_false(sessions_connect(&duo, store, "Strict/hosta"));
    assert_false(sessions_connect(&duo, store, "strict/hosta/"));
    assert_false(sessions_connect(&duo, store, ""));
    assert_true(sessions_connect(&duo, store, "strict/hosta"));
    assert_true(sessions_connect(&duo, store, ""));
    sessions_assert(store, 2, 2, 0);
    duo_free(&duo);
    etls_session_store_free(store);
  }
}

static void contexts_keep_connections_apart(void **state) {
  (void)state;
  EACH_VERSION(version) {
    struct duo duo = duo_new(version);
    struct etls_session_store *store = sessions_store_new();
    struct identity other_ca = identity_new("Test CA", NULL, true, -60, 3600);
    sessions_connect(&duo, store, "key");
    duo_switch_context(&duo,
                       context_for(duo.cache, &other_ca, version, version));
    assert_false(sessions_connect(&duo, store, "key"));
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
    duo_switch_context(&duo, context_of(duo.cache, config));
    assert_false(sessions_connect(&duo, store, "key"));
    assert_true(sessions_connect(&duo, store, "key"));
    duo_switch_context(&duo, context_for(duo.cache, &duo.ca, version, version));
    assert_true(sessions_connect(&duo, store, "key"));
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
    struct etls_session_store *store = sessions_store_new();
    sessions_connect(&duo, store, "key");
    uint64_t before = sessions_stored(store);
    change_ticket_keys(duo.ctx);
    duo_again(&duo);
    sessions_use(&duo, store, "key");
    tls_open(duo.engine, duo.peer); /* a full handshake, no failure */
    assert_false(etls_engine_session_reused(duo.engine));
    assert_int_equal(etls_engine_verify_result(duo.engine), X509_V_OK);
    sessions_accept(&duo);
    sessions_assert(store, 1, 0, 1);
    tls_drain(duo.engine, duo.peer);
    assert_true(sessions_stored(store) <= before + 2);
    while (!sessions_connect(&duo, store, "key"))
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
      struct etls_session_store *store = sessions_store_new();
      sessions_connect(&duo, store, "key");
      sessions_connect(&duo, store, "other");
      duo_again(&duo);
      sessions_use(&duo, store, "key");
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
      sessions_assert(store, 1, 0, 1);
      assert_false(sessions_connect(&duo, store, "key"));
      assert_true(sessions_connect(&duo, store, "key"));
      assert_true(sessions_connect(&duo, store, "other"));
      duo_free(&duo);
      etls_session_store_free(store);
    }
  }
}

static void a_handshake_that_never_began_gives_its_session_back(void **state) {
  (void)state;
  EACH_VERSION(version) {
    struct duo duo = duo_new(version);
    struct etls_session_store *store = sessions_store_new();
    sessions_connect(&duo, store, "key");
    uint64_t before = sessions_stored(store);
    for (int i = 0; i < 5; i++) {
      duo_again(&duo);
      sessions_use(&duo, store, "key");
    }
    duo_again(&duo);
    assert_int_equal(sessions_stored(store), before);
    sessions_assert(store, 0, 0, 0);
    assert_true(sessions_connect(&duo, store, "key"));
    duo_free(&duo);
    etls_session_store_free(store);
  }
}

static void ocsp_switches_resumption_off(void **state) {
  (void)state;
  EACH_VERSION(version) {
    for (int order = 0; order < 2; order++) {
      struct duo duo = duo_new(version);
      struct etls_session_store *store = sessions_store_new();
      sessions_connect(&duo, store, "key");
      uint64_t before = sessions_stored(store);
      duo_again(&duo);
      if (order == 0)
        sessions_use(&duo, store, "key");
      assert_int_equal(etls_engine_request_ocsp(duo.engine, &duo.error),
                       ETLS_OK);
      if (order == 1)
        sessions_use(&duo, store, "key");
      tls_open(duo.engine, duo.peer);
      sessions_accept(&duo);
      tls_drain(duo.engine, duo.peer);
      assert_false(etls_engine_session_reused(duo.engine));
      assert_int_equal(sessions_stored(store), before);
      sessions_assert(store, 0, 0, 0);
      duo_free(&duo);
      etls_session_store_free(store);
    }
  }
}

static void another_identity_switches_resumption_off(void **state) {
  (void)state;
  EACH_VERSION(version) {
    struct duo duo = duo_new(version);
    struct etls_session_store *store = sessions_store_new();
    struct etls_config *config = config_new();
    config_file(config, ETLS_OPTION_CERT, "client-a.crt");
    config_secret(config, ETLS_OPTION_KEY, "client-a.key", NULL);
    struct etls_context *other = context_of(duo.cache, config);
    sessions_connect(&duo, store, "key");
    uint64_t before = sessions_stored(store);
    duo_again(&duo);
    sessions_use(&duo, store, "key");
    assert_int_equal(etls_engine_use_identity_of(duo.engine, other, &duo.error),
                     ETLS_OK);
    tls_open(duo.engine, duo.peer);
    sessions_accept(&duo);
    tls_drain(duo.engine, duo.peer);
    assert_false(etls_engine_session_reused(duo.engine));
    assert_int_equal(sessions_stored(store), before);
    etls_context_release(other);
    duo_free(&duo);
    etls_session_store_free(store);
  }
}

static void offer_false_only_stores(void **state) {
  (void)state;
  struct duo duo = duo_new(TLS1_3_VERSION);
  struct etls_session_store *store = sessions_store_new();
  sessions_connect(&duo, store, "key");
  uint64_t before = sessions_stored(store);
  duo_again(&duo);
  assert_int_equal(etls_engine_use_store(duo.engine, store, "key", 3, false,
                                         SESSIONS_NOW, &duo.error),
                   ETLS_OK);
  tls_open(duo.engine, duo.peer);
  sessions_accept(&duo);
  tls_drain(duo.engine, duo.peer);
  assert_false(etls_engine_session_reused(duo.engine));
  assert_true(sessions_stored(store) > before);
  assert_int_equal(etls_engine_use_store(duo.engine, store, "key", 3, true,
                                         SESSIONS_NOW, &duo.error),
                   ETLS_ERR_USAGE);
  duo_free(&duo);
  etls_session_store_free(store);
}

int main(void) {
  support_init();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nothing_is_stored_before_it_is_accepted),
      cmocka_unit_test(keys_keep_connections_apart),
      cmocka_unit_test(contexts_keep_connections_apart),
      cmocka_unit_test(declined_sessions_are_dropped),
      cmocka_unit_test(after_a_failure_the_next_handshake_is_full),
      cmocka_unit_test(a_handshake_that_never_began_gives_its_session_back),
      cmocka_unit_test(ocsp_switches_resumption_off),
      cmocka_unit_test(another_identity_switches_resumption_off),
      cmocka_unit_test(offer_false_only_stores),
  };
  return cmocka_run_group_tests_name("session_refuse", tests, NULL, NULL);
}
