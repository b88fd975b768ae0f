'use strict'

/**
 * The same API on node:tls, for where the native core cannot be loaded:
 * contexts from a cache by content, closed with their last user; sessions by
 * the same rules; the options that node:tls does not have.
 */

const { Duplex } = require('node:stream')
const tls = require('node:tls')

const { createConfigure } = require('./configure')
const { FALLBACK_MARK } = require('./constants')
const {
  ERR_EAGER_TLS_CONTEXT_CLOSED,
  ERR_EAGER_TLS_LEFTOVER_PLAINTEXT,
  ERR_EAGER_TLS_TRANSPORT,
  disconnectedError
} = require('./errors')
const { binding, reason } = require('./native')
const { NodeConnection } = require('./node-connection')
const { NodeContexts } = require('./node-contexts')
const { connect: nodeConnect } = require('./node-originals')
const { NodeSessions } = require('./node-sessions')
const {
  findOptionsBeside, validateOwnOptions, validateSingleUse
} = require('./own-options')

const contexts = new NodeContexts()
const sessions = new NodeSessions()
const counts = { live: 0, opened: 0, handshaking: 0 }
const backend = { contexts, sessions, counts }

/**
 * What createSecureContext() returns: one reference on a cached context, and
 * good for node:tls, too.
 */
class SecureContext {
  #entry

  constructor (entry) {
    this.#entry = entry
  }

  close () {
    if (this.#entry === null) return
    contexts.release(this.#entry)
    this.#entry = null
  }

  get context () {
    return SecureContext.#entryOf(this).native
  }

  static #entryOf (secureContext) {
    if (secureContext.#entry === null) throw new ERR_EAGER_TLS_CONTEXT_CLOSED()
    return secureContext.#entry
  }

  /** A reference of the caller's own; null: a context that is not ours. */
  static acquire (value) {
    if (typeof value !== 'object' || !(#entry in value)) return null
    return contexts.retain(SecureContext.#entryOf(value))
  }
}

const { acquire: acquireFrom } = SecureContext
delete SecureContext.acquire

if (typeof tls.SecureContext === 'function') {
  Object.setPrototypeOf(SecureContext.prototype, tls.SecureContext.prototype)
}

function createSecureContext (options) {
  validateSingleUse(options?.singleUse)
  return new SecureContext(
    contexts.acquire(options, options?.singleUse === true))
}

/** A string that names a pipe, not a port. */
function isPipeName (value) {
  return typeof value === 'string' && !(Number(value) >= 0)
}

function isDuplex (value) {
  return typeof value === 'object' && value !== null &&
    typeof value.on === 'function' && typeof value.write === 'function'
}

/**
 * The forms of connect() -> [options, callback]. The options are a copy.
 *
 * @param {Array} args
 * @returns {[object, Function | undefined]}
 */
function normalizeArguments (args) {
  const [first, second, third] = args
  const last = args[args.length - 1]
  const callback = typeof last === 'function' ? last : undefined
  const isObject = (value) => typeof value === 'object' && value !== null
  const more = isObject(second) ? second : isObject(third) ? third : undefined
  if (isDuplex(first)) {
    return [{ ...findOptionsBeside(args.slice(1)), socket: first }, callback]
  }
  if (isObject(first)) return [{ ...first, ...more }, callback]
  if (isPipeName(first)) return [{ path: first, ...more }, callback]
  const address = args.length === 0 ? {} : { port: first }
  if (typeof second === 'string') address.host = second
  return [{ ...address, ...more }, callback]
}

/**
 * connect() in all its forms.
 *
 * @returns {tls.TLSSocket}
 */
function connect (...args) {
  const [options, callback] = normalizeArguments(args)
  validateOwnOptions(options)
  if (options.transport === 'fd') {
    throw new ERR_EAGER_TLS_TRANSPORT('it needs the native core')
  }
  const entry = options.secureContext
    ? acquireFrom(options.secureContext)
    : contexts.acquire(options, options.singleUse === true)
  if (entry !== null) options.secureContext = entry.secureContext
  const connection = new NodeConnection(backend, entry, options)
  try {
    const socket = open(options, connection)
    connection.follow(socket)
    if (callback !== undefined) socket.once('secureConnect', callback)
    return socket
  } catch (error) {
    connection.end(null)
    throw error
  }
}

function open (options, connection) {
  const { socket: raw, timeout } = options
  if (!raw) {
    connection.offerSession()
    return nodeConnect(options)
  }
  const reason = findRefusal(raw, options)
  if (reason !== null) return refuse(raw, options, reason)
  connection.offerSession()
  tune(raw, options)
  const socket = nodeConnect(options)
  if (timeout) socket.setTimeout(timeout)
  return socket
}

/** Why a raw socket must not, or cannot, be upgraded. */
function findRefusal (raw, options) {
  if (!isDuplex(raw)) return null
  // node would wait for ever.
  if (raw.destroyed || raw.readableEnded) return disconnectedError(options)
  return raw.readableLength > 0
    ? new ERR_EAGER_TLS_LEFTOVER_PLAINTEXT(raw.readableLength)
    : null
}

/** A TLS socket that never starts, for a raw socket that must not be used. */
function refuse (raw, { secureContext }, error) {
  const nowhere = new Duplex({ read () {}, write () {} })
  const socket = new tls.TLSSocket(nowhere, { secureContext })
  process.nextTick(() => {
    raw.destroy()
    socket.destroy(error)
  })
  return socket
}

/** What node:tls only does for connections that it opens itself. */
function tune (raw, { keepAlive, keepAliveInitialDelay, noDelay }) {
  if (keepAlive !== undefined) {
    raw.setKeepAlive?.(Boolean(keepAlive), keepAliveInitialDelay)
  }
  if (noDelay !== undefined) raw.setNoDelay?.(Boolean(noDelay))
}

/** Puts the settings of configure() in force. */
function applySettings (settings) {
  contexts.configure(settings.contexts)
  sessions.configure(settings.sessions)
}

function stats () {
  return {
    backend: 'node',
    openssl: process.versions.openssl,
    contexts: contexts.counts,
    connections: { ...counts, fd: 0, stream: 0 },
    sessions: sessions.counts,
    offload: { tasks: 0, inFlight: 0 },
    fallbacks: counts.opened
  }
}

function clear () {
  contexts.clear()
  sessions.clear()
}

/** Says once in a thread, whatever the number of copies of this package in
 * it, why the native core is not used. Who has asked for that knows. */
function warnOfFallback () {
  if (binding !== null || process.env.EAGER_TLS_BACKEND === 'node' ||
      tls[FALLBACK_MARK] === true) {
    return
  }
  Object.defineProperty(tls, FALLBACK_MARK, { value: true })
  process.emitWarning(
    `eager-tls runs on node:tls, without its native core. ${reason}`,
    { code: 'EAGER_TLS_FALLBACK' })
}

warnOfFallback()

module.exports = {
  SecureContext,
  TLSSocket: tls.TLSSocket,
  clear,
  configure: createConfigure(applySettings),
  connect,
  createSecureContext,
  stats
}
