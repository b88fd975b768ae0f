/*
 * Tests of peer_info.c and peer_certificates.c: facts of a connection, checked
 * against what the server says of the same connection.
 */
#include "tls_peer.h"

#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>

#define EACH_VERSION(version)                                                  \
  for (int version = TLS1_2_VERSION; version <= TLS1_3_VERSION; version++)

static void nothing_is_known_before_the_handshake(void **state) {
  (void)state;
  struct duo duo = duo_new(TLS1_3_VERSION);
  const char *names[3] = {"x", "x", "x"};
  const uint8_t *bytes = NULL;
  uint8_t out[64];
  char text[64];
  struct etls_key_info key;
  stale_entry();
  assert_false(etls_engine_cipher(duo.engine, &names[0], &names[1], &names[2]));
  assert_null(names[0]);
  assert_int_equal(etls_engine_alpn(duo.engine, &bytes), 0);
  assert_null(etls_engine_servername(duo.engine));
  assert_false(etls_engine_session_reused(duo.engine));
  assert_false(etls_engine_peer_fingerprint(duo.engine, out));
  assert_queue_empty();
  assert_int_equal(etls_engine_finished(duo.engine, false, out, 64), 0);
  assert_int_equal(etls_engine_finished(duo.engine, true, out, 64), 0);
  assert_int_equal(etls_engine_ticket(duo.engine, &bytes), 0);
  assert_false(etls_engine_shared_sigalg(duo.engine, 0, text, sizeof(text)));
  stale_entry();
  etls_engine_ephemeral_key(duo.engine, &key);
  assert_queue_empty();
  assert_null(key.type);
  assert_int_equal(etls_engine_verify_result(duo.engine),
                   X509_V_ERR_UNSPECIFIED);
  assert_int_equal(etls_engine_export_keying_material(
                       duo.engine, "l", 1, NULL, 0, false, out, 16, &duo.error),
                   ETLS_ERR_USAGE);
  duo_free(&duo);
}

static void both_sides_agree_on_the_facts(void **state) {
  (void)state;
  EACH_VERSION(version) {
    struct duo duo = duo_new(version);
    tls_open(duo.engine, duo.peer);
    SSL *server = duo.peer->ssl;
    const char *name = NULL;
    const char *standard = NULL;
    const char *since = NULL;
    assert_string_equal(etls_engine_protocol(duo.engine),
                        version == TLS1_3_VERSION ? "TLSv1.3" : "TLSv1.2");
    assert_true(etls_engine_cipher(duo.engine, &name, &standard, &since));
    const SSL_CIPHER *cipher = SSL_get_current_cipher(server);
    assert_string_equal(name, SSL_CIPHER_get_name(cipher));
    assert_string_equal(standard, SSL_CIPHER_standard_name(cipher));
    assert_string_equal(since, SSL_CIPHER_get_version(cipher));
    uint8_t ours[64];
    uint8_t theirs[64];
    size_t len = etls_engine_finished(duo.engine, false, ours, sizeof(ours));
    assert_true(len >= 12);
    assert_int_equal(SSL_get_peer_finished(server, theirs, sizeof(theirs)),
                     len);
    assert_memory_equal(ours, theirs, len);
    assert_int_equal(etls_engine_finished(duo.engine, true, ours, 5), 5);
    SSL_get_finished(server, theirs, sizeof(theirs));
    assert_memory_equal(ours, theirs, 5);
    duo_free(&duo);
  }
}

static void keying_material_is_the_same_on_both_sides(void **state) {
  (void)state;
  EACH_VERSION(version) {
    struct duo duo = duo_new(version);
    tls_open(duo.engine, duo.peer);
    static const uint8_t context[] = "context";
    uint8_t ours[3][40];
    uint8_t theirs[40];
    for (int i = 0; i < 3; i++) { /* none, empty, some */
      size_t len = i == 2 ? sizeof(context) : 0;
      stale_entry();
      assert_int_equal(etls_engine_export_keying_material(
                           duo.engine, "EXPERIMENTAL", 12,
                           i == 0 ? NULL : context, len, i != 0, ours[i],
                           sizeof(ours[i]), &duo.error),
                       ETLS_OK);
      assert_queue_empty();
      assert_int_equal(
          SSL_export_keying_material(duo.peer->ssl, theirs, sizeof(theirs),
                                     "EXPERIMENTAL", 12, context, len, i != 0),
          1);
      assert_memory_equal(ours[i], theirs, sizeof(theirs));
    }
    assert_memory_not_equal(ours[1], ours[2], sizeof(theirs));
    if (version == TLS1_2_VERSION) {
      assert_int_equal(etls_engine_export_keying_material(
                           duo.engine, "client finished", 15, NULL, 0, false,
                           ours[0], 40, &duo.error),
                       ETLS_ERR_TLS); /* reserved */
      assert_queue_empty();
    }
    duo_free(&duo);
  }
}

static void ephemeral_keys_have_nodes_names(void **state) {
  (void)state;
  static const struct {
    const char *groups, *type, *name;
    int bits;
  } cases[] = {
      {"X25519", "ECDH", "X25519", 253},    {"X448", "ECDH", "X448", 448},
      {"P-256", "ECDH", "prime256v1", 256}, {"P-384", "ECDH", "secp384r1", 384},
      {"P-521", "ECDH", "secp521r1", 521},  {"ffdhe2048", "DH", NULL, 2048}};
  EACH_VERSION(version) {
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
      if (version == TLS1_2_VERSION && i == 5)
        continue;
      struct duo duo = duo_new(version);
      struct etls_config *config = config_new();
      config_int(config, ETLS_OPTION_MIN_VERSION, version);
      config_int(config, ETLS_OPTION_MAX_VERSION, version);
      config_text(config, ETLS_OPTION_ECDH_CURVE,
                  version == TLS1_2_VERSION ? "P-256:X25519:X448:P-384:P-521"
                                            : cases[i].groups);
      etls_context_release(duo.context);
      duo.context = context_of(duo.cache, config);
      assert_int_equal(SSL_CTX_set1_groups_list(duo.ctx, cases[i].groups), 1);
      duo_again(&duo);
      tls_open(duo.engine, duo.peer);
      struct etls_key_info key;
      stale_entry();
      etls_engine_ephemeral_key(duo.engine, &key);
      assert_queue_empty();
      assert_string_equal(key.type, cases[i].type);
      assert_null(etls_engine_hybrid_group(duo.engine));
      if (cases[i].name == NULL)
        assert_null(key.name);
      else
        assert_string_equal(key.name, cases[i].name);
      assert_int_equal(key.bits, cases[i].bits);
      duo_free(&duo);
    }
  }
}

static void signature_algorithms_have_nodes_names(void **state) {
  (void)state;
  struct duo duo = duo_new(TLS1_3_VERSION);
  SSL_CTX_set_verify(duo.ctx, SSL_VERIFY_PEER, NULL);
  SSL_CTX_set1_client_sigalgs_list(
      duo.ctx, "RSA-PSS+SHA256:ECDSA+SHA384:ed25519:RSA+SHA256:"
               "rsa_pss_pss_sha512");
  duo_again(&duo);
  tls_open(duo.engine, duo.peer);
  static const char *const expected[] = {"RSA-PSS+SHA256", "ECDSA+SHA384",
                                         "Ed25519+UNDEF"};
  char text[64];
  int count = 0;
  int found = 0;
  while (etls_engine_shared_sigalg(duo.engine, count, text, sizeof(text))) {
    for (size_t i = 0; i < 3; i++)
      found += strcmp(text, expected[i]) == 0;
    count++;
  }
  assert_int_equal(found, 3);
  assert_in_range(count, 3, 5); /* some are not for TLS 1.3 */
  assert_false(etls_engine_shared_sigalg(duo.engine, -1, text, sizeof(text)));
  assert_false(etls_engine_shared_sigalg(duo.engine, 0, text, 3));
  duo_free(&duo);
}

/* ---- certificates -----------------------------------------------------------
 */

struct visited {
  X509 *certs[20];
  int count;
};

static void visit(void *arg, const uint8_t *der, size_t len) {
  struct visited *seen = arg;
  const unsigned char *at = der;
  assert_true(seen->count < 20);
  seen->certs[seen->count] = d2i_X509(NULL, &at, (long)len);
  assert_non_null(seen->certs[seen->count++]);
}

static void forget(struct visited *seen) {
  for (int i = 0; i < seen->count; i++)
    X509_free(seen->certs[i]);
  seen->count = 0;
}

static bool look(struct duo *duo, bool chain, struct visited *seen) {
  bool self_signed = true;
  seen->count = 0;
  stale_entry();
  assert_int_equal(
      etls_engine_visit_peer_certificates(duo->engine, chain, visit, seen,
                                          &self_signed, &duo->error),
      ETLS_OK);
  assert_queue_empty();
  return self_signed;
}

static void the_chain_goes_from_leaf_to_root(void **state) {
  (void)state;
  EACH_VERSION(version) {
    struct duo duo = duo_new(version);
    struct visited seen;
    assert_false(look(&duo, true, &seen));
    assert_int_equal(seen.count, 0); /* before the handshake */
    struct identity stray = identity_new("stray", NULL, true, -60, 5000);
    struct identity one = identity_new("one", &duo.ca, true, -60, 5000);
    struct identity two = identity_new("two", &one, true, -60, 5000);
    struct identity leaf = identity_new("leaf", &two, false, -60, 5000);
    SSL_CTX_free(duo.ctx);
    /* Sent in the wrong order, with one that does not belong there. */
    duo.ctx = server_ctx(&leaf, stray.cert, version);
    SSL_CTX_add1_chain_cert(duo.ctx, one.cert);
    SSL_CTX_add1_chain_cert(duo.ctx, two.cert);
    duo_again(&duo);
    tls_open(duo.engine, duo.peer);
    assert_int_equal(etls_engine_verify_result(duo.engine), X509_V_OK);
    assert_true(look(&duo, true, &seen));
    assert_int_equal(seen.count, 4);
    X509 *expected[] = {leaf.cert, two.cert, one.cert, duo.ca.cert};
    for (int i = 0; i < 4; i++)
      assert_int_equal(X509_cmp(seen.certs[i], expected[i]), 0);
    forget(&seen);
    assert_false(look(&duo, false, &seen));
    assert_int_equal(seen.count, 1);
    assert_int_equal(X509_cmp(seen.certs[0], leaf.cert), 0);
    forget(&seen);
    uint8_t print[ETLS_DIGEST_LEN];
    uint8_t expected_print[ETLS_DIGEST_LEN];
    unsigned int len = 0;
    assert_true(etls_engine_peer_fingerprint(duo.engine, print));
    X509_digest(leaf.cert, EVP_sha256(), expected_print, &len);
    assert_memory_equal(print, expected_print, len);
    identity_free(&stray);
    identity_free(&one);
    identity_free(&two);
    identity_free(&leaf);
    duo_free(&duo);
  }
}

static void an_unknown_issuer_ends_the_chain(void **state) {
  (void)state;
  struct duo duo = duo_new(TLS1_3_VERSION);
  struct visited seen;
  etls_context_release(duo.context);
  duo.context = context_for(duo.cache, NULL, TLS1_3_VERSION, TLS1_3_VERSION);
  duo_again(&duo);
  tls_open(duo.engine, duo.peer);
  assert_false(look(&duo, true, &seen));
  assert_int_equal(seen.count, 1);
  forget(&seen);
  duo_free(&duo);
}

static void self_signed_leaves_are_their_own_chain(void **state) {
  (void)state;
  /* One that may sign, and one that must not: X509_check_issued differs. */
  for (int is_ca = 0; is_ca < 2; is_ca++) {
    for (int trusted = 0; trusted < 2; trusted++) {
      struct duo duo = duo_new(TLS1_3_VERSION);
      struct visited seen;
      struct identity own = identity_new("own", NULL, is_ca, -60, 5000);
      SSL_CTX_free(duo.ctx);
      duo.ctx = server_ctx(&own, NULL, TLS1_3_VERSION);
      etls_context_release(duo.context);
      duo.context = context_for(duo.cache, trusted ? &own : NULL,
                                TLS1_3_VERSION, TLS1_3_VERSION);
      duo_again(&duo);
      tls_open(duo.engine, duo.peer);
      bool self_signed = look(&duo, true, &seen);
      assert_int_equal(seen.count, 1);
      assert_int_equal(self_signed,
                       X509_check_issued(own.cert, own.cert) == X509_V_OK);
      forget(&seen);
      identity_free(&own);
      duo_free(&duo);
    }
  }
}

static void the_own_certificate_is_shown(void **state) {
  (void)state;
  struct duo duo = duo_new(TLS1_3_VERSION);
  struct visited seen = {.count = 0};
  assert_int_equal(
      etls_engine_visit_own_certificate(duo.engine, visit, &seen, &duo.error),
      ETLS_OK);
  assert_int_equal(seen.count, 0);
  struct etls_config *config = config_new();
  config_file(config, ETLS_OPTION_CERT, "client-a.crt");
  config_secret(config, ETLS_OPTION_KEY, "client-a.key", NULL);
  etls_context_release(duo.context);
  duo.context = context_of(duo.cache, config);
  duo_again(&duo);
  stale_entry();
  assert_int_equal(
      etls_engine_visit_own_certificate(duo.engine, visit, &seen, &duo.error),
      ETLS_OK);
  assert_queue_empty();
  assert_int_equal(seen.count, 1);
  forget(&seen);
  duo_free(&duo);
}

static void verdicts_have_nodes_codes(void **state) {
  (void)state;
  struct duo duo = duo_new(TLS1_3_VERSION);
  struct identity other = identity_new("other", NULL, true, -60, 5000);
  struct identity leaves[] = {
      identity_new("expired", &duo.ca, false, -500, -100),
      identity_new("future", &duo.ca, false, 100, 500),
      identity_new("stranger", &other, false, -60, 5000),
      identity_new("alone", NULL, false, -60, 5000),
  };
  static const char *const codes[] = {"CERT_HAS_EXPIRED", "CERT_NOT_YET_VALID",
                                      "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
                                      "DEPTH_ZERO_SELF_SIGNED_CERT"};
  for (int i = 0; i < 4; i++) {
    SSL_CTX_free(duo.ctx);
    duo.ctx = server_ctx(&leaves[i], NULL, TLS1_3_VERSION);
    duo_again(&duo);
    tls_open(duo.engine, duo.peer); /* goes on all the same */
    assert_string_equal(
        etls_verify_code_name(etls_engine_verify_result(duo.engine)), codes[i]);
    identity_free(&leaves[i]);
  }
  /* The chain is sent with its root, which nobody trusts. */
  struct identity last = identity_new("last", &other, false, -60, 5000);
  SSL_CTX_free(duo.ctx);
  duo.ctx = server_ctx(&last, other.cert, TLS1_3_VERSION);
  duo_again(&duo);
  tls_open(duo.engine, duo.peer);
  assert_string_equal(
      etls_verify_code_name(etls_engine_verify_result(duo.engine)),
      "SELF_SIGNED_CERT_IN_CHAIN");
  identity_free(&last);
  identity_free(&other);
  duo_free(&duo);
}

static void codes_have_names_and_texts(void **state) {
  (void)state;
  assert_null(etls_verify_code_name(X509_V_OK));
  assert_null(etls_verify_code_text(X509_V_OK));
  assert_string_equal(etls_verify_code_name(X509_V_ERR_CERT_REVOKED),
                      "CERT_REVOKED");
  assert_string_equal(etls_verify_code_text(X509_V_ERR_CERT_REVOKED),
                      "certificate revoked");
  assert_string_equal(etls_verify_code_name(X509_V_ERR_EE_KEY_TOO_SMALL),
                      "UNSPECIFIED");
  assert_string_equal(etls_verify_code_name(X509_V_ERR_UNSPECIFIED),
                      "UNSPECIFIED");
  int named = 0;
  for (long code = 1; code < 200; code++) {
    assert_non_null(etls_verify_code_text(code));
    named += strcmp(etls_verify_code_name(code), "UNSPECIFIED") != 0;
  }
  assert_int_equal(named, 28);
}

static void count_only(void *arg, const uint8_t *der, size_t len) {
  assert_non_null(der);
  assert_true(len > 0);
  ((struct visited *)arg)->count++;
}

static void any_allocation_may_fail(void **state) {
  (void)state;
  struct duo duo = duo_new(TLS1_2_VERSION);
  tls_stale_entries = false;
  tls_open(duo.engine, duo.peer);
  bool fired = true;
  for (unsigned long n = 1; fired; n++) {
    struct visited seen = {.count = 0};
    struct etls_key_info key;
    uint8_t out[32];
    uint8_t *der = NULL;
    size_t len = 0;
    bool self_signed = false;
    struct etls_error error;
    etls_error_init(&error);
    fail_at(n, FAIL_ALL);
    etls_engine_ephemeral_key(duo.engine, &key);
    assert_queue_empty();
    (void)etls_engine_peer_fingerprint(duo.engine, out);
    assert_queue_empty();
    enum etls_status status = etls_engine_export_keying_material(
        duo.engine, "label", 5, NULL, 0, false, out, 32, &error);
    assert_queue_empty();
    if (status == ETLS_OK)
      status = etls_engine_get1_session(duo.engine, &der, &len, &error);
    assert_queue_empty();
    if (status == ETLS_OK)
      status = etls_engine_visit_peer_certificates(
          duo.engine, false, count_only, &seen, &self_signed, &error);
    assert_queue_empty();
    fired = fail_end();
    assert_int_equal(error.status, status);
    if (!fired)
      assert_int_equal(status, ETLS_OK);
    etls_free(der);
  }
  tls_stale_entries = true;
  duo_free(&duo);
}

int main(void) {
  support_init();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nothing_is_known_before_the_handshake),
      cmocka_unit_test(both_sides_agree_on_the_facts),
      cmocka_unit_test(keying_material_is_the_same_on_both_sides),
      cmocka_unit_test(ephemeral_keys_have_nodes_names),
      cmocka_unit_test(signature_algorithms_have_nodes_names),
      cmocka_unit_test(the_chain_goes_from_leaf_to_root),
      cmocka_unit_test(an_unknown_issuer_ends_the_chain),
      cmocka_unit_test(self_signed_leaves_are_their_own_chain),
      cmocka_unit_test(the_own_certificate_is_shown),
      cmocka_unit_test(verdicts_have_nodes_codes),
      cmocka_unit_test(codes_have_names_and_texts),
      cmocka_unit_test(any_allocation_may_fail),
  };
  return cmocka_run_group_tests_name("peer_info", tests, NULL, NULL);
}
