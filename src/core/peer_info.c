/*
 * peer_info.c - what is known about a connection: protocol, cipher, keys,
 * names, exports. Read-only. Certificates and the verdict on them are in
 * peer_certificates.c.
 *
 * Names and shapes are those that node's getters give, so that lib/ passes
 * them through. Strings are static: OpenSSL's tables or ours.
 */
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/objects.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <string.h>

#include "engine_internal.h"
#include "status.h"

bool etls_engine_session_reused(const struct etls_engine *engine) {
  return SSL_session_reused(engine->ssl) == 1;
}

const char *etls_engine_protocol(const struct etls_engine *engine) {
  return SSL_get_version(engine->ssl);
}

bool etls_engine_cipher(const struct etls_engine *engine, const char **name,
                        const char **standard_name, const char **version) {
  const SSL_CIPHER *cipher = SSL_get_current_cipher(engine->ssl);
  *name = *standard_name = *version = NULL;
  if (cipher == NULL || etls_resumption_is_hidden(engine))
    return false;
  *name = SSL_CIPHER_get_name(cipher);
  *standard_name = SSL_CIPHER_standard_name(cipher);
  *version = SSL_CIPHER_get_version(cipher);
  return true;
}

size_t etls_engine_alpn(const struct etls_engine *engine,
                        const uint8_t **name) {
  const unsigned char *chosen = NULL;
  unsigned int len = 0;
  SSL_get0_alpn_selected(engine->ssl, &chosen, &len);
  *name = chosen;
  return chosen == NULL ? 0 : len;
}

const char *etls_engine_servername(const struct etls_engine *engine) {
  return SSL_get_servername(engine->ssl, TLSEXT_NAMETYPE_host_name);
}

/* OpenSSL's short name of a curve, from the name that a provider has for it;
 * a static string. */
static const char *curve_name(EVP_PKEY *key) {
  char name[64] = "";
  size_t len = 0;
  if (EVP_PKEY_get_group_name(key, name, sizeof(name), &len) != 1)
    return NULL;
  int nid = OBJ_txt2nid(name);
  return nid == NID_undef ? NULL : OBJ_nid2sn(nid);
}

void etls_engine_ephemeral_key(const struct etls_engine *engine,
                               struct etls_key_info *out) {
  EVP_PKEY *key = NULL;
  *out = (struct etls_key_info){0};
  ERR_clear_error();
  if (SSL_get_peer_tmp_key(engine->ssl, &key) == 1) {
    int id = EVP_PKEY_get_base_id(key);
    switch (id) {
    case EVP_PKEY_DH:
      out->type = "DH";
      break;
    case EVP_PKEY_EC:
      out->type = "ECDH";
      out->name = curve_name(key);
      break;
    case EVP_PKEY_X25519:
    case EVP_PKEY_X448:
      out->type = "ECDH";
      out->name = OBJ_nid2sn(id);
      break;
    default: /* node says nothing of others either */
      break;
    }
    if (out->type != NULL)
      out->bits = EVP_PKEY_get_bits(key);
  }
  EVP_PKEY_free(key);
  ERR_clear_error();
}

const char *etls_engine_hybrid_group(const struct etls_engine *engine) {
  EVP_PKEY *key = NULL;
  const char *name = NULL;
  ERR_clear_error();
  /* Of a key encapsulation OpenSSL has no key to show. */
  if (SSL_get_peer_tmp_key(engine->ssl, &key) != 1 &&
      !SSL_in_init(engine->ssl)) {
    long group = SSL_get_negotiated_group(engine->ssl);
    if (group != NID_undef)
      name = SSL_group_to_name(engine->ssl, (int)group);
  }
  EVP_PKEY_free(key);
  ERR_clear_error();
  return name;
}

size_t etls_engine_finished(const struct etls_engine *engine, bool peer,
                            uint8_t *out, size_t cap) {
  /* OpenSSL copies at most cap bytes, but returns how many there are. */
  size_t len = peer ? SSL_get_peer_finished(engine->ssl, out, cap)
                    : SSL_get_finished(engine->ssl, out, cap);
  return len < cap ? len : cap;
}

size_t etls_engine_ticket(const struct etls_engine *engine,
                          const uint8_t **ticket) {
  const unsigned char *bytes = NULL;
  size_t len = 0;
  const SSL_SESSION *session = SSL_get0_session(engine->ssl);
  if (session != NULL && !etls_resumption_is_hidden(engine))
    SSL_SESSION_get0_ticket(session, &bytes, &len);
  *ticket = bytes;
  return bytes == NULL ? 0 : len;
}

enum etls_status etls_engine_export_keying_material(
    struct etls_engine *engine, const char *label, size_t label_len,
    const uint8_t *context, size_t context_len, bool use_context, uint8_t *out,
    size_t len, struct etls_error *error) {
  if (engine->state < ETLS_STATE_OPEN)
    return etls_error_set(error, ETLS_ERR_USAGE, "The handshake is not done");
  ERR_clear_error();
  if (SSL_export_keying_material(engine->ssl, out, len, label, label_len,
                                 context, context_len, use_context) != 1)
    return etls_error_drain(error, ETLS_ERR_TLS, "SSL_export_keying_material");
  return ETLS_OK;
}

static const char *signature_name(int nid) {
  switch (nid) {
  case EVP_PKEY_RSA:
    return "RSA";
  case EVP_PKEY_RSA_PSS:
    return "RSA-PSS";
  case EVP_PKEY_DSA:
    return "DSA";
  case EVP_PKEY_EC:
    return "ECDSA";
  case NID_ED25519:
    return "Ed25519";
  case NID_ED448:
    return "Ed448";
  case NID_id_GostR3410_2001:
    return "gost2001";
  case NID_id_GostR3410_2012_256:
    return "gost2012_256";
  case NID_id_GostR3410_2012_512:
    return "gost2012_512";
  default: {
    const char *name = OBJ_nid2sn(nid);
    return name == NULL ? "UNDEF" : name;
  }
  }
}

bool etls_engine_shared_sigalg(const struct etls_engine *engine, int index,
                               char *out, size_t cap) {
  int sign = NID_undef;
  int hash = NID_undef;
  if (index < 0 || SSL_get_shared_sigalgs(engine->ssl, index, &sign, &hash,
                                          NULL, NULL, NULL) <= index)
    return false;
  const char *hash_name = OBJ_nid2sn(hash);
  int len = snprintf(out, cap, "%s+%s", signature_name(sign),
                     hash_name == NULL ? "UNDEF" : hash_name);
  return len > 0 && (size_t)len < cap;
}

const char *etls_openssl_version(void) {
  return OpenSSL_version(OPENSSL_VERSION_STRING);
}

unsigned long etls_openssl_version_number(void) {
  return OpenSSL_version_num();
}
