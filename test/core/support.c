/*
 * support.c - see support.h. The state is that of allocation failures; tests
 * that use it run one thread.
 */
#include "support.h"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mem.h"

#ifndef ETLS_TEST_PKI
#define ETLS_TEST_PKI "test/.pki"
#endif

/* ---- allocations that fail ---------------------------------------------- */

static unsigned long countdown; /* 0: nothing fails */
static int counted;
static bool fired;
static bool paused;
static unsigned long core_count;

static bool should_fail(int who) {
  if (paused || countdown == 0 || (counted & who) == 0)
    return false;
  if (--countdown > 0)
    return false;
  fired = true;
  return true;
}

static bool core_hook(size_t size) {
  (void)size;
  core_count++;
  return should_fail(FAIL_CORE);
}

static void *openssl_malloc(size_t size, const char *file, int line) {
  (void)file;
  (void)line;
  return should_fail(FAIL_OPENSSL) ? NULL : malloc(size);
}

static void *openssl_realloc(void *ptr, size_t size, const char *file,
                             int line) {
  (void)file;
  (void)line;
  return should_fail(FAIL_OPENSSL) ? NULL : realloc(ptr, size);
}

static void openssl_free(void *ptr, const char *file, int line) {
  (void)file;
  (void)line;
  free(ptr);
}

void support_init(void) {
  if (CRYPTO_set_mem_functions(openssl_malloc, openssl_realloc, openssl_free) !=
      1) {
    fprintf(stderr, "support_init must come before all else\n");
    exit(2);
  }
  /* Names of errors: an SSL_CTX would load them, but not every test has one. */
  OPENSSL_init_ssl(OPENSSL_INIT_LOAD_SSL_STRINGS, NULL);
  etls_mem_set_hook(core_hook);
}

void fail_at(unsigned long n, int whose) {
  countdown = n;
  counted = whose;
  fired = false;
}

void fail_pause(void) {
  paused = true;
}

void fail_resume(void) {
  paused = false;
}

bool fail_end(void) {
  countdown = 0;
  return fired;
}

unsigned long core_allocations(void) {
  return core_count;
}

void assert_queue_empty(void) {
  assert_int_equal(ERR_peek_error(), 0);
}

/* ---- files -------------------------------------------------------------- */

struct blob pki_read(const char *name) {
  struct blob blob = {NULL, 0};
  char path[1024];
  long size;
  FILE *file;

  snprintf(path, sizeof(path), "%s/%s", ETLS_TEST_PKI, name);
  file = fopen(path, "rb");
  if (file == NULL)
    fail_msg("cannot open %s", path);
  assert_int_equal(fseek(file, 0, SEEK_END), 0);
  size = ftell(file);
  assert_true(size >= 0);
  rewind(file);
  blob.len = (size_t)size;
  blob.bytes = calloc(1, blob.len + 1);
  assert_non_null(blob.bytes);
  assert_int_equal(fread(blob.bytes, 1, blob.len, file), blob.len);
  fclose(file);
  return blob;
}

void blob_free(struct blob *blob) {
  free(blob->bytes);
  blob->bytes = NULL;
  blob->len = 0;
}

struct blob blob_join(const struct blob *a, const struct blob *b) {
  struct blob both = {calloc(1, a->len + b->len + 1), a->len + b->len};
  assert_non_null(both.bytes);
  memcpy(both.bytes, a->bytes, a->len);
  memcpy(both.bytes + a->len, b->bytes, b->len);
  return both;
}

/* ---- configs ------------------------------------------------------------ */

struct etls_config *config_new(void) {
  struct etls_config *config = etls_config_new();
  assert_non_null(config);
  return config;
}

void config_int(struct etls_config *config, enum etls_option option,
                int64_t value) {
  assert_int_equal(etls_config_add_int(config, option, value), ETLS_OK);
}

void config_text(struct etls_config *config, enum etls_option option,
                 const char *text) {
  assert_int_equal(etls_config_add_bytes(config, option, text, strlen(text)),
                   ETLS_OK);
}

void config_blob(struct etls_config *config, enum etls_option option,
                 const struct blob *blob) {
  assert_int_equal(
      etls_config_add_bytes(config, option, blob->bytes, blob->len), ETLS_OK);
}

void config_file(struct etls_config *config, enum etls_option option,
                 const char *name) {
  struct blob blob = pki_read(name);
  config_blob(config, option, &blob);
  blob_free(&blob);
}

void config_secret(struct etls_config *config, enum etls_option option,
                   const char *name, const char *passphrase) {
  struct blob blob = pki_read(name);
  assert_int_equal(
      etls_config_add_secret(config, option, blob.bytes, blob.len, passphrase,
                             passphrase == NULL ? 0 : strlen(passphrase)),
      ETLS_OK);
  blob_free(&blob);
}
