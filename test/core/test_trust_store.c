/*
 * test_trust_store.c - who shares a store with whom, and what is in it.
 */
#include "trust_support.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509_vfy.h>
#include <string.h>
#include <time.h>

/* ---- sharing ------------------------------------------------------------ */

static void equal_trust_is_one_store_whatever_else_differs(void **state) {
  (void)state;
  struct etls_trust_store *stores[50];
  char suite[32];
  for (int i = 0; i < 50; i++) {
    struct etls_config *config = config_new();
    snprintf(suite, sizeof(suite), "number %d", i);
    config_text(config, ETLS_OPTION_CIPHER_LIST, suite);
    config_file(config, ETLS_OPTION_CA, "bundle.pem");
    config_text(config, ETLS_OPTION_CERT, suite);
    stores[i] = acquire(config);
    assert_ptr_equal(stores[i], stores[0]);
    etls_config_free(config);
  }
  assert_int_equal(counters.stores_built, 1);
  assert_int_equal(counters.certificates_parsed, 120);
  assert_int_equal(objects_in(stores[0]), 120);
  for (int i = 0; i < 50; i++)
    etls_trust_store_release(stores[i]);
}

static void a_store_is_dropped_with_its_last_reference(void **state) {
  (void)state;
  struct etls_trust_store *store = acquire_files("ca.crt", 0, NULL);
  etls_trust_store_up_ref(store);
  etls_trust_store_release(store);
  assert_int_equal(verify(store, "server.crt"), X509_V_OK);
  etls_trust_store_release(store);
  etls_trust_store_release(NULL);
  store = acquire_files("ca.crt", 0, NULL);
  assert_int_equal(counters.stores_built, 2);
  etls_trust_store_release(store);
}

/* The digest of content that is recognised is the one it had when hashed. */
static void recognised_content_has_the_digest_of_hashed_content(void **state) {
  (void)state;
  struct etls_config *config = config_new();
  struct etls_config *fresh = config_new();
  struct etls_trust_store *store;
  uint8_t hashed[ETLS_DIGEST_LEN];
  uint8_t recognised[ETLS_DIGEST_LEN];
  config_file(config, ETLS_OPTION_CA, "bundle.pem");
  config_file(fresh, ETLS_OPTION_CA, "bundle.pem");
  digest_config(config, hashed);
  store = acquire(config);
  digest_config(fresh, recognised);
  assert_memory_equal(hashed, recognised, sizeof(hashed));
  etls_trust_store_release(store);
  etls_config_free(config);
  etls_config_free(fresh);
}

/* Wherever a byte changes, sampled by the fingerprint or not. */
static void one_changed_byte_makes_another_digest(void **state) {
  (void)state;
  struct blob bundle = pki_read("bundle.pem");
  struct etls_config *config = config_new();
  struct etls_trust_store *store;
  uint8_t known[ETLS_DIGEST_LEN];
  uint8_t other[ETLS_DIGEST_LEN];
  config_blob(config, ETLS_OPTION_CA, &bundle);
  store = acquire(config);
  digest_config(config, known);
  etls_config_free(config);
  for (size_t at = 0; at < bundle.len; at += 1009) {
    bundle.bytes[at] ^= 1;
    config = config_new();
    config_blob(config, ETLS_OPTION_CA, &bundle);
    digest_config(config, other);
    assert_memory_not_equal(known, other, sizeof(known));
    etls_config_free(config);
    bundle.bytes[at] ^= 1;
  }
  etls_trust_store_release(store);
  blob_free(&bundle);
}

/* Same length, same samples: only bytes between samples tell them apart. */
static void contents_with_one_fingerprint_stay_apart(void **state) {
  (void)state;
  enum { LEN = 32 * 64 };
  uint8_t bytes[LEN];
  uint8_t digests[LEN / 8][ETLS_DIGEST_LEN];
  struct etls_trust_store *stores[LEN / 8];
  for (size_t i = 0; i < LEN / 8; i++) {
    struct etls_config *config = config_new();
    memset(bytes, 'x', LEN);
    bytes[i * 8] = 'y';
    assert_int_equal(etls_config_add_bytes(config, ETLS_OPTION_CA, bytes, LEN),
                     ETLS_OK);
    digest_config(config, digests[i]);
    stores[i] = acquire(config);
    for (size_t j = 0; j < i; j++) {
      assert_ptr_not_equal(stores[i], stores[j]);
      assert_memory_not_equal(digests[i], digests[j], ETLS_DIGEST_LEN);
    }
    etls_config_free(config);
  }
  /* Out of the middle of their bucket's list, too. */
  for (size_t i = 0; i < LEN / 8; i += 2)
    etls_trust_store_release(stores[i]);
  for (size_t i = 1; i < LEN / 8; i += 2)
    etls_trust_store_release(stores[i]);
}

/* ---- what goes into a store --------------------------------------------- */

static void a_ca_that_is_none_is_an_empty_one(void **state) {
  (void)state;
  static const char *const texts[] = {
      "x", "", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
      "-----BEGIN CERTIFICATE-----\nno base64!\n-----END CERTIFICATE-----\n"};
  for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
    struct etls_config *config = config_new();
    struct etls_trust_store *store;
    config_text(config, ETLS_OPTION_CA, texts[i]);
    store = acquire(config);
    assert_int_equal(objects_in(store), 0);
    etls_trust_store_release(store);
    etls_config_free(config);
  }
}

/* As node: what follows the first broken certificate is not read. */
static void a_ca_ends_at_the_first_broken_certificate(void **state) {
  (void)state;
  static const char broken[] =
      "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
  struct blob bad = {(uint8_t *)(uintptr_t)broken, sizeof(broken) - 1};
  struct blob a = pki_read("ca.crt");
  struct blob b = pki_read("other-ca.crt");
  struct blob start = blob_join(&a, &bad);
  struct blob text = blob_join(&start, &b);
  struct etls_config *config = config_new();
  struct etls_trust_store *store;
  config_blob(config, ETLS_OPTION_CA, &text);
  store = acquire(config);
  assert_int_equal(objects_in(store), 1);
  etls_trust_store_release(store);
  etls_config_free(config);
  blob_free(&a);
  blob_free(&b);
  blob_free(&start);
  blob_free(&text);
}

static void several_cas_are_all_trusted_and_doubles_do_no_harm(void **state) {
  (void)state;
  struct etls_config *config = config_new();
  struct etls_trust_store *store;
  config_file(config, ETLS_OPTION_CA, "ca.crt");
  config_file(config, ETLS_OPTION_CA, "other-ca.crt");
  config_file(config, ETLS_OPTION_CA, "ca.crt");
  store = acquire(config);
  assert_int_equal(objects_in(store), 2);
  assert_int_equal(verify(store, "server.crt"), X509_V_OK);
  assert_int_equal(verify(store, "from-other.crt"), X509_V_OK);
  etls_trust_store_release(store);
  etls_config_free(config);
}

static void a_partial_chain_ends_at_a_trusted_intermediate(void **state) {
  (void)state;
  struct etls_trust_store *strict = acquire_files("intermediate.crt", 0, NULL);
  struct etls_trust_store *partial =
      acquire_files("intermediate.crt", ETLS_OPTION_PARTIAL_CHAIN, NULL);
  assert_ptr_not_equal(strict, partial);
  assert_int_not_equal(verify(strict, "chained.crt"), X509_V_OK);
  assert_int_equal(verify(partial, "chained.crt"), X509_V_OK);
  etls_trust_store_release(strict);
  etls_trust_store_release(partial);
}

static void openssl_ca_comes_on_top_of_others(void **state) {
  (void)state;
  struct etls_trust_store *without = acquire_files("ca.crt", 0, NULL);
  struct etls_trust_store *with =
      acquire_files("ca.crt", ETLS_OPTION_OPENSSL_CA, NULL);
  struct etls_trust_store *extended = extend(with, "other-ca.crt");
  assert_ptr_not_equal(with, without);
  assert_int_equal(verify(with, "server.crt"), X509_V_OK);
  assert_int_equal(verify(extended, "server.crt"), X509_V_OK);
  assert_int_equal(verify(extended, "from-other.crt"), X509_V_OK);
  etls_trust_store_release(without);
  etls_trust_store_release(with);
  etls_trust_store_release(extended);
}

static void a_crl_that_does_not_parse_is_nodes_error(void **state) {
  (void)state;
  static const char *const texts[] = {
      "x", "", "-----BEGIN X509 CRL-----\nAAAA\n-----END X509 CRL-----\n"};
  for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
    struct etls_config *config = config_new();
    struct etls_trust_store *store = NULL;
    struct etls_error error;
    config_file(config, ETLS_OPTION_CA, "ca.crt");
    config_text(config, ETLS_OPTION_CRL, texts[i]);
    etls_error_init(&error);
    assert_int_equal(etls_trust_pool_acquire(pool, config, &store, &error),
                     ETLS_ERR_TLS);
    assert_null(store);
    assert_string_equal(error.message, "Failed to parse CRL");
    assert_string_equal(error.code, "ERR_CRYPTO_OPERATION_FAILED");
    assert_int_equal(error.option, ETLS_OPTION_CRL);
    assert_int_equal(error.stack_len, 0);
    assert_queue_empty();
    etls_config_free(config);
  }
}

static int64_t next_update(const char *name) {
  struct blob blob = pki_read(name);
  BIO *bio = BIO_new_mem_buf(blob.bytes, (int)blob.len);
  X509_CRL *crl = PEM_read_bio_X509_CRL(bio, NULL, NULL, NULL);
  struct tm tm;
  assert_non_null(crl);
  assert_int_equal(ASN1_TIME_to_tm(X509_CRL_get0_nextUpdate(crl), &tm), 1);
  X509_CRL_free(crl);
  BIO_free(bio);
  blob_free(&blob);
  return (int64_t)timegm(&tm);
}

static void the_expiry_is_the_earliest_next_update(void **state) {
  (void)state;
  int64_t a = next_update("crl-empty.pem");
  int64_t b = next_update("crl-server-revoked.pem");
  struct etls_trust_store *none = acquire_files("ca.crt", 0, NULL);
  struct etls_trust_store *one = acquire_files("ca.crt", 0, "crl-empty.pem");
  struct etls_config *config = config_new();
  struct etls_trust_store *two;
  config_file(config, ETLS_OPTION_CRL, "crl-server-revoked.pem");
  config_file(config, ETLS_OPTION_CRL, "crl-empty.pem");
  two = acquire(config);
  assert_true(etls_trust_store_crl_expiry(none) == 0);
  assert_true(etls_trust_store_crl_expiry(one) == a);
  assert_true(etls_trust_store_crl_expiry(two) == (a < b ? a : b));
  etls_trust_store_release(none);
  etls_trust_store_release(one);
  etls_trust_store_release(two);
  etls_config_free(config);
}

/* ---- extended stores ---------------------------------------------------- */

static void
an_extended_store_is_shared_and_leaves_the_other_alone(void **state) {
  (void)state;
  struct etls_trust_store *base = acquire_files("ca.crt", 0, NULL);
  struct etls_trust_store *a = extend(base, "other-ca.crt");
  struct etls_trust_store *b = extend(base, "other-ca.crt");
  struct etls_trust_store *c = extend(base, "twin-ca.crt");
  assert_ptr_equal(a, b);
  assert_ptr_not_equal(a, c);
  assert_ptr_not_equal(a, base);
  assert_int_equal(objects_in(base), 1);
  assert_int_equal(objects_in(a), 2);
  assert_int_equal(verify(a, "server.crt"), X509_V_OK);
  assert_int_equal(verify(a, "from-other.crt"), X509_V_OK);
  assert_int_not_equal(verify(base, "from-other.crt"), X509_V_OK);
  assert_int_equal(counters.certificates_parsed, 1);
  etls_trust_store_release(base);
  assert_int_equal(verify(b, "server.crt"), X509_V_OK);
  etls_trust_store_release(a);
  etls_trust_store_release(b);
  etls_trust_store_release(c);
}

static void an_extended_store_keeps_flags_and_crls(void **state) {
  (void)state;
  struct etls_trust_store *base = acquire_files(
      "ca.crt", ETLS_OPTION_PARTIAL_CHAIN, "crl-server-revoked.pem");
  struct etls_trust_store *extended = extend(base, "intermediate.crt");
  assert_int_equal(verify(extended, "server.crt"), X509_V_ERR_CERT_REVOKED);
  assert_int_equal(verify(extended, "ec.crt"), X509_V_OK);
  assert_true(etls_trust_store_crl_expiry(extended) ==
              etls_trust_store_crl_expiry(base));
  etls_trust_store_release(base);
  etls_trust_store_release(extended);
}

/* ---- memory ------------------------------------------------------------- */

/* A store that lacks something because memory ran out is never handed out. */
static void no_failed_allocation_makes_a_poorer_store(void **state) {
  (void)state;
  struct etls_config *config = config_new();
  unsigned long n;
  bool hit = true;
  set_roots("other-ca.crt", "twin-ca.crt");
  config_file(config, ETLS_OPTION_CA, "ca.crt");
  config_int(config, ETLS_OPTION_DEFAULT_ROOTS, 1);
  config_file(config, ETLS_OPTION_CRL, "crl-server-revoked.pem");
  etls_trust_store_release(acquire(config)); /* OpenSSL's lazy set-up */
  for (n = 1; hit; n++) {
    struct etls_trust_store *store = NULL;
    struct etls_error error;
    enum etls_status status;
    etls_error_init(&error);
    fail_at(n, FAIL_ALL);
    status = etls_trust_pool_acquire(pool, config, &store, &error);
    hit = fail_end();
    assert_queue_empty();
    if (status == ETLS_OK) {
      assert_int_equal(objects_in(store), 4);
      etls_trust_store_release(store);
    } else {
      assert_true(hit);
      assert_null(store);
      assert_int_equal(status, error.status);
    }
  }
  print_message("%lu allocations\n", n - 2);
  etls_config_free(config);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(equal_trust_is_one_store_whatever_else_differs),
      TEST(a_store_is_dropped_with_its_last_reference),
      TEST(recognised_content_has_the_digest_of_hashed_content),
      TEST(one_changed_byte_makes_another_digest),
      TEST(contents_with_one_fingerprint_stay_apart),
      TEST(a_ca_that_is_none_is_an_empty_one),
      TEST(a_ca_ends_at_the_first_broken_certificate),
      TEST(several_cas_are_all_trusted_and_doubles_do_no_harm),
      TEST(a_partial_chain_ends_at_a_trusted_intermediate),
      TEST(openssl_ca_comes_on_top_of_others),
      TEST(a_crl_that_does_not_parse_is_nodes_error),
      TEST(the_expiry_is_the_earliest_next_update),
      TEST(an_extended_store_is_shared_and_leaves_the_other_alone),
      TEST(an_extended_store_keeps_flags_and_crls),
      TEST(no_failed_allocation_makes_a_poorer_store),
  };
  support_init();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
