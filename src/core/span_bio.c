/*
 * span_bio.c - a BIO that reads from a span and appends to a queue.
 *
 * Reading takes from the kept bytes first, then from the lent span, and asks
 * for a retry when both are empty. It never reports the end of the stream:
 * OpenSSL would take that for a truncation attack, send an alert and mark the
 * session as not resumable. The engine knows about the end and decides.
 *
 * Output is one growing allocation. Consuming moves `head` only; bytes are
 * moved when room is needed and at least half of the buffer is already eaten,
 * so each byte is moved at most once on average. A drained queue has no memory
 * at all: its buffer goes to the pool if there is room, for the next
 * connection that writes.
 *
 * The pool is one slot that is exchanged atomically, because an engine may do
 * its handshake on another thread than the one whose pool it uses. The
 * BIO_METHOD is made once, never changed and never freed.
 */
#include "span_bio.h"

#include <stdatomic.h>
#include <string.h>

#include "mem.h"

enum {
  QUEUE_MIN = 4096,
  /* One record more than the engine lets pile up. */
  POOL_MIN = ETLS_OUTPUT_HIGH + 32768,
  POOL_MAX = 4 * POOL_MIN
};

struct etls_buffer_pool {
  _Atomic(uint8_t *) slot; /* NULL or at least POOL_MIN bytes */
};

struct etls_buffer_pool *etls_buffer_pool_new(void) {
  struct etls_buffer_pool *pool = etls_alloc(sizeof(*pool));
  uint8_t *buffer = etls_alloc(POOL_MIN);
  if (pool == NULL || buffer == NULL) {
    etls_free(pool);
    etls_free(buffer);
    return NULL;
  }
  atomic_init(&pool->slot, buffer);
  return pool;
}

void etls_buffer_pool_free(struct etls_buffer_pool *pool) {
  if (pool == NULL)
    return;
  etls_free(atomic_load(&pool->slot));
  etls_free(pool);
}

/* Nothing if another connection uses the buffer: then this one grows its own
 * from small beginnings. */
static void pool_take(struct etls_buffer_pool *pool, struct etls_queue *queue) {
  uint8_t *data = pool == NULL ? NULL : atomic_exchange(&pool->slot, NULL);
  if (data == NULL)
    return;
  queue->data = data;
  queue->cap = POOL_MIN;
}

static void queue_dispose(struct etls_queue *queue,
                          struct etls_buffer_pool *pool) {
  uint8_t *data = queue->data;
  uint8_t *none = NULL;
  bool given = pool != NULL && queue->cap >= POOL_MIN &&
               queue->cap <= POOL_MAX &&
               atomic_compare_exchange_strong(&pool->slot, &none, data);
  if (!given)
    etls_free(data);
  memset(queue, 0, sizeof(*queue));
}

/* Room for n bytes behind tail, or NULL: no memory. */
static uint8_t *queue_reserve(struct etls_queue *queue, size_t n) {
  size_t used = queue->tail - queue->head;
  if (queue->cap - queue->tail >= n)
    return queue->data + queue->tail;
  if (queue->data != NULL && queue->head >= used && queue->cap - used >= n) {
    memmove(queue->data, queue->data + queue->head, used);
    queue->head = 0;
    queue->tail = used;
    return queue->data + used;
  }
  if (n > SIZE_MAX / 2 - queue->tail)
    return NULL;
  size_t cap = queue->cap < QUEUE_MIN ? QUEUE_MIN : queue->cap;
  while (cap - queue->tail < n)
    cap *= 2;
  uint8_t *data = etls_realloc(queue->data, cap);
  if (data == NULL)
    return NULL;
  queue->data = data;
  queue->cap = cap;
  return data + queue->tail;
}

static bool queue_append(struct etls_queue *queue, const void *bytes,
                         size_t n) {
  if (n == 0)
    return true;
  uint8_t *room = queue_reserve(queue, n);
  if (room == NULL)
    return false;
  memcpy(room, bytes, n);
  queue->tail += n;
  return true;
}

void etls_span_bio_give_back(struct etls_span_bio *span) {
  span->lent = NULL;
  span->lent_len = 0;
}

enum etls_status etls_span_bio_keep(struct etls_span_bio *span) {
  if (span->lent_len > 0 &&
      !queue_append(&span->kept, span->lent, span->lent_len))
    return ETLS_ERR_MEMORY;
  etls_span_bio_give_back(span);
  return ETLS_OK;
}

enum etls_status etls_span_bio_lend(struct etls_span_bio *span,
                                    const uint8_t *data, size_t len) {
  enum etls_status status = etls_span_bio_keep(span);
  if (status != ETLS_OK)
    return status;
  span->lent = len == 0 ? NULL : data;
  span->lent_len = len;
  return ETLS_OK;
}

size_t etls_span_bio_input(const struct etls_span_bio *span) {
  return span->kept.tail - span->kept.head + span->lent_len;
}

void etls_span_bio_consume(struct etls_span_bio *span, size_t n) {
  struct etls_queue *output = &span->output;
  size_t used = output->tail - output->head;
  output->head += n < used ? n : used;
  if (output->head == output->tail)
    queue_dispose(output, span->pool);
}

size_t etls_span_bio_output(const struct etls_span_bio *span,
                            const uint8_t **data) {
  size_t used = span->output.tail - span->output.head;
  *data = used == 0 ? NULL : span->output.data + span->output.head;
  return used;
}

void etls_span_bio_dispose(struct etls_span_bio *span) {
  queue_dispose(&span->kept, NULL);
  queue_dispose(&span->output, span->pool);
  etls_span_bio_give_back(span);
}

static size_t take_kept(struct etls_queue *kept, char *dst, size_t cap) {
  size_t n = kept->tail - kept->head;
  if (n == 0)
    return 0;
  if (n > cap)
    n = cap;
  memcpy(dst, kept->data + kept->head, n);
  kept->head += n;
  if (kept->head == kept->tail)
    queue_dispose(kept, NULL);
  return n;
}

static int read_ex(BIO *bio, char *dst, size_t cap, size_t *done) {
  struct etls_span_bio *span = BIO_get_data(bio);
  BIO_clear_retry_flags(bio);
  size_t n = take_kept(&span->kept, dst, cap);
  size_t lent = span->lent_len < cap - n ? span->lent_len : cap - n;
  if (lent > 0) {
    memcpy(dst + n, span->lent, lent);
    span->lent += lent;
    span->lent_len -= lent;
  }
  *done = n + lent;
  if (*done == 0 && cap > 0)
    BIO_set_retry_read(bio);
  return *done > 0;
}

static int write_ex(BIO *bio, const char *src, size_t len, size_t *done) {
  struct etls_span_bio *span = BIO_get_data(bio);
  struct etls_queue *output = &span->output;
  BIO_clear_retry_flags(bio);
  *done = 0;
  if (output->data == NULL)
    pool_take(span->pool, output);
  if (!queue_append(output, src, len)) {
    span->no_memory = true;
    return 0;
  }
  *done = len;
  return 1;
}

static long ctrl(BIO *bio, int cmd, long num, void *ptr) {
  (void)bio;
  (void)num;
  (void)ptr;
  /* Everything is "flushed" as soon as it is in the queue. */
  return cmd == BIO_CTRL_FLUSH ? 1 : 0;
}

static int create(BIO *bio) {
  BIO_set_init(bio, 1);
  return 1;
}

static BIO_METHOD *make_method(void) {
  int index = BIO_get_new_index();
  if (index == -1)
    return NULL;
  BIO_METHOD *method = BIO_meth_new(index | BIO_TYPE_SOURCE_SINK, "etls span");
  if (method == NULL)
    return NULL;
  if (BIO_meth_set_read_ex(method, read_ex) != 1 ||
      BIO_meth_set_write_ex(method, write_ex) != 1 ||
      BIO_meth_set_ctrl(method, ctrl) != 1 ||
      BIO_meth_set_create(method, create) != 1) {
    BIO_meth_free(method);
    return NULL;
  }
  return method;
}

/* Unlike a once-routine this can be tried again after it ran out of memory. */
static const BIO_METHOD *get_method(void) {
  static _Atomic(BIO_METHOD *) shared;
  BIO_METHOD *method = atomic_load(&shared);
  if (method != NULL)
    return method;
  BIO_METHOD *mine = make_method();
  if (mine == NULL || atomic_compare_exchange_strong(&shared, &method, mine))
    return mine;
  BIO_meth_free(mine);
  return method;
}

BIO *etls_span_bio_new(struct etls_span_bio *span) {
  const BIO_METHOD *method = get_method();
  BIO *bio = method == NULL ? NULL : BIO_new(method);
  if (bio != NULL)
    BIO_set_data(bio, span);
  return bio;
}
