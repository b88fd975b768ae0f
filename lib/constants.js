'use strict'

/**
 * Numbers and names shared between the modules of this package and, where a
 * comment says so, with the native core.
 */

// enum etls_option of src/core/eager_tls.h, in the order of application.
const OPTION = Object.freeze({
  METHOD: 1,
  MIN_VERSION: 2,
  MAX_VERSION: 3,
  SECURE_OPTIONS: 4,
  CIPHER_SUITES: 5,
  CIPHER_LIST: 6,
  CA: 7,
  DEFAULT_ROOTS: 8,
  OPENSSL_CA: 9,
  PARTIAL_CHAIN: 10,
  CERT: 11,
  KEY: 12,
  SIGALGS: 13,
  ECDH_CURVE: 14,
  DH_PARAM: 15,
  CRL: 16,
  SESSION_ID_CONTEXT: 17,
  PFX: 18,
  TICKET_KEYS: 19,
  SESSION_TIMEOUT: 20
})

// Values of OPTION.METHOD.
const METHOD = Object.freeze({ ANY: 0, CLIENT: 1, SERVER: 2 })

// Protocol versions as they stand on the wire.
const VERSION = Object.freeze({
  LOWEST: 0,
  TLSv1: 0x0301,
  'TLSv1.1': 0x0302,
  'TLSv1.2': 0x0303,
  'TLSv1.3': 0x0304
})

// enum etls_state of src/core/eager_tls.h.
const STATE = Object.freeze({
  IDLE: 0,
  HANDSHAKE: 1,
  OPEN: 2,
  SHUT_SENT: 3,
  SHUT_RECEIVED: 4,
  CLOSED: 5,
  FAILED: 6
})

// Index is the state; etls_state_name says the same.
const STATE_NAMES = Object.freeze(Object.keys(STATE))

// enum connection_event of src/napi/binding.h: bits.
const EVENT = Object.freeze({
  HANDSHAKE: 1,
  DATA: 2,
  END: 4,
  SESSION: 8,
  KEYLOG: 16,
  OCSP: 32,
  DRAIN: 64,
  ERROR: 128,
  MORE: 256,
  SLAB: 512,
  BEHIND: 1024
})

// enum shared_slot of src/napi/binding.h.
const SHARED = Object.freeze({ OFFSET: 0, LENGTH: 1, QUEUED: 2, EVENTS: 3 })

// What SHARED.QUEUED says after a write, bits; src/napi/connection_io.c.
const QUEUED = Object.freeze({ WAIT: 1, REST: 2 })

// enum encoding of src/napi/connection_io.c.
const ENCODING = Object.freeze({ BUFFER: 0, UTF8: 1, LATIN1: 2 })

const DIGEST_LENGTH = 32
const TICKET_KEYS_LENGTH = 48
// A prefix of the digest, long enough to tell contexts apart in a log.
const CONTEXT_KEY_HEX_LENGTH = 16

// What setTimeout takes before it falls back to one millisecond.
const TIMEOUT_MAX = 2 ** 31 - 1

const TRANSPORTS = Object.freeze(['auto', 'fd', 'stream'])
const OFFLOADS = Object.freeze(['auto', 'always', 'never'])

// Process-wide marks: several copies of this package may be loaded in one
// process (two module registries, a bundled one beside an installed one).
const REGISTER_MARK = Symbol.for('eager-tls.register')
const FALLBACK_MARK = Symbol.for('eager-tls.fallback')

module.exports = {
  CONTEXT_KEY_HEX_LENGTH,
  DIGEST_LENGTH,
  ENCODING,
  EVENT,
  FALLBACK_MARK,
  METHOD,
  OFFLOADS,
  OPTION,
  QUEUED,
  REGISTER_MARK,
  SHARED,
  STATE,
  STATE_NAMES,
  TICKET_KEYS_LENGTH,
  TIMEOUT_MAX,
  TRANSPORTS,
  VERSION
}
