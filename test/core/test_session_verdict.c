/*
 * Tests of session_bound.c and session_resume.c: the verdict on a certificate
 * chain travels with the sessions, and resumption ends when it does.
 */
#include "sessions.h"

#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine_internal.h"

static void verdicts_are_inherited(void **state) {
  (void)state;
  EACH_VERSION(version) {
    struct duo duo = duo_new(version);
    struct etls_session_store *store = sessions_store_new();
    duo_switch_context(&duo, context_for(duo.cache, NULL, version, version));
    assert_false(sessions_connect(&duo, store, "not strict"));
    long verdict = etls_engine_verify_result(duo.engine);
    assert_string_equal(etls_verify_code_name(verdict),
                        "UNABLE_TO_VERIFY_LEAF_SIGNATURE");
    for (int i = 0; i < 3; i++) {
      assert_true(sessions_connect(&duo, store, "not strict"));
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
    struct etls_session_store *store = sessions_store_new();
    sessions_connect(&duo, store, "key");
    assert_true(sessions_connect(&duo, store, "key"));
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
  if (!etls_session_store_take(store, key, ETLS_DIGEST_LEN + len, SESSIONS_NOW,
                               wall, &offer))
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
      struct etls_session_store *store = sessions_store_new();
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
      duo_switch_context(&duo, context_of(duo.cache, config));
      /* A chain of resumptions: each inherits the end. */
      sessions_connect(&duo, store, "key");
      assert_int_equal(etls_engine_verify_result(duo.engine), X509_V_OK);
      for (int i = 0; i < 3; i++)
        assert_true(sessions_connect(&duo, store, "key"));
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
    struct etls_session_store *store = sessions_store_new();
    struct identity old = identity_new("old", &duo.ca, false, -500, -100);
    SSL_CTX_free(duo.ctx);
    duo.ctx = server_ctx(&old, NULL, version);
    for (int i = 0; i < 2; i++) {
      assert_false(sessions_connect(&duo, store, "not strict"));
      assert_int_equal(etls_engine_verify_result(duo.engine),
                       X509_V_ERR_CERT_HAS_EXPIRED);
    }
    assert_int_equal(sessions_stored(store), 0);
    identity_free(&old);
    duo_free(&duo);
    etls_session_store_free(store);
  }
}

/* A certificate for clients only: trusted, but not as a server's. */
static struct identity client_only(const struct identity *ca) {
  struct identity made = identity_new("client", ca, false, -60, 5000);
  X509_EXTENSION *usage =
      X509V3_EXT_conf_nid(NULL, NULL, NID_ext_key_usage, "clientAuth");
  assert_int_equal(X509_add_ext(made.cert, usage, -1), 1);
  assert_true(X509_sign(made.cert, ca->key, EVP_sha256()) > 0);
  X509_EXTENSION_free(usage);
  return made;
}

static void foreign_sessions_are_verified_as_servers(void **state) {
  (void)state;
  EACH_VERSION(version) {
    struct duo duo = duo_new(version);
    struct identity client = client_only(&duo.ca);
    uint8_t *der = NULL;
    size_t len = 0;
    SSL_CTX_free(duo.ctx);
    duo.ctx = server_ctx(&client, NULL, version);
    duo_again(&duo);
    etls_engine_want_sessions(duo.engine, true);
    tls_open(duo.engine, duo.peer);
    tls_drain(duo.engine, duo.peer);
    assert_int_equal(etls_engine_verify_result(duo.engine),
                     X509_V_ERR_INVALID_PURPOSE);
    assert_int_equal(
        etls_engine_take_session(duo.engine, &der, &len, &duo.error), ETLS_OK);
    duo_again(&duo);
    assert_int_equal(
        etls_engine_set_session(duo.engine, NULL, der, len, &duo.error),
        ETLS_OK);
    tls_open(duo.engine, duo.peer);
    assert_false(etls_engine_session_reused(duo.engine));
    assert_int_equal(etls_engine_verify_result(duo.engine),
                     X509_V_ERR_INVALID_PURPOSE);
    etls_clear_free(der, len);
    identity_free(&client);
    duo_free(&duo);
  }
}

static void bounds_are_those_of_the_whole_chain(void **state) {
  (void)state;
  struct identity root = identity_new("root", NULL, true, -500, 300);
  struct identity leaf = identity_new("leaf", &root, false, -100, 900);
  STACK_OF(X509) *chain = sk_X509_new_null();
  sk_X509_push(chain, leaf.cert);
  sk_X509_push(chain, root.cert);
  struct etls_session_bound bound;
  int64_t now = (int64_t)time(NULL);
  etls_session_bound_init(&bound, X509_V_OK, leaf.cert, chain, 0);
  assert_in_range(bound.not_after, now + 295, now + 300);
  assert_in_range(bound.not_before, now - 105, now - 99);
  assert_int_equal(bound.until, bound.not_after);
  assert_int_equal(etls_session_bound_verdict(&bound, now), X509_V_OK);
  assert_int_equal(etls_session_bound_verdict(&bound, bound.not_after - 1),
                   X509_V_OK);
  assert_int_equal(etls_session_bound_verdict(&bound, bound.not_after),
                   X509_V_ERR_CERT_HAS_EXPIRED);
  assert_int_equal(etls_session_bound_verdict(&bound, bound.not_before - 1),
                   X509_V_ERR_CERT_NOT_YET_VALID);
  etls_session_bound_init(&bound, X509_V_ERR_CERT_REJECTED, leaf.cert, NULL,
                          now + 50);
  assert_in_range(bound.not_after, now + 895, now + 900);
  assert_int_equal(bound.until, now + 50);
  assert_int_equal(etls_session_bound_verdict(&bound, now + 10000),
                   X509_V_ERR_CERT_REJECTED);
  sk_X509_free(chain);
  identity_free(&root);
  identity_free(&leaf);
}

int main(void) {
  support_init();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bounds_are_those_of_the_whole_chain),
      cmocka_unit_test(verdicts_are_inherited),
      cmocka_unit_test(dates_are_checked_again),
      cmocka_unit_test(resumption_ends_with_the_first_certificate),
      cmocka_unit_test(expired_certificates_are_never_stored),
      cmocka_unit_test(foreign_sessions_are_verified_as_servers),
  };
  return cmocka_run_group_tests_name("session_verdict", tests, NULL, NULL);
}
