/*
 * eager_tls.h - the core's whole interface; the only core header that the
 * binding includes.
 *
 * The core is a sans-I/O TLS client engine with a cache of SSL_CTX objects, a
 * store of sessions and, as the one exception to "sans I/O", a transport that
 * moves bytes between an engine and a non-blocking descriptor. It knows
 * neither Node nor libuv.
 *
 * Conventions
 * - Fallible functions return enum etls_status: 0 is success, positive values
 *   are not errors, negative ones are. They fill the `error` argument on a
 *   negative status only, and it may not be NULL.
 * - new/free own; acquire/release count references; get0 borrows, get1 gives
 *   a reference that the caller releases; take hands ownership over.
 * - Pointers handed out are valid until the next call on the same object
 *   unless a contract says otherwise.
 * - No object may be used by two threads at once. Objects of one
 *   etls_context_cache (its contexts and their engines) and of one
 *   etls_session_store belong to one thread.
 * - Every function clears OpenSSL's error queue before it calls OpenSSL where
 *   that matters and leaves it empty on return.
 */
#ifndef EAGER_TLS_H
#define EAGER_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define ETLS_MUST_USE __attribute__((warn_unused_result))
#else
#define ETLS_MUST_USE
#endif

/* ---- status ----------------------------------------------------------- */

enum etls_status {
  ETLS_OK = 0,
  ETLS_WANT_INPUT = 1,  /* more ciphertext from the peer is needed */
  ETLS_WANT_OUTPUT = 2, /* pending output must drain first */
  ETLS_END = 3,         /* orderly end: close_notify, or the transport's end */

  ETLS_ERR_USAGE = -1,    /* called in a state that does not allow it */
  ETLS_ERR_MEMORY = -10,  /* an allocation failed */
  ETLS_ERR_IO = -20,      /* a system call failed: see error->sys_errno */
  ETLS_ERR_TLS = -30,     /* OpenSSL refused: see the other fields of error */
  ETLS_ERR_INTERNAL = -40 /* cannot happen */
};

/* The symbolic name of a status ("ETLS_OK"), a static string. */
const char *etls_status_name(enum etls_status status);

enum {
  ETLS_ERROR_STACK_MAX = 8,
  ETLS_ERROR_TEXT_MAX = 256,
  ETLS_ERROR_CODE_MAX = 128,
  ETLS_ERROR_REPORT_MAX = 1024
};

/*
 * What went wrong, drained from OpenSSL's queue. First error wins and stays.
 * A plain value, no cleanup; initialise with etls_error_init.
 */
struct etls_error {
  enum etls_status status;
  int sys_errno;         /* ETLS_ERR_IO: errno, else 0 */
  const char *syscall;   /* ETLS_ERR_IO: "read", "write", "dup", "shutdown"
                            (static), or NULL */
  int option;            /* enum etls_option at fault while building a context,
                            else 0 */
  unsigned long openssl; /* packed OpenSSL code of the oldest entry, 0 if none;
                            `message` says more then */
  char message[ETLS_ERROR_TEXT_MAX];  /* ERR_error_string_n text of the oldest
                                         entry, or our own text */
  char report[ETLS_ERROR_REPORT_MAX]; /* the whole queue as ERR_print_errors
                                         prints it: the message that node
                                         gives errors of a connection */
  char library[64];                   /* "SSL routines", or "" */
  char reason[ETLS_ERROR_TEXT_MAX];   /* "wrong version number", or "" */
  char code[ETLS_ERROR_CODE_MAX];     /* node's code for context errors:
                                         "ERR_OSSL_PEM_NO_START_LINE",
                                         "ERR_SSL_NO_CIPHER_MATCH", or "" */
  char ssl_code[ETLS_ERROR_CODE_MAX]; /* node's code for connection errors:
                                         always "ERR_SSL_" + REASON, or "" */
  size_t stack_len;                   /* remaining entries, newest first, as
                                         node's opensslErrorStack */
  char stack[ETLS_ERROR_STACK_MAX][ETLS_ERROR_TEXT_MAX];
};

void etls_error_init(struct etls_error *error);

/* ---- options of a context --------------------------------------------- */

/*
 * In the order in which node's createSecureContext applies them, which is
 * also the order in which they must be added to a config. The numbers are
 * shared with JavaScript (lib/constants.js); a test compares them.
 */
enum etls_option {
  ETLS_OPTION_METHOD = 1,         /* int: 0 TLS_method, 1 client, 2 server */
  ETLS_OPTION_MIN_VERSION = 2,    /* int: 0x0301 .. 0x0304, 0: lowest */
  ETLS_OPTION_MAX_VERSION = 3,    /* int: same, 0: highest */
  ETLS_OPTION_SECURE_OPTIONS = 4, /* int: SSL_OP_* bits */
  ETLS_OPTION_CIPHER_SUITES = 5,  /* bytes: TLS 1.3 suites */
  ETLS_OPTION_CIPHER_LIST = 6,    /* bytes: TLS <= 1.2 list, "" allowed */
  ETLS_OPTION_CA = 7,             /* bytes: PEM, any number, repeatable */
  ETLS_OPTION_DEFAULT_ROOTS = 8,  /* flag: the cache's default roots */
  ETLS_OPTION_OPENSSL_CA = 9,     /* flag: OpenSSL's default paths */
  ETLS_OPTION_PARTIAL_CHAIN = 10, /* flag: X509_V_FLAG_PARTIAL_CHAIN */
  ETLS_OPTION_CERT = 11,          /* bytes: PEM chain, repeatable */
  ETLS_OPTION_KEY = 12,           /* bytes: PEM + passphrase, repeatable */
  ETLS_OPTION_SIGALGS = 13,       /* bytes */
  ETLS_OPTION_ECDH_CURVE = 14,    /* bytes: list, "auto" is not passed */
  ETLS_OPTION_DH_PARAM = 15,      /* bytes: PEM; empty means "auto" */
  ETLS_OPTION_CRL = 16,           /* bytes: PEM, repeatable */
  ETLS_OPTION_SESSION_ID_CONTEXT = 17, /* bytes */
  ETLS_OPTION_PFX = 18,                /* bytes: DER + passphrase, repeatable */
  ETLS_OPTION_TICKET_KEYS = 19,        /* bytes: 48 */
  ETLS_OPTION_SESSION_TIMEOUT = 20     /* int: seconds */
};

enum { ETLS_DIGEST_LEN = 32 };

/*
 * A deep copy of TLS options in their canonical encoding. Values are added in
 * ascending order of option (ETLS_ERR_USAGE otherwise); repeatable ones keep
 * their order among themselves. Key material is cleared when it is freed.
 */
struct etls_config;

ETLS_MUST_USE struct etls_config *etls_config_new(void); /* NULL: no memory */
void etls_config_free(struct etls_config *config);       /* NULL is fine */
ETLS_MUST_USE enum etls_status etls_config_add_int(struct etls_config *config,
                                                   enum etls_option option,
                                                   int64_t value);
ETLS_MUST_USE enum etls_status etls_config_add_bytes(struct etls_config *config,
                                                     enum etls_option option,
                                                     const void *bytes,
                                                     size_t len);
/* For KEY and PFX. passphrase NULL: none given (differs from empty). */
ETLS_MUST_USE enum etls_status
etls_config_add_secret(struct etls_config *config, enum etls_option option,
                       const void *bytes, size_t len, const void *passphrase,
                       size_t passphrase_len);

/* ---- contexts --------------------------------------------------------- */

struct etls_context; /* one SSL_CTX, reference-counted */

void etls_context_up_ref(struct etls_context *context);
void etls_context_release(struct etls_context *context); /* NULL is fine */
/* ETLS_DIGEST_LEN bytes, valid as long as the context. */
const uint8_t *etls_context_get0_digest(const struct etls_context *context);
bool etls_context_is_single_use(const struct etls_context *context);
/* Bits of a DH parameter that node warns of (1024 <= bits < 2048), else 0. */
int etls_context_weak_dh_bits(const struct etls_context *context);

struct etls_cache_limits {
  size_t max;              /* cached contexts kept, 0: none */
  int64_t idle_timeout_ms; /* an unused one stays that long */
};

struct etls_context_counters {
  uint64_t live;       /* SSL_CTX allocated right now */
  uint64_t cached;     /* of these, held by the cache */
  uint64_t single_use; /* of these, single-use */
  uint64_t created;    /* since the start */
  uint64_t hits;
  uint64_t misses;
  uint64_t evicted;             /* by the bound, by idleness, or by clear */
  uint64_t stores_built;        /* X509_STOREs built */
  uint64_t certificates_parsed; /* CA certificates and CRLs parsed for them */
};

/* What the cache tells its owner about contexts, see on_event. */
enum etls_context_event {
  ETLS_CONTEXT_CREATED = 1,
  ETLS_CONTEXT_EVICTED = 2,
  ETLS_CONTEXT_FREED = 3
};
/* Must not call back into the core. */
typedef void (*etls_context_event_cb)(void *arg, enum etls_context_event event,
                                      const uint8_t digest[ETLS_DIGEST_LEN]);

/*
 * digest -> context, bounded, least recently used goes first. Also the
 * factory of single-use contexts, and the owner of the trust stores that
 * contexts share. Counters outlive neither.
 */
struct etls_context_cache;

ETLS_MUST_USE struct etls_context_cache *
etls_context_cache_new(const struct etls_cache_limits *limits);
/* All contexts must have been released by others before. */
void etls_context_cache_free(struct etls_context_cache *cache);
/* Takes effect at once: surplus contexts are evicted. */
void etls_context_cache_set_limits(struct etls_context_cache *cache,
                                   const struct etls_cache_limits *limits,
                                   int64_t now_ms);
/* NULL cb: none. */
void etls_context_cache_set_event_cb(struct etls_context_cache *cache,
                                     etls_context_event_cb cb, void *arg);

/*
 * Sets the roots that ETLS_OPTION_DEFAULT_ROOTS stands for: `count` PEM texts
 * (each may hold several certificates; what does not parse is skipped). They
 * are copied, and parsed when the first context needs them. Contexts that
 * were built with other roots keep theirs; their digest differs.
 */
ETLS_MUST_USE enum etls_status etls_context_cache_set_default_roots(
    struct etls_context_cache *cache, const void *const *pems,
    const size_t *lens, size_t count, struct etls_error *error);

/*
 * Gives *out a reference on the context for these options, building it if
 * need be. `config` stays the caller's. now_ms: a monotonic clock.
 */
ETLS_MUST_USE enum etls_status
etls_context_cache_acquire(struct etls_context_cache *cache,
                           const struct etls_config *config, int64_t now_ms,
                           struct etls_context **out, struct etls_error *error);
/* The same, but always new, never cached, freed with its last reference. */
ETLS_MUST_USE enum etls_status etls_context_cache_create_single_use(
    struct etls_context_cache *cache, const struct etls_config *config,
    struct etls_context **out, struct etls_error *error);

/* Evicts what nobody else references and was not used for the idle timeout.
 * Returns the milliseconds until the next call is worthwhile, -1: none. */
int64_t etls_context_cache_expire(struct etls_context_cache *cache,
                                  int64_t now_ms);
/* Evicts all that nobody else references. */
void etls_context_cache_clear(struct etls_context_cache *cache);
void etls_context_cache_get_counters(const struct etls_context_cache *cache,
                                     struct etls_context_counters *out);

/* ---- sessions --------------------------------------------------------- */

struct etls_session_limits {
  bool enabled;
  size_t max_peers;
  size_t per_peer;
  int64_t timeout_ms;
};

struct etls_session_counters {
  uint64_t stored;   /* sessions held right now */
  uint64_t peers;    /* keys held right now */
  uint64_t offered;  /* since the start: handshakes that offered one */
  uint64_t resumed;  /* ... and the server took it */
  uint64_t rejected; /* ... and it did not, or the handshake failed */
};

/*
 * Peer key -> tickets. A peer key is the context's digest plus bytes that the
 * caller makes of everything else that decides whether two connections may
 * share a session (see lib/peer-key.js); it is compared whole. Sessions go in
 * only when the connection that produced them was verified, and come out as
 * duplicates. TLS 1.3: fresh ones first, each once; the last one of a peer
 * may be offered again. TLS 1.2: newest first, reusable. LRU over peers, FIFO
 * per peer.
 */
struct etls_session_store;

ETLS_MUST_USE struct etls_session_store *
etls_session_store_new(const struct etls_session_limits *limits);
void etls_session_store_free(struct etls_session_store *store);
void etls_session_store_set_limits(struct etls_session_store *store,
                                   const struct etls_session_limits *limits);
void etls_session_store_clear(struct etls_session_store *store);
void etls_session_store_get_counters(const struct etls_session_store *store,
                                     struct etls_session_counters *out);

/* ---- the engine ------------------------------------------------------- */

/*
 * One client connection's TLS. Ciphertext goes in by feed, comes out through
 * output/consume_output; plaintext goes in by write, comes out by read. It
 * does no I/O and calls nobody back, except for the PSK callback.
 *
 * The pump: feed a span, then call handshake until it is ETLS_OK (the
 * connection is open) or ETLS_WANT_INPUT, then read until ETLS_WANT_INPUT,
 * each time delivering what take_* has; then send output. Input that was not
 * consumed when the span's owner wants it back is kept by keep_input. Errors
 * are sticky: after a negative status the engine answers the same for ever
 * (state FAILED); its output may hold an alert that should still be sent. Not
 * so ETLS_ERR_USAGE and what setters and renegotiate refuse: no harm is done.
 *
 * handshake may run on another thread while nobody else touches the engine:
 * until accept_sessions it uses nothing of the cache or the store. All else
 * belongs to the thread of these.
 */
struct etls_engine;

enum etls_state {
  ETLS_STATE_IDLE = 0,
  ETLS_STATE_HANDSHAKE = 1,
  ETLS_STATE_OPEN = 2,
  ETLS_STATE_SHUT_SENT = 3,     /* close_notify sent, peer's not seen */
  ETLS_STATE_SHUT_RECEIVED = 4, /* peer's close_notify or end seen */
  ETLS_STATE_CLOSED = 5,        /* both */
  ETLS_STATE_FAILED = 6
};
const char *etls_state_name(enum etls_state state); /* "OPEN" ... */

/* A buffer that a connection's output may use and gives back when drained, so
 * that busy connections share one allocation. One per thread; may be NULL. */
struct etls_buffer_pool;
ETLS_MUST_USE struct etls_buffer_pool *etls_buffer_pool_new(void);
void etls_buffer_pool_free(struct etls_buffer_pool *pool);

/* Takes a reference on context. NULL with *error filled on failure. */
ETLS_MUST_USE struct etls_engine *etls_engine_new(struct etls_context *context,
                                                  struct etls_buffer_pool *pool,
                                                  struct etls_error *error);
/* Frees the SSL and releases the context at once. NULL is fine. Not from
 * inside the PSK callback. The session is kept resumable. */
void etls_engine_free(struct etls_engine *engine);
enum etls_state etls_engine_state(const struct etls_engine *engine);
/* SSL objects alive in this process's thread-confined context cache. */
uint64_t etls_context_cache_live_engines(const struct etls_context_cache *c);

/* Before the first handshake call (later ones return ETLS_ERR_USAGE) ------ */
/* SNI; the caller never passes an IP address. Not NUL-free: ERR_USAGE. */
ETLS_MUST_USE enum etls_status
etls_engine_set_servername(struct etls_engine *engine, const char *name,
                           size_t len, struct etls_error *error);
/* Wire format (length-prefixed names). Malformed: ETLS_ERR_TLS. */
ETLS_MUST_USE enum etls_status etls_engine_set_alpn(struct etls_engine *engine,
                                                    const uint8_t *wire,
                                                    size_t len,
                                                    struct etls_error *error);
/* Ask for a stapled OCSP response. Switches resumption off. */
ETLS_MUST_USE enum etls_status
etls_engine_request_ocsp(struct etls_engine *engine, struct etls_error *error);
/* SSL_set_max_send_fragment; false: out of range. Any time. */
bool etls_engine_set_max_send_fragment(struct etls_engine *engine, long size);
/* Own certificate and key for this connection only (TLSSocket#setKeyCert):
 * those of another context; one without changes nothing. Any time: a handshake
 * that is under way, or a renegotiation, may still ask for them. */
ETLS_MUST_USE enum etls_status
etls_engine_use_identity_of(struct etls_engine *engine,
                            const struct etls_context *other,
                            struct etls_error *error);

/*
 * The PSK callback: answers at once; the only call out of the engine. Fill
 * *identity (NUL-terminated, at most max_identity_len bytes without it) and
 * psk; return the psk's length, 0: no PSK. The engine may not be freed, fed
 * or written from inside it.
 */
typedef size_t (*etls_psk_cb)(void *arg, const char *hint, char *identity,
                              size_t max_identity_len, uint8_t *psk,
                              size_t max_psk_len);
void etls_engine_set_psk_cb(struct etls_engine *engine, etls_psk_cb cb,
                            void *arg);

/*
 * Record what the callbacks of OpenSSL see, for take_*; off by default. Once
 * the keylog of one connection was wanted, OpenSSL writes out the secrets of
 * all that share its context, which takes it longer than all of SSL_new; only
 * that connection's are recorded. As this changes the context, none of its
 * engines may be in a handshake on another thread then.
 */
void etls_engine_want_keylog(struct etls_engine *engine, bool want);
void etls_engine_want_sessions(struct etls_engine *engine, bool want);

/*
 * Remembers in the store what the sessions are that this connection gives out
 * (take_session, get1_session), so that set_session() of another engine knows
 * what they were verified by. Nothing else is stored. The store must outlive
 * the engine.
 */
void etls_engine_remember_sessions(struct etls_engine *engine,
                                   struct etls_session_store *store);

/*
 * Resumption through a store. `key` as described at etls_session_store,
 * without the context's digest, which is added here. Takes a session for the
 * handshake to offer if there is one, and remembers the key, captured now,
 * for the sessions that this connection produces. Call before the handshake
 * starts; without it nothing is offered or stored. The store must outlive
 * the engine. offer false: store only.
 */
ETLS_MUST_USE enum etls_status
etls_engine_use_store(struct etls_engine *engine,
                      struct etls_session_store *store, const void *key,
                      size_t key_len, bool offer, int64_t now_ms,
                      struct etls_error *error);
/*
 * An explicit serialised session (i2d_SSL_SESSION). Wins over the store. Its
 * chain verdict is only trusted if this store exported it and the context is
 * the same; otherwise the certificate inside is verified against this
 * context, and the session is not offered if that fails. Bytes that are no
 * session: ETLS_ERR_TLS, as SSL_set_session's caller in node sees it.
 * `store` may be NULL.
 */
ETLS_MUST_USE enum etls_status
etls_engine_set_session(struct etls_engine *engine,
                        struct etls_session_store *store, const uint8_t *der,
                        size_t len, struct etls_error *error);
/*
 * The connection was verified (or deliberately accepted): what it has produced
 * so far goes into the store. Tickets that come later go there at once,
 * sessions of a renegotiation with the next call.
 */
void etls_engine_accept_sessions(struct etls_engine *engine, int64_t now_ms);

/* The pump ---------------------------------------------------------------- */
/* Lends `data` to the engine, after what keep_input kept or now keeps. Borrowed
 * until consumed or keep_input. Ignored after the peer's end or a failure. */
ETLS_MUST_USE enum etls_status
etls_engine_feed(struct etls_engine *engine, const uint8_t *data, size_t len);
/* Copies what of the lent input is not consumed yet. The span is free then,
 * also after ETLS_ERR_MEMORY, upon which the engine has failed. */
ETLS_MUST_USE enum etls_status
etls_engine_keep_input(struct etls_engine *engine);
/* Bytes of input not consumed (kept or lent). */
size_t etls_engine_input_pending(const struct etls_engine *engine);
/* The transport's end: further reads give what is decrypted, then END. */
void etls_engine_feed_end(struct etls_engine *engine);

/* ETLS_OK: done. ETLS_WANT_INPUT. ETLS_END: the transport ended before it
 * was done. Negative: failed. */
ETLS_MUST_USE enum etls_status etls_engine_handshake(struct etls_engine *engine,
                                                     struct etls_error *error);
/* Decrypts into dst as many records as fit and are there. ETLS_OK: *n > 0.
 * ETLS_WANT_INPUT, ETLS_END (only when nothing is left): *n == 0. */
ETLS_MUST_USE enum etls_status etls_engine_read(struct etls_engine *engine,
                                                uint8_t *dst, size_t cap,
                                                size_t *n,
                                                struct etls_error *error);
/* Encrypts; *consumed < len when the output passes ETLS_OUTPUT_HIGH (then
 * ETLS_WANT_OUTPUT) or the peer must speak first (ETLS_WANT_INPUT, in a
 * renegotiation; ETLS_END if it cannot any more). The rest may be given again
 * from another address. */
enum { ETLS_OUTPUT_HIGH = 262144 };
ETLS_MUST_USE enum etls_status etls_engine_write(struct etls_engine *engine,
                                                 const uint8_t *src, size_t len,
                                                 size_t *consumed,
                                                 struct etls_error *error);
/* Queues close_notify once. ETLS_OK also when it was queued before.
 * ETLS_WANT_INPUT, ETLS_END: as write; nothing is queued then. */
ETLS_MUST_USE enum etls_status etls_engine_shutdown(struct etls_engine *engine,
                                                    struct etls_error *error);
/* Starts a renegotiation (TLS <= 1.2). */
ETLS_MUST_USE enum etls_status
etls_engine_renegotiate(struct etls_engine *engine, struct etls_error *error);

/* Ciphertext waiting to be sent; *data is valid until the next engine call. */
size_t etls_engine_output(const struct etls_engine *engine,
                          const uint8_t **data);
void etls_engine_consume_output(struct etls_engine *engine, size_t n);

/* What the callbacks recorded ---------------------------------------------- */
/* Which of the take_* functions below have something, as bits. Cheap. */
enum {
  ETLS_RECORDED_KEYLOG = 1,
  ETLS_RECORDED_SESSION = 2,
  ETLS_RECORDED_OCSP = 4,
  ETLS_RECORDED_HANDSHAKE = 8, /* a renegotiation is complete; told once */
  ETLS_RECORDED_BEHIND = 16    /* the sessions came behind plaintext of the last
                                * read(); told once */
};
unsigned etls_engine_recorded(struct etls_engine *engine);
/* Next recorded keylog line (with no newline), or NULL. Valid until the next
 * take or free. */
const char *etls_engine_take_keylog(struct etls_engine *engine);
/* Next new session, serialised into a buffer that the caller frees with
 * etls_clear_free(*der, *len), for it is secret; remembered by the store (if
 * any) as exported. *len 0: none. TLS 1.3 tickets and TLS 1.2 sessions, only
 * with want_sessions. */
ETLS_MUST_USE enum etls_status
etls_engine_take_session(struct etls_engine *engine, uint8_t **der, size_t *len,
                         struct etls_error *error);
/* True once, when the server's certificate status came (may be empty). */
bool etls_engine_take_ocsp(struct etls_engine *engine, const uint8_t **der,
                           size_t *len);

/* ---- allocation -------------------------------------------------------- */

/* For buffers that contracts above hand over; clear_free for secret ones of
 * len bytes. NULL is fine. */
void etls_free(void *ptr);
void etls_clear_free(void *ptr, size_t len);
/* OpenSSL's version text ("3.0.19") and number, of the library in use. */
const char *etls_openssl_version(void);
unsigned long etls_openssl_version_number(void);

/* What stands apart only for length; all of it is this header's interface. */
#include "eager_tls_facts.h"
#include "eager_tls_transport.h"

#endif
