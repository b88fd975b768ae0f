/*
 * test_status.c - errors: the first one wins, and OpenSSL's queue comes out in
 * node's shapes. The expected texts are what Node 20 says in the same cases.
 */
#include "support.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <string.h>

#include "status.h"

static void every_status_has_its_name(void **state) {
  (void)state;
  assert_string_equal(etls_status_name(ETLS_OK), "ETLS_OK");
  assert_string_equal(etls_status_name(ETLS_WANT_INPUT), "ETLS_WANT_INPUT");
  assert_string_equal(etls_status_name(ETLS_WANT_OUTPUT), "ETLS_WANT_OUTPUT");
  assert_string_equal(etls_status_name(ETLS_END), "ETLS_END");
  assert_string_equal(etls_status_name(ETLS_ERR_USAGE), "ETLS_ERR_USAGE");
  assert_string_equal(etls_status_name(ETLS_ERR_MEMORY), "ETLS_ERR_MEMORY");
  assert_string_equal(etls_status_name(ETLS_ERR_IO), "ETLS_ERR_IO");
  assert_string_equal(etls_status_name(ETLS_ERR_TLS), "ETLS_ERR_TLS");
  assert_string_equal(etls_status_name(ETLS_ERR_INTERNAL), "ETLS_ERR_INTERNAL");
}

static void the_first_error_wins(void **state) {
  (void)state;
  struct etls_error error;
  etls_error_init(&error);
  assert_int_equal(etls_error_set(&error, ETLS_ERR_USAGE, "first"),
                   ETLS_ERR_USAGE);
  assert_int_equal(etls_error_set(&error, ETLS_ERR_TLS, "second"),
                   ETLS_ERR_USAGE);
  assert_int_equal(etls_error_set_errno(&error, "read", 104), ETLS_ERR_USAGE);
  assert_int_equal(etls_error_set_memory(&error), ETLS_ERR_USAGE);
  ERR_raise(ERR_LIB_SSL, SSL_R_NO_CIPHER_MATCH);
  assert_int_equal(etls_error_drain(&error, ETLS_ERR_TLS, "third"),
                   ETLS_ERR_USAGE);
  assert_string_equal(error.message, "first");
  assert_int_equal(error.openssl, 0);
  assert_null(error.syscall);
  assert_queue_empty();
}

static void a_long_text_is_cut(void **state) {
  (void)state;
  struct etls_error error;
  char text[2 * ETLS_ERROR_TEXT_MAX];
  memset(text, 'x', sizeof(text));
  text[sizeof(text) - 1] = '\0';
  etls_error_init(&error);
  etls_error_set_code(&error, ETLS_ERR_TLS, text, text);
  assert_int_equal(strlen(error.message), ETLS_ERROR_TEXT_MAX - 1);
  assert_int_equal(strlen(error.code), ETLS_ERROR_CODE_MAX - 1);
}

static void errno_errors_name_the_call(void **state) {
  (void)state;
  struct etls_error error;
  etls_error_init(&error);
  assert_int_equal(etls_error_set_errno(&error, "write", 32), ETLS_ERR_IO);
  assert_int_equal(error.sys_errno, 32);
  assert_string_equal(error.syscall, "write");
  assert_string_equal(error.message, "write failed with errno 32");
}

static void an_empty_queue_gives_the_fallback(void **state) {
  (void)state;
  struct etls_error error;
  etls_error_init(&error);
  assert_int_equal(etls_error_drain(&error, ETLS_ERR_TLS, "our words"),
                   ETLS_ERR_TLS);
  assert_string_equal(error.message, "our words");
  assert_string_equal(error.code, "");
  assert_string_equal(error.report, "");
  etls_error_init(&error);
  etls_error_drain(&error, ETLS_ERR_TLS, NULL);
  assert_string_equal(error.message, "error:00000000:lib(0)::reason(0)");
}

/* As tls.createSecureContext({ cert: 'x' }). */
static void one_entry_looks_as_in_node(void **state) {
  (void)state;
  struct etls_error error;
  BIO *bio = BIO_new_mem_buf("x", 1);
  assert_null(PEM_read_bio_X509(bio, NULL, NULL, NULL));
  BIO_free(bio);
  etls_error_init(&error);
  assert_int_equal(etls_error_drain(&error, ETLS_ERR_TLS, "no"), ETLS_ERR_TLS);
  assert_string_equal(error.message,
                      "error:0480006C:PEM routines::no start line");
  assert_string_equal(error.library, "PEM routines");
  assert_string_equal(error.reason, "no start line");
  assert_string_equal(error.code, "ERR_OSSL_PEM_NO_START_LINE");
  assert_string_equal(error.ssl_code, "ERR_SSL_NO_START_LINE");
  assert_int_equal(error.openssl, 0x0480006c);
  assert_int_equal(error.stack_len, 0);
  assert_queue_empty();
}

static void errors_of_the_ssl_library_have_no_ossl_in_their_code(void **state) {
  (void)state;
  struct etls_error error;
  ERR_raise(ERR_LIB_SSL, SSL_R_NO_CIPHER_MATCH);
  etls_error_init(&error);
  etls_error_drain(&error, ETLS_ERR_TLS, "no");
  assert_string_equal(error.code, "ERR_SSL_NO_CIPHER_MATCH");
  assert_string_equal(error.ssl_code, "ERR_SSL_NO_CIPHER_MATCH");
}

/* node: message and fields of the oldest entry, the others newest first. */
static void the_stack_is_the_rest_newest_first(void **state) {
  (void)state;
  struct etls_error error;
  ERR_raise(ERR_LIB_ASN1, ASN1_R_WRONG_TAG);
  ERR_raise(ERR_LIB_ASN1, ERR_R_NESTED_ASN1_ERROR);
  ERR_raise(ERR_LIB_PEM, ERR_R_ASN1_LIB);
  etls_error_init(&error);
  etls_error_drain(&error, ETLS_ERR_TLS, "no");
  assert_string_equal(error.message,
                      "error:068000A8:asn1 encoding routines::wrong tag");
  assert_string_equal(error.code, "ERR_OSSL_ASN1_WRONG_TAG");
  assert_int_equal(error.stack_len, 2);
  assert_string_equal(error.stack[0], "error:0488000D:PEM routines::ASN1 lib");
  assert_string_equal(
      error.stack[1],
      "error:0688010A:asn1 encoding routines::nested asn1 error");
  assert_queue_empty();
}

static void the_report_is_what_openssl_prints(void **state) {
  (void)state;
  struct etls_error error;
  char *expected = NULL;
  long len;
  BIO *bio = BIO_new(BIO_s_mem());
  assert_non_null(bio);
  for (int round = 0; round < 2; round++) {
    ERR_new();
    ERR_set_debug("file.c", 12, "some_function");
    ERR_set_error(ERR_LIB_SSL, SSL_R_WRONG_VERSION_NUMBER, NULL);
    ERR_new();
    ERR_set_debug("other.c", 34, "caller");
    ERR_set_error(ERR_LIB_SSL, ERR_R_INTERNAL_ERROR, "SSL alert number %d", 40);
    if (round == 0)
      ERR_print_errors(bio);
  }
  len = BIO_get_mem_data(bio, &expected);
  etls_error_init(&error);
  etls_error_drain(&error, ETLS_ERR_TLS, "no");
  assert_int_equal(strlen(error.report), len);
  assert_memory_equal(error.report, expected, (size_t)len);
  assert_int_equal(error.report[len - 1], '\n');
  assert_string_equal(error.reason, "wrong version number");
  BIO_free(bio);
}

static void more_entries_than_fit_do_no_harm(void **state) {
  (void)state;
  struct etls_error error;
  for (int i = 0; i < 40; i++) {
    ERR_new();
    ERR_set_debug("a-file-with-a-rather-long-name-for-a-source-file.c", 9, "f");
    ERR_set_error(ERR_LIB_SSL, SSL_R_NO_CIPHER_MATCH,
                  "data that is long enough to make the report too long");
  }
  etls_error_init(&error);
  etls_error_drain(&error, ETLS_ERR_TLS, "no");
  assert_int_equal(error.stack_len, ETLS_ERROR_STACK_MAX);
  assert_int_equal(strlen(error.report), ETLS_ERROR_REPORT_MAX - 1);
  assert_queue_empty();
}

static void an_allocation_that_failed_decides_the_status(void **state) {
  (void)state;
  struct etls_error error;
  ERR_raise(ERR_LIB_PEM, PEM_R_NO_START_LINE);
  ERR_raise(ERR_LIB_ASN1, ERR_R_MALLOC_FAILURE);
  etls_error_init(&error);
  assert_int_equal(etls_error_drain(&error, ETLS_ERR_TLS, "no"),
                   ETLS_ERR_MEMORY);
  ERR_raise(ERR_LIB_PEM, PEM_R_NO_START_LINE);
  assert_false(etls_queue_clear());
  ERR_raise(ERR_LIB_ASN1, ERR_R_MALLOC_FAILURE);
  ERR_raise(ERR_LIB_PEM, ERR_R_ASN1_LIB);
  assert_true(etls_queue_clear());
  assert_queue_empty();
  assert_false(etls_queue_clear());
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_status_has_its_name),
      cmocka_unit_test(the_first_error_wins),
      cmocka_unit_test(a_long_text_is_cut),
      cmocka_unit_test(errno_errors_name_the_call),
      cmocka_unit_test(an_empty_queue_gives_the_fallback),
      cmocka_unit_test(one_entry_looks_as_in_node),
      cmocka_unit_test(errors_of_the_ssl_library_have_no_ossl_in_their_code),
      cmocka_unit_test(the_stack_is_the_rest_newest_first),
      cmocka_unit_test(the_report_is_what_openssl_prints),
      cmocka_unit_test(more_entries_than_fit_do_no_harm),
      cmocka_unit_test(an_allocation_that_failed_decides_the_status),
  };
  support_init();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
