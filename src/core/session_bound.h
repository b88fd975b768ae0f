/*
 * session_bound.h - how far the verdict on a certificate chain reaches.
 *
 * A resumed connection sends no certificates, so what a full handshake found
 * out about them travels with the sessions that came of it, and through all
 * resumptions of these.
 */
#ifndef ETLS_SESSION_BOUND_H
#define ETLS_SESSION_BOUND_H

#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "eager_tls.h"

/* Times are seconds since the epoch. */
struct etls_session_bound {
  long verdict;       /* X509_V_OK or X509_V_ERR_* of the full handshake */
  int64_t not_before; /* latest of the chain, its root included */
  int64_t not_after;  /* earliest of the chain */
  int64_t until;      /* sessions may be offered before that: not_after or the
                         end of a CRL, whatever comes first */
};

/* What remains of `chain` (may be NULL) and `leaf`. crl_expiry as
 * etls_context_crl_expiry. Dates that cannot be read end everything. */
void etls_session_bound_init(struct etls_session_bound *bound, long verdict,
                             X509 *leaf, const STACK_OF(X509) * chain,
                             int64_t crl_expiry);

/* The verdict, with the dates checked at `now`. */
long etls_session_bound_verdict(const struct etls_session_bound *bound,
                                int64_t now);

/*
 * Verifies the certificate in a session of unknown origin as `ssl` would
 * verify it in a handshake. True: it is good, and *bound says how far.
 */
bool etls_session_bound_verify(struct etls_session_bound *bound, SSL *ssl,
                               SSL_SESSION *session, int64_t crl_expiry);

#endif
