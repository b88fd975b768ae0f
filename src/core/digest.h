/*
 * digest.h - SHA-256 over several pieces of memory.
 */
#ifndef ETLS_DIGEST_H
#define ETLS_DIGEST_H

#include "eager_tls.h"

struct etls_piece {
  const void *bytes; /* may be NULL when len is 0 */
  size_t len;
};

/*
 * Each piece goes in behind its length, so that no two lists of pieces look
 * alike. false: no memory (or OpenSSL has no SHA-256); OpenSSL's queue may
 * hold entries then.
 */
ETLS_MUST_USE bool etls_digest_pieces(const struct etls_piece *pieces,
                                      size_t count,
                                      uint8_t out[ETLS_DIGEST_LEN]);

#endif
