/*
 * identity.c - who the client is: certificate chains, private keys and PFX
 * files. The sequence of OpenSSL's calls is node's, quirks included, because
 * it decides what is sent and which error is reported. (What node looks up
 * the issuer for, OCSP stapling by servers, is no concern of a client.)
 */
#include "identity.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <string.h>

#include "mem.h"
#include "pem.h"
#include "status.h"

/* ---- certificate chains ------------------------------------------------- */

/* Takes the rest of a PEM text as issuers. Anything but certificates in it is
 * an error, which is left in OpenSSL's queue. */
static STACK_OF(X509) * read_issuers(BIO *bio) {
  X509 *certificate;
  unsigned long code;
  STACK_OF(X509) *issuers = sk_X509_new_null();

  if (issuers == NULL)
    return NULL;
  while ((certificate = PEM_read_bio_X509(bio, NULL, etls_pem_no_passphrase,
                                          NULL)) != NULL) {
    if (sk_X509_push(issuers, certificate) <= 0) {
      X509_free(certificate);
      goto fail;
    }
  }
  code = ERR_peek_last_error();
  if (ERR_GET_LIB(code) != ERR_LIB_PEM ||
      ERR_GET_REASON(code) != PEM_R_NO_START_LINE)
    goto fail;
  ERR_clear_error();
  return issuers;
fail:
  sk_X509_pop_free(issuers, X509_free);
  return NULL;
}

static bool use_chain(SSL_CTX *ctx, X509 *leaf, STACK_OF(X509) * issuers) {
  if (SSL_CTX_use_certificate(ctx, leaf) != 1)
    return false;
  SSL_CTX_clear_extra_chain_certs(ctx);
  for (int i = 0; i < sk_X509_num(issuers); i++) {
    if (SSL_CTX_add1_chain_cert(ctx, sk_X509_value(issuers, i)) != 1)
      return false;
  }
  return true;
}

enum etls_status etls_identity_use_cert(SSL_CTX *ctx,
                                        const struct etls_config_item *item,
                                        struct etls_error *error) {
  enum etls_status status = ETLS_OK;
  X509 *leaf = NULL;
  STACK_OF(X509) *issuers = NULL;
  BIO *bio;

  ERR_clear_error();
  bio = etls_pem_bio(item->bytes, item->len);
  if (bio == NULL)
    return etls_error_set_memory(error);
  leaf = PEM_read_bio_X509_AUX(bio, NULL, etls_pem_no_passphrase, NULL);
  if (leaf != NULL)
    issuers = read_issuers(bio);
  if (issuers == NULL || !use_chain(ctx, leaf, issuers))
    status =
        etls_error_drain(error, ETLS_ERR_TLS, "SSL_CTX_use_certificate_chain");
  sk_X509_pop_free(issuers, X509_free);
  X509_free(leaf);
  BIO_free(bio);
  ERR_clear_error();
  return status;
}

/* ---- keys --------------------------------------------------------------- */

static int give_passphrase(char *buf, int size, int rwflag, void *arg) {
  const struct etls_config_item *item = arg;
  (void)rwflag;
  if (size < 0 || item->passphrase_len > (size_t)size)
    return -1;
  if (item->passphrase_len > 0)
    memcpy(buf, item->passphrase, item->passphrase_len);
  return (int)item->passphrase_len;
}

enum etls_status etls_identity_use_key(SSL_CTX *ctx,
                                       const struct etls_config_item *item,
                                       struct etls_error *error) {
  enum etls_status status = ETLS_OK;
  struct etls_config_item copy = *item;
  EVP_PKEY *key = NULL;
  BIO *bio;

  ERR_clear_error();
  bio = etls_pem_bio(item->bytes, item->len);
  if (bio == NULL)
    return etls_error_set_memory(error);
  key = PEM_read_bio_PrivateKey(bio, NULL, give_passphrase, &copy);
  if (key == NULL)
    status = etls_error_drain(error, ETLS_ERR_TLS, "PEM_read_bio_PrivateKey");
  else if (SSL_CTX_use_PrivateKey(ctx, key) != 1)
    status = etls_error_drain(error, ETLS_ERR_TLS, "SSL_CTX_use_PrivateKey");
  EVP_PKEY_free(key);
  BIO_free(bio);
  ERR_clear_error();
  return status;
}

/* ---- PFX files ---------------------------------------------------------- */

/* node reports the bare reason of the oldest error, with no code. */
static enum etls_status fail_pfx(struct etls_error *error) {
  unsigned long code = ERR_peek_error();
  const char *reason = ERR_reason_error_string(code);

  if (etls_queue_clear())
    return etls_error_set_memory(error);
  if (ERR_GET_REASON(code) == ERR_R_UNSUPPORTED)
    return etls_error_set_code(error, ETLS_ERR_TLS,
                               "ERR_CRYPTO_UNSUPPORTED_OPERATION",
                               "Unsupported PKCS12 PFX data");
  return etls_error_set(error, ETLS_ERR_TLS,
                        reason == NULL ? "Unknown error" : reason);
}

struct pfx {
  EVP_PKEY *key;
  X509 *leaf;
  STACK_OF(X509) * extra;
};

/* false: OpenSSL's queue says why. */
static bool parse_pfx(const struct etls_config_item *item, char *passphrase,
                      struct pfx *pfx) {
  bool done = false;
  PKCS12 *p12 = NULL;
  BIO *bio = etls_pem_bio(item->bytes, item->len);

  /* An end that is an error, as node's BIO has it: "not enough data". */
  if (bio != NULL && BIO_set_mem_eof_return(bio, -1) == 1)
    p12 = d2i_PKCS12_bio(bio, NULL);
  if (p12 != NULL)
    done =
        PKCS12_parse(p12, passphrase, &pfx->key, &pfx->leaf, &pfx->extra) == 1;
  PKCS12_free(p12);
  BIO_free(bio);
  return done;
}

static enum etls_status use_pfx(SSL_CTX *ctx, const struct pfx *pfx,
                                struct etls_error *error) {
  if (pfx->key == NULL)
    return etls_error_set_code(error, ETLS_ERR_TLS,
                               "ERR_CRYPTO_OPERATION_FAILED",
                               "Unable to load private key from PFX data");
  if (pfx->leaf == NULL)
    return etls_error_set_code(error, ETLS_ERR_TLS,
                               "ERR_CRYPTO_OPERATION_FAILED",
                               "Unable to load certificate from PFX data");
  if (!use_chain(ctx, pfx->leaf, pfx->extra) ||
      SSL_CTX_use_PrivateKey(ctx, pfx->key) != 1)
    return fail_pfx(error);
  return ETLS_OK;
}

enum etls_status etls_identity_use_pfx(SSL_CTX *ctx,
                                       const struct etls_config_item *item,
                                       STACK_OF(X509) * *extra,
                                       struct etls_error *error) {
  enum etls_status status;
  struct pfx pfx = {NULL, NULL, NULL};
  char *passphrase = NULL;

  *extra = NULL;
  ERR_clear_error();
  if (item->passphrase != NULL) {
    passphrase = etls_calloc(1, item->passphrase_len + 1);
    if (passphrase == NULL)
      return etls_error_set_memory(error);
    if (item->passphrase_len > 0)
      memcpy(passphrase, item->passphrase, item->passphrase_len);
  }
  if (parse_pfx(item, passphrase, &pfx))
    status = use_pfx(ctx, &pfx, error);
  else
    status = fail_pfx(error);
  if (status == ETLS_OK) {
    *extra = pfx.extra;
    pfx.extra = NULL;
  }
  etls_clear_free(passphrase, item->passphrase_len + 1);
  EVP_PKEY_free(pfx.key);
  X509_free(pfx.leaf);
  sk_X509_pop_free(pfx.extra, X509_free);
  ERR_clear_error();
  return status;
}
