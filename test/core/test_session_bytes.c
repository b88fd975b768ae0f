/*
 * Tests of session_resume.c: sessions as bytes, which applications keep and
 * pass to etls_engine_set_session. They may come from this store, from another
 * TLS client, or from an attacker.
 */
#include "sessions.h"

#include <openssl/err.h>
#include <stdlib.h>
#include <string.h>

/* The next recorded session as bytes; len 0: none. */
static struct bytes taken(struct duo *duo) {
  struct bytes der = {NULL, 0};
  stale_entry();
  assert_int_equal(
      etls_engine_take_session(duo->engine, &der.data, &der.len, &duo->error),
      ETLS_OK);
  assert_queue_empty();
  return der;
}

/* Opens a connection with this store, and gives its session. */
static struct bytes session_of(struct duo *duo,
                               struct etls_session_store *store) {
  duo_again(duo);
  etls_engine_want_sessions(duo->engine, true);
  assert_int_equal(etls_engine_use_store(duo->engine, store, "key", 3, false,
                                         SESSIONS_NOW, &duo->error),
                   ETLS_OK);
  tls_open(duo->engine, duo->peer);
  tls_drain(duo->engine, duo->peer);
  struct bytes der = taken(duo);
  assert_true(der.len > 0);
  return der;
}

static enum etls_status set_session(struct duo *duo,
                                    struct etls_session_store *store,
                                    const struct bytes *der) {
  stale_entry();
  enum etls_status status = etls_engine_set_session(
      duo->engine, store, der->data, der->len, &duo->error);
  assert_queue_empty();
  return status;
}

/* A new connection with this session. True if it was resumed. */
static bool connect_with(struct duo *duo, struct etls_session_store *store,
                         const struct bytes *der) {
  duo_again(duo);
  assert_int_equal(set_session(duo, store, der), ETLS_OK);
  tls_open(duo->engine, duo->peer);
  return etls_engine_session_reused(duo->engine);
}

static void count_der(void *arg, const uint8_t *der, size_t len) {
  (void)der;
  (void)len;
  *(int *)arg += 1;
}

static int chain_length(struct duo *duo) {
  int count = 0;
  bool self_signed = false;
  assert_int_equal(
      etls_engine_visit_peer_certificates(duo->engine, true, count_der, &count,
                                          &self_signed, &duo->error),
      ETLS_OK);
  return count;
}

static void own_sessions_resume_with_their_chain(void **state) {
  (void)state;
  EACH_VERSION(version) {
    struct duo duo = duo_new(version);
    struct etls_session_store *store = sessions_store_new();
    struct identity middle = identity_new("M", &duo.ca, true, -60, 5000);
    struct identity leaf = identity_new("L", &middle, false, -60, 5000);
    SSL_CTX_free(duo.ctx);
    duo.ctx = server_ctx(&leaf, middle.cert, version);
    struct bytes der = session_of(&duo, store);
    for (int i = 0; i < 3; i++) {
      assert_true(connect_with(&duo, store, &der));
      assert_int_equal(etls_engine_verify_result(duo.engine), X509_V_OK);
      assert_int_equal(chain_length(&duo), 3);
    }
    /* Without the store the intermediate is missing: a full handshake. */
    assert_false(connect_with(&duo, NULL, &der));
    assert_int_equal(etls_engine_verify_result(duo.engine), X509_V_OK);
    struct etls_session_store *other = sessions_store_new();
    assert_false(connect_with(&duo, other, &der));
    etls_session_store_free(other);
    free(der.data);
    identity_free(&middle);
    identity_free(&leaf);
    duo_free(&duo);
    etls_session_store_free(store);
  }
}

static void get1_session_resumes_too(void **state) {
  (void)state;
  EACH_VERSION(version) {
    struct duo duo = duo_new(version);
    struct etls_session_store *store = sessions_store_new();
    struct bytes none = {NULL, 99};
    assert_int_equal(
        etls_engine_get1_session(duo.engine, &none.data, &none.len, &duo.error),
        ETLS_OK);
    assert_int_equal(none.len, 0);
    assert_null(none.data);
    struct bytes der = session_of(&duo, store);
    free(der.data);
    assert_int_equal(
        etls_engine_get1_session(duo.engine, &der.data, &der.len, &duo.error),
        ETLS_OK);
    assert_queue_empty();
    assert_true(der.len > 0);
    const uint8_t *ticket = NULL;
    assert_true(etls_engine_ticket(duo.engine, &ticket) > 0);
    assert_true(connect_with(&duo, store, &der));
    assert_int_equal(etls_engine_verify_result(duo.engine), X509_V_OK);
    etls_free(der.data);
    duo_free(&duo);
    etls_session_store_free(store);
  }
}

static void failed_verdicts_travel_along(void **state) {
  (void)state;
  EACH_VERSION(version) {
    struct duo duo = duo_new(version);
    struct etls_session_store *store = sessions_store_new();
    duo_switch_context(&duo, context_for(duo.cache, NULL, version, version));
    struct bytes der = session_of(&duo, store);
    long verdict = etls_engine_verify_result(duo.engine);
    assert_int_not_equal(verdict, X509_V_OK);
    assert_true(connect_with(&duo, store, &der));
    assert_int_equal(etls_engine_verify_result(duo.engine), verdict);
    /* Unknown to the store: not offered, the handshake says the same. */
    assert_false(connect_with(&duo, NULL, &der));
    assert_int_equal(etls_engine_verify_result(duo.engine), verdict);
    free(der.data);
    duo_free(&duo);
    etls_session_store_free(store);
  }
}

static void other_contexts_verify_what_they_are_given(void **state) {
  (void)state;
  EACH_VERSION(version) {
    struct duo duo = duo_new(version);
    struct etls_session_store *store = sessions_store_new();
    struct identity other_ca = identity_new("Test CA", NULL, true, -60, 5000);
    struct etls_context *trusting = duo.context;
    etls_context_up_ref(trusting);
    struct bytes der = session_of(&duo, store);
    /* Trusts somebody else of the same name: the session is not offered. */
    duo_switch_context(&duo,
                       context_for(duo.cache, &other_ca, version, version));
    assert_false(connect_with(&duo, store, &der));
    assert_int_not_equal(etls_engine_verify_result(duo.engine), X509_V_OK);
    free(der.data);
    /* The other way round: made without trust, offered with trust. */
    der = session_of(&duo, store);
    assert_int_not_equal(etls_engine_verify_result(duo.engine), X509_V_OK);
    duo_switch_context(&duo, trusting);
    assert_true(connect_with(&duo, store, &der));
    assert_int_equal(etls_engine_verify_result(duo.engine), X509_V_OK);
    assert_int_equal(chain_length(&duo), 2);
    free(der.data);
    identity_free(&other_ca);
    duo_free(&duo);
    etls_session_store_free(store);
  }
}

static int keep_session(SSL *ssl, SSL_SESSION *session) {
  SSL_SESSION **kept = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
  SSL_SESSION_free(*kept);
  *kept = session;
  return 1;
}

/* The session that a plain OpenSSL client (as in node:tls) gets. */
static struct bytes plain_client_session(struct duo *duo, int version) {
  SSL_SESSION *kept = NULL;
  SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
  SSL_CTX_set_max_proto_version(ctx, version);
  SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_CLIENT);
  SSL_CTX_sess_set_new_cb(ctx, keep_session);
  SSL_CTX_set_app_data(ctx, &kept);
  SSL *ssl = SSL_new(ctx);
  SSL_set_bio(ssl, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
  SSL_set_connect_state(ssl);
  struct tls_peer *peer = tls_peer_new(duo->ctx);
  uint8_t buffer[20000];
  for (int i = 0; i < 5; i++) {
    SSL_read(ssl, buffer, 1);
    int n = BIO_read(SSL_get_wbio(ssl), buffer, sizeof(buffer));
    if (n > 0)
      BIO_write(peer->in, buffer, n);
    SSL_read(peer->ssl, buffer, 1);
    n = BIO_read(peer->out, buffer, sizeof(buffer));
    if (n > 0)
      BIO_write(SSL_get_rbio(ssl), buffer, n);
  }
  ERR_clear_error();
  assert_non_null(kept);
  int len = i2d_SSL_SESSION(kept, NULL);
  struct bytes der = {malloc((size_t)len), (size_t)len};
  unsigned char *at = der.data;
  i2d_SSL_SESSION(kept, &at);
  SSL_SESSION_free(kept);
  SSL_free(ssl);
  SSL_CTX_free(ctx);
  tls_peer_free(peer);
  return der;
}

static void sessions_of_other_clients_resume(void **state) {
  (void)state;
  EACH_VERSION(version) {
    struct duo duo = duo_new(version);
    struct etls_session_store *store = sessions_store_new();
    struct bytes der = plain_client_session(&duo, version);
    assert_true(connect_with(&duo, store, &der));
    assert_int_equal(etls_engine_verify_result(duo.engine), X509_V_OK);
    etls_engine_accept_sessions(duo.engine, SESSIONS_NOW);
    struct etls_session_counters counters;
    etls_session_store_get_counters(store, &counters);
    assert_int_equal(counters.offered, 1);
    assert_int_equal(counters.resumed, 1);
    assert_true(connect_with(&duo, NULL, &der)); /* no store at all */
    free(der.data);
    duo_free(&duo);
    etls_session_store_free(store);
  }
}

static void their_tickets_go_into_the_store_with_our_verdict(void **state) {
  (void)state;
  struct duo duo = duo_new(TLS1_3_VERSION);
  struct etls_session_store *store = sessions_store_new();
  struct bytes der = plain_client_session(&duo, TLS1_3_VERSION);
  duo_again(&duo);
  assert_int_equal(set_session(&duo, store, &der), ETLS_OK);
  assert_int_equal(etls_engine_use_store(duo.engine, store, "key", 3, true,
                                         SESSIONS_NOW, &duo.error),
                   ETLS_OK);
  tls_open(duo.engine, duo.peer);
  assert_true(etls_engine_session_reused(duo.engine));
  etls_engine_accept_sessions(duo.engine, SESSIONS_NOW);
  tls_drain(duo.engine, duo.peer);
  duo_again(&duo);
  assert_int_equal(etls_engine_use_store(duo.engine, store, "key", 3, true,
                                         SESSIONS_NOW, &duo.error),
                   ETLS_OK);
  tls_open(duo.engine, duo.peer);
  assert_true(etls_engine_session_reused(duo.engine));
  /* The plain client had verified nothing; our verification counts. */
  assert_int_equal(etls_engine_verify_result(duo.engine), X509_V_OK);
  free(der.data);
  duo_free(&duo);
  etls_session_store_free(store);
}

static void expired_certificates_in_sessions_are_not_offered(void **state) {
  (void)state;
  EACH_VERSION(version) {
    struct duo duo = duo_new(version);
    struct identity old = identity_new("old", &duo.ca, false, -500, -100);
    SSL_CTX_free(duo.ctx);
    duo.ctx = server_ctx(&old, NULL, version);
    struct etls_session_store *store = sessions_store_new();
    struct bytes der = plain_client_session(&duo, version);
    assert_false(connect_with(&duo, store, &der));
    assert_int_equal(etls_engine_verify_result(duo.engine),
                     X509_V_ERR_CERT_HAS_EXPIRED);
    free(der.data);
    der = session_of(&duo, store);
    assert_false(connect_with(&duo, store, &der));
    free(der.data);
    identity_free(&old);
    duo_free(&duo);
    etls_session_store_free(store);
  }
}

static void bytes_that_are_no_session_are_an_error(void **state) {
  (void)state;
  struct duo duo = duo_new(TLS1_3_VERSION);
  struct etls_session_store *store = sessions_store_new();
  struct bytes der = session_of(&duo, store);
  duo_again(&duo);
  static uint8_t junk[] = "abcd";
  const struct bytes wrong[] = {{junk, 0}, {junk, 4}, {der.data, der.len / 2}};
  for (size_t i = 0; i < 3; i++) {
    etls_error_init(&duo.error);
    assert_int_equal(set_session(&duo, store, &wrong[i]), ETLS_ERR_TLS);
  }
  tls_open(duo.engine, duo.peer); /* no harm done */
  etls_error_init(&duo.error);
  assert_int_equal(set_session(&duo, store, &der), ETLS_ERR_USAGE);
  free(der.data);
  duo_free(&duo);
  etls_session_store_free(store);
}

static void forged_bytes_never_make_a_good_verdict(void **state) {
  (void)state;
  struct duo duo = duo_new(TLS1_2_VERSION);
  struct etls_session_store *store = sessions_store_new();
  struct bytes der = session_of(&duo, store);
  int good = 0;
  for (size_t i = 0; i < der.len; i++) {
    duo_again(&duo);
    etls_error_init(&duo.error);
    der.data[i] ^= 0x55;
    (void)set_session(&duo, store, &der);
    der.data[i] ^= 0x55;
    if (tls_connect(duo.engine, duo.peer, 0, &duo.error) == ETLS_OK &&
        etls_engine_verify_result(duo.engine) == X509_V_OK) {
      /* Then it is the server's certificate that was verified. */
      uint8_t print[ETLS_DIGEST_LEN];
      uint8_t expected[ETLS_DIGEST_LEN];
      unsigned int len = 0;
      assert_true(etls_engine_peer_fingerprint(duo.engine, print));
      X509_digest(duo.leaf.cert, EVP_sha256(), expected, &len);
      assert_memory_equal(print, expected, sizeof(print));
      good++;
    }
  }
  assert_true(good > 0);
  free(der.data);
  duo_free(&duo);
  etls_session_store_free(store);
}

static void an_explicit_session_wins_over_the_store(void **state) {
  (void)state;
  EACH_VERSION(version) {
    struct duo duo = duo_new(version);
    struct etls_session_store *store = sessions_store_new();
    struct bytes der = session_of(&duo, store);
    etls_engine_accept_sessions(duo.engine, SESSIONS_NOW);
    struct etls_session_counters before;
    struct etls_session_counters after;
    etls_session_store_get_counters(store, &before);
    assert_true(before.stored > 0);
    for (int order = 0; order < 2; order++) {
      duo_again(&duo);
      if (order == 1)
        assert_int_equal(set_session(&duo, store, &der), ETLS_OK);
      assert_int_equal(etls_engine_use_store(duo.engine, store, "key", 3, true,
                                             SESSIONS_NOW, &duo.error),
                       ETLS_OK);
      if (order == 0)
        assert_int_equal(set_session(&duo, store, &der), ETLS_OK);
      tls_open(duo.engine, duo.peer);
      assert_true(etls_engine_session_reused(duo.engine));
      etls_session_store_get_counters(store, &after);
      assert_int_equal(after.stored, before.stored); /* all still there */
    }
    free(der.data);
    duo_free(&duo);
    etls_session_store_free(store);
  }
}

static void ocsp_refuses_explicit_sessions(void **state) {
  (void)state;
  EACH_VERSION(version) {
    struct duo duo = duo_new(version);
    struct etls_session_store *store = sessions_store_new();
    struct bytes own = session_of(&duo, store);
    struct bytes foreign = plain_client_session(&duo, version);
    const struct bytes *ders[] = {&own, &foreign};
    for (int i = 0; i < 4; i++) {
      duo_again(&duo);
      if (i >= 2)
        assert_int_equal(set_session(&duo, store, ders[i % 2]), ETLS_OK);
      assert_int_equal(etls_engine_request_ocsp(duo.engine, &duo.error),
                       ETLS_OK);
      if (i < 2)
        assert_int_equal(set_session(&duo, store, ders[i % 2]), ETLS_OK);
      tls_open(duo.engine, duo.peer);
      assert_false(etls_engine_session_reused(duo.engine));
    }
    free(own.data);
    free(foreign.data);
    duo_free(&duo);
    etls_session_store_free(store);
  }
}

static void sessions_of_another_version_are_no_fault(void **state) {
  (void)state;
  struct duo duo = duo_new(TLS1_3_VERSION);
  struct etls_session_store *store = sessions_store_new();
  struct bytes der = session_of(&duo, store);
  SSL_CTX_free(duo.ctx);
  duo.ctx = server_ctx(&duo.leaf, NULL, TLS1_2_VERSION);
  duo_switch_context(
      &duo, context_for(duo.cache, &duo.ca, TLS1_2_VERSION, TLS1_2_VERSION));
  assert_false(connect_with(&duo, store, &der));
  assert_int_equal(etls_engine_verify_result(duo.engine), X509_V_OK);
  free(der.data);
  duo_free(&duo);
  etls_session_store_free(store);
}

static void any_allocation_may_fail(void **state) {
  (void)state;
  tls_stale_entries = false;
  EACH_VERSION(version) {
    struct duo duo = duo_new(version);
    struct etls_session_store *maker = sessions_store_new();
    struct bytes der = session_of(&duo, maker);
    bool fired = true;
    for (unsigned long n = 1; fired; n += n < 100 ? 1 : 7) {
      struct etls_session_store *store = sessions_store_new();
      duo_again(&duo);
      struct etls_engine *engine = duo.engine;
      etls_engine_want_sessions(engine, true);
      fail_at(n, FAIL_ALL);
      enum etls_status status =
          etls_engine_set_session(engine, store, der.data, der.len, &duo.error);
      assert_queue_empty();
      if (status >= 0)
        status = etls_engine_use_store(engine, store, "key", 3, true,
                                       SESSIONS_NOW, &duo.error);
      assert_queue_empty();
      for (int i = 0; i < 4 && status >= 0; i++) {
        uint8_t buffer[100];
        size_t got = 0;
        status = etls_engine_handshake(engine, &duo.error);
        fail_pause();
        tls_peer_step(duo.peer, engine);
        fail_resume();
        if (status == ETLS_OK) {
          etls_engine_accept_sessions(engine, SESSIONS_NOW);
          status = etls_engine_read(engine, buffer, 100, &got, &duo.error);
        }
        if (status >= 0)
          status =
              etls_engine_feed(engine, duo.peer->wire.data, duo.peer->wire.len);
        if (status >= 0)
          status = etls_engine_keep_input(engine);
        bytes_drop(&duo.peer->wire, duo.peer->wire.len);
      }
      struct bytes again = {NULL, 0};
      struct etls_error error;
      etls_error_init(&error);
      status =
          etls_engine_take_session(engine, &again.data, &again.len, &error);
      assert_true(status < 0 ? again.data == NULL : true);
      etls_free(again.data);
      etls_engine_free(engine);
      duo.engine = NULL;
      assert_queue_empty();
      fired = fail_end();
      assert_true(fired || again.len > 0 || version == TLS1_2_VERSION);
      etls_session_store_free(store);
    }
    free(der.data);
    duo_free(&duo);
    etls_session_store_free(maker);
  }
  tls_stale_entries = true;
}

int main(void) {
  support_init();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(own_sessions_resume_with_their_chain),
      cmocka_unit_test(get1_session_resumes_too),
      cmocka_unit_test(failed_verdicts_travel_along),
      cmocka_unit_test(other_contexts_verify_what_they_are_given),
      cmocka_unit_test(sessions_of_other_clients_resume),
      cmocka_unit_test(their_tickets_go_into_the_store_with_our_verdict),
      cmocka_unit_test(expired_certificates_in_sessions_are_not_offered),
      cmocka_unit_test(bytes_that_are_no_session_are_an_error),
      cmocka_unit_test(forged_bytes_never_make_a_good_verdict),
      cmocka_unit_test(an_explicit_session_wins_over_the_store),
      cmocka_unit_test(ocsp_refuses_explicit_sessions),
      cmocka_unit_test(sessions_of_another_version_are_no_fault),
      cmocka_unit_test(any_allocation_may_fail),
  };
  return cmocka_run_group_tests_name("session_bytes", tests, NULL, NULL);
}
