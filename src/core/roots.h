/*
 * roots.h - the default roots in force: their texts, a digest of them, and,
 * once somebody needs it, the X509_STORE that was parsed from them.
 */
#ifndef ETLS_ROOTS_H
#define ETLS_ROOTS_H

#include <openssl/x509.h>

#include "eager_tls.h"

struct etls_roots {
  uint8_t *pems; /* one after the other */
  size_t *lens;
  size_t count;
  uint8_t digest[ETLS_DIGEST_LEN];
  X509_STORE *x509; /* NULL: nobody needed them yet */
};

/* No roots. false: no memory. */
ETLS_MUST_USE bool etls_roots_init(struct etls_roots *roots);
void etls_roots_dispose(struct etls_roots *roots);

/* Copies the texts. The same ones again change nothing, so what is parsed
 * stays parsed. On failure nothing changed. */
ETLS_MUST_USE enum etls_status etls_roots_set(struct etls_roots *roots,
                                              const void *const *pems,
                                              const size_t *lens, size_t count,
                                              struct etls_error *error);

/* Makes roots->x509 if need be. It is shared by everybody: nobody may add to
 * it or set flags. */
ETLS_MUST_USE enum etls_status
etls_roots_parse(struct etls_roots *roots,
                 struct etls_context_counters *counters,
                 struct etls_error *error);

#endif
