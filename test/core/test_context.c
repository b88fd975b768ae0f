/*
 * test_context.c - what of a config arrives in the SSL_CTX, and the errors.
 * The expected messages, codes and stacks are those of Node 20 for the same
 * options of tls.createSecureContext.
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

static void refuse(struct etls_config *config, struct etls_error *error) {
  struct etls_context_counters before;
  struct etls_context_counters after;
  struct etls_context *context = NULL;
  etls_context_cache_get_counters(cache, &before);
  etls_error_init(error);
  assert_int_equal(
      etls_context_cache_create_single_use(cache, config, &context, error),
      ETLS_ERR_TLS);
  assert_null(context);
  assert_queue_empty();
  etls_context_cache_get_counters(cache, &after);
  assert_int_equal(after.live, before.live);
  assert_int_equal(after.created, before.created);
  assert_int_equal(after.single_use, before.single_use);
  etls_config_free(config);
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

static void a_version_that_is_none_is_refused(void **state) {
  (void)state;
  struct etls_config *config = config_new();
  struct etls_error error;
  config_int(config, ETLS_OPTION_MIN_VERSION, 5);
  refuse(config, &error);
  assert_int_equal(error.option, ETLS_OPTION_MIN_VERSION);
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

/* ---- errors ------------------------------------------------------------- */

static void check(const struct etls_error *error, enum etls_option option,
                  const char *message, const char *code) {
  assert_int_equal(error->status, ETLS_ERR_TLS);
  assert_string_equal(error->message, message);
  assert_string_equal(error->code, code);
  assert_int_equal(error->option, option);
}

static void text_errors_are_nodes(void **state) {
  (void)state;
  static const struct {
    enum etls_option option;
    const char *text;
    const char *message;
    const char *code;
  } cases[] = {
      {ETLS_OPTION_CIPHER_SUITES, "TLS_NOPE",
       "error:0A0000B9:SSL routines::no cipher match",
       "ERR_SSL_NO_CIPHER_MATCH"},
      {ETLS_OPTION_CIPHER_LIST, "nope",
       "error:0A0000B9:SSL routines::no cipher match",
       "ERR_SSL_NO_CIPHER_MATCH"},
      {ETLS_OPTION_CERT, "x", "error:0480006C:PEM routines::no start line",
       "ERR_OSSL_PEM_NO_START_LINE"},
      {ETLS_OPTION_CERT, "", "error:0480006C:PEM routines::no start line",
       "ERR_OSSL_PEM_NO_START_LINE"},
      {ETLS_OPTION_SIGALGS, "nope", "error:00000000:lib(0)::reason(0)", ""},
      {ETLS_OPTION_SIGALGS, "RSA+NOPE", "error:00000000:lib(0)::reason(0)", ""},
      {ETLS_OPTION_ECDH_CURVE, "nope", "Failed to set ECDH curve",
       "ERR_CRYPTO_OPERATION_FAILED"},
      {ETLS_OPTION_DH_PARAM,
       "-----BEGIN DH PARAMETERS-----\n"
       "MEYCQQDeii480RSYDQz/3Bi8vgXbdECgjIl00ru1Hyvl/uSnCek82+XirJnQPI3q\n"
       "rBfRbTsg5WkZhOSx99JWmKtdBAFzAgEC\n"
       "-----END DH PARAMETERS-----\n",
       "DH parameter is less than 1024 bits", "ERR_INVALID_ARG_VALUE"},
      {ETLS_OPTION_CRL, "x", "Failed to parse CRL",
       "ERR_CRYPTO_OPERATION_FAILED"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    struct etls_config *config = config_new();
    struct etls_error error;
    config_text(config, cases[i].option, cases[i].text);
    refuse(config, &error);
    check(&error, cases[i].option, cases[i].message, cases[i].code);
    assert_int_equal(error.stack_len, 0);
  }
}

static void a_broken_certificate_has_nodes_stack(void **state) {
  (void)state;
  static const char broken[] =
      "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
  struct blob bad = {(uint8_t *)(uintptr_t)broken, sizeof(broken) - 1};
  struct blob good = pki_read("client-a.crt");
  struct blob texts[2] = {blob_join(&bad, &good), blob_join(&good, &bad)};
  for (size_t i = 0; i < 2; i++) {
    struct etls_config *config = config_new();
    struct etls_error error;
    config_blob(config, ETLS_OPTION_CERT, &texts[i]);
    refuse(config, &error);
    check(&error, ETLS_OPTION_CERT,
          "error:068000A8:asn1 encoding routines::wrong tag",
          "ERR_OSSL_ASN1_WRONG_TAG");
    assert_int_equal(error.stack_len, 2);
    assert_string_equal(error.stack[0],
                        "error:0488000D:PEM routines::ASN1 lib");
    assert_string_equal(
        error.stack[1],
        "error:0688010A:asn1 encoding routines::nested asn1 error");
    blob_free(&texts[i]);
  }
  blob_free(&good);
}

static void key_errors_are_nodes(void **state) {
  (void)state;
  static const struct {
    const char *name;
    const char *passphrase;
    const char *message;
    const char *code;
    size_t stack_len;
  } cases[] = {
      {"client-a.crt", NULL, "error:1E08010C:DECODER routines::unsupported",
       "ERR_OSSL_UNSUPPORTED", 0},
      {"client-a-encrypted.key", NULL,
       "error:1C800064:Provider routines::bad decrypt", "ERR_OSSL_BAD_DECRYPT",
       3},
      {"client-a-encrypted.key", "",
       "error:1C800064:Provider routines::bad decrypt", "ERR_OSSL_BAD_DECRYPT",
       3},
      {"client-a-encrypted.key", "wrong",
       "error:1C800064:Provider routines::bad decrypt", "ERR_OSSL_BAD_DECRYPT",
       3},
      {"client-a-encrypted-traditional.key", "wrong",
       "error:1C800064:Provider routines::bad decrypt", "ERR_OSSL_BAD_DECRYPT",
       1},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    struct etls_config *config = config_new();
    struct etls_error error;
    config_secret(config, ETLS_OPTION_KEY, cases[i].name, cases[i].passphrase);
    refuse(config, &error);
    check(&error, ETLS_OPTION_KEY, cases[i].message, cases[i].code);
    assert_int_equal(error.stack_len, cases[i].stack_len);
  }
}

static void a_passphrase_that_is_too_long_is_refused(void **state) {
  (void)state;
  struct etls_config *config = config_new();
  struct etls_error error;
  char passphrase[5001];
  memset(passphrase, 'x', 5000);
  passphrase[5000] = '\0';
  config_secret(config, ETLS_OPTION_KEY, "client-a-encrypted.key", passphrase);
  refuse(config, &error);
  check(&error, ETLS_OPTION_KEY,
        "error:07880109:common libcrypto routines::interrupted or cancelled",
        "ERR_OSSL_CRYPTO_INTERRUPTED_OR_CANCELLED");
}

static void a_key_of_another_certificate_is_refused(void **state) {
  (void)state;
  struct etls_config *config = config_new();
  struct etls_error error;
  config_file(config, ETLS_OPTION_CERT, "client-a.crt");
  config_secret(config, ETLS_OPTION_KEY, "server.key", NULL);
  refuse(config, &error);
  check(&error, ETLS_OPTION_KEY,
        "error:05800074:x509 certificate routines::key values mismatch",
        "ERR_OSSL_X509_KEY_VALUES_MISMATCH");
}

static void pfx_errors_are_nodes(void **state) {
  (void)state;
  static const struct {
    const char *name;
    const char *passphrase;
    const char *message;
    const char *code;
  } cases[] = {
      {"client-a.pfx", "wrong", "mac verify failure", ""},
      {"client-a.pfx", NULL, "mac verify failure", ""},
      {"client-a-legacy.pfx", "secret", "Unsupported PKCS12 PFX data",
       "ERR_CRYPTO_UNSUPPORTED_OPERATION"},
  };
  struct etls_config *config;
  struct etls_error error;
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    config = config_new();
    config_secret(config, ETLS_OPTION_PFX, cases[i].name, cases[i].passphrase);
    refuse(config, &error);
    check(&error, ETLS_OPTION_PFX, cases[i].message, cases[i].code);
    assert_string_equal(error.library, "");
    assert_string_equal(error.reason, "");
    assert_int_equal(error.stack_len, 0);
  }
  config = config_new();
  assert_int_equal(etls_config_add_secret(config, ETLS_OPTION_PFX,
                                          "garbage garbage", 15, NULL, 0),
                   ETLS_OK);
  refuse(config, &error);
  check(&error, ETLS_OPTION_PFX, "not enough data", "");
}

/* node throws a TypeError with the whole report and no code. */
static void a_session_id_context_that_is_too_long_is_refused(void **state) {
  (void)state;
  struct etls_config *config = config_new();
  struct etls_error error;
  config_text(config, ETLS_OPTION_SESSION_ID_CONTEXT,
              "this has more than thirty-two bytes");
  refuse(config, &error);
  assert_int_equal(error.option, ETLS_OPTION_SESSION_ID_CONTEXT);
  assert_non_null(strstr(error.message, ":error:0A000111:SSL routines:"
                                        "SSL_CTX_set_session_id_context:"
                                        "ssl session id context too long:"));
  assert_int_equal(error.message[strlen(error.message) - 1], '\n');
  assert_string_equal(error.code, "");
}

static void the_security_level_rules_what_follows(void **state) {
  (void)state;
  struct etls_config *config = config_new();
  struct etls_error error;
  config_text(config, ETLS_OPTION_CIPHER_LIST, "DEFAULT@SECLEVEL=3");
  config_file(config, ETLS_OPTION_CERT, "client-a.crt");
  refuse(config, &error);
  check(&error, ETLS_OPTION_CERT,
        "error:0A00018F:SSL routines::ee key too small",
        "ERR_SSL_EE_KEY_TOO_SMALL");
  config = config_new();
  config_text(config, ETLS_OPTION_CIPHER_LIST, "DEFAULT@SECLEVEL=2");
  config_file(config, ETLS_OPTION_DH_PARAM, "dh1024.pem");
  refuse(config, &error);
  check(&error, ETLS_OPTION_DH_PARAM, "Error setting temp DH parameter",
        "ERR_CRYPTO_OPERATION_FAILED");
}

static void of_two_faults_the_first_in_nodes_order_is_reported(void **state) {
  (void)state;
  struct etls_config *config = config_new();
  struct etls_error error;
  config_text(config, ETLS_OPTION_ECDH_CURVE, "nope");
  config_text(config, ETLS_OPTION_CRL, "x");
  refuse(config, &error);
  assert_int_equal(error.option, ETLS_OPTION_ECDH_CURVE);

  config = config_new();
  config_text(config, ETLS_OPTION_CRL, "x");
  config_text(config, ETLS_OPTION_SESSION_ID_CONTEXT,
              "this has more than thirty-two bytes");
  refuse(config, &error);
  assert_int_equal(error.option, ETLS_OPTION_CRL);

  config = config_new();
  config_text(config, ETLS_OPTION_CRL, "x");
  config_secret(config, ETLS_OPTION_PFX, "client-a.pfx", "wrong");
  refuse(config, &error);
  assert_int_equal(error.option, ETLS_OPTION_CRL);
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
      TEST(a_version_that_is_none_is_refused),
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
      TEST(text_errors_are_nodes),
      TEST(a_broken_certificate_has_nodes_stack),
      TEST(key_errors_are_nodes),
      TEST(a_passphrase_that_is_too_long_is_refused),
      TEST(a_key_of_another_certificate_is_refused),
      TEST(pfx_errors_are_nodes),
      TEST(a_session_id_context_that_is_too_long_is_refused),
      TEST(the_security_level_rules_what_follows),
      TEST(of_two_faults_the_first_in_nodes_order_is_reported),
      TEST(a_single_use_context_dies_with_its_last_reference),
      TEST(engines_are_counted),
  };
  support_init();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
