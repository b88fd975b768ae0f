/*
 * Tests of span_bio.c: the queue, the lent span and the pool, below any TLS.
 */
#include "support.h"

#include <stdlib.h>
#include <string.h>

#include "span_bio.h"

static void append(BIO *bio, const void *bytes, size_t len) {
  size_t done = 0;
  assert_int_equal(BIO_write_ex(bio, bytes, len, &done), 1);
  assert_int_equal(done, len);
}

static void reading_asks_for_a_retry_when_there_is_nothing(void **state) {
  (void)state;
  struct etls_span_bio span = {.pool = NULL};
  BIO *bio = etls_span_bio_new(&span);
  char buffer[10];
  assert_true(BIO_read(bio, buffer, 10) <= 0);
  assert_true(BIO_should_retry(bio));
  assert_true(BIO_should_read(bio));
  assert_int_equal(etls_span_bio_lend(&span, (const uint8_t *)"abc", 3),
                   ETLS_OK);
  assert_int_equal(BIO_read(bio, buffer, 10), 3);
  assert_false(BIO_should_retry(bio));
  assert_int_equal(BIO_flush(bio), 1);
  BIO_free(bio);
  etls_span_bio_dispose(&span);
}

static void kept_input_comes_before_lent_input(void **state) {
  (void)state;
  struct etls_span_bio span = {.pool = NULL};
  BIO *bio = etls_span_bio_new(&span);
  char buffer[20] = "";
  assert_int_equal(etls_span_bio_lend(&span, (const uint8_t *)"one ", 4),
                   ETLS_OK);
  assert_int_equal(BIO_read(bio, buffer, 1), 1);
  assert_int_equal(etls_span_bio_keep(&span), ETLS_OK);
  assert_int_equal(etls_span_bio_lend(&span, (const uint8_t *)"two ", 4),
                   ETLS_OK);
  assert_int_equal(etls_span_bio_lend(&span, (const uint8_t *)"three", 5),
                   ETLS_OK);
  assert_int_equal(etls_span_bio_input(&span), 12);
  assert_int_equal(BIO_read(bio, buffer, sizeof(buffer)), 12);
  assert_memory_equal(buffer, "ne two three", 12);
  assert_int_equal(etls_span_bio_input(&span), 0);
  assert_int_equal(etls_span_bio_lend(&span, NULL, 0), ETLS_OK);
  assert_int_equal(etls_span_bio_input(&span), 0);
  BIO_free(bio);
  etls_span_bio_dispose(&span);
}

static void output_comes_out_as_it_went_in(void **state) {
  (void)state;
  struct etls_span_bio span = {.pool = NULL};
  BIO *bio = etls_span_bio_new(&span);
  uint8_t next_in = 0;
  uint8_t next_out = 0;
  for (size_t i = 1; i < 3000; i++) {
    uint8_t bytes[701];
    size_t n = i % 700 + 1;
    for (size_t j = 0; j < n; j++)
      bytes[j] = next_in++;
    append(bio, bytes, n);
    const uint8_t *data = NULL;
    size_t pending = etls_span_bio_output(&span, &data);
    size_t eat = pending < i % 900 ? pending : i % 900;
    for (size_t j = 0; j < eat; j++)
      assert_int_equal(data[j], next_out++);
    etls_span_bio_consume(&span, eat);
  }
  etls_span_bio_consume(&span, SIZE_MAX); /* more than there is */
  const uint8_t *data = NULL;
  assert_int_equal(etls_span_bio_output(&span, &data), 0);
  assert_null(data);
  BIO_free(bio);
  etls_span_bio_dispose(&span);
}

static void much_output_costs_few_allocations(void **state) {
  (void)state;
  enum { RECORD = 16384 };
  struct etls_span_bio span = {.pool = NULL};
  BIO *bio = etls_span_bio_new(&span);
  uint8_t *record = calloc(1, RECORD);
  assert_non_null(record);
  unsigned long before = core_allocations();
  for (int i = 0; i < 4096; i++) /* 64 MB in one go */
    append(bio, record, RECORD);
  assert_true(core_allocations() - before < 20);
  /* Eaten from the front in small pieces: nothing is allocated or moved. */
  before = core_allocations();
  const uint8_t *first = NULL;
  const uint8_t *data = NULL;
  etls_span_bio_output(&span, &first);
  for (size_t eaten = 0; eaten < 60000000; eaten += 3000) {
    etls_span_bio_output(&span, &data);
    assert_ptr_equal(data, first + eaten);
    etls_span_bio_consume(&span, 3000);
  }
  /* A steady queue stays where it is. */
  size_t cap = span.output.cap;
  for (int i = 0; i < 10000; i++) {
    append(bio, record, RECORD);
    etls_span_bio_consume(&span, RECORD);
  }
  assert_int_equal(core_allocations() - before, 0);
  assert_int_equal(span.output.cap, cap);
  etls_span_bio_consume(&span, SIZE_MAX);
  assert_null(span.output.data);
  free(record);
  BIO_free(bio);
  etls_span_bio_dispose(&span);
}

static void busy_connections_share_one_buffer(void **state) {
  (void)state;
  struct etls_buffer_pool *pool = etls_buffer_pool_new();
  struct etls_span_bio a = {.pool = pool};
  struct etls_span_bio b = {.pool = pool};
  BIO *bio_a = etls_span_bio_new(&a);
  BIO *bio_b = etls_span_bio_new(&b);
  const uint8_t *first = NULL;
  const uint8_t *data = NULL;
  append(bio_a, "a", 1);
  etls_span_bio_output(&a, &first);
  etls_span_bio_consume(&a, 1);
  unsigned long before = core_allocations();
  for (int i = 0; i < 10; i++) {
    append(bio_b, "b", 1);
    etls_span_bio_output(&b, &data);
    assert_ptr_equal(data, first);
    etls_span_bio_consume(&b, 1);
  }
  assert_int_equal(core_allocations(), before);
  /* At the same time: the second one gets memory of its own. */
  append(bio_a, "a", 1);
  append(bio_b, "b", 1);
  etls_span_bio_output(&a, &data);
  assert_memory_equal(data, "a", 1);
  etls_span_bio_output(&b, &data);
  assert_memory_equal(data, "b", 1);
  assert_true(b.output.cap <= 4096);
  BIO_free(bio_a);
  BIO_free(bio_b);
  etls_span_bio_dispose(&a); /* with output pending */
  etls_span_bio_dispose(&b);
  etls_buffer_pool_free(pool);
  etls_buffer_pool_free(NULL);
}

static void a_pool_survives_a_buffer_that_grew(void **state) {
  (void)state;
  struct etls_buffer_pool *pool = etls_buffer_pool_new();
  struct etls_span_bio span = {.pool = pool};
  BIO *bio = etls_span_bio_new(&span);
  size_t size = 1000000;
  uint8_t *bytes = calloc(1, size * 10);
  for (int i = 0; i < 4; i++) {
    append(bio, bytes, i == 1 ? size * 10 : size);
    etls_span_bio_consume(&span, SIZE_MAX);
  }
  unsigned long before = core_allocations();
  append(bio, bytes, 100000);
  etls_span_bio_consume(&span, SIZE_MAX);
  assert_int_equal(core_allocations(), before);
  free(bytes);
  BIO_free(bio);
  etls_span_bio_dispose(&span);
  etls_buffer_pool_free(pool);
}

static void without_memory_nothing_is_lost(void **state) {
  (void)state;
  struct etls_span_bio span = {.pool = NULL};
  BIO *bio = etls_span_bio_new(&span);
  size_t done = 0;
  fail_at(1, FAIL_CORE);
  assert_int_equal(BIO_write_ex(bio, "x", 1, &done), 0);
  assert_true(fail_end());
  assert_true(span.no_memory);
  assert_false(BIO_should_retry(bio));
  assert_int_equal(etls_span_bio_lend(&span, (const uint8_t *)"abc", 3),
                   ETLS_OK);
  fail_at(1, FAIL_CORE);
  assert_int_equal(etls_span_bio_keep(&span), ETLS_ERR_MEMORY);
  assert_true(fail_end());
  fail_at(1, FAIL_CORE);
  assert_int_equal(etls_span_bio_lend(&span, (const uint8_t *)"def", 3),
                   ETLS_ERR_MEMORY);
  assert_true(fail_end());
  char buffer[10];
  assert_int_equal(BIO_read(bio, buffer, 10), 3);
  assert_memory_equal(buffer, "abc", 3);
  BIO_free(bio);
  etls_span_bio_dispose(&span);
  for (unsigned long n = 1; n <= 2; n++) {
    fail_at(n, FAIL_CORE);
    assert_null(etls_buffer_pool_new());
    assert_true(fail_end());
  }
}

static void the_method_is_made_when_there_is_memory_again(void **state) {
  (void)state;
  struct etls_span_bio span = {.pool = NULL};
  BIO *bio = NULL;
  /* OpenSSL itself tries only once to make the lock that it needs here. */
  assert_int_not_equal(BIO_get_new_index(), -1);
  for (unsigned long n = 1; bio == NULL; n++) {
    fail_at(n, FAIL_OPENSSL);
    bio = etls_span_bio_new(&span);
    assert_int_equal(fail_end(), bio == NULL);
    assert_true(n < 20);
  }
  BIO_free(bio);
}

int main(void) {
  support_init();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_method_is_made_when_there_is_memory_again),
      cmocka_unit_test(reading_asks_for_a_retry_when_there_is_nothing),
      cmocka_unit_test(kept_input_comes_before_lent_input),
      cmocka_unit_test(output_comes_out_as_it_went_in),
      cmocka_unit_test(much_output_costs_few_allocations),
      cmocka_unit_test(busy_connections_share_one_buffer),
      cmocka_unit_test(a_pool_survives_a_buffer_that_grew),
      cmocka_unit_test(without_memory_nothing_is_lost),
  };
  return cmocka_run_group_tests_name("span_bio", tests, NULL, NULL);
}
