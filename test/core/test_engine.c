/*
 * Tests of engine.c: the pump in the good cases, for both versions of TLS.
 * Faults are in test_engine_faults.c, options in test_engine_options.c.
 */
#include "tls_peer.h"

#include <openssl/err.h>
#include <stdlib.h>
#include <string.h>

#define EACH_VERSION(version)                                                  \
  for (int version = TLS1_2_VERSION; version <= TLS1_3_VERSION; version++)

static void a_connection_goes_through_its_states(void **state) {
  (void)state;
  EACH_VERSION(version) {
    struct duo duo = duo_new(version);
    assert_int_equal(etls_engine_state(duo.engine), ETLS_STATE_IDLE);
    assert_int_equal(etls_context_cache_live_engines(duo.cache), 1);
    assert_int_equal(x_handshake(duo.engine, &duo.error), ETLS_WANT_INPUT);
    assert_int_equal(etls_engine_state(duo.engine), ETLS_STATE_HANDSHAKE);
    tls_open(duo.engine, duo.peer);
    assert_int_equal(etls_engine_state(duo.engine), ETLS_STATE_OPEN);
    assert_int_equal(x_handshake(duo.engine, &duo.error), ETLS_OK);
    duo_talk(&duo);
    assert_int_equal(x_shutdown(duo.engine, &duo.error), ETLS_OK);
    assert_int_equal(etls_engine_state(duo.engine), ETLS_STATE_SHUT_SENT);
    assert_int_equal(x_shutdown(duo.engine, &duo.error), ETLS_OK);
    tls_peer_step(duo.peer, duo.engine);
    assert_true(duo.peer->closed);
    assert_int_equal(duo.peer->error, 0);
    SSL_shutdown(duo.peer->ssl);
    tls_peer_collect(duo.peer);
    struct bytes got = {NULL, 0};
    assert_int_equal(tls_read(duo.engine, duo.peer, 0, &got, &duo.error),
                     ETLS_END);
    assert_int_equal(etls_engine_state(duo.engine), ETLS_STATE_CLOSED);
    assert_int_equal(got.len, 0);
    assert_int_equal(duo.error.status, ETLS_OK);
    duo_free(&duo);
  }
}

static void states_have_names(void **state) {
  (void)state;
  static const char *const names[] = {"IDLE",      "HANDSHAKE",     "OPEN",
                                      "SHUT_SENT", "SHUT_RECEIVED", "CLOSED",
                                      "FAILED"};
  for (int i = 0; i < 7; i++)
    assert_string_equal(etls_state_name((enum etls_state)i), names[i]);
}

static void input_may_come_byte_by_byte(void **state) {
  (void)state;
  EACH_VERSION(version) {
    struct duo duo = duo_new(version);
    assert_int_equal(tls_connect(duo.engine, duo.peer, 1, &duo.error), ETLS_OK);
    tls_peer_step(duo.peer, duo.engine);
    tls_peer_write(duo.peer, "byte by byte", 12);
    struct bytes got = {NULL, 0};
    assert_int_equal(tls_read(duo.engine, duo.peer, 1, &got, &duo.error),
                     ETLS_WANT_INPUT);
    assert_int_equal(got.len, 12);
    assert_memory_equal(got.data, "byte by byte", 12);
    assert_int_equal(etls_engine_input_pending(duo.engine), 0);
    free(got.data);
    duo_free(&duo);
  }
}

/* Gives the engine all that is on the wire, without reading it. */
static void feed_wire(struct duo *duo) {
  assert_int_equal(
      x_feed(duo->engine, duo->peer->wire.data, duo->peer->wire.len), ETLS_OK);
  bytes_drop(&duo->peer->wire, duo->peer->wire.len);
}

static void handshake_returns_before_data_is_read(void **state) {
  (void)state;
  EACH_VERSION(version) {
    struct duo duo = duo_new(version);
    struct tls_peer *peer = duo.peer;
    uint8_t buffer[100];
    size_t n = 0;
    const uint8_t *out = NULL;
    assert_int_equal(x_handshake(duo.engine, &duo.error), ETLS_WANT_INPUT);
    if (version == TLS1_2_VERSION) {
      tls_peer_step(peer, duo.engine);
      feed_wire(&duo);
      assert_int_equal(x_handshake(duo.engine, &duo.error), ETLS_WANT_INPUT);
      tls_peer_step(peer, duo.engine);
      tls_peer_write(peer, "early bird", 10);
    } else {
      /* A server may send data before it has our Finished. */
      size_t len = etls_engine_output(duo.engine, &out);
      assert_int_equal(BIO_write(peer->in, out, (int)len), len);
      etls_engine_consume_output(duo.engine, len);
      assert_int_equal(SSL_read_early_data(peer->ssl, buffer, 1, &n),
                       SSL_READ_EARLY_DATA_FINISH);
      assert_int_equal(SSL_write_early_data(peer->ssl, "early bird", 10, &n),
                       1);
      tls_peer_collect(peer);
    }
    feed_wire(&duo);
    assert_int_equal(x_handshake(duo.engine, &duo.error), ETLS_OK);
    assert_int_equal(x_read(duo.engine, buffer, sizeof(buffer), &n, &duo.error),
                     ETLS_OK);
    assert_int_equal(n, 10);
    assert_memory_equal(buffer, "early bird", 10);
    duo_free(&duo);
  }
}

static void finished_waits_for_the_first_write(void **state) {
  (void)state;
  struct duo duo = duo_new(TLS1_3_VERSION);
  assert_int_equal(tls_connect(duo.engine, duo.peer, 0, &duo.error), ETLS_OK);
  const uint8_t *data = NULL;
  size_t finished = etls_engine_output(duo.engine, &data);
  assert_true(finished > 0);
  size_t n = 0;
  assert_int_equal(x_write(duo.engine, "first", 5, &n, &duo.error), ETLS_OK);
  assert_true(etls_engine_output(duo.engine, &data) > finished + 5);
  tls_peer_step(duo.peer, duo.engine);
  assert_int_equal(duo.peer->received.len, 5);
  duo_free(&duo);
}

static void big_writes_stop_at_the_high_mark(void **state) {
  (void)state;
  EACH_VERSION(version) {
    struct duo duo = duo_new(version);
    tls_open(duo.engine, duo.peer);
    size_t size = 3000000;
    uint8_t *data = malloc(size);
    assert_non_null(data);
    for (size_t i = 0; i < size; i++)
      data[i] = (uint8_t)(i * 7 + i / 977);
    size_t sent = 0;
    size_t stops = 0;
    while (sent < size) {
      /* Each time from another address, which is gone afterwards. */
      uint8_t *copy = malloc(size - sent);
      assert_non_null(copy);
      memcpy(copy, data + sent, size - sent);
      size_t n = 0;
      enum etls_status status =
          x_write(duo.engine, copy, size - sent, &n, &duo.error);
      free(copy);
      sent += n;
      const uint8_t *out = NULL;
      size_t pending = etls_engine_output(duo.engine, &out);
      assert_int_equal(status, sent < size ? ETLS_WANT_OUTPUT : ETLS_OK);
      if (status == ETLS_WANT_OUTPUT) {
        stops++;
        assert_true(pending >= ETLS_OUTPUT_HIGH);
        assert_true(pending < ETLS_OUTPUT_HIGH + 17000);
        assert_int_equal(x_write(duo.engine, data + sent, 1, &n, &duo.error),
                         ETLS_WANT_OUTPUT);
        assert_int_equal(n, 0);
      }
      tls_peer_step(duo.peer, duo.engine);
    }
    assert_true(stops > 5);
    assert_int_equal(duo.peer->received.len, size);
    assert_memory_equal(duo.peer->received.data, data, size);
    free(data);
    duo_free(&duo);
  }
}

static void reads_join_records_and_split_them(void **state) {
  (void)state;
  EACH_VERSION(version) {
    struct duo duo = duo_new(version);
    tls_open(duo.engine, duo.peer);
    tls_drain(duo.engine, duo.peer);
    for (int i = 0; i < 10; i++)
      tls_peer_write(duo.peer, "0123456789", 10);
    feed_wire(&duo);
    uint8_t buffer[95];
    size_t n = 0;
    assert_int_equal(x_read(duo.engine, buffer, sizeof(buffer), &n, &duo.error),
                     ETLS_OK);
    assert_int_equal(n, 95);
    assert_int_equal(x_read(duo.engine, buffer, sizeof(buffer), &n, &duo.error),
                     ETLS_OK);
    assert_int_equal(n, 5);
    assert_memory_equal(buffer, "56789", 5);
    assert_int_equal(x_read(duo.engine, buffer, sizeof(buffer), &n, &duo.error),
                     ETLS_WANT_INPUT);
    assert_int_equal(n, 0);
    duo_free(&duo);
  }
}

static void lent_input_need_not_be_consumed_at_once(void **state) {
  (void)state;
  struct duo duo = duo_new(TLS1_3_VERSION);
  tls_open(duo.engine, duo.peer);
  tls_drain(duo.engine, duo.peer);
  uint8_t record[16384];
  memset(record, 'x', sizeof(record));
  for (int i = 0; i < 8; i++)
    tls_peer_write(duo.peer, record, sizeof(record));
  struct bytes wire = duo.peer->wire;
  duo.peer->wire = (struct bytes){NULL, 0};
  /* Lent in two parts; the first is only partly consumed in between. */
  assert_int_equal(etls_engine_feed(duo.engine, wire.data, 50000), ETLS_OK);
  uint8_t buffer[1000];
  size_t n = 0;
  size_t total = 0;
  assert_int_equal(x_read(duo.engine, buffer, sizeof(buffer), &n, &duo.error),
                   ETLS_OK);
  total += n;
  assert_true(etls_engine_input_pending(duo.engine) > 0);
  assert_int_equal(
      etls_engine_feed(duo.engine, wire.data + 50000, wire.len - 50000),
      ETLS_OK);
  assert_int_equal(etls_engine_keep_input(duo.engine), ETLS_OK);
  memset(wire.data, 0, wire.len);
  free(wire.data);
  while (x_read(duo.engine, buffer, sizeof(buffer), &n, &duo.error) == ETLS_OK)
    total += n;
  assert_int_equal(total, 8 * sizeof(record));
  assert_int_equal(etls_engine_input_pending(duo.engine), 0);
  duo_free(&duo);
}

static void the_peer_may_close_first(void **state) {
  (void)state;
  EACH_VERSION(version) {
    struct duo duo = duo_new(version);
    tls_open(duo.engine, duo.peer);
    tls_peer_write(duo.peer, "last words", 10);
    SSL_shutdown(duo.peer->ssl);
    tls_peer_collect(duo.peer);
    struct bytes got = {NULL, 0};
    assert_int_equal(tls_read(duo.engine, duo.peer, 0, &got, &duo.error),
                     ETLS_END);
    assert_int_equal(got.len, 10);
    free(got.data);
    assert_int_equal(etls_engine_state(duo.engine), ETLS_STATE_SHUT_RECEIVED);
    size_t n = 0;
    uint8_t buffer[10];
    assert_int_equal(x_read(duo.engine, buffer, 10, &n, &duo.error), ETLS_END);
    assert_int_equal(x_feed(duo.engine, "more", 4), ETLS_OK);
    assert_int_equal(etls_engine_input_pending(duo.engine), 0);
    /* Half-open: our direction still works. */
    assert_int_equal(x_write(duo.engine, "reply", 5, &n, &duo.error), ETLS_OK);
    assert_int_equal(x_shutdown(duo.engine, &duo.error), ETLS_OK);
    assert_int_equal(etls_engine_state(duo.engine), ETLS_STATE_CLOSED);
    const uint8_t *out = NULL;
    assert_true(etls_engine_output(duo.engine, &out) > 0);
    duo_free(&duo);
  }
}

static void a_transport_that_ends_is_an_end(void **state) {
  (void)state;
  EACH_VERSION(version) {
    struct duo duo = duo_new(version);
    tls_open(duo.engine, duo.peer);
    tls_peer_write(duo.peer, "no goodbye", 10);
    feed_wire(&duo);
    etls_engine_feed_end(duo.engine);
    assert_int_equal(etls_engine_feed(duo.engine, (const uint8_t *)"x", 1),
                     ETLS_ERR_USAGE);
    struct bytes got = {NULL, 0};
    assert_int_equal(tls_read(duo.engine, duo.peer, 0, &got, &duo.error),
                     ETLS_END);
    assert_int_equal(got.len, 10);
    free(got.data);
    assert_int_equal(etls_engine_state(duo.engine), ETLS_STATE_SHUT_RECEIVED);
    assert_int_equal(duo.error.status, ETLS_OK);
    size_t n = 0;
    assert_int_equal(x_write(duo.engine, "reply", 5, &n, &duo.error), ETLS_OK);
    duo_free(&duo);
  }
}

static void tickets_and_data_may_come_after_our_close_notify(void **state) {
  (void)state;
  struct duo duo = duo_new(TLS1_3_VERSION);
  SSL_CTX_set_num_tickets(duo.ctx, 5);
  duo_again(&duo);
  assert_int_equal(tls_connect(duo.engine, duo.peer, 0, &duo.error), ETLS_OK);
  assert_int_equal(x_shutdown(duo.engine, &duo.error), ETLS_OK);
  tls_peer_step(duo.peer, duo.engine); /* five tickets come back */
  assert_true(duo.peer->closed);
  for (int i = 0; i < 500; i++) {
    SSL_new_session_ticket(duo.peer->ssl);
    SSL_do_handshake(duo.peer->ssl);
  }
  tls_peer_write(duo.peer, "still here", 10);
  SSL_shutdown(duo.peer->ssl);
  tls_peer_collect(duo.peer);
  struct bytes got = {NULL, 0};
  assert_int_equal(tls_read(duo.engine, duo.peer, 0, &got, &duo.error),
                   ETLS_END);
  assert_int_equal(got.len, 10);
  free(got.data);
  assert_int_equal(etls_engine_state(duo.engine), ETLS_STATE_CLOSED);
  duo_free(&duo);
}

static void key_updates_are_answered(void **state) {
  (void)state;
  struct duo duo = duo_new(TLS1_3_VERSION);
  tls_open(duo.engine, duo.peer);
  tls_drain(duo.engine, duo.peer);
  assert_int_equal(SSL_key_update(duo.peer->ssl, SSL_KEY_UPDATE_REQUESTED), 1);
  assert_int_equal(SSL_do_handshake(duo.peer->ssl), 1);
  tls_peer_collect(duo.peer);
  tls_drain(duo.engine, duo.peer);
  duo_talk(&duo);
  duo_talk(&duo);
  duo_free(&duo);
}

static void the_server_may_renegotiate(void **state) {
  (void)state;
  struct duo duo = duo_new(TLS1_2_VERSION);
  tls_open(duo.engine, duo.peer);
  assert_int_equal(SSL_renegotiate(duo.peer->ssl), 1);
  assert_int_equal(SSL_do_handshake(duo.peer->ssl), 1);
  tls_peer_collect(duo.peer);
  tls_drain(duo.engine, duo.peer); /* HelloRequest in, ClientHello out */
  size_t n = 0;
  assert_int_equal(x_write(duo.engine, "x", 1, &n, &duo.error),
                   ETLS_WANT_INPUT);
  assert_int_equal(n, 0);
  assert_int_equal(x_shutdown(duo.engine, &duo.error), ETLS_WANT_INPUT);
  for (int i = 0; i < 4; i++) {
    tls_peer_step(duo.peer, duo.engine);
    tls_drain(duo.engine, duo.peer);
  }
  assert_int_equal(SSL_total_renegotiations(duo.peer->ssl), 1);
  duo_talk(&duo);
  duo_free(&duo);
}

static void the_client_may_renegotiate(void **state) {
  (void)state;
  struct duo duo = duo_new(TLS1_2_VERSION);
  assert_int_equal(etls_engine_renegotiate(duo.engine, &duo.error),
                   ETLS_ERR_USAGE);
  tls_open(duo.engine, duo.peer);
  etls_error_init(&duo.error);
  uint8_t before[64];
  uint8_t after[64];
  size_t len = etls_engine_finished(duo.engine, true, before, sizeof(before));
  assert_true(len > 0);
  assert_int_equal(etls_engine_renegotiate(duo.engine, &duo.error), ETLS_OK);
  assert_queue_empty();
  for (int i = 0; i < 4; i++) {
    tls_peer_step(duo.peer, duo.engine);
    tls_drain(duo.engine, duo.peer);
  }
  assert_int_equal(etls_engine_finished(duo.engine, true, after, sizeof(after)),
                   len);
  assert_memory_not_equal(before, after, len);
  duo_talk(&duo);
  duo_free(&duo);
}

static void tls13_refuses_to_renegotiate_and_goes_on(void **state) {
  (void)state;
  struct duo duo = duo_new(TLS1_3_VERSION);
  tls_open(duo.engine, duo.peer);
  assert_int_equal(etls_engine_renegotiate(duo.engine, &duo.error),
                   ETLS_ERR_TLS);
  assert_queue_empty();
  assert_string_equal(duo.error.ssl_code, "ERR_SSL_WRONG_SSL_VERSION");
  duo_talk(&duo);
  duo_free(&duo);
}

static void contexts_are_freed_with_their_last_engine(void **state) {
  (void)state;
  struct duo duo = duo_new(TLS1_3_VERSION);
  struct etls_context_counters counters;
  tls_open(duo.engine, duo.peer);
  etls_context_release(duo.context);
  duo.context = NULL;
  etls_context_cache_clear(duo.cache);
  etls_context_cache_get_counters(duo.cache, &counters);
  assert_int_equal(counters.live, 1);
  duo_talk(&duo);
  etls_engine_free(duo.engine);
  duo.engine = NULL;
  etls_context_cache_clear(duo.cache);
  etls_context_cache_get_counters(duo.cache, &counters);
  assert_int_equal(counters.live, 0);
  duo_free(&duo);
}

static void idle_connections_hold_no_buffer(void **state) {
  (void)state;
  struct duo duo = duo_new(TLS1_3_VERSION);
  tls_open(duo.engine, duo.peer);
  tls_drain(duo.engine, duo.peer);
  duo_talk(&duo);
  unsigned long before = core_allocations();
  for (int i = 0; i < 100; i++)
    duo_talk(&duo);
  /* x_feed keeps the input, which allocates; the output never does. */
  assert_int_equal(core_allocations() - before, 100);
  const uint8_t *out = NULL;
  assert_int_equal(etls_engine_output(duo.engine, &out), 0);
  assert_null(out);
  duo_free(&duo);
}

int main(void) {
  support_init();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_connection_goes_through_its_states),
      cmocka_unit_test(states_have_names),
      cmocka_unit_test(input_may_come_byte_by_byte),
      cmocka_unit_test(handshake_returns_before_data_is_read),
      cmocka_unit_test(finished_waits_for_the_first_write),
      cmocka_unit_test(big_writes_stop_at_the_high_mark),
      cmocka_unit_test(reads_join_records_and_split_them),
      cmocka_unit_test(lent_input_need_not_be_consumed_at_once),
      cmocka_unit_test(the_peer_may_close_first),
      cmocka_unit_test(a_transport_that_ends_is_an_end),
      cmocka_unit_test(tickets_and_data_may_come_after_our_close_notify),
      cmocka_unit_test(key_updates_are_answered),
      cmocka_unit_test(the_server_may_renegotiate),
      cmocka_unit_test(the_client_may_renegotiate),
      cmocka_unit_test(tls13_refuses_to_renegotiate_and_goes_on),
      cmocka_unit_test(contexts_are_freed_with_their_last_engine),
      cmocka_unit_test(idle_connections_hold_no_buffer),
  };
  return cmocka_run_group_tests_name("engine", tests, NULL, NULL);
}
