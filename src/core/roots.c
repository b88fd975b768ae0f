/*
 * roots.c - the set of certificates that ETLS_OPTION_DEFAULT_ROOTS stands for.
 *
 * Parsing the 140 roots that come with node takes some 35 ms, so it happens
 * when a context first needs them, and once for as long as they are in force.
 * Owned by the pool of trust stores; stores keep their own reference on the
 * X509_STORE and do not care when the roots are replaced.
 */
#include "roots.h"

#include <string.h>

#include "digest.h"
#include "mem.h"
#include "pem.h"
#include "status.h"

static bool digest_texts(struct etls_roots *roots, const void *const *pems) {
  bool done;
  struct etls_piece *pieces =
      etls_calloc(roots->count, sizeof(struct etls_piece));
  if (pieces == NULL)
    return false;
  for (size_t i = 0; i < roots->count; i++)
    pieces[i] = (struct etls_piece){pems[i], roots->lens[i]};
  done = etls_digest_pieces(pieces, roots->count, roots->digest);
  etls_free(pieces);
  return done;
}

bool etls_roots_init(struct etls_roots *roots) {
  memset(roots, 0, sizeof(*roots));
  /* The empty list has a digest, too. */
  if (digest_texts(roots, NULL))
    return true;
  etls_queue_clear();
  return false;
}

void etls_roots_dispose(struct etls_roots *roots) {
  etls_free(roots->pems);
  etls_free(roots->lens);
  X509_STORE_free(roots->x509);
  memset(roots, 0, sizeof(*roots));
}

static bool copy_texts(struct etls_roots *roots, const void *const *pems,
                       const size_t *lens) {
  size_t at = 0;

  for (size_t i = 0; i < roots->count; i++)
    at += lens[i];
  roots->lens = etls_memdup(lens, roots->count * sizeof(*lens));
  roots->pems = etls_alloc(at);
  if (roots->lens == NULL || roots->pems == NULL)
    return false;
  at = 0;
  for (size_t i = 0; i < roots->count; i++) {
    if (lens[i] > 0)
      memcpy(roots->pems + at, pems[i], lens[i]);
    at += lens[i];
  }
  return true;
}

enum etls_status etls_roots_set(struct etls_roots *roots,
                                const void *const *pems, const size_t *lens,
                                size_t count, struct etls_error *error) {
  struct etls_roots fresh = {.count = count};
  struct etls_roots old;
  enum etls_status status = ETLS_OK;

  if (!copy_texts(&fresh, pems, lens) || !digest_texts(&fresh, pems)) {
    status = etls_error_set_memory(error);
  } else if (memcmp(roots->digest, fresh.digest, ETLS_DIGEST_LEN) != 0) {
    old = *roots;
    *roots = fresh;
    fresh = old;
  }
  etls_roots_dispose(&fresh);
  return status;
}

enum etls_status etls_roots_parse(struct etls_roots *roots,
                                  struct etls_context_counters *counters,
                                  struct etls_error *error) {
  X509_STORE *store;
  size_t at = 0;

  if (roots->x509 != NULL)
    return ETLS_OK;
  store = X509_STORE_new();
  if (store == NULL)
    return etls_error_set_memory(error);
  for (size_t i = 0; i < roots->count; i++) {
    enum etls_status status =
        etls_pem_add_certificates(store, roots->pems + at, roots->lens[i], true,
                                  &counters->certificates_parsed, error);
    if (status != ETLS_OK) {
      X509_STORE_free(store);
      return status;
    }
    at += roots->lens[i];
  }
  counters->stores_built++;
  roots->x509 = store;
  return ETLS_OK;
}
