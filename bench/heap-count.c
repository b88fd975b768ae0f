/*
 * heap-count.c - an allocator that remembers who asked. LD_PRELOADed into node
 * it stands before glibc's; loaded as an addon (the same file, thus the same
 * instance) it gives JavaScript two functions:
 *
 *   mark()        from now on remember each allocation with its call stack
 *   report(file)  stop, and write what is still allocated, one a line:
 *                 SIZE ADDRESS ADDRESS ... innermost first, in hex
 *
 * Live allocations are in a table of open addressing in memory of its own,
 * under one lock; a thread that is in here already (the unwinder allocates)
 * goes straight to glibc. Size is what glibc spends, with its header.
 */
#include <errno.h>
#include <execinfo.h>
#include <inttypes.h>
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <node_api.h>

#define SLOTS (1u << 20)
#define DEPTH 28
#define SKIP  2 /* remember(), malloc() */

extern void *__libc_malloc(size_t size);
extern void __libc_free(void *ptr);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *ptr, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

struct slot {
  void *ptr; /* NULL: never used; GONE: was used */
  size_t size;
  int depth;
  void *frames[DEPTH];
};

#define GONE ((void *)1)

static struct slot *table;
static size_t used;
static volatile bool recording;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local bool inside;

static size_t place_of(const void *ptr) {
  uint64_t hash = ((uint64_t)(uintptr_t)ptr >> 4) * 0x9e3779b97f4a7c15u;
  return (size_t)(hash >> 44) & (SLOTS - 1);
}

static void *remember(void *ptr) {
  void *frames[DEPTH + SKIP];
  int depth;
  if (ptr == NULL || !recording || inside)
    return ptr;
  inside = true;
  depth = backtrace(frames, DEPTH + SKIP) - SKIP;
  pthread_mutex_lock(&lock);
  if (recording && used < SLOTS / 2) {
    size_t at = place_of(ptr);
    while (table[at].ptr != NULL && table[at].ptr != GONE)
      at = (at + 1) & (SLOTS - 1);
    if (table[at].ptr == NULL)
      used++;
    table[at].ptr = ptr;
    table[at].size = malloc_usable_size(ptr) + sizeof(size_t);
    table[at].depth = depth < 0 ? 0 : depth;
    if (depth > 0)
      memcpy(table[at].frames, frames + SKIP, (size_t)depth * sizeof *frames);
  }
  pthread_mutex_unlock(&lock);
  inside = false;
  return ptr;
}

static void forget(const void *ptr) {
  if (ptr == NULL || !recording || inside)
    return;
  pthread_mutex_lock(&lock);
  for (size_t at = place_of(ptr); table[at].ptr != NULL;
       at = (at + 1) & (SLOTS - 1)) {
    if (table[at].ptr == ptr) {
      table[at].ptr = GONE;
      break;
    }
  }
  pthread_mutex_unlock(&lock);
}

void *malloc(size_t size) {
  return remember(__libc_malloc(size));
}

void free(void *ptr) {
  forget(ptr);
  __libc_free(ptr);
}

void *calloc(size_t count, size_t size) {
  return remember(__libc_calloc(count, size));
}

void *realloc(void *ptr, size_t size) {
  forget(ptr);
  return remember(__libc_realloc(ptr, size));
}

void *memalign(size_t alignment, size_t size) {
  return remember(__libc_memalign(alignment, size));
}

void *aligned_alloc(size_t alignment, size_t size) {
  return remember(__libc_memalign(alignment, size));
}

int posix_memalign(void **out, size_t alignment, size_t size) {
  void *ptr = remember(__libc_memalign(alignment, size));
  if (ptr == NULL)
    return ENOMEM;
  *out = ptr;
  return 0;
}

static napi_value mark(napi_env env, napi_callback_info info) {
  void *warm[2];
  (void)env;
  (void)info;
  inside = true;
  (void)backtrace(warm, 2); /* loads the unwinder */
  inside = false;
  if (table == NULL)
    table = mmap(NULL, SLOTS * sizeof *table, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (table == MAP_FAILED) {
    napi_throw_error(env, NULL, "no memory for the table");
    return NULL;
  }
  recording = true;
  return NULL;
}

static void write_slot(FILE *out, const struct slot *slot) {
  fprintf(out, "%zu", slot->size);
  for (int i = 0; i < slot->depth; i++)
    fprintf(out, " %" PRIxPTR, (uintptr_t)slot->frames[i]);
  fputc('\n', out);
}

static napi_value report(napi_env env, napi_callback_info info) {
  size_t argc = 1, length;
  napi_value argv[1];
  char path[4096];
  FILE *out;
  recording = false;
  if (napi_get_cb_info(env, info, &argc, argv, NULL, NULL) != napi_ok ||
      argc != 1 ||
      napi_get_value_string_utf8(env, argv[0], path, sizeof path, &length) !=
          napi_ok) {
    napi_throw_type_error(env, NULL, "report(file)");
    return NULL;
  }
  out = fopen(path, "w");
  if (out == NULL) {
    napi_throw_error(env, NULL, "the report cannot be written");
    return NULL;
  }
  for (size_t i = 0; i < SLOTS; i++)
    if (table[i].ptr != NULL && table[i].ptr != GONE)
      write_slot(out, &table[i]);
  fclose(out);
  return NULL;
}

NAPI_MODULE_INIT() {
  napi_value function;
  napi_create_function(env, "mark", NAPI_AUTO_LENGTH, mark, NULL, &function);
  napi_set_named_property(env, exports, "mark", function);
  napi_create_function(env, "report", NAPI_AUTO_LENGTH, report, NULL,
                       &function);
  napi_set_named_property(env, exports, "report", function);
  return exports;
}
