/*
 * peer_certificates.c - the certificates of both sides, and the verdict on
 * the peer's.
 *
 * On a resumed connection nothing was sent: certificates come with the
 * session, and the verdict is the one of the full handshake behind it, with
 * the dates looked at again (session_bound.h).
 *
 * The chain is the one that node's getPeerCertificate(true) shows: the leaf,
 * then the issuer of the last one from among what the server sent, each used
 * once, then from the trust store, up to one that issued itself.
 */
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <time.h>

#include "engine_internal.h"
#include "status.h"

/* Issuers that may be taken from the trust store: an end for circles. */
enum { STORE_ISSUERS_MAX = 100 };

/* ---- verdict ------------------------------------------------------------ */

long etls_engine_verify_result(const struct etls_engine *engine) {
  const SSL *ssl = engine->ssl;
  bool reused = SSL_session_reused(ssl) == 1;
  if (SSL_get0_peer_certificate(ssl) != NULL) {
    const struct etls_resumption *resume = &engine->resume;
    if (reused && resume->bound_known)
      return etls_session_bound_verdict(&resume->bound, (int64_t)time(NULL));
    return SSL_get_verify_result(ssl);
  }
  /* As node: no certificate is fine if a pre-shared key did its work. In
   * TLS 1.3 that looks like a resumption. */
  const SSL_CIPHER *cipher = SSL_get_current_cipher(ssl);
  if (cipher != NULL && SSL_CIPHER_get_auth_nid(cipher) == NID_auth_psk)
    return X509_V_OK;
  if (reused && SSL_version(ssl) == TLS1_3_VERSION)
    return X509_V_OK;
  return X509_V_ERR_UNSPECIFIED;
}

static const struct {
  long code;
  const char *name;
} verify_codes[] = {
    {X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, "UNABLE_TO_GET_ISSUER_CERT"},
    {X509_V_ERR_UNABLE_TO_GET_CRL, "UNABLE_TO_GET_CRL"},
    {X509_V_ERR_UNABLE_TO_DECRYPT_CERT_SIGNATURE,
     "UNABLE_TO_DECRYPT_CERT_SIGNATURE"},
    {X509_V_ERR_UNABLE_TO_DECRYPT_CRL_SIGNATURE,
     "UNABLE_TO_DECRYPT_CRL_SIGNATURE"},
    {X509_V_ERR_UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY,
     "UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY"},
    {X509_V_ERR_CERT_SIGNATURE_FAILURE, "CERT_SIGNATURE_FAILURE"},
    {X509_V_ERR_CRL_SIGNATURE_FAILURE, "CRL_SIGNATURE_FAILURE"},
    {X509_V_ERR_CERT_NOT_YET_VALID, "CERT_NOT_YET_VALID"},
    {X509_V_ERR_CERT_HAS_EXPIRED, "CERT_HAS_EXPIRED"},
    {X509_V_ERR_CRL_NOT_YET_VALID, "CRL_NOT_YET_VALID"},
    {X509_V_ERR_CRL_HAS_EXPIRED, "CRL_HAS_EXPIRED"},
    {X509_V_ERR_ERROR_IN_CERT_NOT_BEFORE_FIELD,
     "ERROR_IN_CERT_NOT_BEFORE_FIELD"},
    {X509_V_ERR_ERROR_IN_CERT_NOT_AFTER_FIELD, "ERROR_IN_CERT_NOT_AFTER_FIELD"},
    {X509_V_ERR_ERROR_IN_CRL_LAST_UPDATE_FIELD,
     "ERROR_IN_CRL_LAST_UPDATE_FIELD"},
    {X509_V_ERR_ERROR_IN_CRL_NEXT_UPDATE_FIELD,
     "ERROR_IN_CRL_NEXT_UPDATE_FIELD"},
    {X509_V_ERR_OUT_OF_MEM, "OUT_OF_MEM"},
    {X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, "DEPTH_ZERO_SELF_SIGNED_CERT"},
    {X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, "SELF_SIGNED_CERT_IN_CHAIN"},
    {X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
     "UNABLE_TO_GET_ISSUER_CERT_LOCALLY"},
    {X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE,
     "UNABLE_TO_VERIFY_LEAF_SIGNATURE"},
    {X509_V_ERR_CERT_CHAIN_TOO_LONG, "CERT_CHAIN_TOO_LONG"},
    {X509_V_ERR_CERT_REVOKED, "CERT_REVOKED"},
    {X509_V_ERR_INVALID_CA, "INVALID_CA"},
    {X509_V_ERR_PATH_LENGTH_EXCEEDED, "PATH_LENGTH_EXCEEDED"},
    {X509_V_ERR_INVALID_PURPOSE, "INVALID_PURPOSE"},
    {X509_V_ERR_CERT_UNTRUSTED, "CERT_UNTRUSTED"},
    {X509_V_ERR_CERT_REJECTED, "CERT_REJECTED"},
    {X509_V_ERR_HOSTNAME_MISMATCH, "HOSTNAME_MISMATCH"},
};

const char *etls_verify_code_name(long verify_result) {
  if (verify_result == X509_V_OK)
    return NULL;
  for (size_t i = 0; i < sizeof(verify_codes) / sizeof(verify_codes[0]); i++) {
    if (verify_codes[i].code == verify_result)
      return verify_codes[i].name;
  }
  return "UNSPECIFIED"; /* as node, for all others */
}

const char *etls_verify_code_text(long verify_result) {
  return verify_result == X509_V_OK
             ? NULL
             : X509_verify_cert_error_string(verify_result);
}

/* ---- certificates ------------------------------------------------------- */

bool etls_engine_peer_fingerprint(const struct etls_engine *engine,
                                  uint8_t out[ETLS_DIGEST_LEN]) {
  X509 *leaf = SSL_get0_peer_certificate(engine->ssl);
  unsigned int len = 0;
  ERR_clear_error();
  bool ok = leaf != NULL && X509_digest(leaf, EVP_sha256(), out, &len) == 1;
  ERR_clear_error();
  return ok && len == ETLS_DIGEST_LEN;
}

static bool issued(X509 *issuer, X509 *subject) {
  return X509_check_issued(issuer, subject) == X509_V_OK;
}

/* Appends a reference. */
static bool append(STACK_OF(X509) * chain, X509 *cert) {
  if (X509_up_ref(cert) != 1)
    return false;
  if (sk_X509_push(chain, cert) > 0)
    return true;
  X509_free(cert);
  return false;
}

static X509 *last(const STACK_OF(X509) * chain) {
  return sk_X509_value(chain, sk_X509_num(chain) - 1);
}

/* The first of `sent` that issued `cert` and is not in `chain`, or NULL. */
static X509 *unused_issuer(const STACK_OF(X509) * sent,
                           const STACK_OF(X509) * chain, X509 *cert) {
  for (int i = 0; i < sk_X509_num(sent); i++) {
    X509 *other = sk_X509_value(sent, i);
    bool used = false;
    for (int j = 0; j < sk_X509_num(chain) && !used; j++)
      used = sk_X509_value(chain, j) == other;
    if (!used && issued(other, cert))
      return other;
  }
  return NULL;
}

static bool append_sent(STACK_OF(X509) * chain, const STACK_OF(X509) * sent) {
  X509 *issuer = NULL;
  while (sent != NULL &&
         (issuer = unused_issuer(sent, chain, last(chain))) != NULL) {
    if (!append(chain, issuer))
      return false;
  }
  return true;
}

static bool append_trusted(STACK_OF(X509) * chain, X509_STORE_CTX *store_ctx) {
  for (int i = 0; i < STORE_ISSUERS_MAX; i++) {
    X509 *issuer = NULL;
    X509 *cert = last(chain);
    if (issued(cert, cert) ||
        X509_STORE_CTX_get1_issuer(&issuer, store_ctx, cert) != 1)
      return true;
    /* A certificate that names itself as its issuer, but is none. */
    bool same = X509_cmp(issuer, cert) == 0;
    bool ok = same || append(chain, issuer);
    X509_free(issuer);
    if (same || !ok)
      return ok;
  }
  return true;
}

/* NULL: no memory. */
static STACK_OF(X509) * build_chain(SSL *ssl, X509 *leaf, bool whole) {
  STACK_OF(X509) *chain = sk_X509_new_null();
  X509_STORE_CTX *store_ctx = NULL;
  bool ok = chain != NULL && append(chain, leaf);
  if (ok && whole) {
    store_ctx = X509_STORE_CTX_new();
    ok = store_ctx != NULL &&
         X509_STORE_CTX_init(store_ctx,
                             SSL_CTX_get_cert_store(SSL_get_SSL_CTX(ssl)), NULL,
                             NULL) == 1 &&
         append_sent(chain, SSL_get_peer_cert_chain(ssl)) &&
         append_trusted(chain, store_ctx);
  }
  X509_STORE_CTX_free(store_ctx);
  if (!ok) {
    sk_X509_pop_free(chain, X509_free);
    chain = NULL;
  }
  return chain;
}

/* False: no memory. */
static bool visit_one(X509 *cert, etls_der_visit visit, void *arg) {
  unsigned char *der = NULL;
  int len = i2d_X509(cert, &der);
  if (len <= 0)
    return false;
  visit(arg, der, (size_t)len);
  OPENSSL_free(der);
  return true;
}

enum etls_status etls_engine_visit_peer_certificates(
    struct etls_engine *engine, bool chain, etls_der_visit visit, void *arg,
    bool *self_signed, struct etls_error *error) {
  X509 *leaf = SSL_get0_peer_certificate(engine->ssl);
  *self_signed = false;
  ERR_clear_error();
  if (leaf == NULL || etls_resumption_is_unanswered(engine))
    return ETLS_OK;
  STACK_OF(X509) *certs = build_chain(engine->ssl, leaf, chain);
  bool ok = certs != NULL;
  for (int i = 0; ok && i < sk_X509_num(certs); i++)
    ok = visit_one(sk_X509_value(certs, i), visit, arg);
  if (ok)
    *self_signed = issued(last(certs), last(certs));
  sk_X509_pop_free(certs, X509_free);
  if (!ok)
    return etls_error_drain(error, ETLS_ERR_MEMORY, "Out of memory");
  ERR_clear_error();
  return ETLS_OK;
}

size_t etls_engine_peer_chain_len(const struct etls_engine *engine) {
  const STACK_OF(X509) *sent = SSL_get_peer_cert_chain(engine->ssl);
  return sent == NULL ? 0 : (size_t)sk_X509_num(sent);
}

enum etls_status etls_engine_visit_own_certificate(struct etls_engine *engine,
                                                   etls_der_visit visit,
                                                   void *arg,
                                                   struct etls_error *error) {
  X509 *own = SSL_get_certificate(engine->ssl);
  ERR_clear_error();
  if (own != NULL && !visit_one(own, visit, arg))
    return etls_error_drain(error, ETLS_ERR_MEMORY, "Out of memory");
  ERR_clear_error();
  return ETLS_OK;
}
