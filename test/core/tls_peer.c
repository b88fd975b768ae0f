/*
 * tls_peer.c - see tls_peer.h. The server is OpenSSL over two memory BIOs; its
 * own errors are taken out of the queue at once, so that what is found there
 * comes from the core.
 */
#include "tls_peer.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>

/* ---- bytes ----------------------------------------------------------------
 */

void bytes_append(struct bytes *bytes, const void *data, size_t len) {
  if (len == 0)
    return;
  bytes->data = realloc(bytes->data, bytes->len + len);
  assert_non_null(bytes->data);
  memcpy(bytes->data + bytes->len, data, len);
  bytes->len += len;
}

void bytes_drop(struct bytes *bytes, size_t n) {
  assert_true(n <= bytes->len);
  bytes->len -= n;
  if (bytes->len > 0)
    memmove(bytes->data, bytes->data + n, bytes->len);
  else {
    free(bytes->data);
    bytes->data = NULL;
  }
}

/* ---- certificates ---------------------------------------------------------
 */

static void add_extension(X509 *cert, X509 *issuer, int nid, const char *text) {
  X509V3_CTX ctx;
  X509V3_set_ctx(&ctx, issuer, cert, NULL, NULL, 0);
  X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &ctx, nid, text);
  assert_non_null(extension);
  assert_int_equal(X509_add_ext(cert, extension, -1), 1);
  X509_EXTENSION_free(extension);
}

struct identity identity_new(const char *name, const struct identity *issuer,
                             bool is_ca, long from, long to) {
  static long serial = 1;
  struct identity made = {X509_new(), EVP_EC_gen("P-256")};
  assert_non_null(made.cert);
  assert_non_null(made.key);
  X509 *by = issuer == NULL ? made.cert : issuer->cert;
  X509_set_version(made.cert, X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(made.cert), serial++);
  X509_gmtime_adj(X509_getm_notBefore(made.cert), from);
  X509_gmtime_adj(X509_getm_notAfter(made.cert), to);
  X509_set_pubkey(made.cert, made.key);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(made.cert), "CN",
                             MBSTRING_ASC, (const unsigned char *)name, -1, -1,
                             0);
  X509_set_issuer_name(made.cert, X509_get_subject_name(by));
  add_extension(made.cert, by, NID_basic_constraints,
                is_ca ? "critical,CA:TRUE" : "CA:FALSE");
  add_extension(made.cert, by, NID_key_usage,
                is_ca ? "critical,keyCertSign,cRLSign"
                      : "critical,digitalSignature");
  add_extension(made.cert, by, NID_subject_key_identifier, "hash");
  assert_true(X509_sign(made.cert, issuer == NULL ? made.key : issuer->key,
                        EVP_sha256()) > 0);
  return made;
}

void identity_free(struct identity *identity) {
  X509_free(identity->cert);
  EVP_PKEY_free(identity->key);
  *identity = (struct identity){NULL, NULL};
}

static struct blob blob_of_bio(BIO *bio) {
  char *data = NULL;
  long len = BIO_get_mem_data(bio, &data);
  struct blob blob = {calloc(1, (size_t)len + 1), (size_t)len};
  assert_non_null(blob.bytes);
  memcpy(blob.bytes, data, blob.len);
  BIO_free(bio);
  return blob;
}

struct blob identity_cert_pem(const struct identity *identity) {
  BIO *bio = BIO_new(BIO_s_mem());
  assert_int_equal(PEM_write_bio_X509(bio, identity->cert), 1);
  return blob_of_bio(bio);
}

struct blob identity_key_pem(const struct identity *identity) {
  BIO *bio = BIO_new(BIO_s_mem());
  assert_int_equal(
      PEM_write_bio_PrivateKey(bio, identity->key, NULL, NULL, 0, NULL, NULL),
      1);
  return blob_of_bio(bio);
}

struct blob identity_crl_pem(const struct identity *issuer, long to) {
  X509_CRL *crl = X509_CRL_new();
  ASN1_TIME *when = ASN1_TIME_new();
  BIO *bio = BIO_new(BIO_s_mem());
  X509_CRL_set_version(crl, X509_CRL_VERSION_2);
  X509_CRL_set_issuer_name(crl, X509_get_subject_name(issuer->cert));
  X509_CRL_set1_lastUpdate(crl, X509_gmtime_adj(when, -60));
  X509_CRL_set1_nextUpdate(crl, X509_gmtime_adj(when, to));
  assert_true(X509_CRL_sign(crl, issuer->key, EVP_sha256()) > 0);
  assert_int_equal(PEM_write_bio_X509_CRL(bio, crl), 1);
  ASN1_TIME_free(when);
  X509_CRL_free(crl);
  return blob_of_bio(bio);
}

/* ---- contexts --------------------------------------------------------------
 */

struct etls_context_cache *cache_new(void) {
  const struct etls_cache_limits limits = {.max = 16, .idle_timeout_ms = 60000};
  struct etls_context_cache *cache = etls_context_cache_new(&limits);
  assert_non_null(cache);
  return cache;
}

struct etls_context *context_of(struct etls_context_cache *cache,
                                struct etls_config *config) {
  struct etls_context *context = NULL;
  struct etls_error error;
  etls_error_init(&error);
  enum etls_status status =
      etls_context_cache_acquire(cache, config, 0, &context, &error);
  if (status != ETLS_OK)
    fail_msg("context: %s", error.message);
  assert_queue_empty();
  etls_config_free(config);
  return context;
}

struct etls_context *context_for(struct etls_context_cache *cache,
                                 const struct identity *ca, int min, int max) {
  struct etls_config *config = config_new();
  config_int(config, ETLS_OPTION_MIN_VERSION, min);
  config_int(config, ETLS_OPTION_MAX_VERSION, max);
  if (ca != NULL) {
    struct blob pem = identity_cert_pem(ca);
    config_blob(config, ETLS_OPTION_CA, &pem);
    blob_free(&pem);
  }
  return context_of(cache, config);
}

/* ---- the server ------------------------------------------------------------
 */

SSL_CTX *server_ctx(const struct identity *identity, const X509 *chain,
                    int version) {
  SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
  assert_non_null(ctx);
  SSL_CTX_set_min_proto_version(ctx, version);
  SSL_CTX_set_max_proto_version(ctx, version);
  if (identity != NULL) {
    assert_int_equal(SSL_CTX_use_certificate(ctx, identity->cert), 1);
    assert_int_equal(SSL_CTX_use_PrivateKey(ctx, identity->key), 1);
  }
  if (chain != NULL)
    assert_int_equal(SSL_CTX_add1_chain_cert(ctx, chain), 1);
  SSL_CTX_set_options(ctx, SSL_OP_ALLOW_CLIENT_RENEGOTIATION);
  static const unsigned char id[] = "test";
  SSL_CTX_set_session_id_context(ctx, id, sizeof(id));
  return ctx;
}

struct tls_peer *tls_peer_new(SSL_CTX *ctx) {
  struct tls_peer *peer = calloc(1, sizeof(*peer));
  assert_non_null(peer);
  peer->ssl = SSL_new(ctx);
  peer->in = BIO_new(BIO_s_mem());
  peer->out = BIO_new(BIO_s_mem());
  assert_non_null(peer->ssl);
  SSL_set_bio(peer->ssl, peer->in, peer->out);
  SSL_set_accept_state(peer->ssl);
  return peer;
}

void tls_peer_free(struct tls_peer *peer) {
  SSL_free(peer->ssl);
  free(peer->wire.data);
  free(peer->received.data);
  free(peer);
  ERR_clear_error();
}

static void note_failure(struct tls_peer *peer, int rc) {
  int why = SSL_get_error(peer->ssl, rc);
  if (why == SSL_ERROR_ZERO_RETURN)
    peer->closed = true;
  else if (why != SSL_ERROR_WANT_READ && peer->error == 0)
    peer->error = ERR_peek_error();
  ERR_clear_error();
}

static void read_all(struct tls_peer *peer) {
  uint8_t buffer[20000];
  int rc = 0;
  while ((rc = SSL_read(peer->ssl, buffer, sizeof(buffer))) > 0)
    bytes_append(&peer->received, buffer, (size_t)rc);
  note_failure(peer, rc);
}

void tls_peer_collect(struct tls_peer *peer) {
  uint8_t buffer[20000];
  int n = 0;
  while ((n = BIO_read(peer->out, buffer, sizeof(buffer))) > 0)
    bytes_append(&peer->wire, buffer, (size_t)n);
}

void tls_peer_step(struct tls_peer *peer, struct etls_engine *engine) {
  const uint8_t *data = NULL;
  size_t len = etls_engine_output(engine, &data);
  if (len > 0) {
    assert_int_equal(BIO_write(peer->in, data, (int)len), len);
    etls_engine_consume_output(engine, len);
  }
  ERR_clear_error();
  if (peer->error == 0 && !SSL_is_init_finished(peer->ssl)) {
    int rc = SSL_do_handshake(peer->ssl);
    if (rc <= 0)
      note_failure(peer, rc);
  }
  if (peer->error == 0 && SSL_is_init_finished(peer->ssl))
    read_all(peer);
  tls_peer_collect(peer);
}

void tls_peer_write(struct tls_peer *peer, const void *bytes, size_t len) {
  ERR_clear_error();
  assert_int_equal(SSL_write(peer->ssl, bytes, (int)len), len);
  tls_peer_collect(peer);
}

/* ---- both ------------------------------------------------------------------
 */

static void deliver(struct etls_engine *engine, struct tls_peer *peer,
                    size_t chunk) {
  size_t n = chunk == 0 || chunk > peer->wire.len ? peer->wire.len : chunk;
  assert_int_equal(x_feed(engine, peer->wire.data, n), ETLS_OK);
  bytes_drop(&peer->wire, n);
}

enum etls_status tls_connect(struct etls_engine *engine, struct tls_peer *peer,
                             size_t chunk, struct etls_error *error) {
  for (;;) {
    enum etls_status status = x_handshake(engine, error);
    if (status != ETLS_WANT_INPUT)
      return status;
    if (peer->wire.len == 0)
      tls_peer_step(peer, engine);
    if (peer->wire.len == 0)
      return status;
    deliver(engine, peer, chunk);
  }
}

void tls_open(struct etls_engine *engine, struct tls_peer *peer) {
  struct etls_error error;
  etls_error_init(&error);
  enum etls_status status = tls_connect(engine, peer, 0, &error);
  if (status != ETLS_OK)
    fail_msg("handshake: %s %s", etls_status_name(status), error.message);
  tls_peer_step(peer, engine);
  assert_int_equal(peer->error, 0);
}

enum etls_status tls_read(struct etls_engine *engine, struct tls_peer *peer,
                          size_t chunk, struct bytes *out,
                          struct etls_error *error) {
  for (;;) {
    uint8_t buffer[20000];
    size_t n = 0;
    enum etls_status status = x_read(engine, buffer, sizeof(buffer), &n, error);
    assert_int_equal(n > 0, status == ETLS_OK);
    bytes_append(out, buffer, n);
    if (status == ETLS_WANT_INPUT && peer->wire.len > 0)
      deliver(engine, peer, chunk);
    else if (status != ETLS_OK)
      return status;
  }
}

void tls_drain(struct etls_engine *engine, struct tls_peer *peer) {
  struct bytes out = {NULL, 0};
  struct etls_error error;
  etls_error_init(&error);
  enum etls_status status = tls_read(engine, peer, 0, &out, &error);
  if (status < 0)
    fail_msg("read: %s", error.message);
  free(out.data);
}

static void start(struct duo *duo) {
  stale_entry();
  duo->engine = etls_engine_new(duo->context, duo->pool, &duo->error);
  assert_non_null(duo->engine);
  assert_queue_empty();
  duo->peer = tls_peer_new(duo->ctx);
}

struct duo duo_new(int version) {
  struct duo duo = {.cache = cache_new(), .pool = etls_buffer_pool_new()};
  assert_non_null(duo.pool);
  etls_error_init(&duo.error);
  duo.ca = identity_new("Test CA", NULL, true, -3600, 864000);
  duo.leaf = identity_new("localhost", &duo.ca, false, -3600, 86400);
  duo.ctx = server_ctx(&duo.leaf, NULL, version);
  duo.context = context_for(duo.cache, &duo.ca, version, version);
  start(&duo);
  return duo;
}

static void stop(struct duo *duo) {
  stale_entry();
  etls_engine_free(duo->engine);
  if (duo->engine != NULL)
    assert_queue_empty();
  ERR_clear_error();
  if (duo->peer != NULL)
    tls_peer_free(duo->peer);
  duo->engine = NULL;
  duo->peer = NULL;
}

void duo_again(struct duo *duo) {
  stop(duo);
  etls_error_init(&duo->error);
  start(duo);
}

void duo_free(struct duo *duo) {
  stop(duo);
  assert_int_equal(etls_context_cache_live_engines(duo->cache), 0);
  etls_context_release(duo->context);
  etls_context_cache_free(duo->cache);
  etls_buffer_pool_free(duo->pool);
  SSL_CTX_free(duo->ctx);
  identity_free(&duo->ca);
  identity_free(&duo->leaf);
}

void duo_talk(struct duo *duo) {
  size_t n = 0;
  struct etls_error error;
  etls_error_init(&error);
  struct bytes got = {NULL, 0};
  assert_int_equal(x_write(duo->engine, "ping", 4, &n, &error), ETLS_OK);
  assert_int_equal(n, 4);
  tls_peer_step(duo->peer, duo->engine);
  assert_int_equal(duo->peer->received.len, 4);
  assert_memory_equal(duo->peer->received.data, "ping", 4);
  bytes_drop(&duo->peer->received, 4);
  tls_peer_write(duo->peer, "pong!", 5);
  assert_int_equal(tls_read(duo->engine, duo->peer, 0, &got, &error),
                   ETLS_WANT_INPUT);
  assert_int_equal(got.len, 5);
  assert_memory_equal(got.data, "pong!", 5);
  free(got.data);
}

/* ---- the engine's functions, watched ---------------------------------------
 */

bool tls_stale_entries = true;

void stale_entry(void) {
  if (tls_stale_entries)
    ERR_raise(ERR_LIB_USER, 77);
}

enum etls_status x_handshake(struct etls_engine *engine,
                             struct etls_error *error) {
  stale_entry();
  enum etls_status status = etls_engine_handshake(engine, error);
  assert_queue_empty();
  return status;
}

enum etls_status x_read(struct etls_engine *engine, void *dst, size_t cap,
                        size_t *n, struct etls_error *error) {
  stale_entry();
  enum etls_status status = etls_engine_read(engine, dst, cap, n, error);
  assert_queue_empty();
  return status;
}

enum etls_status x_write(struct etls_engine *engine, const void *src,
                         size_t len, size_t *consumed,
                         struct etls_error *error) {
  stale_entry();
  enum etls_status status =
      etls_engine_write(engine, src, len, consumed, error);
  assert_queue_empty();
  return status;
}

enum etls_status x_shutdown(struct etls_engine *engine,
                            struct etls_error *error) {
  stale_entry();
  enum etls_status status = etls_engine_shutdown(engine, error);
  assert_queue_empty();
  return status;
}

enum etls_status x_feed(struct etls_engine *engine, const void *bytes,
                        size_t len) {
  uint8_t *copy = malloc(len);
  assert_non_null(copy);
  memcpy(copy, bytes, len);
  enum etls_status status = etls_engine_feed(engine, copy, len);
  if (status == ETLS_OK)
    status = etls_engine_keep_input(engine);
  free(copy);
  return status;
}
