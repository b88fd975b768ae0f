/*
 * test_context_memory.c - contexts whose making fails for want of memory: none
 * is handed out incomplete, and nothing is left of those that are not.
 */
#include "support.h"

#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>

#include "context.h"

static struct etls_context_cache *cache;

static int set_up(void **state) {
  const struct etls_cache_limits limits = {3, 1000};
  (void)state;
  cache = etls_context_cache_new(&limits);
  return cache == NULL;
}

static int tear_down(void **state) {
  (void)state;
  etls_context_cache_free(cache);
  return 0;
}

static struct etls_context *acquire(struct etls_config *config,
                                    int64_t now_ms) {
  struct etls_context *context = NULL;
  struct etls_error error;
  etls_error_init(&error);
  assert_int_equal(
      etls_context_cache_acquire(cache, config, now_ms, &context, &error),
      ETLS_OK);
  assert_int_equal(error.status, ETLS_OK);
  assert_queue_empty();
  return context;
}

static struct etls_context_counters counters(void) {
  struct etls_context_counters now;
  etls_context_cache_get_counters(cache, &now);
  return now;
}

/* Most options but for the identity, with little to parse: a sweep runs it
 * hundreds of times. */
static struct etls_config *trust_config(void) {
  struct etls_config *config = config_new();
  config_int(config, ETLS_OPTION_MIN_VERSION, TLS1_2_VERSION);
  config_text(config, ETLS_OPTION_CIPHER_SUITES, "TLS_AES_256_GCM_SHA384");
  config_text(config, ETLS_OPTION_CIPHER_LIST, "ECDHE-RSA-AES128-GCM-SHA256");
  config_file(config, ETLS_OPTION_CA, "ca.crt");
  config_int(config, ETLS_OPTION_DEFAULT_ROOTS, 1);
  config_text(config, ETLS_OPTION_SIGALGS, "RSA-PSS+SHA256");
  config_text(config, ETLS_OPTION_ECDH_CURVE, "P-256:X25519");
  config_file(config, ETLS_OPTION_CRL, "crl-empty.pem");
  return config;
}

/* Nothing that was asked for is missing in a context that was handed out. */
static void assert_trust(const struct etls_context *context) {
  SSL_CTX *ctx = etls_context_get0_ssl_ctx(context);
  assert_int_equal(
      sk_X509_OBJECT_num(X509_STORE_get0_objects(SSL_CTX_get_cert_store(ctx))),
      3);
  assert_int_equal(sk_SSL_CIPHER_num(SSL_CTX_get_ciphers(ctx)), 2);
  assert_int_equal(SSL_CTX_get_min_proto_version(ctx), TLS1_2_VERSION);
  assert_true(etls_context_crl_expiry(context) > 0);
}

static struct etls_config *identity_config(void) {
  struct etls_config *config = config_new();
  struct blob leaf = pki_read("client-b.crt");
  struct blob issuer = pki_read("ca.crt");
  struct blob chain = blob_join(&leaf, &issuer);
  config_blob(config, ETLS_OPTION_CERT, &chain);
  config_secret(config, ETLS_OPTION_KEY, "client-b.key", NULL);
  blob_free(&leaf);
  blob_free(&issuer);
  blob_free(&chain);
  return config;
}

static void assert_identity(const struct etls_context *context) {
  SSL_CTX *ctx = etls_context_get0_ssl_ctx(context);
  STACK_OF(X509) *chain = NULL;
  assert_int_equal(SSL_CTX_check_private_key(ctx), 1);
  assert_int_equal(SSL_CTX_get0_chain_certs(ctx, &chain), 1);
  assert_int_equal(sk_X509_num(chain), 1);
}

static struct etls_config *pfx_config(void) {
  struct etls_config *config = config_new();
  config_secret(config, ETLS_OPTION_PFX, "client-a.pfx", "secret");
  return config;
}

static void assert_pfx(const struct etls_context *context) {
  SSL_CTX *ctx = etls_context_get0_ssl_ctx(context);
  assert_int_equal(
      sk_X509_OBJECT_num(X509_STORE_get0_objects(SSL_CTX_get_cert_store(ctx))),
      1);
  assert_int_equal(SSL_CTX_check_private_key(ctx), 1);
}

static enum etls_status get_context(const struct etls_config *config,
                                    bool single_use, struct etls_context **out,
                                    struct etls_error *error) {
  if (single_use)
    return etls_context_cache_create_single_use(cache, config, out, error);
  return etls_context_cache_acquire(cache, config, 0, out, error);
}

static void
assert_nothing_happened(const struct etls_context_counters *before) {
  struct etls_context_counters after = counters();
  assert_int_equal(after.live, before->live);
  assert_int_equal(after.cached, before->cached);
  assert_int_equal(after.single_use, before->single_use);
  assert_int_equal(after.created, before->created);
  assert_int_equal(after.hits, before->hits);
  assert_int_equal(after.misses, before->misses);
  assert_int_equal(after.evicted, before->evicted);
}

/* OpenSSL allocates thousands of times for one context: every seventh of these
 * fails in turn, with ETLS_TEST_SWEEP=all in the environment each of them. */
static unsigned long step_for(int whose) {
  const char *wish = getenv("ETLS_TEST_SWEEP");
  if (whose == FAIL_CORE || (wish != NULL && strcmp(wish, "all") == 0))
    return 1;
  return 7;
}

/*
 * Fails the n-th allocation for all n. Leaks are LeakSanitizer's to find.
 * The cache is new each time, so that nothing is ever a hit.
 */
static unsigned long sweep(const struct etls_config *config, bool single_use,
                           int whose,
                           void (*verify)(const struct etls_context *)) {
  const unsigned long step = step_for(whose);
  struct blob roots = pki_read("other-ca.crt");
  const void *pems[] = {roots.bytes};
  const size_t lens[] = {roots.len};
  unsigned long last = 0;
  bool hit = true;
  for (unsigned long n = 1; hit; n += step) {
    struct etls_context_counters before;
    struct etls_context *context = NULL;
    struct etls_error error;
    enum etls_status status;
    tear_down(NULL);
    assert_int_equal(set_up(NULL), 0);
    etls_error_init(&error);
    assert_int_equal(
        etls_context_cache_set_default_roots(cache, pems, lens, 1, &error),
        ETLS_OK);
    before = counters();
    fail_at(n, whose);
    status = get_context(config, single_use, &context, &error);
    hit = fail_end();
    last = hit ? n : last;
    assert_queue_empty();
    if (status == ETLS_OK) {
      verify(context);
      etls_context_release(context);
      continue;
    }
    assert_true(hit);
    assert_null(context);
    assert_int_equal(status, error.status);
    assert_int_not_equal(strlen(error.message), 0);
    assert_nothing_happened(&before);
    /* Next time it works. */
    if (n % 16 == 1) {
      etls_error_init(&error);
      assert_int_equal(get_context(config, single_use, &context, &error),
                       ETLS_OK);
      verify(context);
      etls_context_release(context);
    }
  }
  blob_free(&roots);
  return last;
}

static void sweep_both(struct etls_config *config, int whose,
                       void (*verify)(const struct etls_context *)) {
  unsigned long n;
  /* What OpenSSL allocates once and keeps shall not disturb the count. */
  etls_context_release(acquire(config, 0));
  n = sweep(config, false, whose, verify);
  assert_true(n > 3);
  print_message("acquire: %lu allocations\n", n);
  n = sweep(config, true, whose, verify);
  assert_true(n > 3);
  print_message("create_single_use: %lu allocations\n", n);
  etls_config_free(config);
}

static void every_allocation_of_the_core_may_fail(void **state) {
  (void)state;
  sweep_both(trust_config(), FAIL_CORE, assert_trust);
  sweep_both(identity_config(), FAIL_CORE, assert_identity);
  sweep_both(pfx_config(), FAIL_CORE, assert_pfx);
}

static void every_allocation_of_openssl_for_trust_may_fail(void **state) {
  (void)state;
  sweep_both(trust_config(), FAIL_OPENSSL, assert_trust);
}

static void every_allocation_of_openssl_for_an_identity_may_fail(void **state) {
  (void)state;
  sweep_both(identity_config(), FAIL_OPENSSL, assert_identity);
}

static void a_cache_without_memory_is_none(void **state) {
  (void)state;
  const struct etls_cache_limits limits = {3, 1000};
  bool hit = true;
  for (unsigned long n = 1; hit; n++) {
    struct etls_context_cache *other;
    fail_at(n, FAIL_CORE);
    other = etls_context_cache_new(&limits);
    hit = fail_end();
    assert_true(hit == (other == NULL));
    etls_context_cache_free(other);
  }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(every_allocation_of_the_core_may_fail),
      TEST(every_allocation_of_openssl_for_trust_may_fail),
      TEST(every_allocation_of_openssl_for_an_identity_may_fail),
      TEST(a_cache_without_memory_is_none),
  };
  support_init();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
