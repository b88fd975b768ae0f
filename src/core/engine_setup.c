/*
 * engine_setup.c - making and freeing an engine, and what is set on it before
 * its handshake.
 *
 * An engine owns its SSL (which owns the BIO) and one reference on its
 * context; both go in etls_engine_free, at once.
 *
 * Setters that fail leave the engine as it was: nothing has been sent yet.
 */
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <string.h>

#include "engine_internal.h"
#include "mem.h"
#include "status.h"

/* As node: whatever is wrong with the chain, the handshake goes on, and the
 * verdict is asked for afterwards. Which code the verdict has depends on
 * the verification going on after the first fault, too. */
static int accept_any(int ok, X509_STORE_CTX *store_ctx) {
  (void)ok;
  (void)store_ctx;
  return 1;
}

static bool start_ssl(struct etls_engine *engine) {
  SSL *ssl = engine->ssl;
  if (SSL_set_ex_data(ssl, etls_context_engine_index(), engine) != 1)
    return false;
  BIO *bio = etls_span_bio_new(&engine->span);
  if (bio == NULL)
    return false;
  SSL_set_bio(ssl, bio, bio);
  SSL_set_connect_state(ssl);
  SSL_set_verify(ssl, SSL_VERIFY_NONE, accept_any);
  SSL_set_mode(ssl, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_AUTO_RETRY |
                        SSL_MODE_ENABLE_PARTIAL_WRITE |
                        SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  /* OpenSSL then keeps incomplete records itself, in the buffer that it
   * needs anyway and frees when it is empty. */
  SSL_set_read_ahead(ssl, 1);
  return true;
}

struct etls_engine *etls_engine_new(struct etls_context *context,
                                    struct etls_buffer_pool *pool,
                                    struct etls_error *error) {
  ERR_clear_error();
  struct etls_engine *engine = etls_calloc(1, sizeof(*engine));
  if (engine == NULL) {
    etls_error_set_memory(error);
    return NULL;
  }
  engine->keylog_end = &engine->keylog;
  engine->span.pool = pool;
  engine->ssl = SSL_new(etls_context_get0_ssl_ctx(context));
  if (engine->ssl == NULL) {
    etls_error_drain(error, ETLS_ERR_TLS, "SSL_new");
    etls_free(engine);
    return NULL;
  }
  engine->context = context;
  etls_context_up_ref(context);
  etls_context_engine_added(context);
  if (!start_ssl(engine)) {
    etls_error_drain(error, ETLS_ERR_MEMORY, "Out of memory");
    etls_engine_free(engine);
    return NULL;
  }
  return engine;
}

void etls_engine_free(struct etls_engine *engine) {
  if (engine == NULL)
    return;
  etls_resumption_dispose(engine);
  /* Else SSL_free marks the session as not resumable, in memory that others
   * may share. */
  SSL_set_shutdown(engine->ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
  SSL_free(engine->ssl);
  etls_span_bio_dispose(&engine->span);
  etls_engine_drop_recorded(engine);
  etls_context_engine_removed(engine->context);
  etls_context_release(engine->context);
  etls_free(engine->failure);
  etls_free(engine);
  ERR_clear_error();
}

static enum etls_status too_late(struct etls_error *error) {
  return etls_error_set(error, ETLS_ERR_USAGE, "The handshake has started");
}

/* For setters: rc is OpenSSL's answer. */
static enum etls_status settle(bool ok, struct etls_error *error,
                               const char *what) {
  if (!ok)
    return etls_error_drain(error, ETLS_ERR_TLS, what);
  ERR_clear_error();
  return ETLS_OK;
}

enum etls_status etls_engine_set_servername(struct etls_engine *engine,
                                            const char *name, size_t len,
                                            struct etls_error *error) {
  if (engine->state != ETLS_STATE_IDLE)
    return too_late(error);
  if (len > 0 && memchr(name, 0, len) != NULL)
    return etls_error_set(error, ETLS_ERR_USAGE, "NUL in the server name");
  char *copy = etls_alloc(len + 1);
  if (copy == NULL)
    return etls_error_set_memory(error);
  if (len > 0)
    memcpy(copy, name, len);
  copy[len] = '\0';
  ERR_clear_error();
  bool ok = SSL_set_tlsext_host_name(engine->ssl, copy) == 1;
  etls_free(copy);
  return settle(ok, error, "SSL_set_tlsext_host_name");
}

enum etls_status etls_engine_set_alpn(struct etls_engine *engine,
                                      const uint8_t *wire, size_t len,
                                      struct etls_error *error) {
  if (engine->state != ETLS_STATE_IDLE)
    return too_late(error);
  ERR_clear_error();
  /* 65535 is what the extension can carry. 0 is success here. */
  bool ok = len <= 65535 &&
            SSL_set_alpn_protos(engine->ssl, wire, (unsigned int)len) == 0;
  return settle(ok, error, "Invalid ALPN protocols");
}

enum etls_status etls_engine_request_ocsp(struct etls_engine *engine,
                                          struct etls_error *error) {
  if (engine->state != ETLS_STATE_IDLE)
    return too_late(error);
  ERR_clear_error();
  bool ok =
      SSL_set_tlsext_status_type(engine->ssl, TLSEXT_STATUSTYPE_ocsp) == 1;
  if (ok)
    etls_resumption_give_up(engine);
  engine->ocsp_requested = ok;
  return settle(ok, error, "SSL_set_tlsext_status_type");
}

bool etls_engine_set_max_send_fragment(struct etls_engine *engine, long size) {
  ERR_clear_error();
  bool ok = SSL_set_max_send_fragment(engine->ssl, size) == 1;
  ERR_clear_error();
  return ok;
}

enum etls_status etls_engine_use_identity_of(struct etls_engine *engine,
                                             const struct etls_context *other,
                                             struct etls_error *error) {
  if (engine->state == ETLS_STATE_FAILED || engine->entered)
    return etls_error_set(error, ETLS_ERR_USAGE, "The connection has failed");
  SSL_CTX *ctx = etls_context_get0_ssl_ctx(other);
  SSL *ssl = engine->ssl;
  X509 *own = SSL_CTX_get0_certificate(ctx);
  EVP_PKEY *key = SSL_CTX_get0_privatekey(ctx);
  STACK_OF(X509) *chain = NULL;
  ERR_clear_error();
  if (own == NULL || key == NULL)
    return ETLS_OK;
  bool ok = SSL_CTX_get0_chain_certs(ctx, &chain) == 1 &&
            SSL_use_certificate(ssl, own) == 1 &&
            SSL_use_PrivateKey(ssl, key) == 1 &&
            (chain == NULL || SSL_set1_chain(ssl, chain) == 1);
  /* The context's digest no longer says who this client is. */
  if (engine->state == ETLS_STATE_IDLE)
    etls_resumption_give_up(engine);
  engine->foreign_identity = true;
  return settle(ok, error, "Cannot use the other context's certificate");
}

void etls_engine_set_psk_cb(struct etls_engine *engine, etls_psk_cb cb,
                            void *arg) {
  engine->psk_cb = cb;
  engine->psk_arg = arg;
  SSL_set_psk_client_callback(engine->ssl,
                              cb == NULL ? NULL : etls_engine_on_psk);
}

void etls_engine_want_sessions(struct etls_engine *engine, bool want) {
  engine->want_sessions = want;
}
