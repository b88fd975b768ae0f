/*
 * test_context_cache.c - hits, bounds, idleness, references and events.
 */
#include "support.h"

#include <openssl/ssl.h>
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

/* ---- helpers ------------------------------------------------------------ */

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

/* The context number n: they differ in their session timeout. */
static struct etls_context *acquire_number(int n, int64_t now_ms) {
  struct etls_config *config = config_new();
  struct etls_context *context;
  config_int(config, ETLS_OPTION_SESSION_TIMEOUT, 1000 + n);
  context = acquire(config, now_ms);
  etls_config_free(config);
  return context;
}

/* Acquires and releases at once. */
static void use_number(int n, int64_t now_ms) {
  etls_context_release(acquire_number(n, now_ms));
}

static struct etls_context_counters counters(void) {
  struct etls_context_counters now;
  etls_context_cache_get_counters(cache, &now);
  return now;
}

/* True if asking for number n would be a hit. (Asks, so it counts.) */
static bool is_cached(int n, int64_t now_ms) {
  uint64_t hits = counters().hits;
  use_number(n, now_ms);
  return counters().hits == hits + 1;
}

static void set_limits(size_t max, int64_t idle_timeout_ms, int64_t now_ms) {
  const struct etls_cache_limits limits = {max, idle_timeout_ms};
  etls_context_cache_set_limits(cache, &limits, now_ms);
}

/* ---- hits --------------------------------------------------------------- */

static void equal_options_give_the_same_context(void **state) {
  (void)state;
  struct etls_context *a = acquire_number(1, 0);
  struct etls_context *b = acquire_number(1, 0);
  struct etls_context *c = acquire_number(2, 0);
  assert_ptr_equal(a, b);
  assert_ptr_not_equal(a, c);
  assert_memory_not_equal(etls_context_get0_digest(a),
                          etls_context_get0_digest(c), ETLS_DIGEST_LEN);
  assert_false(etls_context_is_single_use(a));
  assert_int_equal(counters().hits, 1);
  assert_int_equal(counters().misses, 2);
  assert_int_equal(counters().created, 2);
  assert_int_equal(counters().live, 2);
  assert_int_equal(counters().cached, 2);
  assert_int_equal(counters().evicted, 0);
  etls_context_release(a);
  etls_context_release(b);
  etls_context_release(c);
  assert_int_equal(counters().live, 2);
}

static void identities_over_one_bundle_parse_it_once(void **state) {
  (void)state;
  struct etls_context *contexts[50];
  set_limits(100, 1000, 0);
  for (int i = 0; i < 50; i++) {
    struct etls_config *config = config_new();
    config_file(config, ETLS_OPTION_CA, "bundle.pem");
    config_file(config, ETLS_OPTION_CERT,
                i % 2 == 0 ? "client-a.crt" : "client-b.crt");
    config_secret(config, ETLS_OPTION_KEY,
                  i % 2 == 0 ? "client-a.key" : "client-b.key", NULL);
    config_int(config, ETLS_OPTION_SESSION_TIMEOUT, i);
    contexts[i] = acquire(config, 0);
    etls_config_free(config);
  }
  assert_int_equal(counters().created, 50);
  assert_int_equal(counters().stores_built, 1);
  assert_int_equal(counters().certificates_parsed, 120);
  for (int i = 0; i < 50; i++) {
    assert_ptr_equal(
        SSL_CTX_get_cert_store(etls_context_get0_ssl_ctx(contexts[i])),
        SSL_CTX_get_cert_store(etls_context_get0_ssl_ctx(contexts[0])));
    etls_context_release(contexts[i]);
  }
}

static void default_roots_are_shared_and_part_of_the_digest(void **state) {
  (void)state;
  struct blob a = pki_read("ca.crt");
  struct blob b = pki_read("other-ca.crt");
  const void *pems[] = {a.bytes, b.bytes};
  const size_t lens[] = {a.len, b.len};
  struct etls_config *config = config_new();
  struct etls_context *before;
  struct etls_context *again;
  struct etls_context *after;
  struct etls_error error;
  etls_error_init(&error);
  config_int(config, ETLS_OPTION_DEFAULT_ROOTS, 1);
  assert_int_equal(
      etls_context_cache_set_default_roots(cache, pems, lens, 1, &error),
      ETLS_OK);
  before = acquire(config, 0);
  assert_int_equal(
      etls_context_cache_set_default_roots(cache, pems, lens, 1, &error),
      ETLS_OK);
  again = acquire(config, 0);
  assert_ptr_equal(before, again);
  assert_int_equal(
      etls_context_cache_set_default_roots(cache, pems, lens, 2, &error),
      ETLS_OK);
  after = acquire(config, 0);
  assert_ptr_not_equal(before, after);
  assert_memory_not_equal(etls_context_get0_digest(before),
                          etls_context_get0_digest(after), ETLS_DIGEST_LEN);
  etls_context_release(before);
  etls_context_release(again);
  etls_context_release(after);
  etls_config_free(config);
  blob_free(&a);
  blob_free(&b);
}

static void a_config_that_fails_leaves_nothing(void **state) {
  (void)state;
  struct etls_config *config = config_new();
  struct etls_context *context = NULL;
  struct etls_error error;
  config_file(config, ETLS_OPTION_CA, "ca.crt");
  config_text(config, ETLS_OPTION_CERT, "x");
  etls_error_init(&error);
  assert_int_equal(
      etls_context_cache_acquire(cache, config, 0, &context, &error),
      ETLS_ERR_TLS);
  assert_null(context);
  assert_int_equal(error.option, ETLS_OPTION_CERT);
  assert_int_equal(counters().live, 0);
  assert_int_equal(counters().created, 0);
  assert_int_equal(counters().misses, 0);
  assert_int_equal(counters().cached, 0);
  assert_queue_empty();
  etls_config_free(config);
}

/* ---- the bound ---------------------------------------------------------- */

static void the_least_recently_used_goes_first(void **state) {
  (void)state;
  use_number(1, 0);
  use_number(2, 0);
  use_number(3, 0);
  use_number(1, 0);
  use_number(4, 0);
  assert_int_equal(counters().evicted, 1);
  assert_int_equal(counters().cached, 3);
  assert_int_equal(counters().live, 3);
  assert_true(is_cached(1, 0));
  assert_true(is_cached(3, 0));
  assert_true(is_cached(4, 0));
  assert_false(is_cached(2, 0));
  assert_int_equal(counters().cached, 3);
}

static void an_evicted_context_lives_until_its_last_reference(void **state) {
  (void)state;
  struct etls_context *old = acquire_number(1, 0);
  struct etls_context *fresh;
  for (int n = 2; n <= 5; n++)
    use_number(n, 0);
  assert_int_equal(counters().cached, 3);
  assert_int_equal(counters().live, 4);
  assert_int_equal(SSL_CTX_get_timeout(etls_context_get0_ssl_ctx(old)), 1001);
  fresh = acquire_number(1, 0);
  assert_ptr_not_equal(old, fresh);
  assert_memory_equal(etls_context_get0_digest(old),
                      etls_context_get0_digest(fresh), ETLS_DIGEST_LEN);
  etls_context_release(old);
  assert_int_equal(counters().live, 3);
  etls_context_release(fresh);
}

static void a_lower_bound_takes_effect_at_once(void **state) {
  (void)state;
  use_number(1, 0);
  use_number(2, 0);
  use_number(3, 0);
  set_limits(1, 1000, 0);
  assert_int_equal(counters().cached, 1);
  assert_int_equal(counters().evicted, 2);
  assert_true(is_cached(3, 0));
}

static void a_bound_of_zero_caches_nothing(void **state) {
  (void)state;
  struct etls_context *a;
  struct etls_context *b;
  set_limits(0, 1000, 0);
  a = acquire_number(1, 0);
  b = acquire_number(1, 0);
  assert_ptr_not_equal(a, b);
  assert_false(etls_context_is_single_use(a));
  assert_int_equal(counters().cached, 0);
  assert_int_equal(counters().evicted, 0);
  assert_int_equal(counters().misses, 2);
  assert_int_equal(counters().live, 2);
  etls_context_release(a);
  etls_context_release(b);
  assert_int_equal(counters().live, 0);
}

/* ---- idleness ----------------------------------------------------------- */

static void idle_contexts_are_evicted_after_the_timeout(void **state) {
  (void)state;
  assert_int_equal(etls_context_cache_expire(cache, 0), -1);
  use_number(1, 0);
  use_number(2, 400);
  assert_int_equal(etls_context_cache_expire(cache, 999), 1);
  assert_int_equal(counters().cached, 2);
  assert_int_equal(etls_context_cache_expire(cache, 1000), 400);
  assert_int_equal(counters().cached, 1);
  assert_int_equal(counters().evicted, 1);
  use_number(2, 1200);
  assert_int_equal(etls_context_cache_expire(cache, 1400), 800);
  assert_int_equal(etls_context_cache_expire(cache, 5000), -1);
  assert_int_equal(counters().cached, 0);
  assert_int_equal(counters().live, 0);
}

static void a_context_in_use_is_not_idle(void **state) {
  (void)state;
  struct etls_context *context = acquire_number(1, 0);
  assert_int_equal(etls_context_cache_expire(cache, 5000), 1000);
  assert_int_equal(counters().cached, 1);
  etls_context_release(context);
  /* Idle since it was last seen in use. */
  assert_int_equal(etls_context_cache_expire(cache, 5600), 400);
  assert_int_equal(etls_context_cache_expire(cache, 6000), -1);
  assert_int_equal(counters().live, 0);
}

static void a_shorter_timeout_takes_effect_at_once(void **state) {
  (void)state;
  use_number(1, 0);
  use_number(2, 300);
  set_limits(3, 200, 400);
  assert_int_equal(counters().cached, 1);
  assert_true(is_cached(2, 400));
}

static void clear_spares_what_is_in_use(void **state) {
  (void)state;
  struct etls_context *context = acquire_number(1, 0);
  use_number(2, 0);
  use_number(3, 0);
  etls_context_cache_clear(cache);
  assert_int_equal(counters().cached, 1);
  assert_int_equal(counters().evicted, 2);
  assert_int_equal(counters().live, 1);
  assert_true(is_cached(1, 0));
  etls_context_release(context);
  etls_context_cache_clear(cache);
  assert_int_equal(counters().cached, 0);
  assert_int_equal(counters().live, 0);
}

static void
rotated_content_is_another_context_and_the_old_one_ages_out(void **state) {
  (void)state;
  static const char *const files[] = {"ca.crt", "twin-ca.crt"};
  for (int64_t i = 0; i < 2; i++) {
    struct etls_config *config = config_new();
    config_file(config, ETLS_OPTION_CA, files[i]);
    etls_context_release(acquire(config, i * 600));
    etls_config_free(config);
  }
  assert_int_equal(counters().created, 2);
  assert_int_equal(counters().stores_built, 2);
  assert_int_equal(etls_context_cache_expire(cache, 1000), 600);
  assert_int_equal(counters().cached, 1);
}

/* ---- single use --------------------------------------------------------- */

static void single_use_contexts_are_always_new(void **state) {
  (void)state;
  struct etls_config *config = config_new();
  struct etls_context *shared;
  struct etls_context *single[2] = {NULL, NULL};
  struct etls_error error;
  etls_error_init(&error);
  config_file(config, ETLS_OPTION_CA, "ca.crt");
  shared = acquire(config, 0);
  for (int i = 0; i < 2; i++)
    assert_int_equal(
        etls_context_cache_create_single_use(cache, config, &single[i], &error),
        ETLS_OK);
  assert_ptr_not_equal(single[0], shared);
  assert_ptr_not_equal(single[0], single[1]);
  assert_true(etls_context_is_single_use(single[0]));
  /* One content, one digest, one trust store. */
  assert_memory_equal(etls_context_get0_digest(single[0]),
                      etls_context_get0_digest(shared), ETLS_DIGEST_LEN);
  assert_int_equal(counters().stores_built, 1);
  assert_int_equal(counters().live, 3);
  assert_int_equal(counters().single_use, 2);
  assert_int_equal(counters().cached, 1);
  etls_context_release(single[0]);
  etls_context_release(single[1]);
  assert_int_equal(counters().live, 1);
  assert_int_equal(counters().single_use, 0);
  assert_int_equal(counters().evicted, 0);
  etls_context_release(shared);
  etls_config_free(config);
}

/* ---- events ------------------------------------------------------------- */

struct log {
  char text[64];
  uint8_t digest[ETLS_DIGEST_LEN];
};

static void on_event(void *arg, enum etls_context_event event,
                     const uint8_t digest[ETLS_DIGEST_LEN]) {
  struct log *log = arg;
  size_t at = strlen(log->text);
  assert_true(at + 1 < sizeof(log->text));
  log->text[at] = "?CEF"[event];
  memcpy(log->digest, digest, ETLS_DIGEST_LEN);
}

static void events_tell_what_happens_to_contexts(void **state) {
  (void)state;
  struct log log;
  struct etls_context *context;
  memset(&log, 0, sizeof(log));
  set_limits(1, 1000, 0);
  etls_context_cache_set_event_cb(cache, on_event, &log);
  context = acquire_number(1, 0);
  assert_string_equal(log.text, "C");
  assert_memory_equal(log.digest, etls_context_get0_digest(context),
                      ETLS_DIGEST_LEN);
  use_number(1, 0);
  assert_string_equal(log.text, "C");
  use_number(2, 0); /* evicts the first one, which is in use */
  assert_string_equal(log.text, "CCE");
  assert_memory_equal(log.digest, etls_context_get0_digest(context),
                      ETLS_DIGEST_LEN);
  etls_context_release(context);
  assert_string_equal(log.text, "CCEF");
  etls_context_cache_clear(cache);
  assert_string_equal(log.text, "CCEFEF");
  etls_context_cache_set_event_cb(cache, NULL, NULL);
  use_number(3, 0);
  assert_string_equal(log.text, "CCEFEF");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(equal_options_give_the_same_context),
      TEST(identities_over_one_bundle_parse_it_once),
      TEST(default_roots_are_shared_and_part_of_the_digest),
      TEST(a_config_that_fails_leaves_nothing),
      TEST(the_least_recently_used_goes_first),
      TEST(an_evicted_context_lives_until_its_last_reference),
      TEST(a_lower_bound_takes_effect_at_once),
      TEST(a_bound_of_zero_caches_nothing),
      TEST(idle_contexts_are_evicted_after_the_timeout),
      TEST(a_context_in_use_is_not_idle),
      TEST(a_shorter_timeout_takes_effect_at_once),
      TEST(clear_spares_what_is_in_use),
      TEST(rotated_content_is_another_context_and_the_old_one_ages_out),
      TEST(single_use_contexts_are_always_new),
      TEST(events_tell_what_happens_to_contexts),
  };
  support_init();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
