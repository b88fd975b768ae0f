/*
 * pem.h - reading certificates and CRLs from PEM into an X509_STORE.
 */
#ifndef ETLS_PEM_H
#define ETLS_PEM_H

#include <openssl/bio.h>
#include <openssl/x509.h>

#include "eager_tls.h"

/* A read-only BIO over borrowed bytes; NULL: no memory. */
BIO *etls_pem_bio(const void *bytes, size_t len);

/* A passphrase callback that has none. OpenSSL's own would ask the terminal. */
int etls_pem_no_passphrase(char *buf, int size, int rwflag, void *arg);

/* After one of OpenSSL's PEM readers failed: whether it was for want of
 * memory. Empties the queue. */
bool etls_pem_out_of_memory(void);

/*
 * Adds the certificates of a text. skip_bad false, as node reads `ca`: up to
 * the first thing that is no certificate, which is not an error. skip_bad true,
 * for roots: what does not parse is skipped. *count grows by the certificates
 * read. The only failure is ETLS_ERR_MEMORY: a store that lacks certificates
 * because memory ran out is never taken for a complete one.
 */
ETLS_MUST_USE enum etls_status
etls_pem_add_certificates(X509_STORE *store, const void *bytes, size_t len,
                          bool skip_bad, uint64_t *count,
                          struct etls_error *error);

/*
 * Adds the first CRL of a text, as node does. *expiry becomes its nextUpdate,
 * in seconds since the epoch, if that is earlier or *expiry is 0.
 */
ETLS_MUST_USE enum etls_status etls_pem_add_crl(X509_STORE *store,
                                                const void *bytes, size_t len,
                                                int64_t *expiry,
                                                struct etls_error *error);

#endif
