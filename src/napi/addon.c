/*
 * addon.c - module initialisation, the environment's data, and the functions
 * that belong to no connection.
 *
 * The module may be loaded by the main thread and by any number of workers,
 * each with its own struct binding; nothing is shared between them but
 * OpenSSL's own immutable tables.
 */
#include <stdlib.h>
#include <string.h>

#include <openssl/crypto.h>

#include "args.h"
#include "binding.h"
#include "error.h"
#include "loop.h"

/* Until configure() is called, which lib/ does at once. */
static const struct etls_cache_limits initial_contexts = {256, 300000};
static const struct etls_session_limits initial_sessions = {true, 1024, 8,
                                                            7200000};

struct binding *binding_get(napi_env env) {
  void *data = NULL;
  if (napi_get_instance_data(env, &data) != napi_ok || data == NULL)
    napi_fatal_error("binding_get", NAPI_AUTO_LENGTH, "no instance data",
                     NAPI_AUTO_LENGTH);
  return data;
}

/* The instance-data finalizer: runs last, all handles are gone. */
static void binding_free(napi_env env, void *data, void *hint) {
  struct binding *binding = data;
  const napi_ref refs[] = {binding->shared_ref, binding->slab_ref,
                           binding->callback_ref};
  (void)hint;
  for (size_t i = 0; i < sizeof refs / sizeof refs[0]; i++)
    if (refs[i] != NULL)
      napi_delete_reference(env, refs[i]);
  etls_session_store_free(binding->sessions);
  etls_context_cache_free(binding->contexts);
  etls_buffer_pool_free(binding->pool);
  OPENSSL_free(binding->notes);
  OPENSSL_clear_free(binding->scratch, SCRATCH_SIZE);
  OPENSSL_clear_free(binding->gather, GATHER_SIZE);
  OPENSSL_free(binding);
}

/* Recorded for takeContextEvents(); what cannot be stored is not told. */
static void on_context_event(void *arg, enum etls_context_event event,
                             const uint8_t digest[ETLS_DIGEST_LEN]) {
  struct binding *binding = arg;
  if (binding->notes_len == binding->notes_cap) {
    size_t cap = binding->notes_cap == 0 ? 16 : binding->notes_cap * 2;
    void *notes =
        OPENSSL_realloc(binding->notes, cap * sizeof binding->notes[0]);
    if (notes == NULL)
      return;
    binding->notes = notes;
    binding->notes_cap = cap;
  }
  binding->notes[binding->notes_len].event = event;
  memcpy(binding->notes[binding->notes_len].digest, digest, ETLS_DIGEST_LEN);
  binding->notes_len++;
}

/* watchContexts(boolean): record context events */
static napi_value watch_contexts(napi_env env, napi_callback_info info) {
  struct binding *binding = binding_get(env);
  size_t argc = 1;
  napi_value argv[1];
  bool watch = false;
  if (napi_get_cb_info(env, info, &argc, argv, NULL, NULL) != napi_ok ||
      !args_bool(env, argv[0], &watch))
    return NULL;
  etls_context_cache_set_event_cb(binding->contexts,
                                  watch ? on_context_event : NULL, binding);
  if (!watch)
    binding->notes_len = 0;
  return NULL;
}

/* takeContextEvents() -> [event, digest, ...], event as in the core */
static napi_value take_context_events(napi_env env, napi_callback_info info) {
  struct binding *binding = binding_get(env);
  napi_value list = NULL;
  (void)info;
  if (napi_create_array(env, &list) != napi_ok)
    return NULL;
  for (size_t i = 0; i < binding->notes_len; i++) {
    /* A copy: a setter of Array.prototype may add notes, which moves them. */
    const struct context_note note = binding->notes[i];
    napi_set_element(env, list, (uint32_t)(2 * i),
                     args_new_number(env, note.event));
    napi_set_element(env, list, (uint32_t)(2 * i + 1),
                     args_new_buffer(env, note.digest, ETLS_DIGEST_LEN));
  }
  binding->notes_len = 0;
  return list;
}

static bool replace_ref(napi_env env, napi_ref *ref, napi_value value) {
  napi_ref fresh = NULL;
  if (napi_create_reference(env, value, 1, &fresh) != napi_ok) {
    args_throw(env, "cannot reference");
    return false;
  }
  if (*ref != NULL)
    napi_delete_reference(env, *ref);
  *ref = fresh;
  return true;
}

/* setCallback(function): called with the owner as this, (events) */
static napi_value set_callback(napi_env env, napi_callback_info info) {
  size_t argc = 1;
  napi_value argv[1];
  if (napi_get_cb_info(env, info, &argc, argv, NULL, NULL) == napi_ok)
    replace_ref(env, &binding_get(env)->callback_ref, argv[0]);
  return NULL;
}

/* setSlab(Uint8Array): where plaintext goes from now on */
static napi_value set_slab(napi_env env, napi_callback_info info) {
  size_t argc = 1;
  napi_value argv[1];
  uint8_t *data = NULL;
  size_t len = 0;
  if (napi_get_cb_info(env, info, &argc, argv, NULL, NULL) != napi_ok ||
      !args_buffer(env, argv[0], &data, &len))
    return NULL;
  replace_ref(env, &binding_get(env)->slab_ref, argv[0]);
  return NULL;
}

/* configure(contextsMax, idleTimeout, enabled, maxPeers, perPeer, timeout) */
static napi_value configure(napi_env env, napi_callback_info info) {
  struct binding *binding = binding_get(env);
  size_t argc = 6;
  napi_value argv[6];
  int64_t n[6] = {0};
  if (napi_get_cb_info(env, info, &argc, argv, NULL, NULL) != napi_ok)
    return NULL;
  for (size_t i = 0; i < 6; i++)
    if (!args_int(env, argv[i], &n[i]))
      return NULL;
  const struct etls_cache_limits contexts = {(size_t)n[0], n[1]};
  const struct etls_session_limits sessions = {n[2] != 0, (size_t)n[3],
                                               (size_t)n[4], n[5]};
  etls_context_cache_set_limits(binding->contexts, &contexts,
                                loop_now_ms(binding));
  etls_session_store_set_limits(binding->sessions, &sessions);
  return NULL;
}

/* stats(Float64Array): see lib/native-stats.js for the order */
static napi_value stats(napi_env env, napi_callback_info info) {
  struct binding *binding = binding_get(env);
  struct etls_context_counters c;
  struct etls_session_counters s;
  size_t argc = 1;
  size_t len = 0;
  napi_value argv[1];
  uint8_t *out = NULL;
  etls_context_cache_get_counters(binding->contexts, &c);
  etls_session_store_get_counters(binding->sessions, &s);
  const double values[] = {
      (double)c.live,
      (double)c.cached,
      (double)c.single_use,
      (double)c.created,
      (double)c.hits,
      (double)c.misses,
      (double)c.evicted,
      (double)c.stores_built,
      (double)c.certificates_parsed,
      (double)etls_context_cache_live_engines(binding->contexts),
      (double)s.stored,
      (double)s.peers,
      (double)s.offered,
      (double)s.resumed,
      (double)s.rejected,
      (double)binding->open_polls,
  };
  if (napi_get_cb_info(env, info, &argc, argv, NULL, NULL) != napi_ok ||
      !args_buffer(env, argv[0], &out, &len))
    return NULL;
  if (len < sizeof values) {
    args_throw(env, "too short");
    return NULL;
  }
  memcpy(out, values, sizeof values);
  return NULL;
}

/* clear(): forget idle cached contexts and all sessions */
static napi_value clear(napi_env env, napi_callback_info info) {
  struct binding *binding = binding_get(env);
  (void)info;
  etls_context_cache_clear(binding->contexts);
  etls_session_store_clear(binding->sessions);
  return NULL;
}

/* expire() -> milliseconds until it is worth calling again, -1: never */
static napi_value expire(napi_env env, napi_callback_info info) {
  struct binding *binding = binding_get(env);
  (void)info;
  return args_new_number(env, (double)etls_context_cache_expire(
                                  binding->contexts, loop_now_ms(binding)));
}

/* flush(): sends what waits for a callback to return, which may not happen:
 * the process is about to exit */
static napi_value flush(napi_env env, napi_callback_info info) {
  (void)info;
  loop_flush_all(binding_get(env));
  return NULL;
}

struct texts {
  const void **data;
  size_t *lens;
  char **copies; /* of the strings among them */
  uint32_t count;
};

static void texts_free(struct texts *texts) {
  if (texts->copies != NULL)
    for (uint32_t i = 0; i < texts->count; i++)
      if (texts->copies[i] != NULL)
        args_string_free(texts->copies[i], texts->lens[i]);
  OPENSSL_free(texts->data);
  OPENSSL_free(texts->lens);
  OPENSSL_free(texts->copies);
}

static bool texts_read(napi_env env, napi_value list, struct texts *texts) {
  if (napi_get_array_length(env, list, &texts->count) != napi_ok)
    return false;
  const size_t size = (size_t)texts->count + 1;
  texts->data = OPENSSL_zalloc(size * sizeof *texts->data);
  texts->lens = OPENSSL_zalloc(size * sizeof *texts->lens);
  texts->copies = OPENSSL_zalloc(size * sizeof *texts->copies);
  if (texts->data == NULL || texts->lens == NULL || texts->copies == NULL)
    return false;
  for (uint32_t i = 0; i < texts->count; i++) {
    napi_value item;
    if (napi_get_element(env, list, i, &item) != napi_ok)
      return false;
    texts->copies[i] = args_string(env, item, &texts->lens[i]);
    if (texts->copies[i] == NULL)
      return false;
    texts->data[i] = texts->copies[i];
  }
  return true;
}

/* setDefaultRoots([pem, ...]) */
static napi_value set_default_roots(napi_env env, napi_callback_info info) {
  struct binding *binding = binding_get(env);
  struct texts texts = {NULL, NULL, NULL, 0};
  size_t argc = 1;
  napi_value argv[1];
  if (napi_get_cb_info(env, info, &argc, argv, NULL, NULL) != napi_ok)
    return NULL;
  etls_error_init(&binding->error);
  if (!texts_read(env, argv[0], &texts))
    args_throw(env, "not an array of strings");
  else if (etls_context_cache_set_default_roots(binding->contexts, texts.data,
                                                texts.lens, texts.count,
                                                &binding->error) != ETLS_OK)
    error_throw_context(env, &binding->error);
  texts_free(&texts);
  return NULL;
}

static struct binding *binding_new(napi_env env) {
  struct binding *binding = OPENSSL_zalloc(sizeof *binding);
  if (binding == NULL)
    return NULL;
  binding->env = env;
  binding->contexts = etls_context_cache_new(&initial_contexts);
  binding->sessions = etls_session_store_new(&initial_sessions);
  binding->pool = etls_buffer_pool_new();
  binding->scratch = OPENSSL_malloc(SCRATCH_SIZE);
  binding->gather = OPENSSL_malloc(GATHER_SIZE);
  if (binding->contexts != NULL && binding->sessions != NULL &&
      binding->pool != NULL && binding->scratch != NULL &&
      binding->gather != NULL)
    return binding;
  binding_free(env, binding, NULL);
  return NULL;
}

static bool share(napi_env env, napi_value exports, struct binding *binding) {
  void *data = NULL;
  napi_value memory = NULL;
  napi_value shared = NULL;
  const size_t size = SHARED_SLOTS * sizeof(int32_t);
  if (napi_create_arraybuffer(env, size, &data, &memory) != napi_ok ||
      napi_create_typedarray(env, napi_int32_array, SHARED_SLOTS, memory, 0,
                             &shared) != napi_ok ||
      napi_create_reference(env, shared, 1, &binding->shared_ref) != napi_ok)
    return false;
  memset(data, 0, size);
  binding->shared = data;
  return napi_set_named_property(env, exports, "shared", shared) == napi_ok;
}

/* states: names by number, for a test that compares them with lib/'s. */
static bool tell_about_us(napi_env env, napi_value exports) {
  napi_value states = NULL;
  if (napi_create_array(env, &states) != napi_ok)
    return false;
  for (int i = 0; i <= ETLS_STATE_FAILED; i++)
    napi_set_element(env, states, (uint32_t)i,
                     args_new_string(env, etls_state_name((enum etls_state)i)));
  return napi_set_named_property(env, exports, "states", states) == napi_ok &&
         napi_set_named_property(
             env, exports, "openssl",
             args_new_string(env, etls_openssl_version())) == napi_ok &&
         napi_set_named_property(
             env, exports, "opensslNumber",
             args_new_number(env, (double)etls_openssl_version_number())) ==
             napi_ok;
}

NAPI_MODULE_INIT(/* napi_env env, napi_value exports */) {
  static const napi_property_descriptor functions[] = {
      METHOD("setCallback", set_callback),
      METHOD("setSlab", set_slab),
      METHOD("configure", configure),
      METHOD("stats", stats),
      METHOD("clear", clear),
      METHOD("expire", expire),
      METHOD("flush", flush),
      METHOD("setDefaultRoots", set_default_roots),
      METHOD("watchContexts", watch_contexts),
      METHOD("takeContextEvents", take_context_events),
  };
  struct binding *binding = binding_new(env);
  if (binding == NULL) {
    napi_throw_error(env, "ERR_EAGER_TLS_INTERNAL", "out of memory");
    return NULL;
  }
  if (napi_set_instance_data(env, binding, binding_free, NULL) != napi_ok) {
    binding_free(env, binding, NULL);
    napi_throw_error(env, "ERR_EAGER_TLS_INTERNAL", "no instance data");
    return NULL;
  }
  if (!share(env, exports, binding) || !tell_about_us(env, exports) ||
      napi_define_properties(env, exports,
                             sizeof functions / sizeof functions[0],
                             functions) != napi_ok ||
      context_define(env, exports) != napi_ok ||
      connection_define(env, exports) != napi_ok ||
      napi_add_async_cleanup_hook(env, loop_cleanup, binding,
                                  &binding->cleanup) != napi_ok) {
    napi_throw_error(env, "ERR_EAGER_TLS_INTERNAL", "cannot initialise");
    return NULL;
  }
  return exports;
}
