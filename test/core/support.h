/*
 * support.h - what the tests of the core share: files of the test PKI, configs
 * in one line per value, and allocations that fail on demand.
 *
 * Helpers that cannot do their work fail the test (or end the program where
 * no test is running).
 */
#ifndef ETLS_TEST_SUPPORT_H
#define ETLS_TEST_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants those before it. */
#include <cmocka.h>

#include "eager_tls.h"

/* First thing in main: routes OpenSSL's allocations through fail_at. */
void support_init(void);

/* ---- files -------------------------------------------------------------- */

struct blob {
  uint8_t *bytes;
  size_t len;
};

/* The content of a file in test/.pki, NUL behind it. Free with blob_free. */
struct blob pki_read(const char *name);
void blob_free(struct blob *blob);
/* Both contents, one after the other. */
struct blob blob_join(const struct blob *a, const struct blob *b);

/* ---- configs ------------------------------------------------------------ */

struct etls_config *config_new(void);
void config_int(struct etls_config *config, enum etls_option option,
                int64_t value);
void config_text(struct etls_config *config, enum etls_option option,
                 const char *text);
void config_blob(struct etls_config *config, enum etls_option option,
                 const struct blob *blob);
/* The content of a file of the test PKI. */
void config_file(struct etls_config *config, enum etls_option option,
                 const char *name);
/* KEY or PFX; passphrase NULL: none. */
void config_secret(struct etls_config *config, enum etls_option option,
                   const char *name, const char *passphrase);

/* ---- allocations that fail ---------------------------------------------- */

/* Whose allocations count. */
enum { FAIL_CORE = 1, FAIL_OPENSSL = 2, FAIL_ALL = 3 };

/* The n-th allocation from now on fails, n >= 1; no other one does. */
void fail_at(unsigned long n, int whose);
/* In between, allocations neither fail nor count: what a peer does. */
void fail_pause(void);
void fail_resume(void);
/* Back to normal; true if one was made to fail. */
bool fail_end(void);
/* Allocations of the core since the program's start. */
unsigned long core_allocations(void);

/* Nothing was left in OpenSSL's error queue. */
void assert_queue_empty(void);

#endif
