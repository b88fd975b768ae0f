/*
 * trust_support.c - see trust_support.h.
 */
#include "trust_support.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509_vfy.h>
#include <string.h>

struct etls_context_counters counters;
struct etls_trust_pool *pool;

int set_up_pool(void **state) {
  (void)state;
  memset(&counters, 0, sizeof(counters));
  pool = etls_trust_pool_new(&counters);
  return pool == NULL;
}

int tear_down_pool(void **state) {
  (void)state;
  etls_trust_pool_free(pool);
  return 0;
}

X509 *read_certificate(const char *name) {
  struct blob blob = pki_read(name);
  BIO *bio = BIO_new_mem_buf(blob.bytes, (int)blob.len);
  X509 *certificate = PEM_read_bio_X509(bio, NULL, NULL, NULL);
  assert_non_null(certificate);
  BIO_free(bio);
  blob_free(&blob);
  return certificate;
}

int verify(const struct etls_trust_store *store, const char *leaf) {
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

int objects_in(const struct etls_trust_store *store) {
  return sk_X509_OBJECT_num(
      X509_STORE_get0_objects(etls_trust_store_get0(store)));
}

struct etls_trust_store *acquire(const struct etls_config *config) {
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

struct etls_trust_store *acquire_files(const char *ca, enum etls_option flag,
                                       const char *crl) {
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

struct etls_trust_store *extend(struct etls_trust_store *store,
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

void set_roots(const char *first, const char *second) {
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

void digest_config(const struct etls_config *config, uint8_t *out) {
  struct etls_error error;
  etls_error_init(&error);
  assert_int_equal(etls_trust_pool_digest(pool, config, out, &error), ETLS_OK);
}
