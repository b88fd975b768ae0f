/*
 * span_bio.h - the BIO between an SSL and its engine: OpenSSL reads
 * ciphertext from borrowed memory and writes ciphertext to a buffer.
 */
#ifndef ETLS_SPAN_BIO_H
#define ETLS_SPAN_BIO_H

#include <openssl/bio.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eager_tls.h"

/* Bytes [head, tail) of one allocation; filled at the end, eaten from the
 * front. All zero: empty, without memory. */
struct etls_queue {
  uint8_t *data;
  size_t cap;
  size_t head;
  size_t tail;
};

/*
 * State of one connection's BIO. Embedded in the engine; the BIO points to it,
 * so it may not move and must outlive the BIO. All zero is the initial state
 * but for `pool`, which is borrowed and may be NULL.
 */
struct etls_span_bio {
  struct etls_queue kept; /* input that we own, comes first */
  const uint8_t *lent;    /* input that we borrow, comes second */
  size_t lent_len;
  struct etls_queue output; /* what OpenSSL wrote and nobody took yet */
  struct etls_buffer_pool *pool;
  bool no_memory; /* a write failed because of that */
};

/* A BIO over `span`; BIO_free or SSL_free frees it. NULL: no memory. */
ETLS_MUST_USE BIO *etls_span_bio_new(struct etls_span_bio *span);
/* Frees the memory of `span`, not the BIO. */
void etls_span_bio_dispose(struct etls_span_bio *span);

/* Lends `data`; what remains of the span lent before is kept first.
 * ETLS_ERR_MEMORY: nothing changed. */
ETLS_MUST_USE enum etls_status
etls_span_bio_lend(struct etls_span_bio *span, const uint8_t *data, size_t len);
/* Copies what remains of the lent span. ETLS_ERR_MEMORY: it is still lent. */
ETLS_MUST_USE enum etls_status etls_span_bio_keep(struct etls_span_bio *span);
/* Forgets the lent span, and what remains of it. */
void etls_span_bio_give_back(struct etls_span_bio *span);
size_t etls_span_bio_input(const struct etls_span_bio *span);

/* Drops n bytes (at most what is there) from the front of the output. */
void etls_span_bio_consume(struct etls_span_bio *span, size_t n);
size_t etls_span_bio_output(const struct etls_span_bio *span,
                            const uint8_t **data);

#endif
