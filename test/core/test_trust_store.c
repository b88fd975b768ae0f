/*
 * test_trust_store.c - who shares a store with whom, and what is in it.
 */
#include "support.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509_vfy.h>
#include <string.h>
#include <time.h>

#include "config.h"
#include "trust_store.h"

static struct etls_context_counters counters;
static struct etls_trust_pool *pool;

static int set_up(void **state) {
  (void)state;
  memset(&counters, 0, sizeof(counters));
  pool = etls_trust_pool_new(&counters);
  return pool == NULL;
}

static int tear_down(void **state) {
  (void)state;
  etls_trust_pool_free(pool);
  return 0;
}

/* ---- helpers ------------------------------------------------------------ */

static X509 *read_certificate(const char *name) {
  struct blob blob = pki_read(name);
  BIO *bio = BIO_new_mem_buf(blob.bytes, (int)blob.len);
  X509 *certificate = PEM_read_bio_X509(bio, NULL, NULL, NULL);
  assert_non_null(certificate);
  BIO_free(bio);
  blob_free(&blob);
  return certificate;
}

/* X509_V_OK or the first error. */
static int verify(const struct etls_trust_store *store, const char *leaf) {
  X509 *certificate = read_certificate(leaf);
  X509_STORE_CTX *ctx = X509_STORE_CTX_new();
  int result = X509_V_OK;
  assert_int_equal(
      X509_STORE_CTX_init(ctx, etls_trust_store_get0(store), certificate, NULL),
      1);
  if (X509_verify_cert(ctx) != 1)
    result = X509_STORE_CTX_get_error(ctx);
  X509_STORE_CTX_free(ctx);
  X509_free(certificate);
  ERR_clear_error();
  return result;
}

static int objects_in(const struct etls_trust_store *store) {
  return sk_X509_OBJECT_num(
      X509_STORE_get0_objects(etls_trust_store_get0(store)));
}

static struct etls_trust_store *acquire(const struct etls_config *config) {
  struct etls_trust_store *store = NULL;
  struct etls_error error;
  etls_error_init(&error);
  assert_int_equal(etls_trust_pool_acquire(pool, config, &store, &error),
                   ETLS_OK);
  assert_int_equal(error.status, ETLS_OK);
  assert_non_null(store);
  assert_queue_empty();
  return store;
}

/* Builds a config of up to two files and a flag, and takes its store. */
static struct etls_trust_store *
acquire_files(const char *ca, enum etls_option flag, const char *crl) {
  struct etls_config *config = config_new();
  struct etls_trust_store *store;
  if (ca != NULL)
    config_file(config, ETLS_OPTION_CA, ca);
  if (flag != 0)
    config_int(config, flag, 1);
  if (crl != NULL)
    config_file(config, ETLS_OPTION_CRL, crl);
  store = acquire(config);
  etls_config_free(config);
  return store;
}

static struct etls_trust_store *extend(struct etls_trust_store *store,
                                       const char *name) {
  STACK_OF(X509) *certificates = sk_X509_new_null();
  struct etls_trust_store *extended = NULL;
  struct etls_error error;
  sk_X509_push(certificates, read_certificate(name));
  etls_error_init(&error);
  assert_int_equal(
      etls_trust_store_extend(store, certificates, &extended, &error), ETLS_OK);
  assert_queue_empty();
  sk_X509_pop_free(certificates, X509_free);
  return extended;
}

static void set_roots(const char *first, const char *second) {
  struct etls_error error;
  struct blob a = pki_read(first);
  struct blob b = pki_read(second);
  const void *pems[] = {a.bytes, b.bytes};
  const size_t lens[] = {a.len, b.len};
  etls_error_init(&error);
  assert_int_equal(etls_trust_pool_set_roots(pool, pems, lens, 2, &error),
                   ETLS_OK);
  assert_queue_empty();
  blob_free(&a);
  blob_free(&b);
}

static void digest_config(const struct etls_config *config, uint8_t *out) {
  struct etls_error error;
  etls_error_init(&error);
  assert_int_equal(etls_trust_pool_digest(pool, config, out, &error), ETLS_OK);
}

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

/* ---- default roots ------------------------------------------------------ */

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

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(equal_trust_is_one_store_whatever_else_differs),
      TEST(a_store_is_dropped_with_its_last_reference),
      TEST(recognised_content_has_the_digest_of_hashed_content),
      TEST(one_changed_byte_makes_another_digest),
      TEST(contents_with_one_fingerprint_stay_apart),
      TEST(plain_default_roots_are_one_x509_store),
      TEST(crl_flags_never_reach_the_shared_roots),
      TEST(roots_that_change_are_other_roots),
      TEST(roots_that_do_not_parse_are_skipped),
      TEST(no_roots_at_all_trust_nobody),
      TEST(a_ca_that_is_none_is_an_empty_one),
      TEST(a_ca_ends_at_the_first_broken_certificate),
      TEST(several_cas_are_all_trusted_and_doubles_do_no_harm),
      TEST(a_partial_chain_ends_at_a_trusted_intermediate),
      TEST(openssl_ca_comes_on_top_of_others),
      TEST(a_crl_that_does_not_parse_is_nodes_error),
      TEST(the_expiry_is_the_earliest_next_update),
      TEST(an_extended_store_is_shared_and_leaves_the_other_alone),
      TEST(an_extended_store_keeps_flags_and_crls),
      TEST(extending_the_roots_does_not_touch_them),
      TEST(no_failed_allocation_makes_a_poorer_store),
      TEST(roots_without_memory_stay_as_they_were),
  };
  support_init();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
