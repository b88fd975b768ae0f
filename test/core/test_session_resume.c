/*
 * Tests of session_resume.c: connections that resume. Those that must not are
 * in test_session_refuse.c, verdicts in test_session_verdict.c, sessions as
 * bytes in test_session_bytes.c.
 */
#include "engine_internal.h"
#include "sessions.h"

#include <openssl/err.h>
#include <stdlib.h>
#include <string.h>

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
    struct etls_session_store *store = sessions_store_new();
    uint8_t print[2][ETLS_DIGEST_LEN];
    assert_false(sessions_connect(&duo, store, "key"));
    assert_int_equal(etls_engine_verify_result(duo.engine), X509_V_OK);
    struct bytes first = chain_of(&duo);
    assert_true(etls_engine_peer_fingerprint(duo.engine, print[0]));
    for (uint64_t i = 1; i <= 5; i++) {
      assert_true(sessions_connect(&duo, store, "key"));
      sessions_assert(store, i, i, 0);
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

/* etls_engine_ticket() tells of it only when the peer has taken it. */
static size_t offered_ticket(const struct etls_engine *engine,
                             const uint8_t **ticket) {
  size_t len = 0;
  SSL_SESSION_get0_ticket(SSL_get0_session(engine->ssl), ticket, &len);
  return len;
}

static void a_burst_uses_each_ticket_once(void **state) {
  (void)state;
  struct duo duo = duo_new(TLS1_3_VERSION);
  struct etls_session_store *store = sessions_store_new();
  SSL_CTX_set_num_tickets(duo.ctx, 3);
  sessions_connect(&duo, store, "key");
  assert_int_equal(sessions_stored(store), 3);
  struct etls_engine *engines[32];
  struct tls_peer *peers[32];
  for (int i = 0; i < 32; i++) {
    engines[i] = etls_engine_new(duo.context, duo.pool, &duo.error);
    peers[i] = tls_peer_new(duo.ctx);
    assert_int_equal(etls_engine_use_store(engines[i], store, "key", 3, true,
                                           SESSIONS_NOW, &duo.error),
                     ETLS_OK);
  }
  for (int i = 0; i < 32; i++) {
    const uint8_t *ticket = NULL;
    const uint8_t *other = NULL;
    size_t len = offered_ticket(engines[i], &ticket);
    assert_true(len > 0);
    assert_int_equal(etls_engine_ticket(engines[i], &other), 0);
    for (int j = 0; j < i && i < 3; j++)
      assert_true(offered_ticket(engines[j], &other) != len ||
                  memcmp(ticket, other, len) != 0);
    tls_open(engines[i], peers[i]);
    assert_true(etls_engine_session_reused(engines[i]));
    etls_engine_accept_sessions(engines[i], SESSIONS_NOW);
  }
  sessions_assert(store, 32, 32, 0);
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
  struct etls_session_store *store = sessions_store_new();
  sessions_connect(&duo, store, "key");
  SSL_CTX_set_num_tickets(duo.ctx, 0);
  for (int i = 0; i < 10; i++)
    assert_true(sessions_connect(&duo, store, "key"));
  duo_free(&duo);
  etls_session_store_free(store);
}

static void late_tickets_are_stored_when_they_come(void **state) {
  (void)state;
  struct duo duo = duo_new(TLS1_3_VERSION);
  struct etls_session_store *store = sessions_store_new();
  SSL_CTX_set_num_tickets(duo.ctx, 0);
  sessions_connect(&duo, store, "key");
  assert_int_equal(sessions_stored(store), 0);
  duo_talk(&duo);
  assert_int_equal(SSL_new_session_ticket(duo.peer->ssl), 1);
  tls_peer_write(duo.peer, "x", 1);
  tls_drain(duo.engine, duo.peer);
  assert_int_equal(sessions_stored(store), 1);
  assert_true(sessions_connect(&duo, store, "key"));
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
      struct etls_session_store *store = sessions_store_new();
      sessions_connect(&duo, store, "key");
      end_it(&duo, how);
      assert_true(sessions_connect(&duo, store, "key"));
      end_it(&duo, how); /* one that was resumed */
      assert_true(sessions_connect(&duo, store, "key"));
      duo_free(&duo);
      etls_session_store_free(store);
    }
  }
}

static void a_donor_may_go_while_its_session_is_used(void **state) {
  (void)state;
  EACH_VERSION(version) {
    struct duo duo = duo_new(version);
    struct etls_session_store *store = sessions_store_new();
    sessions_connect(&duo, store, "key");
    struct etls_engine *donor = duo.engine;
    duo.engine = NULL;
    duo_again(&duo);
    sessions_use(&duo, store, "key");
    assert_int_equal(x_handshake(duo.engine, &duo.error), ETLS_WANT_INPUT);
    etls_engine_free(donor);
    tls_open(duo.engine, duo.peer);
    assert_true(etls_engine_session_reused(duo.engine));
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
  };
  return cmocka_run_group_tests_name("session_resume", tests, NULL, NULL);
}
