/*
 * hash_table.h - uthash as the core uses it: its memory comes from mem.h, and
 * running out of it is no catastrophe. After HASH_ADD*, an element whose
 * hh.tbl is NULL was not added.
 */
#ifndef ETLS_HASH_TABLE_H
#define ETLS_HASH_TABLE_H

#include <stdint.h>

#include "mem.h"

/* FNV-1a. Keys begin with a SHA-256, so nobody can aim at a bucket. */
static inline uint32_t etls_hash_bytes(const void *key, size_t len) {
  const uint8_t *bytes = key;
  uint32_t hash = 0x811c9dc5u;
  for (size_t i = 0; i < len; i++)
    hash = (hash ^ bytes[i]) * 0x01000193u;
  return hash;
}

#define HASH_NONFATAL_OOM      1
#define uthash_malloc(size)    etls_alloc(size)
#define uthash_free(ptr, size) etls_free(ptr)
#define HASH_FUNCTION(key, len, value)                                         \
  do {                                                                         \
    (value) = etls_hash_bytes(key, len);                                       \
  } while (0)

#include <uthash.h>
#include <utlist.h>

#endif
