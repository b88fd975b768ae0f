/*
 * context.c - one SSL_CTX, built once from a config and never changed after,
 * with the trust store that it shares with others.
 *
 * Reference-counted: the cache holds one, each engine and each owner outside
 * holds one. The last release frees the SSL_CTX at once and writes that into
 * the ledger of the cache, which therefore says the truth at any time.
 *
 * Options are applied in node's order, because with several faults the first
 * one is reported, and because @SECLEVEL in a cipher list changes what
 * the later ones may be. Per-connection values never get here, and neither does
 * the verify mode: as in node the chain is judged, not enforced, by OpenSSL.
 */
#include "context.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <stdatomic.h>
#include <string.h>

#include "config.h"
#include "engine.h"
#include "identity.h"
#include "mem.h"
#include "pem.h"
#include "status.h"
#include "trust_store.h"

struct etls_context {
  SSL_CTX *ssl_ctx;
  struct etls_trust_store *trust;
  struct etls_ledger *ledger;
  size_t refs;
  int weak_dh_bits;
  bool single_use;
  uint8_t digest[ETLS_DIGEST_LEN];
};

/* ---- the index of engines ----------------------------------------------- */

/* Made once per process, 0: not yet (OpenSSL keeps that one for itself). */
static atomic_int engine_index;

static bool make_engine_index(void) {
  int none = 0;
  int fresh;
  if (atomic_load(&engine_index) != 0)
    return true;
  fresh = SSL_get_ex_new_index(0, NULL, NULL, NULL, NULL);
  if (fresh <= 0)
    return false;
  /* If another thread was faster, the index of this one stays unused. */
  (void)atomic_compare_exchange_strong(&engine_index, &none, fresh);
  return true;
}

int etls_context_engine_index(void) {
  return atomic_load(&engine_index);
}

/* ---- options ------------------------------------------------------------ */

/* OpenSSL takes strings; as in node they end at the first NUL. */
static char *to_string(const struct etls_config_item *item) {
  char *text = etls_calloc(1, item->len + 1);
  if (text != NULL && item->len > 0)
    memcpy(text, item->bytes, item->len);
  return text;
}

/*
 * An empty list for TLS 1.2 and below is fine: "no cipher match" is what it is
 * for. Such a context speaks TLS 1.3 alone, if it may.
 */
static enum etls_status set_cipher_list(SSL_CTX *ctx, const char *list,
                                        struct etls_error *error) {
  long min = SSL_CTX_get_min_proto_version(ctx);
  long max = SSL_CTX_get_max_proto_version(ctx);

  if (SSL_CTX_set_cipher_list(ctx, list) != 1 &&
      (*list != '\0' ||
       ERR_GET_REASON(ERR_peek_error()) != SSL_R_NO_CIPHER_MATCH))
    return etls_error_drain(error, ETLS_ERR_TLS, "Failed to set ciphers");
  ERR_clear_error();
  if (*list == '\0' && min < TLS1_3_VERSION &&
      (max == 0 || max > TLS1_2_VERSION))
    SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION);
  return ETLS_OK;
}

static enum etls_status set_string(SSL_CTX *ctx,
                                   const struct etls_config_item *item,
                                   struct etls_error *error) {
  enum etls_status status = ETLS_OK;
  char *text = to_string(item);

  if (text == NULL)
    return etls_error_set_memory(error);
  if (item->option == ETLS_OPTION_CIPHER_SUITES) {
    if (SSL_CTX_set_ciphersuites(ctx, text) != 1)
      status = etls_error_drain(error, ETLS_ERR_TLS, "Failed to set ciphers");
  } else if (item->option == ETLS_OPTION_CIPHER_LIST) {
    status = set_cipher_list(ctx, text, error);
  } else if (item->option == ETLS_OPTION_SIGALGS) {
    if (SSL_CTX_set1_sigalgs_list(ctx, text) != 1)
      status = etls_error_drain(error, ETLS_ERR_TLS, NULL);
  } else if (SSL_CTX_set1_groups_list(ctx, text) != 1) {
    status = etls_queue_clear()
                 ? etls_error_set_memory(error)
                 : etls_error_set_code(error, ETLS_ERR_TLS,
                                       "ERR_CRYPTO_OPERATION_FAILED",
                                       "Failed to set ECDH curve");
  }
  etls_free(text);
  return status;
}

/* Takes key if it is strong enough. */
static enum etls_status set_dh_key(struct etls_context *context, EVP_PKEY *key,
                                   struct etls_error *error) {
  int bits = EVP_PKEY_get_bits(key);

  if (bits < 1024)
    return etls_error_set_code(error, ETLS_ERR_TLS, "ERR_INVALID_ARG_VALUE",
                               "DH parameter is less than 1024 bits");
  if (bits < 2048)
    context->weak_dh_bits = bits;
  if (EVP_PKEY_up_ref(key) != 1)
    return etls_error_set_memory(error);
  if (SSL_CTX_set0_tmp_dh_pkey(context->ssl_ctx, key) != 1) {
    EVP_PKEY_free(key);
    if (etls_queue_clear())
      return etls_error_set_memory(error);
    return etls_error_set_code(error, ETLS_ERR_TLS,
                               "ERR_CRYPTO_OPERATION_FAILED",
                               "Error setting temp DH parameter");
  }
  return ETLS_OK;
}

/* What is no DH parameter is silently ignored, as in node. */
static enum etls_status set_dh_param(struct etls_context *context,
                                     const struct etls_config_item *item,
                                     struct etls_error *error) {
  enum etls_status status = ETLS_OK;
  EVP_PKEY *key = NULL;
  BIO *bio;

  if (item->len == 0) {
    SSL_CTX_set_dh_auto(context->ssl_ctx, 1);
    return ETLS_OK;
  }
  bio = etls_pem_bio(item->bytes, item->len);
  if (bio == NULL)
    return etls_error_set_memory(error);
  key = PEM_read_bio_Parameters(bio, NULL);
  if (key == NULL && etls_pem_out_of_memory())
    status = etls_error_set_memory(error);
  else if (key != NULL &&
           (EVP_PKEY_is_a(key, "DH") || EVP_PKEY_is_a(key, "DHX")))
    status = set_dh_key(context, key, error);
  EVP_PKEY_free(key);
  BIO_free(bio);
  return status;
}

/* node's message is the whole report, its error has no code. */
static enum etls_status
set_session_id_context(SSL_CTX *ctx, const struct etls_config_item *item,
                       struct etls_error *error) {
  struct etls_error full;
  bool failed = item->len > UINT32_MAX ||
                SSL_CTX_set_session_id_context(ctx, item->bytes,
                                               (unsigned int)item->len) != 1;
  if (!failed)
    return ETLS_OK;
  etls_error_init(&full);
  etls_error_drain(&full, ETLS_ERR_TLS, "SSL_CTX_set_session_id_context error");
  return etls_error_set(error, full.status,
                        full.report[0] == '\0' ? full.message : full.report);
}

static enum etls_status set_version(SSL_CTX *ctx,
                                    const struct etls_config_item *item,
                                    struct etls_error *error) {
  int version = (int)item->number;
  bool done = item->option == ETLS_OPTION_MIN_VERSION
                  ? SSL_CTX_set_min_proto_version(ctx, version) == 1
                  : SSL_CTX_set_max_proto_version(ctx, version) == 1;
  return done ? ETLS_OK
              : etls_error_drain(error, ETLS_ERR_TLS, "Unsupported version");
}

static enum etls_status set_pfx(struct etls_context *context,
                                const struct etls_config_item *item,
                                struct etls_error *error) {
  struct etls_trust_store *extended = NULL;
  STACK_OF(X509) *extra = NULL;
  enum etls_status status;

  status = etls_identity_use_pfx(context->ssl_ctx, item, &extra, error);
  if (status == ETLS_OK && sk_X509_num(extra) > 0)
    status = etls_trust_store_extend(context->trust, extra, &extended, error);
  if (extended != NULL) {
    etls_trust_store_release(context->trust);
    context->trust = extended;
  }
  sk_X509_pop_free(extra, X509_free);
  return status;
}

static enum etls_status apply(struct etls_context *context,
                              const struct etls_config_item *item,
                              struct etls_error *error) {
  SSL_CTX *ctx = context->ssl_ctx;

  switch (item->option) {
  case ETLS_OPTION_MIN_VERSION:
  case ETLS_OPTION_MAX_VERSION:
    return set_version(ctx, item, error);
  case ETLS_OPTION_SECURE_OPTIONS:
    SSL_CTX_set_options(ctx, (uint64_t)item->number);
    return ETLS_OK;
  case ETLS_OPTION_CIPHER_SUITES:
  case ETLS_OPTION_CIPHER_LIST:
  case ETLS_OPTION_SIGALGS:
  case ETLS_OPTION_ECDH_CURVE:
    return set_string(ctx, item, error);
  case ETLS_OPTION_CERT:
    return etls_identity_use_cert(ctx, item, error);
  case ETLS_OPTION_KEY:
    return etls_identity_use_key(ctx, item, error);
  case ETLS_OPTION_DH_PARAM:
    return set_dh_param(context, item, error);
  case ETLS_OPTION_SESSION_ID_CONTEXT:
    return set_session_id_context(ctx, item, error);
  case ETLS_OPTION_PFX:
    return set_pfx(context, item, error);
  case ETLS_OPTION_SESSION_TIMEOUT:
    SSL_CTX_set_timeout(ctx, (long)item->number);
    return ETLS_OK;
  case ETLS_OPTION_METHOD: /* by new_ssl_ctx */
  case ETLS_OPTION_CA:     /* these five by the trust store */
  case ETLS_OPTION_DEFAULT_ROOTS:
  case ETLS_OPTION_OPENSSL_CA:
  case ETLS_OPTION_PARTIAL_CHAIN:
  case ETLS_OPTION_CRL:
  case ETLS_OPTION_TICKET_KEYS: /* concerns servers alone */
    return ETLS_OK;
  }
  return etls_error_set(error, ETLS_ERR_INTERNAL, "Unknown option");
}

/* ---- building ----------------------------------------------------------- */

static const SSL_METHOD *method_of(const struct etls_config *config) {
  struct etls_config_cursor cursor = {{0}};
  struct etls_config_item item;

  if (!etls_config_next(config, &cursor, &item) ||
      item.option != ETLS_OPTION_METHOD || item.number == 0)
    return TLS_method();
  return item.number == 1 ? TLS_client_method() : TLS_server_method();
}

static SSL_CTX *new_ssl_ctx(const struct etls_config *config) {
  SSL_CTX *ctx = SSL_CTX_new(method_of(config));

  if (ctx == NULL)
    return NULL;
  SSL_CTX_set_options(ctx, SSL_OP_NO_SSLv2 | SSL_OP_NO_SSLv3);
#ifdef SSL_OP_ALLOW_CLIENT_RENEGOTIATION
  SSL_CTX_set_options(ctx, SSL_OP_ALLOW_CLIENT_RENEGOTIATION);
#endif
  SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_CLIENT |
                                          SSL_SESS_CACHE_NO_INTERNAL |
                                          SSL_SESS_CACHE_NO_AUTO_CLEAR);
  SSL_CTX_clear_mode(ctx, SSL_MODE_NO_AUTO_CHAIN);
  SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS |
                            SSL_MODE_ENABLE_PARTIAL_WRITE |
                            SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_read_ahead(ctx, 1);
  etls_engine_install_callbacks(ctx);
  return ctx;
}

/* Trust comes where node adds CRLs, whose faults are the only ones it has. */
static enum etls_status apply_all(struct etls_context *context,
                                  const struct etls_config *config,
                                  struct etls_trust_pool *pool,
                                  struct etls_error *error) {
  struct etls_config_cursor cursor = {{0}};
  struct etls_config_item item;
  enum etls_status status;
  bool more = etls_config_next(config, &cursor, &item);

  for (;;) {
    if (context->trust == NULL && (!more || item.option >= ETLS_OPTION_CRL)) {
      status = etls_trust_pool_acquire(pool, config, &context->trust, error);
      if (status != ETLS_OK)
        return status;
    }
    if (!more)
      break;
    ERR_clear_error();
    status = apply(context, &item, error);
    if (status != ETLS_OK) {
      if (error->option == 0)
        error->option = (int)item.option;
      return status;
    }
    more = etls_config_next(config, &cursor, &item);
  }
  SSL_CTX_set1_cert_store(context->ssl_ctx,
                          etls_trust_store_get0(context->trust));
  return ETLS_OK;
}

static void free_context(struct etls_context *context) {
  SSL_CTX_free(context->ssl_ctx);
  etls_trust_store_release(context->trust);
  etls_free(context);
}

enum etls_status etls_context_new(const struct etls_config *config,
                                  struct etls_trust_pool *pool,
                                  const uint8_t digest[ETLS_DIGEST_LEN],
                                  bool single_use, struct etls_ledger *ledger,
                                  struct etls_context **out,
                                  struct etls_error *error) {
  struct etls_context *context = NULL;

  *out = NULL;
  ERR_clear_error();
  context = etls_calloc(1, sizeof(*context));
  if (context == NULL || !make_engine_index()) {
    etls_free(context);
    return etls_error_set_memory(error);
  }
  context->refs = 1;
  context->ledger = ledger;
  context->single_use = single_use;
  memcpy(context->digest, digest, ETLS_DIGEST_LEN);
  context->ssl_ctx = new_ssl_ctx(config);
  if (context->ssl_ctx == NULL) {
    etls_error_drain(error, ETLS_ERR_TLS, "SSL_CTX_new");
  } else if (apply_all(context, config, pool, error) == ETLS_OK) {
    ledger->counters.live++;
    ledger->counters.created++;
    if (single_use)
      ledger->counters.single_use++;
    *out = context;
    context = NULL;
    etls_ledger_event(ledger, ETLS_CONTEXT_CREATED, digest);
  }
  if (context != NULL)
    free_context(context);
  ERR_clear_error();
  return *out == NULL ? error->status : ETLS_OK;
}

/* ---- references and facts ----------------------------------------------- */

void etls_ledger_event(const struct etls_ledger *ledger,
                       enum etls_context_event event,
                       const uint8_t digest[ETLS_DIGEST_LEN]) {
  if (ledger->event_cb != NULL)
    ledger->event_cb(ledger->event_arg, event, digest);
}

void etls_context_up_ref(struct etls_context *context) {
  context->refs++;
}

void etls_context_release(struct etls_context *context) {
  struct etls_ledger *ledger;
  uint8_t digest[ETLS_DIGEST_LEN];

  if (context == NULL || --context->refs > 0)
    return;
  ledger = context->ledger;
  memcpy(digest, context->digest, ETLS_DIGEST_LEN);
  ledger->counters.live--;
  if (context->single_use)
    ledger->counters.single_use--;
  free_context(context);
  etls_ledger_event(ledger, ETLS_CONTEXT_FREED, digest);
}

bool etls_context_is_sole_ref(const struct etls_context *context) {
  return context->refs == 1;
}

const uint8_t *etls_context_get0_digest(const struct etls_context *context) {
  return context->digest;
}

bool etls_context_is_single_use(const struct etls_context *context) {
  return context->single_use;
}

int etls_context_weak_dh_bits(const struct etls_context *context) {
  return context->weak_dh_bits;
}

SSL_CTX *etls_context_get0_ssl_ctx(const struct etls_context *context) {
  return context->ssl_ctx;
}

void etls_context_engine_added(struct etls_context *context) {
  context->ledger->live_engines++;
}

void etls_context_engine_removed(struct etls_context *context) {
  context->ledger->live_engines--;
}

int64_t etls_context_crl_expiry(const struct etls_context *context) {
  return etls_trust_store_crl_expiry(context->trust);
}
