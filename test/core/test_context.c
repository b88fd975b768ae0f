/*
 * test_context.c - what of a config arrives in the SSL_CTX, and who counts it.
 */
#include "support.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <string.h>

#include "context.h"

static struct etls_context_cache *cache;

static int set_up(void **state) {
  const struct etls_cache_limits limits = {16, 1000};
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

/* Frees the config. */
static struct etls_context *make(struct etls_config *config) {
  struct etls_context *context = NULL;
  struct etls_error error;
  etls_error_init(&error);
  if (etls_context_cache_create_single_use(cache, config, &context, &error) !=
      ETLS_OK)
    fail_msg("option %d: %s", error.option, error.message);
  assert_queue_empty();
  etls_config_free(config);
  return context;
}

static SSL_CTX *ssl_ctx_of(const struct etls_context *context) {
  return etls_context_get0_ssl_ctx(context);
}

static int trusted_by(const struct etls_context *context) {
  return sk_X509_OBJECT_num(
      X509_STORE_get0_objects(SSL_CTX_get_cert_store(ssl_ctx_of(context))));
}

static int chain_of(const struct etls_context *context) {
  STACK_OF(X509) *chain = NULL;
  assert_int_equal(SSL_CTX_get0_chain_certs(ssl_ctx_of(context), &chain), 1);
  return chain == NULL ? 0 : sk_X509_num(chain);
}

static void text_option(struct etls_config *config, enum etls_option option,
                        const char *text) {
  if (text != NULL)
    config_text(config, option, text);
}

/* ---- a context without options ------------------------------------------ */

static void the_basics_are_nodes(void **state) {
  (void)state;
  struct etls_context *context = make(config_new());
  SSL_CTX *ctx = ssl_ctx_of(context);
  const uint64_t options = SSL_OP_NO_SSLv3 | SSL_OP_ALLOW_CLIENT_RENEGOTIATION;
  const long mode = SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                    SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER;
  assert_true((SSL_CTX_get_options(ctx) & options) == options);
  assert_int_equal(SSL_CTX_get_mode(ctx) & mode, mode);
  assert_int_equal(SSL_CTX_get_mode(ctx) & SSL_MODE_NO_AUTO_CHAIN, 0);
  assert_int_equal(SSL_CTX_get_session_cache_mode(ctx),
                   SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL |
                       SSL_SESS_CACHE_NO_AUTO_CLEAR);
  assert_int_equal(SSL_CTX_get_read_ahead(ctx), 1);
  assert_int_equal(SSL_CTX_get_verify_mode(ctx), SSL_VERIFY_NONE);
  assert_int_equal(SSL_CTX_get_min_proto_version(ctx), 0);
  assert_int_equal(SSL_CTX_get_max_proto_version(ctx), 0);
  assert_int_equal(trusted_by(context), 0);
  assert_int_equal(etls_context_weak_dh_bits(context), 0);
  assert_true(etls_context_crl_expiry(context) == 0);
  assert_true(etls_context_engine_index() > 0);
  etls_context_release(context);
}

static void numbers_arrive(void **state) {
  (void)state;
  struct etls_config *config = config_new();
  struct etls_context *context;
  SSL_CTX *ctx;
  config_int(config, ETLS_OPTION_METHOD, 1);
  config_int(config, ETLS_OPTION_MIN_VERSION, TLS1_1_VERSION);
  config_int(config, ETLS_OPTION_MAX_VERSION, TLS1_2_VERSION);
  config_int(config, ETLS_OPTION_SECURE_OPTIONS, SSL_OP_NO_TICKET);
  config_int(config, ETLS_OPTION_SESSION_TIMEOUT, 77);
  context = make(config);
  ctx = ssl_ctx_of(context);
  assert_int_equal(SSL_CTX_get_min_proto_version(ctx), TLS1_1_VERSION);
  assert_int_equal(SSL_CTX_get_max_proto_version(ctx), TLS1_2_VERSION);
  assert_true((SSL_CTX_get_options(ctx) & SSL_OP_NO_TICKET) != 0);
  assert_int_equal(SSL_CTX_get_timeout(ctx), 77);
  assert_ptr_equal(SSL_CTX_get_ssl_method(ctx), TLS_client_method());
  etls_context_release(context);
}

/* ---- ciphers ------------------------------------------------------------ */

struct cipher_case {
  const char *suites;
  const char *list;
  int min;
  int max;
  int min_after;
};

static void an_empty_cipher_list_leaves_tls_1_3(void **state) {
  (void)state;
  static const struct cipher_case cases[] = {
      {"TLS_AES_128_GCM_SHA256", "", TLS1_2_VERSION, 0, TLS1_3_VERSION},
      {"TLS_AES_128_GCM_SHA256", "", 0, TLS1_3_VERSION, TLS1_3_VERSION},
      {"TLS_AES_128_GCM_SHA256", "", TLS1_3_VERSION, TLS1_3_VERSION,
       TLS1_3_VERSION},
      {"TLS_AES_128_GCM_SHA256", "", TLS1_2_VERSION, TLS1_2_VERSION,
       TLS1_2_VERSION},
      {NULL, "ECDHE-RSA-AES128-GCM-SHA256", TLS1_2_VERSION, TLS1_3_VERSION,
       TLS1_2_VERSION},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    struct etls_config *config = config_new();
    struct etls_context *context;
    config_int(config, ETLS_OPTION_MIN_VERSION, cases[i].min);
    config_int(config, ETLS_OPTION_MAX_VERSION, cases[i].max);
    text_option(config, ETLS_OPTION_CIPHER_SUITES, cases[i].suites);
    text_option(config, ETLS_OPTION_CIPHER_LIST, cases[i].list);
    context = make(config);
    assert_int_equal(SSL_CTX_get_min_proto_version(ssl_ctx_of(context)),
                     cases[i].min_after);
    etls_context_release(context);
  }
}

static void ciphers_arrive(void **state) {
  (void)state;
  struct etls_config *config = config_new();
  struct etls_context *context;
  STACK_OF(SSL_CIPHER) * ciphers;
  config_text(config, ETLS_OPTION_CIPHER_SUITES, "TLS_AES_256_GCM_SHA384");
  config_text(config, ETLS_OPTION_CIPHER_LIST, "ECDHE-RSA-AES128-GCM-SHA256");
  context = make(config);
  ciphers = SSL_CTX_get_ciphers(ssl_ctx_of(context));
  assert_int_equal(sk_SSL_CIPHER_num(ciphers), 2);
  assert_string_equal(SSL_CIPHER_get_name(sk_SSL_CIPHER_value(ciphers, 0)),
                      "TLS_AES_256_GCM_SHA384");
  assert_string_equal(SSL_CIPHER_get_name(sk_SSL_CIPHER_value(ciphers, 1)),
                      "ECDHE-RSA-AES128-GCM-SHA256");
  etls_context_release(context);
}

/* ---- identity ----------------------------------------------------------- */

static void a_chain_and_its_key_arrive(void **state) {
  (void)state;
  struct etls_config *config = config_new();
  struct etls_context *context;
  config_file(config, ETLS_OPTION_CERT, "chained-full.crt");
  config_secret(config, ETLS_OPTION_KEY, "chained.key", NULL);
  context = make(config);
  assert_non_null(SSL_CTX_get0_certificate(ssl_ctx_of(context)));
  assert_int_equal(SSL_CTX_check_private_key(ssl_ctx_of(context)), 1);
  assert_int_equal(chain_of(context), 1);
  etls_context_release(context);
}

static void several_identities_live_side_by_side(void **state) {
  (void)state;
  struct etls_config *config = config_new();
  struct etls_context *context;
  config_file(config, ETLS_OPTION_CERT, "client-a.crt");
  config_file(config, ETLS_OPTION_CERT, "client-b.crt");
  config_secret(config, ETLS_OPTION_KEY, "client-a.key", NULL);
  config_secret(config, ETLS_OPTION_KEY, "client-b.key", NULL);
  context = make(config);
  assert_int_equal(
      SSL_CTX_set_current_cert(ssl_ctx_of(context), SSL_CERT_SET_FIRST), 1);
  assert_int_equal(SSL_CTX_check_private_key(ssl_ctx_of(context)), 1);
  assert_int_equal(
      SSL_CTX_set_current_cert(ssl_ctx_of(context), SSL_CERT_SET_NEXT), 1);
  assert_int_equal(SSL_CTX_check_private_key(ssl_ctx_of(context)), 1);
  etls_context_release(context);
}

static void encrypted_keys_open_with_their_passphrase(void **state) {
  (void)state;
  static const char *const names[] = {"client-a-encrypted.key",
                                      "client-a-encrypted-traditional.key"};
  for (size_t i = 0; i < 2; i++) {
    struct etls_config *config = config_new();
    config_secret(config, ETLS_OPTION_KEY, names[i], "secret");
    etls_context_release(make(config));
  }
}

static void a_pfx_brings_key_certificate_and_trust(void **state) {
  (void)state;
  static const char *const names[] = {"client-a.pfx", "client-a-sha256.pfx"};
  for (size_t i = 0; i < 2; i++) {
    struct etls_config *config = config_new();
    struct etls_context *context;
    config_secret(config, ETLS_OPTION_PFX, names[i], "secret");
    context = make(config);
    assert_int_equal(SSL_CTX_check_private_key(ssl_ctx_of(context)), 1);
    assert_int_equal(chain_of(context), 1);
    assert_int_equal(trusted_by(context), 1);
    etls_context_release(context);
  }
}

static void a_pfx_without_password_takes_none_and_an_empty_one(void **state) {
  (void)state;
  static const char *const passphrases[] = {NULL, ""};
  for (size_t i = 0; i < 2; i++) {
    struct etls_config *config = config_new();
    struct etls_context *context;
    config_secret(config, ETLS_OPTION_PFX, "client-a-no-password.pfx",
                  passphrases[i]);
    context = make(config);
    assert_int_equal(trusted_by(context), 0);
    etls_context_release(context);
  }
}

/* node adds them to the store; to that of this context alone, here. */
static void authorities_in_a_pfx_do_not_leak_into_other_contexts(void **state) {
  (void)state;
  struct etls_config *with = config_new();
  struct etls_config *without = config_new();
  struct etls_context *a;
  struct etls_context *b;
  config_file(with, ETLS_OPTION_CA, "other-ca.crt");
  config_secret(with, ETLS_OPTION_PFX, "client-a.pfx", "secret");
  config_file(without, ETLS_OPTION_CA, "other-ca.crt");
  a = make(with);
  b = make(without);
  assert_int_equal(trusted_by(a), 2);
  assert_int_equal(trusted_by(b), 1);
  etls_context_release(a);
  etls_context_release(b);
}

/* ---- the rest ----------------------------------------------------------- */

static void dh_parameters(void **state) {
  (void)state;
  static const struct {
    const char *name;
    int weak_bits;
  } cases[] = {{"dh1024.pem", 1024}, {"dh2048.pem", 0}, {"ca.crt", 0}};
  struct etls_config *config;
  struct etls_context *context;
  for (size_t i = 0; i < 3; i++) {
    config = config_new();
    config_text(config, ETLS_OPTION_CIPHER_LIST, "DEFAULT@SECLEVEL=1");
    config_file(config, ETLS_OPTION_DH_PARAM, cases[i].name);
    context = make(config);
    assert_int_equal(etls_context_weak_dh_bits(context), cases[i].weak_bits);
    etls_context_release(context);
  }
  config = config_new();
  config_text(config, ETLS_OPTION_DH_PARAM, "");
  etls_context_release(make(config));
}

static void lists_and_a_crl_are_accepted(void **state) {
  (void)state;
  struct etls_config *config = config_new();
  struct etls_context *context;
  config_text(config, ETLS_OPTION_SIGALGS, "RSA-PSS+SHA256:ECDSA+SHA256");
  config_text(config, ETLS_OPTION_ECDH_CURVE, "P-256:X25519");
  config_file(config, ETLS_OPTION_CRL, "crl-empty.pem");
  config_text(config, ETLS_OPTION_SESSION_ID_CONTEXT,
              "exactly thirty-two bytes long...");
  assert_int_equal(etls_config_add_bytes(
                       config, ETLS_OPTION_TICKET_KEYS,
                       "0123456789abcdef0123456789abcdef0123456789abcdef", 48),
                   ETLS_OK);
  context = make(config);
  assert_true(etls_context_crl_expiry(context) > 0);
  assert_true(X509_VERIFY_PARAM_get_flags(X509_STORE_get0_param(
                  SSL_CTX_get_cert_store(ssl_ctx_of(context)))) &
              X509_V_FLAG_CRL_CHECK_ALL);
  etls_context_release(context);
}

/* ---- references --------------------------------------------------------- */

static void a_single_use_context_dies_with_its_last_reference(void **state) {
  (void)state;
  struct etls_context_counters counters;
  struct etls_context *context = make(config_new());
  assert_true(etls_context_is_single_use(context));
  etls_context_up_ref(context);
  assert_false(etls_context_is_sole_ref(context));
  etls_context_release(context);
  assert_true(etls_context_is_sole_ref(context));
  etls_context_cache_get_counters(cache, &counters);
  assert_int_equal(counters.live, 1);
  assert_int_equal(counters.single_use, 1);
  assert_int_equal(counters.created, 1);
  assert_int_equal(counters.cached, 0);
  etls_context_release(context);
  etls_context_release(NULL);
  etls_context_cache_get_counters(cache, &counters);
  assert_int_equal(counters.live, 0);
  assert_int_equal(counters.single_use, 0);
  assert_int_equal(counters.created, 1);
}

static void engines_are_counted(void **state) {
  (void)state;
  struct etls_context *a = make(config_new());
  struct etls_context *b = make(config_new());
  etls_context_engine_added(a);
  etls_context_engine_added(a);
  etls_context_engine_added(b);
  assert_int_equal(etls_context_cache_live_engines(cache), 3);
  etls_context_engine_removed(a);
  etls_context_engine_removed(b);
  assert_int_equal(etls_context_cache_live_engines(cache), 1);
  etls_context_engine_removed(a);
  etls_context_release(a);
  etls_context_release(b);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(the_basics_are_nodes),
      TEST(numbers_arrive),
      TEST(an_empty_cipher_list_leaves_tls_1_3),
      TEST(ciphers_arrive),
      TEST(a_chain_and_its_key_arrive),
      TEST(several_identities_live_side_by_side),
      TEST(encrypted_keys_open_with_their_passphrase),
      TEST(a_pfx_brings_key_certificate_and_trust),
      TEST(a_pfx_without_password_takes_none_and_an_empty_one),
      TEST(authorities_in_a_pfx_do_not_leak_into_other_contexts),
      TEST(dh_parameters),
      TEST(lists_and_a_crl_are_accepted),
      TEST(a_single_use_context_dies_with_its_last_reference),
      TEST(engines_are_counted),
  };
  support_init();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
