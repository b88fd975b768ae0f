/*
 * status.h - filling struct etls_error. Declared in eager_tls.h:
 * etls_status_name, etls_error_init.
 *
 * The first error wins and stays: on an error that is already filled these
 * functions change nothing. All of them leave OpenSSL's queue of this thread
 * empty and return error->status, so that `return etls_error_set(...)` reads
 * well.
 */
#ifndef ETLS_STATUS_H
#define ETLS_STATUS_H

#include <openssl/err.h>

#include "eager_tls.h"

/* Our own text, which is cut at ETLS_ERROR_TEXT_MAX. status is negative. */
enum etls_status etls_error_set(struct etls_error *error,
                                enum etls_status status, const char *text);

/* The same, with a code of node's that no OpenSSL error stands behind. */
enum etls_status etls_error_set_code(struct etls_error *error,
                                     enum etls_status status, const char *code,
                                     const char *text);

/* ETLS_ERR_IO. `syscall` is a static string, `number` the errno. */
enum etls_status etls_error_set_errno(struct etls_error *error,
                                      const char *syscall, int number);

/* ETLS_ERR_MEMORY. */
enum etls_status etls_error_set_memory(struct etls_error *error);

/*
 * Takes everything from OpenSSL's queue. If an entry says that memory ran
 * out, the status is ETLS_ERR_MEMORY whatever was asked for. With an empty
 * queue the text is `fallback`; NULL stands for what OpenSSL says of the code
 * 0, as node does where it has no text of its own.
 */
enum etls_status etls_error_drain(struct etls_error *error,
                                  enum etls_status status,
                                  const char *fallback);

/* Empties OpenSSL's queue where it mostly is empty: to look costs a tenth of
 * clearing its sixteen slots. */
static inline void etls_queue_forget(void) {
  if (ERR_peek_error() != 0)
    ERR_clear_error();
}

/* Empties OpenSSL's queue; true if an entry said that memory ran out. For
 * callers to whom every other error is an answer. */
bool etls_queue_clear(void);

#endif
