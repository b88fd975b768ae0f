/*
 * Tests of engine_setup.c and engine_callbacks.c: what is set before the
 * handshake, and what callbacks record during it.
 */
#include "tls_peer.h"

#include <openssl/err.h>
#include <stdlib.h>
#include <string.h>

#define EACH_VERSION(version)                                                  \
  for (int version = TLS1_2_VERSION; version <= TLS1_3_VERSION; version++)

static void the_server_sees_the_name(void **state) {
  (void)state;
  EACH_VERSION(version) {
    struct duo duo = duo_new(version);
    assert_null(etls_engine_servername(duo.engine));
    stale_entry();
    assert_int_equal(
        etls_engine_set_servername(duo.engine, "hosta.test!", 10, &duo.error),
        ETLS_OK);
    assert_queue_empty();
    tls_open(duo.engine, duo.peer);
    assert_string_equal(
        SSL_get_servername(duo.peer->ssl, TLSEXT_NAMETYPE_host_name),
        "hosta.test");
    assert_string_equal(etls_engine_servername(duo.engine), "hosta.test");
    duo_free(&duo);
  }
}

static void bad_names_are_refused(void **state) {
  (void)state;
  struct duo duo = duo_new(TLS1_3_VERSION);
  char name[300];
  memset(name, 'a', sizeof(name));
  assert_int_equal(
      etls_engine_set_servername(duo.engine, "a\0b", 3, &duo.error),
      ETLS_ERR_USAGE);
  etls_error_init(&duo.error);
  assert_int_equal(
      etls_engine_set_servername(duo.engine, name, sizeof(name), &duo.error),
      ETLS_ERR_TLS);
  assert_queue_empty();
  etls_error_init(&duo.error);
  assert_int_equal(etls_engine_set_servername(duo.engine, NULL, 0, &duo.error),
                   ETLS_ERR_TLS);
  assert_queue_empty();
  tls_open(duo.engine, duo.peer);
  assert_null(SSL_get_servername(duo.peer->ssl, TLSEXT_NAMETYPE_host_name));
  duo_free(&duo);
}

static int choose_alpn(SSL *ssl, const unsigned char **out,
                       unsigned char *out_len, const unsigned char *in,
                       unsigned int in_len, void *arg) {
  (void)ssl;
  unsigned char *chosen = NULL;
  int rc = SSL_select_next_proto(&chosen, out_len, arg, 3, in, in_len);
  *out = chosen;
  return rc == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK
                                      : SSL_TLSEXT_ERR_ALERT_FATAL;
}

static void protocols_are_negotiated(void **state) {
  (void)state;
  static unsigned char h2[] = {2, 'h', '2'};
  EACH_VERSION(version) {
    struct duo duo = duo_new(version);
    const uint8_t *name = NULL;
    SSL_CTX_set_alpn_select_cb(duo.ctx, choose_alpn, h2);
    duo_again(&duo);
    assert_int_equal(etls_engine_set_alpn(
                         duo.engine, (const uint8_t *)"\1x\2h2", 5, &duo.error),
                     ETLS_OK);
    tls_open(duo.engine, duo.peer);
    assert_int_equal(etls_engine_alpn(duo.engine, &name), 2);
    assert_memory_equal(name, "h2", 2);
    duo_again(&duo);
    tls_open(duo.engine, duo.peer);
    assert_int_equal(etls_engine_alpn(duo.engine, &name), 0);
    duo_again(&duo);
    assert_int_equal(
        etls_engine_set_alpn(duo.engine, (const uint8_t *)"\1x", 2, &duo.error),
        ETLS_OK);
    assert_int_equal(tls_connect(duo.engine, duo.peer, 0, &duo.error),
                     ETLS_ERR_TLS);
    assert_string_equal(duo.error.ssl_code,
                        "ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL");
    duo_free(&duo);
  }
}

static void malformed_protocols_are_refused(void **state) {
  (void)state;
  struct duo duo = duo_new(TLS1_3_VERSION);
  static uint8_t many[70000];
  memset(many, 1, sizeof(many));
  assert_int_equal(
      etls_engine_set_alpn(duo.engine, (const uint8_t *)"\5h2", 3, &duo.error),
      ETLS_ERR_TLS);
  assert_queue_empty();
  etls_error_init(&duo.error);
  assert_int_equal(
      etls_engine_set_alpn(duo.engine, many, sizeof(many), &duo.error),
      ETLS_ERR_TLS);
  etls_error_init(&duo.error);
  assert_int_equal(etls_engine_set_alpn(duo.engine, NULL, 0, &duo.error),
                   ETLS_OK);
  duo_free(&duo);
}

static int staple(SSL *ssl, void *arg) {
  size_t len = strlen(arg);
  unsigned char *copy = OPENSSL_memdup(arg, len);
  SSL_set_tlsext_status_ocsp_resp(ssl, copy, (long)len);
  return SSL_TLSEXT_ERR_OK;
}

static void stapled_responses_are_taken_once(void **state) {
  (void)state;
  static char response[] = "an OCSP response";
  EACH_VERSION(version) {
    for (int stapled = 0; stapled < 2; stapled++) {
      struct duo duo = duo_new(version);
      const uint8_t *der = NULL;
      size_t len = 0;
      if (stapled) {
        SSL_CTX_set_tlsext_status_cb(duo.ctx, staple);
        SSL_CTX_set_tlsext_status_arg(duo.ctx, response);
      }
      duo_again(&duo);
      assert_int_equal(etls_engine_request_ocsp(duo.engine, &duo.error),
                       ETLS_OK);
      assert_false(etls_engine_take_ocsp(duo.engine, &der, &len));
      tls_open(duo.engine, duo.peer);
      assert_int_equal(etls_engine_recorded(duo.engine), ETLS_RECORDED_OCSP);
      assert_true(etls_engine_take_ocsp(duo.engine, &der, &len));
      assert_int_equal(len, stapled ? strlen(response) : 0);
      if (stapled)
        assert_memory_equal(der, response, len);
      assert_int_equal(etls_engine_recorded(duo.engine), 0);
      assert_false(etls_engine_take_ocsp(duo.engine, &der, &len));
      /* Not asked for: nothing comes. */
      duo_again(&duo);
      tls_open(duo.engine, duo.peer);
      assert_false(etls_engine_take_ocsp(duo.engine, &der, &len));
      duo_free(&duo);
    }
  }
}

static void keylog_lines_are_recorded(void **state) {
  (void)state;
  static const char *const labels[] = {"CLIENT_RANDOM ",
                                       "SERVER_HANDSHAKE_TRAFFIC_SECRET ",
                                       "CLIENT_HANDSHAKE_TRAFFIC_SECRET ",
                                       "EXPORTER_SECRET ",
                                       "SERVER_TRAFFIC_SECRET_0 ",
                                       "CLIENT_TRAFFIC_SECRET_0 "};
  EACH_VERSION(version) {
    struct duo duo = duo_new(version);
    tls_open(duo.engine, duo.peer);
    assert_null(etls_engine_take_keylog(duo.engine)); /* off by default */
    duo_again(&duo);
    etls_engine_want_keylog(duo.engine, true);
    tls_open(duo.engine, duo.peer);
    assert_int_equal(etls_engine_recorded(duo.engine), ETLS_RECORDED_KEYLOG);
    unsigned seen = 0;
    const char *line = NULL;
    while ((line = etls_engine_take_keylog(duo.engine)) != NULL) {
      assert_null(strchr(line, '\n'));
      for (unsigned i = 0; i < 6; i++) {
        if (strncmp(line, labels[i], strlen(labels[i])) == 0) {
          assert_int_equal(seen & (1u << i), 0);
          seen |= 1u << i;
        }
      }
    }
    assert_int_equal(seen, version == TLS1_3_VERSION ? 0x3e : 1);
    assert_int_equal(etls_engine_recorded(duo.engine), 0);
    /* Lines that nobody takes go with the engine. */
    duo_again(&duo);
    etls_engine_want_keylog(duo.engine, true);
    tls_open(duo.engine, duo.peer);
    duo_free(&duo);
  }
}

static void new_sessions_are_recorded(void **state) {
  (void)state;
  EACH_VERSION(version) {
    struct duo duo = duo_new(version);
    uint8_t *der = NULL;
    size_t len = 0;
    size_t count = 0;
    SSL_CTX_set_num_tickets(duo.ctx, 20);
    duo_again(&duo);
    tls_open(duo.engine, duo.peer);
    tls_drain(duo.engine, duo.peer);
    assert_int_equal(etls_engine_recorded(duo.engine), 0); /* off by default */
    duo_again(&duo);
    etls_engine_want_sessions(duo.engine, true);
    tls_open(duo.engine, duo.peer);
    tls_drain(duo.engine, duo.peer);
    assert_int_equal(etls_engine_recorded(duo.engine), ETLS_RECORDED_SESSION);
    for (;; count++) {
      assert_int_equal(
          etls_engine_take_session(duo.engine, &der, &len, &duo.error),
          ETLS_OK);
      if (len == 0)
        break;
      const unsigned char *at = der;
      SSL_SESSION *session = d2i_SSL_SESSION(NULL, &at, (long)len);
      assert_int_equal(SSL_SESSION_get_protocol_version(session), version);
      SSL_SESSION_free(session);
      etls_free(der);
    }
    assert_null(der);
    assert_int_equal(count, version == TLS1_3_VERSION ? 16 : 1);
    duo_free(&duo);
  }
}

static void sessions_tell_whether_they_came_behind_data(void **state) {
  (void)state;
  for (int before = 0; before < 2; before++) {
    struct duo duo = duo_new(TLS1_3_VERSION);
    SSL_CTX_set_num_tickets(duo.ctx, 0);
    duo_again(&duo);
    etls_engine_want_sessions(duo.engine, true);
    tls_open(duo.engine, duo.peer);
    if (before)
      tls_peer_write(duo.peer, "before", 6);
    assert_int_equal(SSL_new_session_ticket(duo.peer->ssl), 1);
    tls_peer_write(duo.peer, "behind", 6); /* and the ticket in front of it */
    tls_drain(duo.engine, duo.peer);
    assert_int_equal(etls_engine_recorded(duo.engine),
                     ETLS_RECORDED_SESSION |
                         (before ? ETLS_RECORDED_BEHIND : 0));
    assert_int_equal(etls_engine_recorded(duo.engine), ETLS_RECORDED_SESSION);
    duo_free(&duo);
  }
}

/* ---- PSK ------------------------------------------------------------------
 */

struct psk {
  const char *identity;
  size_t len;
  struct etls_engine *engine; /* to be misused, or NULL */
  int calls;
  bool hint_seen;
};

static unsigned int server_psk(SSL *ssl, const char *identity,
                               unsigned char *psk, unsigned int max) {
  (void)ssl;
  (void)max;
  if (strcmp(identity, "client") != 0)
    return 0;
  memset(psk, 7, 32);
  return 32;
}

static void misuse_from_inside(struct etls_engine *engine) {
  struct etls_error error;
  uint8_t buffer[10] = {0};
  size_t n = 0;
  etls_error_init(&error);
  assert_int_equal(etls_engine_handshake(engine, &error), ETLS_ERR_USAGE);
  assert_int_equal(etls_engine_read(engine, buffer, 10, &n, &error),
                   ETLS_ERR_USAGE);
  assert_int_equal(etls_engine_write(engine, buffer, 10, &n, &error),
                   ETLS_ERR_USAGE);
  assert_int_equal(etls_engine_shutdown(engine, &error), ETLS_ERR_USAGE);
  assert_int_equal(etls_engine_renegotiate(engine, &error), ETLS_ERR_USAGE);
  assert_int_equal(etls_engine_feed(engine, buffer, 10), ETLS_ERR_USAGE);
  assert_int_equal(etls_engine_keep_input(engine), ETLS_ERR_USAGE);
  ERR_raise(ERR_LIB_USER, 99); /* and leaves something behind */
}

static size_t client_psk(void *arg, const char *hint, char *identity,
                         size_t max_identity_len, uint8_t *psk,
                         size_t max_psk_len) {
  struct psk *wanted = arg;
  wanted->calls++;
  wanted->hint_seen = hint != NULL && strcmp(hint, "hint") == 0;
  if (wanted->engine != NULL)
    misuse_from_inside(wanted->engine);
  assert_true(strlen(wanted->identity) <= max_identity_len);
  assert_true(max_psk_len >= 32);
  memcpy(identity, wanted->identity, strlen(wanted->identity) + 1);
  memset(psk, 7, 32);
  return wanted->len;
}

static struct duo psk_duo(int version) {
  struct duo duo = duo_new(version);
  SSL_CTX_free(duo.ctx);
  duo.ctx = server_ctx(NULL, NULL, version);
  SSL_CTX_set_cipher_list(duo.ctx, "PSK");
  SSL_CTX_use_psk_identity_hint(duo.ctx, "hint");
  SSL_CTX_set_psk_server_callback(duo.ctx, server_psk);
  struct etls_config *config = config_new();
  config_int(config, ETLS_OPTION_MIN_VERSION, version);
  config_int(config, ETLS_OPTION_MAX_VERSION, version);
  /* TLS 1.3 takes a PSK from such a callback for SHA-256 only. */
  config_text(config, ETLS_OPTION_CIPHER_SUITES, "TLS_AES_128_GCM_SHA256");
  config_text(config, ETLS_OPTION_CIPHER_LIST, "PSK");
  etls_context_release(duo.context);
  duo.context = context_of(duo.cache, config);
  duo_again(&duo);
  return duo;
}

static void pre_shared_keys_authenticate(void **state) {
  (void)state;
  EACH_VERSION(version) {
    struct duo duo = psk_duo(version);
    struct psk psk = {.identity = "client", .len = 32, .engine = duo.engine};
    etls_engine_set_psk_cb(duo.engine, client_psk, &psk);
    tls_open(duo.engine, duo.peer);
    assert_true(psk.calls > 0);
    assert_int_equal(psk.hint_seen, version == TLS1_2_VERSION);
    assert_int_equal(etls_engine_verify_result(duo.engine), X509_V_OK);
    duo_talk(&duo);
    duo_free(&duo);
  }
}

static void connections_by_psk_leave_no_sessions(void **state) {
  (void)state;
  EACH_VERSION(version) {
    struct duo duo = psk_duo(version);
    const struct etls_session_limits limits = {true, 10, 8, 3600000};
    struct etls_session_store *store = etls_session_store_new(&limits);
    struct etls_session_counters counters;
    struct psk psk = {.identity = "client", .len = 32};
    etls_engine_set_psk_cb(duo.engine, client_psk, &psk);
    assert_int_equal(
        etls_engine_use_store(duo.engine, store, "key", 3, true, 1, &duo.error),
        ETLS_OK);
    tls_open(duo.engine, duo.peer);
    etls_engine_accept_sessions(duo.engine, 1);
    tls_drain(duo.engine, duo.peer);
    etls_session_store_get_counters(store, &counters);
    assert_int_equal(counters.stored, 0);
    duo_free(&duo);
    etls_session_store_free(store);
  }
}

static void wrong_or_no_keys_fail(void **state) {
  (void)state;
  EACH_VERSION(version) {
    static const struct psk cases[] = {
        {.identity = "stranger", .len = 32}, /* unknown to the server */
        {.identity = "client", .len = 16},   /* another key */
        {.identity = "client", .len = 0},    /* none */
        {.identity = "client", .len = 9999}, /* nonsense */
    };
    for (size_t i = 0; i < 4; i++) {
      struct duo duo = psk_duo(version);
      struct psk psk = cases[i];
      etls_engine_set_psk_cb(duo.engine, client_psk, &psk);
      assert_true(tls_connect(duo.engine, duo.peer, 0, &duo.error) != ETLS_OK ||
                  duo.peer->error != 0);
      duo_free(&duo);
    }
  }
}

/* ---- the rest --------------------------------------------------------------
 */

static void fragments_are_as_small_as_asked_for(void **state) {
  (void)state;
  struct duo duo = duo_new(TLS1_3_VERSION);
  assert_false(etls_engine_set_max_send_fragment(duo.engine, 511));
  assert_false(etls_engine_set_max_send_fragment(duo.engine, 16385));
  assert_queue_empty();
  tls_open(duo.engine, duo.peer);
  assert_true(etls_engine_set_max_send_fragment(duo.engine, 512));
  uint8_t data[5120];
  memset(data, 3, sizeof(data));
  size_t n = 0;
  assert_int_equal(x_write(duo.engine, data, sizeof(data), &n, &duo.error),
                   ETLS_OK);
  assert_int_equal(n, sizeof(data));
  const uint8_t *out = NULL;
  assert_int_equal(etls_engine_output(duo.engine, &out), 10 * (512 + 22));
  tls_peer_step(duo.peer, duo.engine);
  assert_int_equal(duo.peer->received.len, sizeof(data));
  duo_free(&duo);
}

static int any_client(int ok, X509_STORE_CTX *ctx) {
  (void)ok;
  (void)ctx;
  return 1;
}

static void an_identity_can_be_borrowed(void **state) {
  (void)state;
  EACH_VERSION(version) {
    struct duo duo = duo_new(version);
    SSL_CTX_set_verify(duo.ctx, SSL_VERIFY_PEER, any_client);
    struct etls_config *config = config_new();
    config_file(config, ETLS_OPTION_CERT, "client-a.crt");
    config_secret(config, ETLS_OPTION_KEY, "client-a.key", NULL);
    struct etls_context *other = context_of(duo.cache, config);
    duo_again(&duo);
    assert_int_equal(
        etls_engine_use_identity_of(duo.engine, duo.context, &duo.error),
        ETLS_OK); /* it has none */
    assert_int_equal(etls_engine_use_identity_of(duo.engine, other, &duo.error),
                     ETLS_OK);
    assert_queue_empty();
    etls_context_release(other);
    tls_open(duo.engine, duo.peer);
    char name[100];
    X509_NAME_oneline(
        X509_get_subject_name(SSL_get0_peer_certificate(duo.peer->ssl)), name,
        sizeof(name));
    assert_non_null(strstr(name, "CN="));
    /* The context itself is as it was. */
    duo_again(&duo);
    tls_open(duo.engine, duo.peer);
    assert_null(SSL_get0_peer_certificate(duo.peer->ssl));
    duo_free(&duo);
  }
}

static void setters_are_for_the_time_before(void **state) {
  (void)state;
  struct duo duo = duo_new(TLS1_3_VERSION);
  const struct etls_session_limits limits = {true, 10, 8, 3600000};
  struct etls_session_store *store = etls_session_store_new(&limits);
  assert_int_equal(x_handshake(duo.engine, &duo.error), ETLS_WANT_INPUT);
  assert_int_equal(
      etls_engine_set_servername(duo.engine, "name", 4, &duo.error),
      ETLS_ERR_USAGE);
  assert_int_equal(
      etls_engine_set_alpn(duo.engine, (const uint8_t *)"\1x", 2, &duo.error),
      ETLS_ERR_USAGE);
  assert_int_equal(etls_engine_request_ocsp(duo.engine, &duo.error),
                   ETLS_ERR_USAGE);
  assert_int_equal(
      etls_engine_use_store(duo.engine, store, "k", 1, true, 1, &duo.error),
      ETLS_ERR_USAGE);
  assert_int_equal(duo.error.status, ETLS_ERR_USAGE);
  tls_open(duo.engine, duo.peer);
  duo_free(&duo);
  etls_session_store_free(store);
}

int main(void) {
  support_init();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_server_sees_the_name),
      cmocka_unit_test(bad_names_are_refused),
      cmocka_unit_test(protocols_are_negotiated),
      cmocka_unit_test(malformed_protocols_are_refused),
      cmocka_unit_test(stapled_responses_are_taken_once),
      cmocka_unit_test(keylog_lines_are_recorded),
      cmocka_unit_test(new_sessions_are_recorded),
      cmocka_unit_test(sessions_tell_whether_they_came_behind_data),
      cmocka_unit_test(pre_shared_keys_authenticate),
      cmocka_unit_test(connections_by_psk_leave_no_sessions),
      cmocka_unit_test(wrong_or_no_keys_fail),
      cmocka_unit_test(fragments_are_as_small_as_asked_for),
      cmocka_unit_test(an_identity_can_be_borrowed),
      cmocka_unit_test(setters_are_for_the_time_before),
  };
  return cmocka_run_group_tests_name("engine_options", tests, NULL, NULL);
}
