/*
 * binding.h - what the files of the binding share: the per-environment data,
 * the connection, and the numbers that JavaScript knows too.
 *
 * Ownership. struct binding is the environment's instance data: it owns the
 * context cache, the session store and the scratch buffers, and outlives every
 * wrapped object (finalizers run before the instance data's). A struct
 * connection is owned by its JavaScript wrapper and freed by its finalizer;
 * its engine, poll handle and descriptor go at close(), which the environment's
 * cleanup hook calls for what is still open.
 *
 * Re-entrancy. JavaScript only runs from emit() in loop.c, from loop_attach
 * (hooks of async_hooks), inside a handshake from the PSK callback, and, where
 * an array is filled, from a setter that somebody put on Array.prototype;
 * whoever calls these re-reads connection->engine afterwards, and pins the
 * connection so that its memory stays. binding->error and the scratch buffers
 * are then somebody else's.
 *
 * Memory of ArrayBuffers may go whenever JavaScript has run (postMessage,
 * transfer(), resize()): only references are kept, never pointers.
 */
#ifndef ETLS_BINDING_H
#define ETLS_BINDING_H

#include <node_api.h>

#include "../core/eager_tls.h"

/* Events of a connection, as bits; lib/constants.js has the same. */
enum connection_event {
  EVENT_HANDSHAKE = 1, /* a handshake is complete; the first one comes alone */
  EVENT_DATA = 2,      /* shared[SHARED_LENGTH] bytes of plaintext */
  EVENT_END = 4,       /* close_notify, or the transport's end */
  EVENT_SESSION = 8,   /* takeSession() has something */
  EVENT_KEYLOG = 16,   /* takeKeylog() has something */
  EVENT_OCSP = 32,     /* takeOcsp() has something */
  EVENT_DRAIN = 64,    /* output that had to wait is gone: write on */
  EVENT_ERROR = 128,   /* takeError() has it */
  EVENT_MORE = 256,    /* call pump() again */
  EVENT_SLAB = 512,    /* the slab is gone or full: setSlab(), then pump() */
  EVENT_BEHIND = 1024  /* EVENT_SESSION came behind EVENT_DATA */
};

/* Slots of the Int32Array that each environment shares with JavaScript. */
enum shared_slot {
  SHARED_OFFSET = 0, /* in: where in the slab the next plaintext goes */
  SHARED_LENGTH = 1, /* out: length of the plaintext of EVENT_DATA */
  SHARED_QUEUED = 2, /* out, after a write: whether to wait for EVENT_DRAIN */
  SHARED_EVENTS = 3, /* out, after a call that sends: EVENT_ERROR or 0 */
  SHARED_SLOTS = 4
};

enum {
  SCRATCH_SIZE = 65536, /* one read() of a descriptor */
  GATHER_SIZE = 65536   /* small writes are joined here */
};

struct connection;

struct binding {
  napi_env env;
  struct etls_context_cache *contexts;
  struct etls_session_store *sessions;
  struct etls_buffer_pool *pool;
  struct etls_error error; /* of the call that is being made */
  uint8_t *scratch;
  uint8_t *gather;
  int32_t *shared;                /* SHARED_SLOTS, owned by a JS ArrayBuffer */
  napi_ref shared_ref;            /* the Int32Array */
  napi_ref slab_ref;              /* the Uint8Array that plaintext goes to */
  napi_ref callback_ref;          /* called with the owner as this: (events) */
  struct connection *connections; /* all open ones */
  size_t open_polls; /* poll handles whose close callback is to come */
  size_t open_timers;
  struct lingering *lingering; /* loop.c */
  napi_async_cleanup_hook_handle cleanup;
  bool exiting;
  bool watch_contexts;
  struct context_note *notes; /* recorded for takeContextEvents() */
  size_t notes_len;
  size_t notes_cap;
};

struct context_note {
  enum etls_context_event event;
  uint8_t digest[ETLS_DIGEST_LEN];
};

struct poll; /* loop.c */

struct connection {
  struct binding *binding;
  struct etls_engine *engine; /* NULL: closed */
  struct etls_fd_transport transport;
  struct poll *poll;        /* NULL: not on a descriptor */
  napi_ref owner_ref;       /* strong, while polling */
  napi_async_context async; /* while polling */
  napi_ref psk_ref;         /* the PSK callback; weak, the wrapper has it */
  napi_ref buffer_ref;      /* onread's buffer, instead of the slab */
  struct connection *prev, *next;
  enum etls_status failure; /* unless the engine itself has failed */
  int failure_errno;
  const char *failure_syscall;
  unsigned pins;   /* frames that still use this struct */
  bool finalized;  /* the wrapper is gone: the last pin frees */
  bool secured;    /* the handshake is complete */
  bool accepted;   /* ... and JavaScript has verified the peer */
  bool reading;    /* JavaScript wants plaintext */
  bool ended;      /* EVENT_END was given */
  bool failed;     /* EVENT_ERROR was given, see connection_fail */
  bool blocked;    /* a write waits for EVENT_DRAIN */
  bool stalled;    /* the kernel did not take all output */
  bool finishing;  /* SHUT_WR as soon as the output is gone */
  bool reset;      /* closed without waiting for anything */
  bool spoken;     /* what JavaScript wrote is in the output */
  int write_errno; /* sending failed so; told when all was read */
  bool emitting;   /* inside emit(): output is flushed after it */
  bool in_psk;     /* on OpenSSL's stack: close() is deferred */
  bool close_deferred;
};

/* Instance data; never NULL inside a call. */
struct binding *binding_get(napi_env env);

/* connection_wrap.c */
napi_status connection_define(napi_env env, napi_value exports);
void connection_close(struct connection *connection);
void connection_pin(struct connection *connection);
void connection_unpin(struct connection *connection);
/*
 * Advances the engine as far as one delivery to JavaScript: returns event
 * bits, 0 when it wants input. Never calls JavaScript but for PSK.
 */
uint32_t connection_pump(struct connection *connection);
/*
 * Ends it: what the engine did not find out by itself is remembered until
 * takeError() is called, which may be long after other connections have used
 * binding->error. Returns EVENT_ERROR; 0 if it had failed before.
 */
uint32_t connection_fail(struct connection *connection, enum etls_status status,
                         int sys_errno, const char *syscall);
/* Why it has failed; never ETLS_OK. */
void connection_failure(struct connection *connection,
                        struct etls_error *error);
/* The receiver of a method; throws and returns NULL when it is closed. */
struct connection *connection_this(napi_env env, napi_callback_info info,
                                   size_t *argc, napi_value *argv);

/* connection_setup.c: methods for before the handshake */
extern const napi_property_descriptor connection_setup_methods[];
extern const size_t connection_setup_method_count;
/* connection_io.c: the pump and the bytes */
extern const napi_property_descriptor connection_io_methods[];
extern const size_t connection_io_method_count;
/* connection_info.c: facts */
extern const napi_property_descriptor connection_info_methods[];
extern const size_t connection_info_method_count;

/* context_wrap.c */
napi_status context_define(napi_env env, napi_value exports);
/* Borrowed from a Context handle; NULL (an exception is pending): not one, or
 * closed. */
struct etls_context *context_unwrap(napi_env env, napi_value value);
/* Builds or finds the context for a flat array of fields. NULL: thrown. */
struct etls_context *context_from_fields(napi_env env, napi_value fields,
                                         bool single_use);

#define METHOD(name, function)                                                 \
  { name, NULL, function, NULL, NULL, NULL, napi_default, NULL }

#endif
