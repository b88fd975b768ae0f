/*
 * eager_tls_facts.h - the part of eager_tls.h that tells facts about a
 * connection; included by it, and by nobody else. Conventions there.
 */
#ifndef EAGER_TLS_FACTS_H
#define EAGER_TLS_FACTS_H

/* ---- facts (peer_info) ------------------------------------------------ */

/* X509_V_OK (0) or an X509_V_ERR_* code: the chain's verdict, with the dates
 * checked now when the connection was resumed. As node's verifyError. */
long etls_engine_verify_result(const struct etls_engine *engine);
/* "CERT_HAS_EXPIRED" ..., "UNSPECIFIED" as in node; NULL for 0. */
const char *etls_verify_code_name(long verify_result);
const char *etls_verify_code_text(long verify_result);

bool etls_engine_session_reused(const struct etls_engine *engine);
const char *etls_engine_protocol(const struct etls_engine *engine);
/* All three static strings; false before a cipher is chosen. */
bool etls_engine_cipher(const struct etls_engine *engine, const char **name,
                        const char **standard_name, const char **version);
/* The server's choice, borrowed; 0: none. */
size_t etls_engine_alpn(const struct etls_engine *engine, const uint8_t **name);
/* The name sent as SNI, or NULL. */
const char *etls_engine_servername(const struct etls_engine *engine);

/* SHA-256 over the peer's leaf certificate; false: none. */
bool etls_engine_peer_fingerprint(const struct etls_engine *engine,
                                  uint8_t out[ETLS_DIGEST_LEN]);
/*
 * The peer's certificates as DER: leaf first, then issuers in order, taken
 * from what the server sent and then from the trust store, as node's
 * getPeerCertificate(true). chain false: leaf only. Calls visit for each;
 * *self_signed says whether the last one issued itself.
 */
typedef void (*etls_der_visit)(void *arg, const uint8_t *der, size_t len);
ETLS_MUST_USE enum etls_status etls_engine_visit_peer_certificates(
    struct etls_engine *engine, bool chain, etls_der_visit visit, void *arg,
    bool *self_signed, struct etls_error *error);
/* How many of these, from the leaf on, the server itself sent. */
size_t etls_engine_peer_chain_len(const struct etls_engine *engine);
/* The client's own certificate. Calls visit 0 or 1 times. */
ETLS_MUST_USE enum etls_status
etls_engine_visit_own_certificate(struct etls_engine *engine,
                                  etls_der_visit visit, void *arg,
                                  struct etls_error *error);

/* The group of a hybrid key exchange, by OpenSSL's name; NULL: the key exchange
 * was another, or there was none. A static string. */
const char *etls_engine_hybrid_group(const struct etls_engine *engine);

struct etls_key_info {
  const char *type; /* "DH", "ECDH", or NULL: no ephemeral key */
  const char *name; /* the curve's name, or NULL */
  int bits;
};
void etls_engine_ephemeral_key(const struct etls_engine *engine,
                               struct etls_key_info *out);

/* SSL_get_finished / SSL_get_peer_finished: bytes copied, 0: none yet. */
size_t etls_engine_finished(const struct etls_engine *engine, bool peer,
                            uint8_t *out, size_t cap);
/* The current session serialised, for getSession(); as take_session. */
ETLS_MUST_USE enum etls_status
etls_engine_get1_session(struct etls_engine *engine, uint8_t **der, size_t *len,
                         struct etls_error *error);
/* The ticket of the current session, borrowed; 0: none. */
size_t etls_engine_ticket(const struct etls_engine *engine,
                          const uint8_t **ticket);
/* RFC 5705 / RFC 8446 7.5. */
ETLS_MUST_USE enum etls_status etls_engine_export_keying_material(
    struct etls_engine *engine, const char *label, size_t label_len,
    const uint8_t *context, size_t context_len, bool use_context, uint8_t *out,
    size_t len, struct etls_error *error);
/* Writes node's name ("RSA-PSS+SHA256") of shared signature algorithm
 * `index`; false: no such. */
bool etls_engine_shared_sigalg(const struct etls_engine *engine, int index,
                               char *out, size_t cap);

#endif
