'use strict'

/**
 * The same API on node:tls, for where the native core cannot be loaded:
 * contexts from a cache by content, closed with their last user; sessions by
 * the same rules; the options that node:tls does not have.
 */

const { Duplex } = require('node:stream')
const tls = require('node:tls')

const { FALLBACK_MARK } = require('./constants')
const { publishHandshake, watchesHandshakes } = require('./diagnostics')
const {
  ERR_EAGER_TLS_CONTEXT_CLOSED,
  ERR_EAGER_TLS_LEFTOVER_PLAINTEXT,
  ERR_EAGER_TLS_TRANSPORT,
  ERR_TLS_HANDSHAKE_TIMEOUT
} = require('./errors')
const { NodeContexts } = require('./node-contexts')
const { connect: nodeConnect } = require('./node-originals')
const { describeChain, peerKey, showCertificates } =
  require('./node-resumption')
const { NodeSessions } = require('./node-sessions')
const { validateOwnOptions } = require('./own-options')

const contexts = new NodeContexts()
const sessions = new NodeSessions()
const connections = { live: 0, opened: 0, handshaking: 0 }

/** What is known of one connection from its start to its end. */
class Connection {
  /** @param {Entry | null} entry null: of a context that is not ours */
  constructor (entry, options) {
    this.entry = entry
    this.options = options
    this.handshaking = true
    this.key = null // of its sessions; null: none are stored
    this.ticket = null // that it offers
    this.peer = null // the certificates that it was verified by
    this.timer = null
    this.startedAt = watchesHandshakes() ? performance.now() : 0
    connections.live++
    connections.opened++
    connections.handshaking++
  }

  /** The handshake is over, one way or the other. Once. */
  endHandshake (socket, error) {
    if (!this.handshaking) return
    this.handshaking = false
    connections.handshaking--
    clearTimeout(this.timer)
    if (this.ticket !== null) this.#settleTicket(socket, error)
    publishHandshake(() => this.#describe(socket, error))
  }

  #settleTicket (socket, error) {
    if (error !== null) {
      sessions.failed(this.key)
    } else if (socket.isSessionReused()) {
      sessions.accepted()
      this.peer = this.ticket
      showCertificates(socket, this.ticket)
    } else {
      sessions.rejected(this.key, this.ticket)
    }
  }

  #describe (socket, error) {
    const open = error === null
    return {
      servername: this.options.servername || undefined,
      protocol: open ? socket.getProtocol() : null,
      cipher: open ? socket.getCipher()?.name : null,
      reused: open && socket.isSessionReused(),
      backend: 'node',
      transport: 'node',
      durationMs: performance.now() - this.startedAt,
      error
    }
  }

  /** The socket is gone. Once. */
  end (socket, error) {
    this.endHandshake(socket, error)
    if (this.entry !== null) contexts.release(this.entry)
    connections.live--
  }

  storeSession (socket, session) {
    if (!socket.authorized) return
    this.peer ??= describeChain(socket)
    const { chain, selfSigned, notAfter } = this.peer
    sessions.put(this.key, {
      session, protocol: socket.getProtocol(), chain, selfSigned, notAfter
    })
  }
}

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
  if (isDuplex(first)) return [{ ...more, socket: first }, callback]
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
    : contexts.acquire(contextOptions(options), options.singleUse === true)
  let connection
  try {
    return open(options, callback, entry, (created) => { connection = created })
  } catch (error) {
    if (connection !== undefined) connection.end(null, error)
    else if (entry !== null) contexts.release(entry)
    throw error
  }
}

/** An explicit undefined is a default, as in node. */
function contextOptions (options) {
  return options.ciphers === undefined
    ? { ...options, ciphers: tls.DEFAULT_CIPHERS }
    : options
}

function open (options, callback, entry, onCreated) {
  if (entry !== null) options.secureContext = entry.secureContext
  const raw = options.socket
  const unread = isDuplex(raw) && !raw.destroyed ? raw.readableLength : 0
  if (unread > 0) {
    const socket = refuse(raw, options, entry,
      new ERR_EAGER_TLS_LEFTOVER_PLAINTEXT(unread))
    const connection = new Connection(entry, options)
    onCreated(connection)
    follow(socket, connection)
    return socket
  }
  const connection = new Connection(entry, options)
  onCreated(connection)
  prepareSession(connection, options)
  if (raw) tune(raw, options)
  const socket = nodeConnect(options)
  follow(socket, connection)
  if (raw && options.timeout) socket.setTimeout(options.timeout)
  if (callback !== undefined) socket.once('secureConnect', callback)
  startTimer(socket, connection)
  return socket
}

/** A TLS socket that never starts, for a raw socket that must not be used. */
function refuse (raw, options, entry, error) {
  const socket = new tls.TLSSocket(new Duplex({ read () {}, write () {} }), {
    secureContext: entry?.secureContext ?? options.secureContext
  })
  process.nextTick(() => {
    raw.destroy()
    socket.destroy(error)
  })
  return socket
}

/** Offers a session of ours, unless there is one of the user's. */
function prepareSession (connection, options) {
  if (!sessions.enabled || connection.entry === null) return
  connection.key = peerKey(connection.entry.key, options)
  if (connection.key === null || options.session) return
  connection.ticket = sessions.take(connection.key)
  if (connection.ticket !== null) options.session = connection.ticket.session
}

/** What node:tls only does for connections that it opens itself. */
function tune (raw, { keepAlive, keepAliveInitialDelay, noDelay }) {
  if (keepAlive !== undefined) {
    raw.setKeepAlive?.(Boolean(keepAlive), keepAliveInitialDelay)
  }
  if (noDelay !== undefined) raw.setNoDelay?.(Boolean(noDelay))
}

/** Ties the connection to its socket. The end is seen by _destroy(), which
 * nobody can remove; it comes before 'close'. */
function follow (socket, connection) {
  const destroy = socket._destroy
  let ended = false
  socket._destroy = function (error, done) {
    return destroy.call(this, error, (result) => {
      if (!ended) {
        ended = true
        connection.end(this, error)
      }
      done(result)
    })
  }
  socket.once('secureConnect', () => connection.endHandshake(socket, null))
  if (connection.key !== null) {
    socket.on('session', (session) => connection.storeSession(socket, session))
  }
}

function startTimer (socket, connection) {
  const { handshakeTimeout } = connection.options
  if (!handshakeTimeout) return
  connection.timer = setTimeout(() => {
    // Somebody may have removed the listener that stops the timer.
    if (socket.secureConnecting !== false) {
      socket.destroy(new ERR_TLS_HANDSHAKE_TIMEOUT())
    }
  }, handshakeTimeout)
  connection.timer.unref?.()
}

/** Puts the settings of configure() in force. */
function applySettings (settings) {
  contexts.configure(settings.contexts)
  sessions.configure(settings.sessions)
}

function stats () {
  const { live, cached, singleUse, created, hits, misses, evicted } =
    contexts.counts
  return {
    backend: 'node',
    openssl: process.versions.openssl,
    contexts: { live, cached, singleUse, created, hits, misses, evicted },
    connections: { ...connections, fd: 0, stream: 0 },
    sessions: sessions.counts,
    offload: { tasks: 0, inFlight: 0 },
    fallbacks: connections.opened
  }
}

function clear () {
  contexts.clear()
  sessions.clear()
}

/**
 * Says once in a thread, whatever the number of copies of this package in it,
 * that and why the native core is not used.
 *
 * @param {string} reason one sentence
 */
function warnOfFallback (reason) {
  if (tls[FALLBACK_MARK] === true) return
  Object.defineProperty(tls, FALLBACK_MARK, { value: true })
  process.emitWarning(
    `eager-tls runs on node:tls, without its native core. ${reason}`,
    { code: 'EAGER_TLS_FALLBACK' })
}

module.exports = {
  SecureContext,
  TLSSocket: tls.TLSSocket,
  applySettings,
  clear,
  connect,
  createSecureContext,
  stats,
  warnOfFallback
}
