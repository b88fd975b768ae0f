/*
 * config.h - reading a config back, and its digest. Making one is declared in
 * eager_tls.h; what that leaves open:
 * - METHOD, the versions, SECURE_OPTIONS, SESSION_TIMEOUT and the flags are
 *   added with etls_config_add_int, KEY and PFX with etls_config_add_secret,
 *   all others with etls_config_add_bytes; anything else, a value out of its
 *   range, or a second value of what is not repeatable is ETLS_ERR_USAGE;
 * - a flag of 0 means the same as none and leaves no trace;
 * - after ETLS_ERR_MEMORY or ETLS_ERR_USAGE the config is as it was before.
 */
#ifndef ETLS_CONFIG_H
#define ETLS_CONFIG_H

#include "eager_tls.h"

/* One value, borrowed from the config. */
struct etls_config_item {
  enum etls_option option;
  int64_t number;       /* of an int or a flag */
  const uint8_t *bytes; /* of bytes and secrets */
  size_t len;
  const uint8_t *passphrase; /* of secrets; NULL: none given */
  size_t passphrase_len;
};

enum {
  ETLS_SEGMENT_TRUST = 0,  /* what makes the X509_STORE */
  ETLS_SEGMENT_PUBLIC = 1, /* the rest that is no secret */
  ETLS_SEGMENT_SECRET = 2, /* keys, passphrases, ticket keys */
  ETLS_SEGMENT_COUNT = 3
};

/* A position in a config; {0} is the beginning. */
struct etls_config_cursor {
  size_t at[ETLS_SEGMENT_COUNT];
};

/* The next value in ascending order of options; false: there is none. */
bool etls_config_next(const struct etls_config *config,
                      struct etls_config_cursor *cursor,
                      struct etls_config_item *item);

/* The canonical encoding of a segment, borrowed. */
const uint8_t *etls_config_segment(const struct etls_config *config,
                                   int segment, size_t *len);

/* Whether the trust segment refers to the cache's default roots. */
bool etls_config_has_default_roots(const struct etls_config *config);

/*
 * The digest of everything. trust_digest stands for the trust segment,
 * roots_digest for what DEFAULT_ROOTS means now; NULL without that option.
 * false: no memory.
 */
ETLS_MUST_USE bool
etls_config_digest(const struct etls_config *config,
                   const uint8_t trust_digest[ETLS_DIGEST_LEN],
                   const uint8_t *roots_digest, uint8_t out[ETLS_DIGEST_LEN]);

#endif
