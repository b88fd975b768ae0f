/*
 * Tests of session_resume.c: what a peer may try in order to be taken for
 * verified, or to leave sessions behind that were not.
 */
#include "sessions.h"

#include <string.h>

#include "engine_internal.h"

/* The server's certificate from now on, in a context of its own, which cannot
 * read earlier tickets. */
static void switch_server(struct duo *duo, const struct identity *identity) {
  SSL_CTX_free(duo->ctx);
  duo->ctx = server_ctx(identity, NULL, TLS1_2_VERSION);
}

/* The server asks for a handshake, and it comes to its end. */
static void renegotiate(struct duo *duo, bool abbreviated) {
  SSL *server = duo->peer->ssl;
  long before = SSL_total_renegotiations(server);
  if (!abbreviated)
    SSL_set_options(server, SSL_OP_NO_SESSION_RESUMPTION_ON_RENEGOTIATION);
  else
    SSL_clear_options(server, SSL_OP_NO_SESSION_RESUMPTION_ON_RENEGOTIATION);
  assert_int_equal(abbreviated ? SSL_renegotiate_abbreviated(server)
                               : SSL_renegotiate(server),
                   1);
  assert_int_equal(SSL_do_handshake(server), 1);
  tls_peer_collect(duo->peer);
  tls_drain(duo->engine, duo->peer);
  for (int i = 0; i < 4; i++) {
    tls_peer_step(duo->peer, duo->engine);
    tls_drain(duo->engine, duo->peer);
  }
  assert_int_equal(SSL_total_renegotiations(server), before + 1);
  assert_true((etls_engine_recorded(duo->engine) & ETLS_RECORDED_HANDSHAKE) !=
              0);
}

/* A session whose server was trusted, as bytes. */
static void take_good_session(struct duo *duo, struct etls_session_store *store,
                              uint8_t **der, size_t *len) {
  duo_again(duo);
  etls_engine_want_sessions(duo->engine, true);
  sessions_use(duo, store, "key");
  tls_open(duo->engine, duo->peer);
  assert_int_equal(etls_engine_verify_result(duo->engine), X509_V_OK);
  sessions_accept(duo);
  assert_int_equal(etls_engine_take_session(duo->engine, der, len, &duo->error),
                   ETLS_OK);
  assert_true(*len > 0);
}

static void a_declined_session_lends_its_verdict_to_nobody(void **state) {
  (void)state;
  /* Offered as bytes, with and without a store, and from the store. */
  for (int how = 0; how < 3; how++) {
    struct duo duo = duo_new(TLS1_2_VERSION);
    struct etls_session_store *store = sessions_store_new();
    struct identity evil = identity_new("evil", NULL, false, -60, 5000);
    uint8_t *der = NULL;
    size_t len = 0;
    take_good_session(&duo, store, &der, &len);
    switch_server(&duo, &evil);
    duo_again(&duo);
    if (how < 2)
      assert_int_equal(etls_engine_set_session(duo.engine,
                                               how == 0 ? NULL : store, der,
                                               len, &duo.error),
                       ETLS_OK);
    else
      sessions_use(&duo, store, "key");
    assert_non_null(duo.engine->resume.offer.session);
    tls_open(duo.engine, duo.peer);
    assert_false(etls_engine_session_reused(duo.engine));
    long verdict = etls_engine_verify_result(duo.engine);
    assert_int_not_equal(verdict, X509_V_OK);
    sessions_accept(&duo);
    /* Nothing was verified, but what the server shows now is "resumed". */
    renegotiate(&duo, true);
    assert_true(etls_engine_session_reused(duo.engine));
    assert_int_equal(etls_engine_verify_result(duo.engine), verdict);
    etls_clear_free(der, len);
    identity_free(&evil);
    duo_free(&duo);
    etls_session_store_free(store);
  }
}

static void
verdicts_follow_the_certificate_through_renegotiations(void **state) {
  (void)state;
  struct duo duo = duo_new(TLS1_2_VERSION);
  struct etls_session_store *store = sessions_store_new();
  struct identity evil = identity_new("evil", NULL, false, -60, 5000);
  uint8_t *der = NULL;
  size_t len = 0;
  /* Offered as bytes: so there is a store, but no key. */
  take_good_session(&duo, store, &der, &len);
  duo_again(&duo);
  assert_int_equal(
      etls_engine_set_session(duo.engine, store, der, len, &duo.error),
      ETLS_OK);
  tls_open(duo.engine, duo.peer);
  assert_true(etls_engine_session_reused(duo.engine));
  assert_int_equal(etls_engine_verify_result(duo.engine), X509_V_OK);
  sessions_accept(&duo);
  assert_int_equal(SSL_use_certificate(duo.peer->ssl, evil.cert), 1);
  assert_int_equal(SSL_use_PrivateKey(duo.peer->ssl, evil.key), 1);
  renegotiate(&duo, false);
  assert_false(etls_engine_session_reused(duo.engine));
  long verdict = etls_engine_verify_result(duo.engine);
  assert_int_not_equal(verdict, X509_V_OK);
  renegotiate(&duo, true);
  assert_true(etls_engine_session_reused(duo.engine));
  assert_int_equal(etls_engine_verify_result(duo.engine), verdict);
  etls_clear_free(der, len);
  identity_free(&evil);
  duo_free(&duo);
  etls_session_store_free(store);
}

static void what_was_refused_after_a_resumption_is_dropped(void **state) {
  (void)state;
  EACH_VERSION(version) {
    struct duo duo = duo_new(version);
    struct etls_session_store *store = sessions_store_new();
    sessions_connect(&duo, store, "key");
    assert_true(sessions_stored(store) > 0);
    duo_again(&duo);
    sessions_use(&duo, store, "key");
    tls_open(duo.engine, duo.peer);
    assert_true(etls_engine_session_reused(duo.engine));
    etls_engine_free(duo.engine); /* the caller did not like the peer */
    duo.engine = NULL;
    sessions_assert(store, 1, 0, 1);
    assert_int_equal(sessions_stored(store), 0);
    assert_false(sessions_connect(&duo, store, "key"));
    duo_free(&duo);
    etls_session_store_free(store);
  }
}

static void sessions_of_a_renegotiation_wait_for_its_verdict(void **state) {
  (void)state;
  struct duo duo = duo_new(TLS1_2_VERSION);
  struct etls_session_store *store = sessions_store_new();
  struct identity evil = identity_new("evil", NULL, false, -60, 5000);
  assert_false(sessions_connect(&duo, store, "key"));
  assert_int_equal(sessions_stored(store), 1);
  assert_int_equal(SSL_use_certificate(duo.peer->ssl, evil.cert), 1);
  assert_int_equal(SSL_use_PrivateKey(duo.peer->ssl, evil.key), 1);
  renegotiate(&duo, false);
  assert_int_not_equal(etls_engine_verify_result(duo.engine), X509_V_OK);
  assert_int_equal(sessions_stored(store), 1);
  /* Refused: nothing of it stays. */
  etls_engine_free(duo.engine);
  duo.engine = NULL;
  assert_int_equal(sessions_stored(store), 1);
  assert_true(sessions_connect(&duo, store, "key"));
  assert_int_equal(etls_engine_verify_result(duo.engine), X509_V_OK);
  /* Accepted: it is stored. */
  uint64_t before = sessions_stored(store);
  renegotiate(&duo, false);
  assert_int_equal(sessions_stored(store), before);
  sessions_accept(&duo);
  assert_int_equal(sessions_stored(store), before + 1);
  identity_free(&evil);
  duo_free(&duo);
  etls_session_store_free(store);
}

int main(void) {
  support_init();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_declined_session_lends_its_verdict_to_nobody),
      cmocka_unit_test(verdicts_follow_the_certificate_through_renegotiations),
      cmocka_unit_test(what_was_refused_after_a_resumption_is_dropped),
      cmocka_unit_test(sessions_of_a_renegotiation_wait_for_its_verdict),
  };
  return cmocka_run_group_tests_name("session_attack", tests, NULL, NULL);
}
