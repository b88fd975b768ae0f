/*
 * session_bound.c - dates of certificate chains, and the verification of
 * sessions that came from outside.
 *
 * The bound is taken over the chain that was verified, not over the one that
 * was sent: a server may send an expired certificate that no verification
 * uses. The root counts too, although it is never sent.
 *
 * No state; certificates are borrowed.
 */
#include "session_bound.h"

#include <time.h>

static int64_t seconds_of(const ASN1_TIME *when, int64_t fallback) {
  struct tm tm;
  if (when == NULL || ASN1_TIME_to_tm(when, &tm) != 1)
    return fallback;
  return (int64_t)timegm(&tm);
}

static void narrow(struct etls_session_bound *bound, const X509 *cert) {
  int64_t from = seconds_of(X509_get0_notBefore(cert), INT64_MAX);
  int64_t to = seconds_of(X509_get0_notAfter(cert), 0);
  if (from > bound->not_before)
    bound->not_before = from;
  if (to < bound->not_after)
    bound->not_after = to;
}

void etls_session_bound_init(struct etls_session_bound *bound, long verdict,
                             X509 *leaf, const STACK_OF(X509) * chain,
                             int64_t crl_expiry) {
  bound->verdict = verdict;
  bound->not_before = INT64_MIN;
  bound->not_after = INT64_MAX;
  narrow(bound, leaf);
  for (int i = 0; chain != NULL && i < sk_X509_num(chain); i++)
    narrow(bound, sk_X509_value(chain, i));
  bound->until = bound->not_after;
  if (crl_expiry != 0 && crl_expiry < bound->until)
    bound->until = crl_expiry;
}

long etls_session_bound_verdict(const struct etls_session_bound *bound,
                                int64_t now) {
  if (bound->verdict != X509_V_OK)
    return bound->verdict;
  if (now < bound->not_before)
    return X509_V_ERR_CERT_NOT_YET_VALID;
  if (now >= bound->not_after)
    return X509_V_ERR_CERT_HAS_EXPIRED;
  return X509_V_OK;
}

/* Sets up what OpenSSL's own verification of a server's chain sets up. */
static bool prepare(X509_STORE_CTX *store_ctx, SSL *ssl, X509 *leaf) {
  X509_STORE *store = SSL_CTX_get_cert_store(SSL_get_SSL_CTX(ssl));
  if (X509_STORE_CTX_init(store_ctx, store, leaf, NULL) != 1)
    return false;
  X509_VERIFY_PARAM *param = X509_STORE_CTX_get0_param(store_ctx);
  X509_VERIFY_PARAM_set_auth_level(param, SSL_get_security_level(ssl));
  return X509_STORE_CTX_set_default(store_ctx, "ssl_server") == 1 &&
         X509_VERIFY_PARAM_set1(param, SSL_get0_param(ssl)) == 1;
}

bool etls_session_bound_verify(struct etls_session_bound *bound, SSL *ssl,
                               SSL_SESSION *session, int64_t crl_expiry) {
  X509 *leaf = SSL_SESSION_get0_peer(session);
  if (leaf == NULL)
    return false;
  X509_STORE_CTX *store_ctx = X509_STORE_CTX_new();
  bool good = store_ctx != NULL && prepare(store_ctx, ssl, leaf) &&
              X509_verify_cert(store_ctx) == 1 &&
              X509_STORE_CTX_get_error(store_ctx) == X509_V_OK;
  if (good)
    etls_session_bound_init(bound, X509_V_OK, leaf,
                            X509_STORE_CTX_get0_chain(store_ctx), crl_expiry);
  X509_STORE_CTX_free(store_ctx);
  return good;
}
