/*
 * identity.h - putting certificates and private keys into an SSL_CTX, with
 * node's order of calls and node's errors. error->option is the caller's to
 * set.
 */
#ifndef ETLS_IDENTITY_H
#define ETLS_IDENTITY_H

#include <openssl/ssl.h>

#include "config.h"
#include "eager_tls.h"

/* ETLS_OPTION_CERT: a leaf and the chain that is sent with it. */
ETLS_MUST_USE enum etls_status
etls_identity_use_cert(SSL_CTX *ctx, const struct etls_config_item *item,
                       struct etls_error *error);

/* ETLS_OPTION_KEY. No passphrase counts as an empty one. */
ETLS_MUST_USE enum etls_status
etls_identity_use_key(SSL_CTX *ctx, const struct etls_config_item *item,
                      struct etls_error *error);

/*
 * ETLS_OPTION_PFX: key, certificate and chain. *extra are the further
 * certificates in the file, which the caller adds to what the context trusts
 * (as node does) and frees; it may be NULL.
 */
ETLS_MUST_USE enum etls_status
etls_identity_use_pfx(SSL_CTX *ctx, const struct etls_config_item *item,
                      STACK_OF(X509) * *extra, struct etls_error *error);

#endif
