/*
 * test_context_errors.c - options that are refused. The expected messages,
 * codes and stacks are those of Node 20 for the same options of
 * tls.createSecureContext.
 */
#include "support.h"

#include <openssl/ssl.h>
#include <string.h>

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

static void a_version_that_is_none_is_refused(void **state) {
  (void)state;
  struct etls_config *config = config_new();
  struct etls_error error;
  config_int(config, ETLS_OPTION_MIN_VERSION, 5);
  refuse(config, &error);
  assert_int_equal(error.option, ETLS_OPTION_MIN_VERSION);
}

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

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(a_version_that_is_none_is_refused),
      TEST(text_errors_are_nodes),
      TEST(a_broken_certificate_has_nodes_stack),
      TEST(key_errors_are_nodes),
      TEST(a_passphrase_that_is_too_long_is_refused),
      TEST(a_key_of_another_certificate_is_refused),
      TEST(pfx_errors_are_nodes),
      TEST(a_session_id_context_that_is_too_long_is_refused),
      TEST(the_security_level_rules_what_follows),
      TEST(of_two_faults_the_first_in_nodes_order_is_reported),
  };
  support_init();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
