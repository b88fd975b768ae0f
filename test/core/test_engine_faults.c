/*
 * Tests of engine.c: what goes wrong. Broken input, misuse, missing memory,
 * and the engine freed in the middle of everything.
 */
#include "tls_peer.h"

#include <openssl/err.h>
#include <stdlib.h>
#include <string.h>

#define EACH_VERSION(version)                                                  \
  for (int version = TLS1_2_VERSION; version <= TLS1_3_VERSION; version++)

/* The oldest entry of the queue, as in node: for AES-GCM in TLS 1.2 that of the
 * provider. */
static const char *bad_mac(int version) {
  return version == TLS1_2_VERSION
             ? "ERR_SSL_CIPHER_OPERATION_FAILED"
             : "ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC";
}

/* FAILED is final: all functions say the same as the first. */
static void assert_sticky(struct duo *duo, const char *ssl_code) {
  struct etls_engine *engine = duo->engine;
  enum etls_status status = duo->error.status;
  uint8_t buffer[10];
  size_t n = 99;
  assert_int_equal(etls_engine_state(engine), ETLS_STATE_FAILED);
  assert_string_equal(duo->error.ssl_code, ssl_code);
  for (int i = 0; i < 5; i++) {
    struct etls_error error;
    etls_error_init(&error);
    enum etls_status now = ETLS_OK;
    if (i == 0)
      now = x_handshake(engine, &error);
    else if (i == 1)
      now = x_read(engine, buffer, sizeof(buffer), &n, &error);
    else if (i == 2)
      now = x_write(engine, "x", 1, &n, &error);
    else if (i == 3)
      now = x_shutdown(engine, &error);
    else
      now = etls_engine_renegotiate(engine, &error);
    assert_int_equal(now, status);
    assert_int_equal(error.status, status);
    assert_string_equal(error.ssl_code, ssl_code);
    assert_string_equal(error.message, duo->error.message);
  }
  assert_int_equal(n, 0);
}

static void plain_text_is_a_wrong_version_number(void **state) {
  (void)state;
  EACH_VERSION(version) {
    struct duo duo = duo_new(version);
    static const char text[] = "HTTP/1.1 403 Forbidden\r\n\r\n";
    assert_int_equal(x_handshake(duo.engine, &duo.error), ETLS_WANT_INPUT);
    assert_int_equal(x_feed(duo.engine, text, sizeof(text)), ETLS_OK);
    assert_int_equal(x_handshake(duo.engine, &duo.error), ETLS_ERR_TLS);
    assert_string_equal(duo.error.library, "SSL routines");
    assert_string_equal(duo.error.reason, "wrong version number");
    assert_sticky(&duo, "ERR_SSL_WRONG_VERSION_NUMBER");
    duo_free(&duo);
  }
}

static void an_alert_is_left_in_the_output(void **state) {
  (void)state;
  EACH_VERSION(version) {
    struct duo duo = duo_new(version);
    tls_open(duo.engine, duo.peer);
    tls_drain(duo.engine, duo.peer);
    tls_peer_write(duo.peer, "to be broken", 12);
    duo.peer->wire.data[duo.peer->wire.len - 1] ^= 1;
    struct bytes got = {NULL, 0};
    assert_int_equal(tls_read(duo.engine, duo.peer, 0, &got, &duo.error),
                     ETLS_ERR_TLS);
    assert_int_equal(got.len, 0);
    assert_sticky(&duo, bad_mac(version));
    tls_peer_step(duo.peer, duo.engine);
    assert_int_equal(ERR_GET_REASON(duo.peer->error),
                     SSL_AD_REASON_OFFSET + SSL_AD_BAD_RECORD_MAC);
    duo_free(&duo);
  }
}

/* Three records, the one of this index damaged by `how`. */
static void break_one(int version, size_t which, const char *how) {
  struct duo duo = duo_new(version);
  tls_open(duo.engine, duo.peer);
  tls_drain(duo.engine, duo.peer);
  size_t starts[4] = {0};
  for (size_t i = 0; i < 3; i++) {
    tls_peer_write(duo.peer, "record", 6);
    starts[i + 1] = duo.peer->wire.len;
  }
  uint8_t *wire = duo.peer->wire.data;
  size_t at = starts[which];
  size_t len = starts[which + 1] - at;
  if (strcmp(how, "flip") == 0) {
    wire[at + len / 2] ^= 0x10;
  } else if (strcmp(how, "swap") == 0) {
    uint8_t record[200];
    memcpy(record, wire + at, len);
    memcpy(wire + at, wire + starts[which + 1], len);
    memcpy(wire + starts[which + 1], record, len);
  } else if (strcmp(how, "repeat") == 0) {
    memcpy(wire + starts[which + 1], wire + at, len);
  } else { /* drop */
    memmove(wire + at, wire + at + len, duo.peer->wire.len - at - len);
    duo.peer->wire.len -= len;
  }
  struct bytes got = {NULL, 0};
  assert_int_equal(tls_read(duo.engine, duo.peer, 0, &got, &duo.error),
                   ETLS_ERR_TLS);
  /* What came before the damage, and nothing else. */
  assert_int_equal(got.len,
                   6 * (strcmp(how, "repeat") == 0 ? which + 1 : which));
  assert_sticky(&duo, bad_mac(version));
  free(got.data);
  duo_free(&duo);
}

static void nothing_unauthenticated_is_delivered(void **state) {
  (void)state;
  EACH_VERSION(version) {
    for (size_t i = 0; i < 3; i++)
      break_one(version, i, "flip");
    for (size_t i = 0; i < 2; i++) {
      break_one(version, i, "swap");
      break_one(version, i, "repeat");
      break_one(version, i, "drop");
    }
  }
}

static void a_damaged_handshake_fails(void **state) {
  (void)state;
  EACH_VERSION(version) {
    /* Each 37th byte of the server's first flight. */
    for (size_t at = 0;; at += 37) {
      struct duo duo = duo_new(version);
      assert_int_equal(x_handshake(duo.engine, &duo.error), ETLS_WANT_INPUT);
      tls_peer_step(duo.peer, duo.engine);
      bool done = at >= duo.peer->wire.len;
      if (!done) {
        duo.peer->wire.data[at] ^= 0xff;
        enum etls_status status =
            tls_connect(duo.engine, duo.peer, 0, &duo.error);
        assert_true(status == ETLS_ERR_TLS || status == ETLS_WANT_INPUT ||
                    duo.peer->error != 0);
      }
      duo_free(&duo);
      if (done)
        break;
    }
  }
}

static void a_truncated_handshake_is_an_end(void **state) {
  (void)state;
  EACH_VERSION(version) {
    for (size_t cut = 0; cut < 400; cut += 57) {
      struct duo duo = duo_new(version);
      assert_int_equal(x_handshake(duo.engine, &duo.error), ETLS_WANT_INPUT);
      tls_peer_step(duo.peer, duo.engine);
      assert_int_equal(x_feed(duo.engine, duo.peer->wire.data, cut), ETLS_OK);
      etls_engine_feed_end(duo.engine);
      assert_int_equal(x_handshake(duo.engine, &duo.error), ETLS_END);
      assert_int_equal(x_handshake(duo.engine, &duo.error), ETLS_END);
      assert_int_equal(etls_engine_state(duo.engine), ETLS_STATE_HANDSHAKE);
      assert_int_equal(duo.error.status, ETLS_OK);
      duo_free(&duo);
    }
  }
}

static void a_truncated_record_is_an_end(void **state) {
  (void)state;
  EACH_VERSION(version) {
    struct duo duo = duo_new(version);
    tls_open(duo.engine, duo.peer);
    tls_drain(duo.engine, duo.peer);
    tls_peer_write(duo.peer, "whole", 5);
    tls_peer_write(duo.peer, "cut", 3);
    assert_int_equal(
        x_feed(duo.engine, duo.peer->wire.data, duo.peer->wire.len - 1),
        ETLS_OK);
    bytes_drop(&duo.peer->wire, duo.peer->wire.len);
    etls_engine_feed_end(duo.engine);
    struct bytes got = {NULL, 0};
    assert_int_equal(tls_read(duo.engine, duo.peer, 0, &got, &duo.error),
                     ETLS_END);
    assert_int_equal(got.len, 5);
    free(got.data);
    duo_free(&duo);
  }
}

static void the_servers_alerts_have_names(void **state) {
  (void)state;
  struct duo duo = duo_new(TLS1_2_VERSION);
  SSL_CTX_set_cipher_list(duo.ctx, "ECDHE-RSA-AES128-GCM-SHA256");
  duo_again(&duo);
  assert_int_equal(tls_connect(duo.engine, duo.peer, 0, &duo.error),
                   ETLS_ERR_TLS);
  assert_sticky(&duo, "ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE");
  duo_free(&duo);
}

static void tls13_alerts_come_after_the_handshake(void **state) {
  (void)state;
  struct duo duo = duo_new(TLS1_3_VERSION);
  SSL_CTX_set_verify(duo.ctx, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT,
                     NULL);
  duo_again(&duo);
  assert_int_equal(tls_connect(duo.engine, duo.peer, 0, &duo.error), ETLS_OK);
  tls_peer_step(duo.peer, duo.engine);
  struct bytes got = {NULL, 0};
  assert_int_equal(tls_read(duo.engine, duo.peer, 0, &got, &duo.error),
                   ETLS_ERR_TLS);
  assert_sticky(&duo, "ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED");
  duo_free(&duo);
}

static void data_before_a_fault_is_delivered_first(void **state) {
  (void)state;
  struct duo duo = duo_new(TLS1_3_VERSION);
  tls_open(duo.engine, duo.peer);
  tls_drain(duo.engine, duo.peer);
  tls_peer_write(duo.peer, "good", 4);
  tls_peer_write(duo.peer, "bad", 3);
  duo.peer->wire.data[duo.peer->wire.len - 1] ^= 1;
  assert_int_equal(x_feed(duo.engine, duo.peer->wire.data, duo.peer->wire.len),
                   ETLS_OK);
  uint8_t buffer[100];
  size_t n = 0;
  assert_int_equal(x_read(duo.engine, buffer, sizeof(buffer), &n, &duo.error),
                   ETLS_OK);
  assert_int_equal(n, 4);
  assert_int_equal(duo.error.status, ETLS_OK);
  assert_int_equal(x_read(duo.engine, buffer, sizeof(buffer), &n, &duo.error),
                   ETLS_ERR_TLS);
  assert_sticky(&duo, bad_mac(TLS1_3_VERSION));
  duo_free(&duo);
}

static void misuse_is_refused_and_does_no_harm(void **state) {
  (void)state;
  struct duo duo = duo_new(TLS1_3_VERSION);
  uint8_t buffer[10];
  size_t n = 0;
  for (int i = 0; i < 2; i++) { /* IDLE, then HANDSHAKE */
    struct etls_error error;
    etls_error_init(&error);
    assert_int_equal(x_read(duo.engine, buffer, 10, &n, &error),
                     ETLS_ERR_USAGE);
    assert_int_equal(x_write(duo.engine, "x", 1, &n, &error), ETLS_ERR_USAGE);
    assert_int_equal(x_shutdown(duo.engine, &error), ETLS_ERR_USAGE);
    assert_int_equal(etls_engine_renegotiate(duo.engine, &error),
                     ETLS_ERR_USAGE);
    assert_int_equal(error.status, ETLS_ERR_USAGE);
    assert_true(error.message[0] != '\0');
    assert_int_equal(x_handshake(duo.engine, &duo.error), ETLS_WANT_INPUT);
  }
  tls_open(duo.engine, duo.peer);
  assert_int_equal(x_read(duo.engine, buffer, 0, &n, &duo.error),
                   ETLS_ERR_USAGE);
  duo_talk(&duo);
  etls_error_init(&duo.error);
  assert_int_equal(x_shutdown(duo.engine, &duo.error), ETLS_OK);
  assert_int_equal(x_write(duo.engine, "x", 1, &n, &duo.error), ETLS_ERR_USAGE);
  duo_free(&duo);
}

static void an_engine_may_be_freed_at_any_step(void **state) {
  (void)state;
  EACH_VERSION(version) {
    bool open = false;
    for (int steps = 0; !open; steps++) {
      struct duo duo = duo_new(version);
      for (int i = 0; i < steps; i++) {
        open = x_handshake(duo.engine, &duo.error) == ETLS_OK;
        tls_peer_step(duo.peer, duo.engine);
        /* A hundred bytes each, so that it stops inside of messages, too. */
        size_t n = duo.peer->wire.len < 100 ? duo.peer->wire.len : 100;
        assert_int_equal(etls_engine_feed(duo.engine, duo.peer->wire.data, n),
                         ETLS_OK);
        assert_int_equal(etls_engine_keep_input(duo.engine), ETLS_OK);
        bytes_drop(&duo.peer->wire, n);
      }
      duo_free(&duo); /* checks that no engine is left */
    }
  }
  etls_engine_free(NULL);
}

static void input_and_output_may_be_pending_when_freed(void **state) {
  (void)state;
  struct duo duo = duo_new(TLS1_3_VERSION);
  tls_open(duo.engine, duo.peer);
  uint8_t data[50000];
  memset(data, 1, sizeof(data));
  size_t n = 0;
  assert_int_equal(x_write(duo.engine, data, sizeof(data), &n, &duo.error),
                   ETLS_OK);
  tls_peer_write(duo.peer, data, sizeof(data));
  assert_int_equal(x_feed(duo.engine, duo.peer->wire.data, duo.peer->wire.len),
                   ETLS_OK);
  assert_true(etls_engine_input_pending(duo.engine) > 50000);
  duo_free(&duo);
}

/* ---- memory ---------------------------------------------------------------
 */

/* A whole connection, and how it went. Leaves nothing behind. */
static enum etls_status whole_connection(struct duo *duo) {
  struct etls_error error;
  etls_error_init(&error);
  struct etls_engine *engine = etls_engine_new(duo->context, NULL, &error);
  if (engine == NULL) {
    assert_int_equal(error.status, ETLS_ERR_MEMORY);
    return error.status;
  }
  struct tls_peer *peer = duo->peer;
  etls_engine_want_keylog(engine, true);
  enum etls_status status = etls_engine_handshake(engine, &error);
  uint8_t buffer[1000];
  size_t n = 0;
  for (int i = 0; i < 6 && status >= 0; i++) {
    fail_pause(); /* the server is not to fail */
    tls_peer_step(peer, engine);
    fail_resume();
    status = etls_engine_feed(engine, peer->wire.data, peer->wire.len);
    if (status == ETLS_OK)
      status = etls_engine_handshake(engine, &error);
    if (status == ETLS_OK)
      status = etls_engine_read(engine, buffer, sizeof(buffer), &n, &error);
    if (status >= 0 && etls_engine_keep_input(engine) != ETLS_OK)
      status = ETLS_ERR_MEMORY;
    bytes_drop(&peer->wire, peer->wire.len);
  }
  if (status >= 0)
    status =
        etls_engine_write(engine, (const uint8_t *)"request", 7, &n, &error);
  if (status >= 0)
    status = etls_engine_shutdown(engine, &error);
  if (error.status != ETLS_OK)
    assert_int_equal(error.status, status);
  etls_engine_free(engine);
  assert_queue_empty();
  return status;
}

static void any_allocation_may_fail(void **state) {
  (void)state;
  tls_stale_entries = false;
  EACH_VERSION(version) {
    struct duo duo = duo_new(version);
    for (int whose = FAIL_CORE; whose <= FAIL_OPENSSL; whose++) {
      unsigned long failed = 0;
      bool fired = true;
      for (unsigned long n = 1; fired; n++) {
        duo_again(&duo);
        fail_at(n, whose);
        enum etls_status status = whole_connection(&duo);
        fired = fail_end();
        ERR_clear_error();
        assert_true(status >= 0 || fired);
        /* OpenSSL does not always say what was wrong. */
        if (status < 0 && (whose == FAIL_CORE || status != ETLS_ERR_TLS))
          assert_int_equal(status, ETLS_ERR_MEMORY);
        failed += status < 0;
      }
      assert_true(failed > (whose == FAIL_CORE ? 3 : 100));
    }
    duo_free(&duo);
  }
  tls_stale_entries = true;
}

/* Input that the engine can neither keep nor go on borrowing. */
static void assert_input_was_given_back(struct duo *duo, uint8_t *lent,
                                        enum etls_status status) {
  uint8_t buffer[1000];
  size_t n = 0;
  assert_true(fail_end());
  assert_int_equal(status, ETLS_ERR_MEMORY);
  free(lent);
  assert_int_equal(etls_engine_input_pending(duo->engine), 0);
  assert_int_equal(x_read(duo->engine, buffer, sizeof(buffer), &n, &duo->error),
                   ETLS_ERR_MEMORY);
  assert_int_equal(etls_engine_state(duo->engine), ETLS_STATE_FAILED);
  assert_int_equal(duo->error.status, ETLS_ERR_MEMORY);
}

static void input_that_cannot_be_kept_is_not_read_later(void **state) {
  (void)state;
  struct duo duo = duo_new(TLS1_3_VERSION);
  for (int i = 0; i < 2; i++) {
    duo_again(&duo);
    etls_error_init(&duo.error);
    tls_open(duo.engine, duo.peer);
    tls_peer_write(duo.peer, "data", 4);
    size_t len = duo.peer->wire.len;
    uint8_t *lent = malloc(len);
    assert_non_null(lent);
    memcpy(lent, duo.peer->wire.data, len);
    assert_int_equal(etls_engine_feed(duo.engine, lent, len), ETLS_OK);
    fail_at(1, FAIL_CORE);
    enum etls_status status =
        i == 0 ? etls_engine_keep_input(duo.engine)
               : etls_engine_feed(duo.engine, (const uint8_t *)"x", 1);
    assert_input_was_given_back(&duo, lent, status);
  }
  duo_free(&duo);
}

/* Lets each allocation of OpenSSL fail in turn while tickets come, and counts
 * which of these are the connection's end. */
static unsigned long fatal_while_tickets_come(struct duo *duo, bool want) {
  unsigned long failed = 0;
  bool fired = true;
  for (unsigned long n = 1; fired; n++) {
    uint8_t buffer[10];
    size_t done = 0;
    duo_again(duo);
    etls_engine_want_sessions(duo->engine, want);
    tls_open(duo->engine, duo->peer);
    assert_true(duo->peer->wire.len > 0);
    assert_int_equal(etls_engine_feed(duo->engine, duo->peer->wire.data,
                                      duo->peer->wire.len),
                     ETLS_OK);
    fail_at(n, FAIL_OPENSSL);
    failed += etls_engine_read(duo->engine, buffer, sizeof(buffer), &done,
                               &duo->error) < 0;
    fired = fail_end();
    etls_error_init(&duo->error);
    assert_queue_empty();
  }
  return failed;
}

static void without_memory_for_a_session_the_connection_goes_on(void **state) {
  (void)state;
  struct duo duo = duo_new(TLS1_3_VERSION);
  tls_stale_entries = false;
  unsigned long failed = fatal_while_tickets_come(&duo, false);
  assert_true(failed > 0);
  assert_int_equal(fatal_while_tickets_come(&duo, true), failed);
  tls_stale_entries = true;
  duo_free(&duo);
}

int main(void) {
  support_init();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(plain_text_is_a_wrong_version_number),
      cmocka_unit_test(an_alert_is_left_in_the_output),
      cmocka_unit_test(nothing_unauthenticated_is_delivered),
      cmocka_unit_test(a_damaged_handshake_fails),
      cmocka_unit_test(a_truncated_handshake_is_an_end),
      cmocka_unit_test(a_truncated_record_is_an_end),
      cmocka_unit_test(the_servers_alerts_have_names),
      cmocka_unit_test(tls13_alerts_come_after_the_handshake),
      cmocka_unit_test(data_before_a_fault_is_delivered_first),
      cmocka_unit_test(misuse_is_refused_and_does_no_harm),
      cmocka_unit_test(an_engine_may_be_freed_at_any_step),
      cmocka_unit_test(input_and_output_may_be_pending_when_freed),
      cmocka_unit_test(any_allocation_may_fail),
      cmocka_unit_test(input_that_cannot_be_kept_is_not_read_later),
      cmocka_unit_test(without_memory_for_a_session_the_connection_goes_on),
  };
  return cmocka_run_group_tests_name("engine_faults", tests, NULL, NULL);
}
