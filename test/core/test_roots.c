/*
 * test_roots.c - the default roots: parsed once, shared, never changed by
 * those who share them, and replaced as a whole.
 */
#include "trust_support.h"

#include <openssl/x509_vfy.h>

static void plain_default_roots_are_one_x509_store(void **state) {
  (void)state;
  struct etls_trust_store *a;
  struct etls_trust_store *b;
  X509_STORE *x509;
  set_roots("ca.crt", "other-ca.crt");
  assert_int_equal(counters.certificates_parsed, 0);
  a = acquire_files(NULL, ETLS_OPTION_DEFAULT_ROOTS, NULL);
  x509 = etls_trust_store_get0(a);
  assert_int_equal(verify(a, "server.crt"), X509_V_OK);
  assert_int_equal(verify(a, "from-other.crt"), X509_V_OK);
  etls_trust_store_release(a);
  /* Parsed once even if nobody used them for a while. */
  b = acquire_files(NULL, ETLS_OPTION_DEFAULT_ROOTS, NULL);
  assert_ptr_equal(etls_trust_store_get0(b), x509);
  assert_int_equal(counters.certificates_parsed, 2);
  assert_int_equal(counters.stores_built, 1);
  etls_trust_store_release(b);
}

static void crl_flags_never_reach_the_shared_roots(void **state) {
  (void)state;
  struct etls_trust_store *plain;
  struct etls_trust_store *checked;
  struct etls_trust_store *own;
  set_roots("ca.crt", "other-ca.crt");
  plain = acquire_files(NULL, ETLS_OPTION_DEFAULT_ROOTS, NULL);
  checked =
      acquire_files(NULL, ETLS_OPTION_DEFAULT_ROOTS, "crl-server-revoked.pem");
  assert_ptr_not_equal(etls_trust_store_get0(plain),
                       etls_trust_store_get0(checked));
  assert_int_equal(verify(checked, "server.crt"), X509_V_ERR_CERT_REVOKED);
  assert_int_equal(verify(checked, "ec.crt"), X509_V_OK);
  assert_int_equal(verify(checked, "from-other.crt"),
                   X509_V_ERR_UNABLE_TO_GET_CRL);
  assert_int_equal(verify(plain, "server.crt"), X509_V_OK);
  assert_int_equal(verify(plain, "from-other.crt"), X509_V_OK);
  /* The two roots once, and the CRL. */
  assert_int_equal(counters.certificates_parsed, 3);
  own = acquire_files("ca.crt", 0, NULL);
  assert_int_equal(verify(own, "server.crt"), X509_V_OK);
  etls_trust_store_release(own);
  etls_trust_store_release(checked);
  etls_trust_store_release(plain);
}

static void roots_that_change_are_other_roots(void **state) {
  (void)state;
  struct etls_config *config = config_new();
  struct etls_trust_store *old;
  struct etls_trust_store *fresh;
  uint8_t before[ETLS_DIGEST_LEN];
  uint8_t same[ETLS_DIGEST_LEN];
  uint8_t after[ETLS_DIGEST_LEN];
  config_int(config, ETLS_OPTION_DEFAULT_ROOTS, 1);
  set_roots("ca.crt", "ca.crt");
  digest_config(config, before);
  old = acquire(config);
  set_roots("ca.crt", "ca.crt");
  digest_config(config, same);
  assert_memory_equal(before, same, sizeof(before));
  fresh = acquire(config);
  assert_ptr_equal(fresh, old);
  etls_trust_store_release(fresh);
  assert_int_equal(counters.certificates_parsed, 2);

  set_roots("other-ca.crt", "other-ca.crt");
  digest_config(config, after);
  assert_memory_not_equal(before, after, sizeof(before));
  fresh = acquire(config);
  assert_ptr_not_equal(fresh, old);
  assert_int_equal(verify(old, "server.crt"), X509_V_OK);
  assert_int_not_equal(verify(fresh, "server.crt"), X509_V_OK);
  assert_int_equal(verify(fresh, "from-other.crt"), X509_V_OK);
  etls_trust_store_release(old);
  etls_trust_store_release(fresh);
  etls_config_free(config);
}

static void roots_that_do_not_parse_are_skipped(void **state) {
  (void)state;
  static const char broken[] =
      "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
  struct blob bad = {(uint8_t *)(uintptr_t)broken, sizeof(broken) - 1};
  struct blob a = pki_read("ca.crt");
  struct blob b = pki_read("other-ca.crt");
  struct blob start = blob_join(&a, &bad);
  struct blob text = blob_join(&start, &b);
  const void *pems[] = {"rubbish", text.bytes, NULL, broken};
  const size_t lens[] = {7, text.len, 0, bad.len};
  struct etls_trust_store *store;
  struct etls_error error;
  etls_error_init(&error);
  assert_int_equal(etls_trust_pool_set_roots(pool, pems, lens, 4, &error),
                   ETLS_OK);
  store = acquire_files(NULL, ETLS_OPTION_DEFAULT_ROOTS, NULL);
  assert_int_equal(objects_in(store), 2);
  assert_int_equal(verify(store, "from-other.crt"), X509_V_OK);
  etls_trust_store_release(store);
  blob_free(&a);
  blob_free(&b);
  blob_free(&start);
  blob_free(&text);
}

static void no_roots_at_all_trust_nobody(void **state) {
  (void)state;
  struct etls_trust_store *store =
      acquire_files(NULL, ETLS_OPTION_DEFAULT_ROOTS, NULL);
  assert_int_equal(objects_in(store), 0);
  assert_int_not_equal(verify(store, "server.crt"), X509_V_OK);
  etls_trust_store_release(store);
}

static void extending_the_roots_does_not_touch_them(void **state) {
  (void)state;
  struct etls_trust_store *roots;
  struct etls_trust_store *extended;
  set_roots("ca.crt", "ca.crt");
  roots = acquire_files(NULL, ETLS_OPTION_DEFAULT_ROOTS, NULL);
  extended = extend(roots, "other-ca.crt");
  assert_int_equal(objects_in(roots), 1);
  assert_int_equal(objects_in(extended), 2);
  etls_trust_store_release(roots);
  etls_trust_store_release(extended);
}

static void roots_without_memory_stay_as_they_were(void **state) {
  (void)state;
  struct etls_config *config = config_new();
  const void *pems[] = {"x"};
  const size_t lens[] = {1};
  uint8_t before[ETLS_DIGEST_LEN];
  uint8_t after[ETLS_DIGEST_LEN];
  bool hit = true;
  config_int(config, ETLS_OPTION_DEFAULT_ROOTS, 1);
  for (unsigned long n = 1; hit; n++) {
    struct etls_error error;
    enum etls_status status;
    set_roots("ca.crt", "ca.crt");
    digest_config(config, before);
    etls_error_init(&error);
    fail_at(n, FAIL_ALL);
    status = etls_trust_pool_set_roots(pool, pems, lens, 1, &error);
    hit = fail_end();
    assert_queue_empty();
    digest_config(config, after);
    if (status == ETLS_OK) {
      assert_memory_not_equal(before, after, sizeof(before));
    } else {
      assert_true(hit);
      assert_int_equal(status, ETLS_ERR_MEMORY);
      assert_memory_equal(before, after, sizeof(before));
    }
  }
  etls_config_free(config);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(plain_default_roots_are_one_x509_store),
      TEST(crl_flags_never_reach_the_shared_roots),
      TEST(roots_that_change_are_other_roots),
      TEST(roots_that_do_not_parse_are_skipped),
      TEST(no_roots_at_all_trust_nobody),
      TEST(extending_the_roots_does_not_touch_them),
      TEST(roots_without_memory_stay_as_they_were),
  };
  support_init();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
