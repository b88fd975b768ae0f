/*
 * config.c - TLS options in one canonical encoding, kept in three segments:
 * what makes the trust store, the rest that is public, and secrets.
 *
 * A value is encoded as
 *   option (1 byte), kind (1 byte), and then
 *   int, flag:  the number, 8 bytes
 *   bytes:      length (8), the bytes
 *   secret:     length (8), the bytes, whether there is a passphrase (1),
 *               its length (8), the passphrase
 * with all numbers least significant byte first. Within a segment options
 * ascend. Because every length stands before its bytes, two different lists of
 * values never encode alike, and because of the fixed order two equal ones
 * always do. So bytes of segments can be compared or hashed instead of values.
 *
 * A config owns its segments. The secret one is overwritten when it grows and
 * when it is freed.
 */
#include "config.h"

#include <string.h>

#include "digest.h"
#include "mem.h"

/* Names the encoding. Change it when the encoding or its meaning changes. */
static const char label[] = "eager-tls context 1";

enum kind { KIND_NONE = 0, KIND_INT, KIND_FLAG, KIND_BYTES, KIND_SECRET };

struct rule {
  enum kind kind;
  int segment;
  bool repeatable;
  int64_t min; /* of a number, or of a length in bytes */
  int64_t max;
};

struct segment {
  uint8_t *bytes;
  size_t len;
  size_t cap;
};

struct etls_config {
  struct segment segments[ETLS_SEGMENT_COUNT];
  enum etls_option last; /* 0: none yet */
  bool default_roots;
};

/* More than any file of certificates; keeps sums of lengths from wrapping. */
#define BYTES_MAX ((int64_t)1 << 30)

static struct rule int_rule(int64_t min, int64_t max) {
  return (struct rule){KIND_INT, ETLS_SEGMENT_PUBLIC, false, min, max};
}

static struct rule flag_rule(void) {
  return (struct rule){KIND_FLAG, ETLS_SEGMENT_TRUST, false, INT64_MIN,
                       INT64_MAX};
}

static struct rule bytes_rule(int segment, bool repeatable) {
  return (struct rule){KIND_BYTES, segment, repeatable, 0, BYTES_MAX};
}

static struct rule rule_of(enum etls_option option) {
  switch (option) {
  case ETLS_OPTION_METHOD:
    return int_rule(0, 2);
  case ETLS_OPTION_MIN_VERSION:
  case ETLS_OPTION_MAX_VERSION:
    return int_rule(0, 0x0304);
  case ETLS_OPTION_SECURE_OPTIONS:
    return int_rule(INT64_MIN, INT64_MAX);
  case ETLS_OPTION_SESSION_TIMEOUT:
    return int_rule(0, INT32_MAX);
  case ETLS_OPTION_DEFAULT_ROOTS:
  case ETLS_OPTION_OPENSSL_CA:
  case ETLS_OPTION_PARTIAL_CHAIN:
    return flag_rule();
  case ETLS_OPTION_CA:
  case ETLS_OPTION_CRL:
    return bytes_rule(ETLS_SEGMENT_TRUST, true);
  case ETLS_OPTION_CERT:
    return bytes_rule(ETLS_SEGMENT_PUBLIC, true);
  case ETLS_OPTION_CIPHER_SUITES:
  case ETLS_OPTION_CIPHER_LIST:
  case ETLS_OPTION_SIGALGS:
  case ETLS_OPTION_ECDH_CURVE:
  case ETLS_OPTION_DH_PARAM:
  case ETLS_OPTION_SESSION_ID_CONTEXT:
    return bytes_rule(ETLS_SEGMENT_PUBLIC, false);
  case ETLS_OPTION_TICKET_KEYS:
    return (struct rule){KIND_BYTES, ETLS_SEGMENT_SECRET, false, 48, 48};
  case ETLS_OPTION_KEY:
  case ETLS_OPTION_PFX:
    return (struct rule){KIND_SECRET, ETLS_SEGMENT_SECRET, true, 0, BYTES_MAX};
  }
  return (struct rule){KIND_NONE, 0, false, 0, 0};
}

/* ---- writing ------------------------------------------------------------ */

static bool reserve(struct segment *segment, size_t more, bool secret) {
  size_t cap = segment->cap;
  uint8_t *bytes;

  if (more <= cap - segment->len)
    return true;
  cap = segment->len + more;
  if (cap < segment->cap * 2)
    cap = segment->cap * 2;
  if (secret)
    bytes = etls_realloc_clear(segment->bytes, segment->cap, cap);
  else
    bytes = etls_realloc(segment->bytes, cap);
  if (bytes == NULL)
    return false;
  segment->bytes = bytes;
  segment->cap = cap;
  return true;
}

/* What follows writes into room that was reserved. */
static void put(struct segment *segment, const void *bytes, size_t len) {
  if (len > 0)
    memcpy(segment->bytes + segment->len, bytes, len);
  segment->len += len;
}

static void put_byte(struct segment *segment, int value) {
  segment->bytes[segment->len++] = (uint8_t)value;
}

static void put_number(struct segment *segment, uint64_t value) {
  for (int shift = 0; shift < 64; shift += 8)
    put_byte(segment, (int)((value >> shift) & 0xff));
}

static bool may_follow(const struct etls_config *config,
                       enum etls_option option, bool repeatable) {
  return option > config->last || (option == config->last && repeatable);
}

static enum etls_status put_bytes(struct etls_config *config,
                                  enum etls_option option,
                                  const struct rule *rule, const void *bytes,
                                  size_t len, const void *passphrase,
                                  size_t passphrase_len) {
  struct segment *segment = &config->segments[rule->segment];
  size_t need = 2 + 8 + len + 1 + 8 + passphrase_len;

  if (!may_follow(config, option, rule->repeatable) || (int64_t)len < rule->min)
    return ETLS_ERR_USAGE;
  if (!reserve(segment, need, rule->segment == ETLS_SEGMENT_SECRET))
    return ETLS_ERR_MEMORY;
  put_byte(segment, (int)option);
  put_byte(segment, (int)rule->kind);
  put_number(segment, len);
  put(segment, bytes, len);
  if (rule->kind == KIND_SECRET) {
    put_byte(segment, passphrase != NULL);
    put_number(segment, passphrase_len);
    put(segment, passphrase, passphrase_len);
  }
  config->last = option;
  return ETLS_OK;
}

struct etls_config *etls_config_new(void) {
  return etls_calloc(1, sizeof(struct etls_config));
}

void etls_config_free(struct etls_config *config) {
  if (config == NULL)
    return;
  etls_free(config->segments[ETLS_SEGMENT_TRUST].bytes);
  etls_free(config->segments[ETLS_SEGMENT_PUBLIC].bytes);
  etls_clear_free(config->segments[ETLS_SEGMENT_SECRET].bytes,
                  config->segments[ETLS_SEGMENT_SECRET].cap);
  etls_free(config);
}

enum etls_status etls_config_add_int(struct etls_config *config,
                                     enum etls_option option, int64_t value) {
  struct rule rule = rule_of(option);
  struct segment *segment = &config->segments[rule.segment];

  if ((rule.kind != KIND_INT && rule.kind != KIND_FLAG) ||
      !may_follow(config, option, false) || value < rule.min ||
      value > rule.max)
    return ETLS_ERR_USAGE;
  if (rule.kind == KIND_FLAG && value == 0)
    return ETLS_OK;
  if (!reserve(segment, 2 + 8, false))
    return ETLS_ERR_MEMORY;
  put_byte(segment, (int)option);
  put_byte(segment, (int)rule.kind);
  put_number(segment, rule.kind == KIND_FLAG ? 1 : (uint64_t)value);
  config->last = option;
  if (option == ETLS_OPTION_DEFAULT_ROOTS)
    config->default_roots = true;
  return ETLS_OK;
}

enum etls_status etls_config_add_bytes(struct etls_config *config,
                                       enum etls_option option,
                                       const void *bytes, size_t len) {
  struct rule rule = rule_of(option);
  if (rule.kind != KIND_BYTES || len > (size_t)rule.max)
    return ETLS_ERR_USAGE;
  return put_bytes(config, option, &rule, bytes, len, NULL, 0);
}

enum etls_status etls_config_add_secret(struct etls_config *config,
                                        enum etls_option option,
                                        const void *bytes, size_t len,
                                        const void *passphrase,
                                        size_t passphrase_len) {
  struct rule rule = rule_of(option);
  if (rule.kind != KIND_SECRET || len > (size_t)rule.max ||
      passphrase_len > (size_t)rule.max ||
      (passphrase == NULL && passphrase_len > 0))
    return ETLS_ERR_USAGE;
  return put_bytes(config, option, &rule, bytes, len, passphrase,
                   passphrase_len);
}

/* ---- reading ------------------------------------------------------------ */

/* A segment is only ever written by this file, so reading trusts it. */
static uint64_t take_number(const struct segment *segment, size_t *at) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 8)
    value |= (uint64_t)segment->bytes[(*at)++] << shift;
  return value;
}

static const uint8_t *take_bytes(const struct segment *segment, size_t *at,
                                 size_t *len) {
  const uint8_t *bytes;
  *len = (size_t)take_number(segment, at);
  bytes = segment->bytes + *at;
  *at += *len;
  return bytes;
}

static void take_item(const struct segment *segment, size_t *at,
                      struct etls_config_item *item) {
  enum kind kind;
  const uint8_t *passphrase;
  bool given;

  memset(item, 0, sizeof(*item));
  item->option = (enum etls_option)segment->bytes[(*at)++];
  kind = (enum kind)segment->bytes[(*at)++];
  switch (kind) {
  case KIND_NONE:
    break;
  case KIND_INT:
  case KIND_FLAG:
    item->number = (int64_t)take_number(segment, at);
    break;
  case KIND_BYTES:
    item->bytes = take_bytes(segment, at, &item->len);
    break;
  case KIND_SECRET:
    item->bytes = take_bytes(segment, at, &item->len);
    given = segment->bytes[(*at)++] != 0;
    passphrase = take_bytes(segment, at, &item->passphrase_len);
    item->passphrase = given ? passphrase : NULL;
    break;
  }
}

bool etls_config_next(const struct etls_config *config,
                      struct etls_config_cursor *cursor,
                      struct etls_config_item *item) {
  int best = -1;
  int lowest = 256;

  for (int i = 0; i < ETLS_SEGMENT_COUNT; i++) {
    const struct segment *segment = &config->segments[i];
    if (cursor->at[i] < segment->len &&
        segment->bytes[cursor->at[i]] < lowest) {
      lowest = segment->bytes[cursor->at[i]];
      best = i;
    }
  }
  if (best < 0)
    return false;
  take_item(&config->segments[best], &cursor->at[best], item);
  return true;
}

const uint8_t *etls_config_segment(const struct etls_config *config,
                                   int segment, size_t *len) {
  *len = config->segments[segment].len;
  return config->segments[segment].bytes;
}

bool etls_config_has_default_roots(const struct etls_config *config) {
  return config->default_roots;
}

bool etls_config_digest(const struct etls_config *config,
                        const uint8_t trust_digest[ETLS_DIGEST_LEN],
                        const uint8_t *roots_digest,
                        uint8_t out[ETLS_DIGEST_LEN]) {
  const struct segment *open = &config->segments[ETLS_SEGMENT_PUBLIC];
  const struct segment *secret = &config->segments[ETLS_SEGMENT_SECRET];
  struct etls_piece pieces[] = {
      {label, sizeof(label)},
      {trust_digest, ETLS_DIGEST_LEN},
      {roots_digest, roots_digest == NULL ? 0 : ETLS_DIGEST_LEN},
      {open->bytes, open->len},
      {secret->bytes, secret->len},
  };
  return etls_digest_pieces(pieces, sizeof(pieces) / sizeof(pieces[0]), out);
}
