/*
 * test_config.c - the encoding: what is accepted, what comes back, and that
 * the digest changes when the meaning does, and only then.
 */
#include "support.h"

#include <string.h>

#include "config.h"
#include "digest.h"

/* ---- a list of values as data ------------------------------------------- */

struct value {
  enum etls_option option;
  int64_t number;
  const char *text;       /* NULL: an int */
  const char *passphrase; /* NULL: none */
};

enum { VALUES_MAX = 24 };

static enum etls_status add(struct etls_config *config,
                            const struct value *value) {
  if (value->text == NULL)
    return etls_config_add_int(config, value->option, value->number);
  if (value->option == ETLS_OPTION_KEY || value->option == ETLS_OPTION_PFX)
    return etls_config_add_secret(
        config, value->option, value->text, strlen(value->text),
        value->passphrase,
        value->passphrase == NULL ? 0 : strlen(value->passphrase));
  return etls_config_add_bytes(config, value->option, value->text,
                               strlen(value->text));
}

static struct etls_config *config_of(const struct value *values, size_t count) {
  struct etls_config *config = config_new();
  for (size_t i = 0; i < count; i++)
    assert_int_equal(add(config, &values[i]), ETLS_OK);
  return config;
}

static void digest_config(const struct etls_config *config,
                          const uint8_t *roots, uint8_t *out) {
  struct etls_piece piece;
  uint8_t trust[ETLS_DIGEST_LEN];
  piece.bytes = etls_config_segment(config, ETLS_SEGMENT_TRUST, &piece.len);
  assert_true(etls_digest_pieces(&piece, 1, trust));
  assert_true(etls_config_digest(
      config, trust, etls_config_has_default_roots(config) ? roots : NULL,
      out));
}

static const uint8_t some_roots[ETLS_DIGEST_LEN] = {1};
static const uint8_t other_roots[ETLS_DIGEST_LEN] = {2};

static void digest_of(const struct value *values, size_t count, uint8_t *out) {
  struct etls_config *config = config_of(values, count);
  digest_config(config, some_roots, out);
  etls_config_free(config);
}

#define TICKETS_A "0123456789abcdef0123456789abcdef0123456789abcdef"
#define TICKETS_B "0123456789abcdef0123456789abcdef0123456789abcdeF"

static const struct value full[] = {
    {ETLS_OPTION_METHOD, 1, NULL, NULL},
    {ETLS_OPTION_MIN_VERSION, 0x0303, NULL, NULL},
    {ETLS_OPTION_MAX_VERSION, 0x0304, NULL, NULL},
    {ETLS_OPTION_SECURE_OPTIONS, 4, NULL, NULL},
    {ETLS_OPTION_CIPHER_SUITES, 0, "TLS_AES_128_GCM_SHA256", NULL},
    {ETLS_OPTION_CIPHER_LIST, 0, "DEFAULT", NULL},
    {ETLS_OPTION_CA, 0, "ca", NULL},
    {ETLS_OPTION_DEFAULT_ROOTS, 1, NULL, NULL},
    {ETLS_OPTION_OPENSSL_CA, 1, NULL, NULL},
    {ETLS_OPTION_PARTIAL_CHAIN, 1, NULL, NULL},
    {ETLS_OPTION_CERT, 0, "cert", NULL},
    {ETLS_OPTION_KEY, 0, "key", "pass"},
    {ETLS_OPTION_SIGALGS, 0, "RSA+SHA256", NULL},
    {ETLS_OPTION_ECDH_CURVE, 0, "P-256", NULL},
    {ETLS_OPTION_DH_PARAM, 0, "dh", NULL},
    {ETLS_OPTION_CRL, 0, "crl", NULL},
    {ETLS_OPTION_SESSION_ID_CONTEXT, 0, "sid", NULL},
    {ETLS_OPTION_PFX, 0, "pfx", "pass"},
    {ETLS_OPTION_TICKET_KEYS, 0, TICKETS_A, NULL},
    {ETLS_OPTION_SESSION_TIMEOUT, 300, NULL, NULL},
};
enum { FULL = sizeof(full) / sizeof(full[0]) };

/* The same options with another value each; flags: not there at all. */
static const struct value changed[FULL] = {
    {ETLS_OPTION_METHOD, 2, NULL, NULL},
    {ETLS_OPTION_MIN_VERSION, 0x0302, NULL, NULL},
    {ETLS_OPTION_MAX_VERSION, 0, NULL, NULL},
    {ETLS_OPTION_SECURE_OPTIONS, 5, NULL, NULL},
    {ETLS_OPTION_CIPHER_SUITES, 0, "TLS_AES_256_GCM_SHA384", NULL},
    {ETLS_OPTION_CIPHER_LIST, 0, "", NULL},
    {ETLS_OPTION_CA, 0, "cb", NULL},
    {ETLS_OPTION_DEFAULT_ROOTS, 0, NULL, NULL},
    {ETLS_OPTION_OPENSSL_CA, 0, NULL, NULL},
    {ETLS_OPTION_PARTIAL_CHAIN, 0, NULL, NULL},
    {ETLS_OPTION_CERT, 0, "cert ", NULL},
    {ETLS_OPTION_KEY, 0, "kez", "pass"},
    {ETLS_OPTION_SIGALGS, 0, "RSA+SHA384", NULL},
    {ETLS_OPTION_ECDH_CURVE, 0, "P-384", NULL},
    {ETLS_OPTION_DH_PARAM, 0, "", NULL},
    {ETLS_OPTION_CRL, 0, "crk", NULL},
    {ETLS_OPTION_SESSION_ID_CONTEXT, 0, "sie", NULL},
    {ETLS_OPTION_PFX, 0, "pfy", "pass"},
    {ETLS_OPTION_TICKET_KEYS, 0, TICKETS_B, NULL},
    {ETLS_OPTION_SESSION_TIMEOUT, 301, NULL, NULL},
};

/* ---- the digest --------------------------------------------------------- */

static void equal_configs_have_equal_digests(void **state) {
  (void)state;
  uint8_t a[ETLS_DIGEST_LEN];
  uint8_t b[ETLS_DIGEST_LEN];
  digest_of(full, FULL, a);
  digest_of(full, FULL, b);
  assert_memory_equal(a, b, sizeof(a));
}

/* Each option changed, and each left out: forty digests, all different. */
static void each_option_changes_the_digest(void **state) {
  (void)state;
  struct value values[FULL];
  uint8_t digests[2 * FULL + 1][ETLS_DIGEST_LEN];
  size_t count = 0;

  digest_of(full, FULL, digests[count++]);
  for (size_t i = 0; i < FULL; i++) {
    memcpy(values, full, sizeof(full));
    values[i] = changed[i];
    digest_of(values, FULL, digests[count++]);
    if (changed[i].text == NULL && changed[i].number == 0 &&
        changed[i].option != ETLS_OPTION_MAX_VERSION)
      continue; /* a flag: this was the one without */
    memmove(values + i, full + i + 1, (FULL - i - 1) * sizeof(full[0]));
    digest_of(values, FULL - 1, digests[count++]);
  }
  for (size_t i = 0; i < count; i++) {
    for (size_t j = 0; j < i; j++)
      assert_memory_not_equal(digests[i], digests[j], ETLS_DIGEST_LEN);
  }
}

struct pair {
  struct value a[3];
  size_t a_len;
  struct value b[3];
  size_t b_len;
};

static const struct pair different[] = {
    /* Repeatable values that are split in other places */
    {{{ETLS_OPTION_CA, 0, "ab", NULL}, {ETLS_OPTION_CA, 0, "c", NULL}},
     2,
     {{ETLS_OPTION_CA, 0, "a", NULL}, {ETLS_OPTION_CA, 0, "bc", NULL}},
     2},
    {{{ETLS_OPTION_CA, 0, "abc", NULL}},
     1,
     {{ETLS_OPTION_CA, 0, "abc", NULL}, {ETLS_OPTION_CA, 0, "", NULL}},
     2},
    {{{ETLS_OPTION_CERT, 0, "ab", NULL}, {ETLS_OPTION_CERT, 0, "c", NULL}},
     2,
     {{ETLS_OPTION_CERT, 0, "a", NULL}, {ETLS_OPTION_CERT, 0, "bc", NULL}},
     2},
    {{{ETLS_OPTION_CRL, 0, "ab", NULL}, {ETLS_OPTION_CRL, 0, "c", NULL}},
     2,
     {{ETLS_OPTION_CRL, 0, "a", NULL}, {ETLS_OPTION_CRL, 0, "bc", NULL}},
     2},
    {{{ETLS_OPTION_KEY, 0, "ab", NULL}, {ETLS_OPTION_KEY, 0, "c", NULL}},
     2,
     {{ETLS_OPTION_KEY, 0, "a", NULL}, {ETLS_OPTION_KEY, 0, "bc", NULL}},
     2},
    {{{ETLS_OPTION_PFX, 0, "ab", NULL}, {ETLS_OPTION_PFX, 0, "c", NULL}},
     2,
     {{ETLS_OPTION_PFX, 0, "a", NULL}, {ETLS_OPTION_PFX, 0, "bc", NULL}},
     2},
    /* ... or come in another order */
    {{{ETLS_OPTION_CA, 0, "a", NULL}, {ETLS_OPTION_CA, 0, "b", NULL}},
     2,
     {{ETLS_OPTION_CA, 0, "b", NULL}, {ETLS_OPTION_CA, 0, "a", NULL}},
     2},
    {{{ETLS_OPTION_KEY, 0, "a", "1"}, {ETLS_OPTION_KEY, 0, "b", "2"}},
     2,
     {{ETLS_OPTION_KEY, 0, "b", "2"}, {ETLS_OPTION_KEY, 0, "a", "1"}},
     2},
    /* No passphrase, an empty one, one; and which key it belongs to */
    {{{ETLS_OPTION_KEY, 0, "k", NULL}}, 1, {{ETLS_OPTION_KEY, 0, "k", ""}}, 1},
    {{{ETLS_OPTION_KEY, 0, "k", ""}}, 1, {{ETLS_OPTION_KEY, 0, "k", "p"}}, 1},
    {{{ETLS_OPTION_KEY, 0, "k", "p"}}, 1, {{ETLS_OPTION_KEY, 0, "kp", ""}}, 1},
    {{{ETLS_OPTION_PFX, 0, "k", NULL}}, 1, {{ETLS_OPTION_PFX, 0, "k", ""}}, 1},
    {{{ETLS_OPTION_KEY, 0, "a", "p"}, {ETLS_OPTION_KEY, 0, "b", NULL}},
     2,
     {{ETLS_OPTION_KEY, 0, "a", NULL}, {ETLS_OPTION_KEY, 0, "b", "p"}},
     2},
    /* The same bytes as another option */
    {{{ETLS_OPTION_CA, 0, "x", NULL}},
     1,
     {{ETLS_OPTION_CERT, 0, "x", NULL}},
     1},
    {{{ETLS_OPTION_CA, 0, "x", NULL}}, 1, {{ETLS_OPTION_CRL, 0, "x", NULL}}, 1},
    {{{ETLS_OPTION_KEY, 0, "x", NULL}},
     1,
     {{ETLS_OPTION_PFX, 0, "x", NULL}},
     1},
    {{{ETLS_OPTION_MIN_VERSION, 0x0303, NULL, NULL}},
     1,
     {{ETLS_OPTION_MAX_VERSION, 0x0303, NULL, NULL}},
     1},
    /* Nothing, and an empty value */
    {{{ETLS_OPTION_METHOD, 0, NULL, NULL}},
     0,
     {{ETLS_OPTION_CIPHER_LIST, 0, "", NULL}},
     1},
};

static void other_meanings_have_other_digests(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof(different) / sizeof(different[0]); i++) {
    uint8_t a[ETLS_DIGEST_LEN];
    uint8_t b[ETLS_DIGEST_LEN];
    digest_of(different[i].a, different[i].a_len, a);
    digest_of(different[i].b, different[i].b_len, b);
    if (memcmp(a, b, sizeof(a)) == 0)
      fail_msg("pair %zu has one digest", i);
  }
}

static void a_flag_of_zero_is_none(void **state) {
  (void)state;
  const struct value off[] = {{ETLS_OPTION_DEFAULT_ROOTS, 0, NULL, NULL},
                              {ETLS_OPTION_OPENSSL_CA, 0, NULL, NULL},
                              {ETLS_OPTION_PARTIAL_CHAIN, 0, NULL, NULL}};
  const struct value one[] = {{ETLS_OPTION_PARTIAL_CHAIN, 1, NULL, NULL}};
  const struct value seven[] = {{ETLS_OPTION_PARTIAL_CHAIN, 7, NULL, NULL}};
  uint8_t a[ETLS_DIGEST_LEN];
  uint8_t b[ETLS_DIGEST_LEN];
  digest_of(off, 3, a);
  digest_of(off, 0, b);
  assert_memory_equal(a, b, sizeof(a));
  digest_of(one, 1, a);
  digest_of(seven, 1, b);
  assert_memory_equal(a, b, sizeof(a));
}

static void default_roots_enter_the_digest_where_they_are_used(void **state) {
  (void)state;
  struct etls_config *with = config_of(full, FULL);
  struct etls_config *without = config_of(full, 6);
  uint8_t a[ETLS_DIGEST_LEN];
  uint8_t b[ETLS_DIGEST_LEN];
  digest_config(with, some_roots, a);
  digest_config(with, other_roots, b);
  assert_memory_not_equal(a, b, sizeof(a));
  digest_config(without, some_roots, a);
  digest_config(without, other_roots, b);
  assert_memory_equal(a, b, sizeof(a));
  etls_config_free(with);
  etls_config_free(without);
}

/* ---- what is accepted --------------------------------------------------- */

static void options_must_ascend(void **state) {
  (void)state;
  for (size_t i = 0; i < FULL; i++) {
    for (size_t j = 0; j <= i; j++) {
      struct etls_config *config = config_new();
      bool repeatable = i == j && (full[i].option == ETLS_OPTION_CA ||
                                   full[i].option == ETLS_OPTION_CERT ||
                                   full[i].option == ETLS_OPTION_KEY ||
                                   full[i].option == ETLS_OPTION_CRL ||
                                   full[i].option == ETLS_OPTION_PFX);
      assert_int_equal(add(config, &full[i]), ETLS_OK);
      assert_int_equal(add(config, &full[j]),
                       repeatable ? ETLS_OK : ETLS_ERR_USAGE);
      etls_config_free(config);
    }
  }
}

static void a_value_of_the_wrong_kind_is_refused(void **state) {
  (void)state;
  for (int option = 0; option <= ETLS_OPTION_SESSION_TIMEOUT + 1; option++) {
    enum etls_option o = (enum etls_option)option;
    struct etls_config *config = config_new();
    int accepted = 0;
    if (etls_config_add_int(config, o, 1) == ETLS_OK)
      accepted++;
    etls_config_free(config);
    config = config_new();
    if (etls_config_add_bytes(config, o, TICKETS_A, 48) == ETLS_OK)
      accepted++;
    etls_config_free(config);
    config = config_new();
    if (etls_config_add_secret(config, o, "x", 1, NULL, 0) == ETLS_OK)
      accepted++;
    etls_config_free(config);
    assert_int_equal(
        accepted, option > 0 && option <= ETLS_OPTION_SESSION_TIMEOUT ? 1 : 0);
  }
}

static void values_out_of_range_are_refused(void **state) {
  (void)state;
  struct etls_config *config = config_new();
  const struct value bad[] = {
      {ETLS_OPTION_METHOD, 3, NULL, NULL},
      {ETLS_OPTION_METHOD, -1, NULL, NULL},
      {ETLS_OPTION_MIN_VERSION, 0x0305, NULL, NULL},
      {ETLS_OPTION_MAX_VERSION, -1, NULL, NULL},
      {ETLS_OPTION_SESSION_TIMEOUT, -1, NULL, NULL},
      {ETLS_OPTION_SESSION_TIMEOUT, (int64_t)INT32_MAX + 1, NULL, NULL},
      {ETLS_OPTION_TICKET_KEYS, 0, "too short", NULL},
      {ETLS_OPTION_TICKET_KEYS, 0, TICKETS_A "x", NULL},
  };
  for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
    assert_int_equal(add(config, &bad[i]), ETLS_ERR_USAGE);
  assert_int_equal(
      etls_config_add_bytes(config, ETLS_OPTION_CA, "x", (size_t)-1),
      ETLS_ERR_USAGE);
  assert_int_equal(
      etls_config_add_secret(config, ETLS_OPTION_KEY, "x", 1, NULL, 1),
      ETLS_ERR_USAGE);
  /* None of it left a trace. */
  struct etls_config_cursor cursor = {{0}};
  struct etls_config_item item;
  assert_false(etls_config_next(config, &cursor, &item));
  etls_config_free(config);
}

/* ---- reading back ------------------------------------------------------- */

static void values_come_back_in_order(void **state) {
  (void)state;
  struct etls_config *config = config_of(full, FULL);
  struct etls_config_cursor cursor = {{0}};
  struct etls_config_item item;
  for (size_t i = 0; i < FULL; i++) {
    assert_true(etls_config_next(config, &cursor, &item));
    assert_int_equal(item.option, full[i].option);
    if (full[i].text == NULL) {
      assert_int_equal(item.number, full[i].number);
      continue;
    }
    assert_int_equal(item.len, strlen(full[i].text));
    assert_memory_equal(item.bytes, full[i].text, item.len);
    if (full[i].passphrase == NULL) {
      assert_null(item.passphrase);
    } else {
      assert_int_equal(item.passphrase_len, strlen(full[i].passphrase));
      assert_memory_equal(item.passphrase, full[i].passphrase,
                          item.passphrase_len);
    }
  }
  assert_false(etls_config_next(config, &cursor, &item));
  assert_true(etls_config_has_default_roots(config));
  etls_config_free(config);
}

static void values_are_copied(void **state) {
  (void)state;
  struct etls_config *config = config_new();
  struct etls_config_cursor cursor = {{0}};
  struct etls_config_item item;
  char bytes[] = "content";
  char key[] = "key";
  char passphrase[] = "pass";
  assert_int_equal(etls_config_add_bytes(config, ETLS_OPTION_CA, bytes, 7),
                   ETLS_OK);
  assert_int_equal(
      etls_config_add_secret(config, ETLS_OPTION_KEY, key, 3, passphrase, 4),
      ETLS_OK);
  memset(bytes, 'x', 7);
  memset(key, 'x', 3);
  memset(passphrase, 'x', 4);
  assert_true(etls_config_next(config, &cursor, &item));
  assert_memory_equal(item.bytes, "content", 7);
  assert_true(etls_config_next(config, &cursor, &item));
  assert_memory_equal(item.bytes, "key", 3);
  assert_memory_equal(item.passphrase, "pass", 4);
  etls_config_free(config);
}

static void negative_numbers_and_embedded_nuls_survive(void **state) {
  (void)state;
  struct etls_config *config = config_new();
  struct etls_config_cursor cursor = {{0}};
  struct etls_config_item item;
  config_int(config, ETLS_OPTION_SECURE_OPTIONS, INT64_MIN);
  assert_int_equal(
      etls_config_add_bytes(config, ETLS_OPTION_SESSION_ID_CONTEXT, "a\0b", 3),
      ETLS_OK);
  assert_true(etls_config_next(config, &cursor, &item));
  assert_true(item.number == INT64_MIN);
  assert_true(etls_config_next(config, &cursor, &item));
  assert_int_equal(item.len, 3);
  assert_memory_equal(item.bytes, "a\0b", 3);
  etls_config_free(config);
}

/* ---- memory ------------------------------------------------------------- */

static void want_of_memory_leaves_the_config_as_it_was(void **state) {
  (void)state;
  struct etls_config *config = config_new();
  uint8_t before[ETLS_DIGEST_LEN];
  uint8_t after[ETLS_DIGEST_LEN];
  uint8_t expected[ETLS_DIGEST_LEN];

  for (size_t i = 0; i < FULL; i++) {
    enum etls_status status;
    digest_config(config, some_roots, before);
    fail_at(1, FAIL_CORE);
    status = add(config, &full[i]);
    if (fail_end()) {
      assert_int_equal(status, ETLS_ERR_MEMORY);
      digest_config(config, some_roots, after);
      assert_memory_equal(before, after, sizeof(before));
      status = add(config, &full[i]);
    }
    assert_int_equal(status, ETLS_OK);
  }
  digest_config(config, some_roots, after);
  digest_of(full, FULL, expected);
  assert_memory_equal(after, expected, sizeof(after));
  etls_config_free(config);
  fail_at(1, FAIL_CORE);
  assert_null(etls_config_new());
  assert_true(fail_end());
  etls_config_free(NULL);
}

static void a_digest_without_memory_says_so(void **state) {
  (void)state;
  struct etls_config *config = config_of(full, FULL);
  uint8_t digest[ETLS_DIGEST_LEN];
  fail_at(1, FAIL_OPENSSL);
  assert_false(etls_config_digest(config, some_roots, NULL, digest));
  assert_true(fail_end());
  etls_config_free(config);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(equal_configs_have_equal_digests),
      cmocka_unit_test(each_option_changes_the_digest),
      cmocka_unit_test(other_meanings_have_other_digests),
      cmocka_unit_test(a_flag_of_zero_is_none),
      cmocka_unit_test(default_roots_enter_the_digest_where_they_are_used),
      cmocka_unit_test(options_must_ascend),
      cmocka_unit_test(a_value_of_the_wrong_kind_is_refused),
      cmocka_unit_test(values_out_of_range_are_refused),
      cmocka_unit_test(values_come_back_in_order),
      cmocka_unit_test(values_are_copied),
      cmocka_unit_test(negative_numbers_and_embedded_nuls_survive),
      cmocka_unit_test(want_of_memory_leaves_the_config_as_it_was),
      cmocka_unit_test(a_digest_without_memory_says_so),
  };
  support_init();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
