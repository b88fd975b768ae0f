'use strict'

/**
 * The object that createSecureContext() returns on the native backend. It
 * holds one reference on a cached context; node's own context is built only
 * if somebody who is not this package asks for it.
 */

const tls = require('node:tls')

const { ERR_EAGER_TLS_CONTEXT_CLOSED } = require('./errors')
const { createSecureContext: nodeCreateSecureContext } =
  require('./node-originals')
const { defaultRoots, flattenContextOptions } = require('./options')

// The list that each binding was last given.
const rootsOf = new WeakMap()

/**
 * Tells the core which certificates stand for "no ca given". Cheap as long as
 * they are the same; to be called before a context is made of fields that use
 * them.
 *
 * @param {object} binding
 */
function syncDefaultRoots (binding) {
  const roots = defaultRoots()
  if (rootsOf.get(binding) === roots) return
  binding.setDefaultRoots(roots)
  rootsOf.set(binding, roots)
}

// Options that may hold bytes, which their owner may overwrite or wipe.
const BYTE_OPTIONS = ['ca', 'cert', 'crl', 'dhparam', 'key', 'pfx', 'ticketKeys']

/**
 * The options as they are now. Inherited ones count, as for the core.
 *
 * @param {object | undefined} options
 * @returns {object}
 */
function snapshot (options) {
  const copy = {}
  for (const name in options) copy[name] = options[name]
  for (const name of BYTE_OPTIONS) {
    if (copy[name]) copy[name] = snapshotOfBytes(copy[name])
  }
  return copy
}

/** Of a string, a view, an array of these, { pem, passphrase } or
 * { buf, passphrase }. */
function snapshotOfBytes (value) {
  if (Array.isArray(value)) return value.map(snapshotOfBytes)
  if (ArrayBuffer.isView(value)) {
    return Buffer.from(Buffer.from(value.buffer, value.byteOffset, value.byteLength))
  }
  if (typeof value !== 'object' || value === null) return value
  return {
    pem: snapshotOfBytes(value.pem),
    buf: snapshotOfBytes(value.buf),
    passphrase: snapshotOfBytes(value.passphrase)
  }
}

/**
 * A SecureContext is an instance of tls.SecureContext that has not run its
 * constructor.
 */
class SecureContext {
  #handle
  #options
  #nodeContext

  /**
   * @param {object} handle the core's context
   * @param {object} options that it was made of; remembered as they are now
   */
  constructor (handle, options) {
    this.#handle = handle
    this.#options = snapshot(options)
  }

  /** Gives the context back. Connections that use it live on. */
  close () {
    if (this.#handle === null) return
    this.#handle.close()
    this.#handle = null
    this.#options = null
    this.#nodeContext = undefined
  }

  /** node's own context with the same options, for node:tls. */
  get context () {
    if (this.#handle === null) throw new ERR_EAGER_TLS_CONTEXT_CLOSED()
    this.#nodeContext ??= nodeCreateSecureContext(this.#options).context
    return this.#nodeContext
  }

  /** The core's context, for connections of this package. */
  static handleOf (secureContext) {
    if (secureContext.#handle === null) throw new ERR_EAGER_TLS_CONTEXT_CLOSED()
    return secureContext.#handle
  }

  /** The options that it was made of; not to be changed. */
  static optionsOf (secureContext) {
    return secureContext.#options
  }

  /** Whether somebody has had node's own context of it, and may have changed
   * that (addCACert ...). */
  static wasTaken (secureContext) {
    return secureContext.#nodeContext !== undefined
  }

  static isOurs (value) {
    return typeof value === 'object' && value !== null && #handle in value
  }
}

if (typeof tls.SecureContext === 'function') {
  Object.setPrototypeOf(SecureContext.prototype, tls.SecureContext.prototype)
}

const { handleOf, isOurs, optionsOf, wasTaken } = SecureContext
delete SecureContext.handleOf
delete SecureContext.isOurs
delete SecureContext.optionsOf
delete SecureContext.wasTaken

/**
 * Whether the core cannot use this context: node:tls made it, or another copy
 * of this package, or somebody has had node's half of it.
 *
 * @param {unknown} secureContext
 * @returns {boolean}
 */
function isForeign (secureContext) {
  return !isOurs(secureContext) || wasTaken(secureContext)
}

/**
 * tls.createSecureContext() on the native backend. With options that the core
 * does not know the result is node's own.
 *
 * @param {object} binding
 * @param {object} [options]
 * @returns {SecureContext | tls.SecureContext}
 */
function createSecureContext (binding, options) {
  const { fields, unsupported, usesDefaultRoots } =
    flattenContextOptions(options)
  if (unsupported !== null) return nodeCreateSecureContext(options)
  if (usesDefaultRoots) syncDefaultRoots(binding)
  const handle = new binding.Context(fields, options?.singleUse === true)
  if (handle.weakDhBits() !== 0) {
    process.emitWarning('DH parameter is less than 2048 bits',
      'SecurityWarning')
  }
  return new SecureContext(handle, options)
}

module.exports = {
  SecureContext,
  createSecureContext,
  handleOf,
  isForeign,
  nodeCreateSecureContext,
  optionsOf,
  syncDefaultRoots
}
