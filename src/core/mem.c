/*
 * mem.c - the core's allocator: libc's, behind a hook with which tests make
 * single allocations fail. OpenSSL allocates by its own functions, which tests
 * replace with CRYPTO_set_mem_functions.
 *
 * The hook is the only state. It is written by tests alone, before threads
 * start, so it is not synchronised.
 */
#include "mem.h"

#include <openssl/crypto.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static etls_alloc_hook hook;

static bool refused(size_t size) {
  return hook != NULL && hook(size);
}

void *etls_alloc(size_t size) {
  if (refused(size))
    return NULL;
  return malloc(size == 0 ? 1 : size);
}

void *etls_calloc(size_t count, size_t size) {
  if (size != 0 && count > SIZE_MAX / size)
    return NULL;
  if (refused(count * size))
    return NULL;
  return calloc(count == 0 ? 1 : count, size == 0 ? 1 : size);
}

void *etls_realloc(void *ptr, size_t size) {
  if (refused(size))
    return NULL;
  return realloc(ptr, size == 0 ? 1 : size);
}

void *etls_realloc_clear(void *ptr, size_t old_size, size_t size) {
  void *copy = etls_alloc(size);
  if (copy == NULL)
    return NULL;
  if (ptr != NULL)
    memcpy(copy, ptr, old_size < size ? old_size : size);
  etls_clear_free(ptr, old_size);
  return copy;
}

void *etls_memdup(const void *bytes, size_t len) {
  void *copy = etls_alloc(len);
  if (copy != NULL && len > 0)
    memcpy(copy, bytes, len);
  return copy;
}

void etls_free(void *ptr) {
  free(ptr);
}

void etls_clear_free(void *ptr, size_t len) {
  if (ptr == NULL)
    return;
  OPENSSL_cleanse(ptr, len);
  free(ptr);
}

void etls_mem_set_hook(etls_alloc_hook should_fail) {
  hook = should_fail;
}
