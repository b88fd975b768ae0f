/*
 * mem.h - every allocation of the core goes through these functions, so that
 * tests can make any of them fail. etls_free and etls_clear_free are declared
 * in eager_tls.h.
 */
#ifndef ETLS_MEM_H
#define ETLS_MEM_H

#include <stdbool.h>
#include <stddef.h>

#include "eager_tls.h"

/* NULL: no memory. A size of 0 gives a pointer that can be freed. The bytes
 * are not initialised, except by etls_calloc. */
ETLS_MUST_USE void *etls_alloc(size_t size);
ETLS_MUST_USE void *etls_calloc(size_t count, size_t size);
/* As realloc: on failure NULL, and ptr is still the caller's. Does not clear
 * what it leaves behind: not for secrets, see etls_realloc_clear. */
ETLS_MUST_USE void *etls_realloc(void *ptr, size_t size);
/* The same for secrets; old_size is the size of the allocation ptr. */
ETLS_MUST_USE void *etls_realloc_clear(void *ptr, size_t old_size, size_t size);
/* A copy of len bytes; bytes may be NULL when len is 0. */
ETLS_MUST_USE void *etls_memdup(const void *bytes, size_t len);

/*
 * For tests: asked before each allocation, true makes it fail. NULL: none.
 * Process-wide and unsynchronised: set it while no other thread uses the core.
 */
typedef bool (*etls_alloc_hook)(size_t size);
void etls_mem_set_hook(etls_alloc_hook should_fail);

#endif
