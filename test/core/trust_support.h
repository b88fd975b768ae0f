/*
 * trust_support.h - a pool of trust stores for one test, and a look into them.
 */
#ifndef ETLS_TEST_TRUST_SUPPORT_H
#define ETLS_TEST_TRUST_SUPPORT_H

#include "support.h"

#include <openssl/x509.h>

#include "config.h"
#include "trust_store.h"

/* Made anew for each TEST. */
extern struct etls_context_counters counters;
extern struct etls_trust_pool *pool;

int set_up_pool(void **state);
int tear_down_pool(void **state);
#define TEST(name)                                                             \
  cmocka_unit_test_setup_teardown(name, set_up_pool, tear_down_pool)

/* A file of the test PKI. */
X509 *read_certificate(const char *name);
/* Of a leaf in the test PKI: X509_V_OK or the first error. */
int verify(const struct etls_trust_store *store, const char *leaf);
/* Certificates and CRLs. */
int objects_in(const struct etls_trust_store *store);

/* A reference on the store for a config; it is there, or the test fails. */
struct etls_trust_store *acquire(const struct etls_config *config);
/* For a config of up to two files and a flag; NULL, 0: not that. */
struct etls_trust_store *acquire_files(const char *ca, enum etls_option flag,
                                       const char *crl);
/* A store with one certificate more. */
struct etls_trust_store *extend(struct etls_trust_store *store,
                                const char *name);
/* Two files as the default roots. */
void set_roots(const char *first, const char *second);
void digest_config(const struct etls_config *config, uint8_t *out);

#endif
