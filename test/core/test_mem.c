/*
 * test_mem.c - the allocator and its failure hook.
 */
#include "support.h"

#include <string.h>

#include "mem.h"

static void zero_bytes_can_be_had_and_freed(void **state) {
  (void)state;
  void *a = etls_alloc(0);
  void *b = etls_calloc(0, 0);
  void *c = etls_memdup(NULL, 0);
  assert_non_null(a);
  assert_non_null(b);
  assert_non_null(c);
  etls_free(a);
  etls_free(b);
  etls_free(c);
  etls_free(NULL);
  etls_clear_free(NULL, 0);
}

static void calloc_gives_zeroes_and_refuses_to_overflow(void **state) {
  (void)state;
  static const uint8_t zeroes[96];
  uint8_t *bytes = etls_calloc(3, 32);
  assert_non_null(bytes);
  assert_memory_equal(bytes, zeroes, sizeof(zeroes));
  etls_free(bytes);
  assert_null(etls_calloc(SIZE_MAX / 2, 3));
}

static void realloc_keeps_what_was_there(void **state) {
  (void)state;
  char *text = etls_realloc(NULL, 4);
  assert_non_null(text);
  memcpy(text, "abc", 4);
  text = etls_realloc(text, 4096);
  assert_non_null(text);
  assert_string_equal(text, "abc");
  text = etls_realloc_clear(text, 4096, 8192);
  assert_non_null(text);
  assert_string_equal(text, "abc");
  text = etls_realloc_clear(text, 8192, 4);
  assert_non_null(text);
  assert_string_equal(text, "abc");
  etls_clear_free(text, 4);
}

static void memdup_copies(void **state) {
  (void)state;
  const char source[] = "to be copied";
  char *copy = etls_memdup(source, sizeof(source));
  assert_non_null(copy);
  assert_ptr_not_equal(copy, source);
  assert_string_equal(copy, source);
  etls_free(copy);
}

static void the_nth_allocation_fails_and_no_other(void **state) {
  (void)state;
  void *got[5];
  fail_at(3, FAIL_CORE);
  got[0] = etls_alloc(8);
  got[1] = etls_calloc(1, 8);
  got[2] = etls_alloc(8);
  got[3] = etls_memdup("x", 1);
  got[4] = etls_alloc(8);
  assert_true(fail_end());
  for (size_t i = 0; i < 5; i++) {
    if (i == 2)
      assert_null(got[i]);
    else
      assert_non_null(got[i]);
    etls_free(got[i]);
  }
}

static void a_failed_realloc_leaves_the_old_one(void **state) {
  (void)state;
  char *text = etls_memdup("kept", 5);
  assert_non_null(text);
  fail_at(1, FAIL_CORE);
  assert_null(etls_realloc(text, 100));
  assert_true(fail_end());
  fail_at(1, FAIL_CORE);
  assert_null(etls_realloc_clear(text, 5, 100));
  assert_true(fail_end());
  assert_string_equal(text, "kept");
  etls_free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(zero_bytes_can_be_had_and_freed),
      cmocka_unit_test(calloc_gives_zeroes_and_refuses_to_overflow),
      cmocka_unit_test(realloc_keeps_what_was_there),
      cmocka_unit_test(memdup_copies),
      cmocka_unit_test(the_nth_allocation_fails_and_no_other),
      cmocka_unit_test(a_failed_realloc_leaves_the_old_one),
  };
  support_init();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
