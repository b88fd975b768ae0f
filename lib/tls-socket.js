'use strict'

/**
 * The TLS socket: a net.Socket without a handle of its own whose prototype
 * chain runs through tls.TLSSocket's, so that every `instanceof` holds, but
 * which has not run that constructor. Streams on top, the core below; how
 * ciphertext travels is the transport's business.
 *
 * Own work goes through the instance (this.push, this.emit), because drivers
 * overwrite these, and hangs on no listener of a public event, because drivers
 * remove them. After each call that may run somebody else's code the
 * connection is looked at again: it may be gone.
 */

const net = require('node:net')
const { constants } = require('node:os')
const { addAbortSignal } = require('node:stream')
const tls = require('node:tls')
const { createConnection, findFallback, nodeTLSSocket } =
  require('./connection')
const { EVENT, SHARED } = require('./constants')
const errors = require('./errors')
const { Handle, isGuarded } = require('./handle')
const { keylogToFile } = require('./keylog')
const observe = require('./observe')
const { Onread, isOnread } = require('./onread')
const { renewSlab, takePlaintext } = require('./plaintext')
const { usePsk } = require('./psk')
const { createRaw } = require('./raw-socket')
const { useSessions } = require('./resumption')
const { binding } = require('./runtime')
const { wrapSession } = require('./session-format')
const { CREATED, HANDSHAKE, SECURE, setState } = require('./socket-state')
const {
  kConnectOptions, kConnection, kDeliver, kHandshakeTimer, kOnread, kOwnsRaw,
  kPaused, kPlaintextRead, kQueue, kRaw, kRawEnded, kReady, kSessions, kState,
  kTransport, kVerified
} = require('./symbols')
const { isDuplex, takeOver } = require('./takeover')
const { verifyPeer } = require('./verification')
const { WriteQueue } = require('./write-queue')

const { shared } = binding

class TLSSocket extends net.Socket {
  /**
   * @param {Duplex} [raw] what is upgraded
   * @param {object} [options] as tls.TLSSocket takes them
   * @param {object} [contextFields] connect()'s: what flattenContextOptions()
   *   made of the options, which are ours then
   */
  constructor (raw, options, contextFields) {
    if (contextFields === undefined) {
      options = { ...options }
      if (findFallback(options) !== null) return nodeTLSSocket(raw, options)
    }
    validateArguments(raw, options)
    const connection = createConnection(options, contextFields)
    try {
      super(streamOptions(options))
      this.allowHalfOpen = Boolean((raw ?? options).allowHalfOpen)
      initialise(this, raw, options, connection, contextFields !== undefined)
      // Not net.Socket's option, which would act before all is complete.
      if (options.signal) addAbortSignal(options.signal, this)
    } catch (error) {
      connection.close()
      throw error
    }
  }
}
Object.setPrototypeOf(TLSSocket.prototype, tls.TLSSocket.prototype)

/**
 * What net.Socket is to know, mostly nothing: it copies its options, see
 * socket-options.js.
 */
function streamOptions ({ highWaterMark }) {
  return highWaterMark === undefined ? undefined : { highWaterMark }
}

/** Before anything is taken over. */
function validateArguments (raw, { signal }) {
  if (raw && !isDuplex(raw)) {
    throw new errors.ERR_INVALID_ARG_TYPE('socket', 'Duplex', raw)
  }
  if (signal && !(typeof signal === 'object' && 'aborted' in signal)) {
    throw new errors.ERR_INVALID_ARG_TYPE('signal', 'AbortSignal', signal)
  }
}

function initialise (socket, raw, options, connection, isConnect) {
  socket[kState] = CREATED
  socket[kVerified] = false
  socket[kConnection] = connection
  socket[kTransport] = null
  socket[kRaw] = raw ?? null
  socket[kOwnsRaw] = false
  socket[kPlaintextRead] = 0
  socket[kQueue] = new WriteQueue(socket)
  socket[kPaused] = false
  socket[kRawEnded] = false
  socket[kSessions] = null
  socket[kConnectOptions] = null
  socket[kHandshakeTimer] = null
  socket[kOnread] = null
  socket.encrypted = true
  socket.secureConnecting = true
  socket.servername = null
  socket.alpnProtocol = null
  socket.authorized = false
  socket.authorizationError = null
  socket._tlsOptions = options
  socket._secureEstablished = false
  socket._newSessionPending = false
  socket._securePending = false
  socket._SNICallback = null
  socket.server = undefined
  // connect() releases it before anybody can tell.
  socket._controlReleased = isConnect
  socket._requestCert = true
  socket._rejectUnauthorized = options.rejectUnauthorized !== false
  socket._parent = raw instanceof net.Socket ? raw : null
  socket.ssl = new Handle(socket)
  // Until control is released errors are for those who listen to '_tlsError'.
  if (!isConnect) socket.on('error', socket._tlsError)
  keylogToFile(socket)
  if (options.pskCallback) usePsk(socket, options.pskCallback)
  if (!raw && isOnread(options.onread)) {
    socket[kOnread] = new Onread(socket, options.onread)
  }
  if (raw) {
    takeOver(socket, raw, options.transport ?? 'auto')
    applySocketOptions(socket, options)
  } else {
    socket.connecting = true
  }
}

/** Before Node 24 node ignores these next to a raw socket. */
function applySocketOptions (socket, options) {
  if (options.noDelay !== undefined) socket.setNoDelay(options.noDelay)
  if (options.keepAlive !== undefined) {
    socket.setKeepAlive(options.keepAlive, options.keepAliveInitialDelay)
  }
}

const proto = TLSSocket.prototype

/* ---- the handshake ----------------------------------------------------- */

/** The raw socket is ready: connected, and all earlier writes sent. */
proto[kReady] = function () {
  if (this[kState] === HANDSHAKE) begin(this)
}

/** Starts the handshake, as soon as the raw socket is ready. */
proto._start = function () {
  if (this[kState] !== CREATED || this[kConnection] === null) return
  setState(this, HANDSHAKE)
  observe.handshakeStarted(this)
  if (this[kTransport] !== null) begin(this)
}

function begin (socket) {
  const options = socket[kConnectOptions]
  if (options !== null) useSessions(socket, socket[kConnection], options)
  socket[kTransport].start(socket)
  socket[kQueue].started()
}

/** Opens the TCP or pipe connection that TLS is to run on; as net.Socket's. */
proto.connect = function (...args) {
  if (this[kConnection] === null) return this
  const [options, callback] = net._normalizeArgs(args)
  const raw = createRaw(this, options)
  this[kRaw] = raw
  this[kOwnsRaw] = true
  if (callback) this.once('connect', callback)
  takeOver(this, raw, this._tlsOptions.transport ?? 'auto')
  raw.connect(options)
  return this
}

/** The one place where the core's events arrive. */
proto[kDeliver] = function (events) {
  const connection = this[kConnection]
  if (connection === null || events === 0) return
  // First what the next call into the core may overwrite.
  const failure = events & EVENT.ERROR ? connection.takeError() : null
  const chunk = events & EVENT.DATA ? take(this) : null
  const sessions = events & EVENT.BEHIND ? takeSessions(this, connection) : null
  const queue = this[kQueue]
  this._unrefTimer()
  queue.hold()
  // Of an unverified peer nothing is ever delivered.
  if (events === EVENT.DATA && this[kVerified]) {
    guard(this, connection, onData, chunk)
  } else {
    deliverEach(this, connection, events, chunk, failure, sessions)
  }
  queue.release()
}

function deliverEach (socket, connection, events, chunk, failure, sessions) {
  if (events & EVENT.KEYLOG) guard(socket, connection, emitKeylog, connection)
  if (events & EVENT.OCSP) guard(socket, connection, emitOcsp, connection)
  // Before TLS 1.3 sessions come with the handshake, and wait for its end.
  if (events & EVENT.HANDSHAKE) socket[kVerified] = false
  if (events & EVENT.SESSION) guard(socket, connection, onSessions, connection)
  if (events & EVENT.HANDSHAKE) {
    guard(socket, connection, onHandshake)
    insistOnVerification(socket, connection)
  }
  if (chunk !== null && socket[kVerified]) {
    guard(socket, connection, onData, chunk)
  }
  // As in node, also if the data made somebody close the socket.
  if (sessions !== null && socket[kVerified]) {
    for (const session of sessions) emitGuarded(socket, 'session', session)
  }
  if (events & EVENT.DRAIN) guard(socket, connection, onDrain)
  if (events & EVENT.END) guard(socket, connection, onEnd)
  if (events & EVENT.SLAB) renewSlab()
  if (failure !== null) guard(socket, connection, onFailure, failure)
}

/**
 * One step, unless an earlier one has ended the connection. What a listener
 * throws is an uncaught exception, as it is when node's core calls it, and
 * keeps the connection from nothing.
 */
function guard (socket, connection, step, argument) {
  if (socket[kConnection] !== connection) return
  try {
    step(socket, argument)
  } catch (error) {
    process.nextTick(rethrow, error)
  }
}

function rethrow (error) {
  throw error
}

function emitKeylog (socket, connection) {
  while (socket[kConnection] === connection) {
    const line = connection.takeKeylog()
    if (line === undefined) return
    emitGuarded(socket, 'keylog', Buffer.from(`${line}\n`))
  }
}

function emitGuarded (socket, event, argument) {
  try {
    socket.emit(event, argument)
  } catch (error) {
    process.nextTick(rethrow, error)
  }
}

function emitOcsp (socket, connection) {
  socket.emit('OCSPResponse', connection.takeOcsp())
}

function onDrain (socket) {
  socket[kQueue].drain()
}

/**
 * Complete, but not verified: nothing was decrypted or sent yet. In node,
 * connect() is the first to listen to 'secure', and those who come to listen
 * meanwhile are not told. It comes again after a renegotiation, and so does the
 * verification.
 */
function onHandshake (socket) {
  socket.prependOnceListener('secure', onSecureEvent)
  socket.emit('secure')
}

/** Somebody may have kept 'secure' from coming here, or thrown something that
 * cannot even be told: nothing goes on without it. */
function insistOnVerification (socket, connection) {
  if (socket[kConnection] !== connection || socket[kVerified]) return
  socket.destroy(new errors.ERR_EAGER_TLS_INTERNAL('the peer is not verified'))
}

function onSecureEvent () {
  const connection = this[kConnection]
  if (connection === null) return
  this.alpnProtocol = connection.alpn()
  if (this.servername === null) this.servername = connection.servername()
  this._secureEstablished = true
  const options = this[kConnectOptions]
  const error = options === null ? null : verifyPeer(this, connection, options)
  if (error !== null) this.destroy(error)
  else if (this[kConnection] === connection) onSecure(this, connection)
}

function onSecure (socket, connection) {
  socket[kVerified] = true
  setState(socket, SECURE)
  connection.acceptSessions()
  socket[kQueue].open()
  if (socket[kConnectOptions] === null) return
  socket.secureConnecting = false
  observe.handshakeDone(socket, null)
  socket.emit('secureConnect')
  const sessions = socket[kSessions]
  socket[kSessions] = null
  if (sessions === null) return
  for (const session of sessions) {
    if (!socket.destroyed) socket.emit('session', session)
  }
}

function onSessions (socket, connection) {
  for (const session of takeSessions(socket, connection)) {
    if (socket[kConnection] !== connection) return
    // As in node: the last one before secureConnect is the one that is told.
    if (socket[kVerified]) emitGuarded(socket, 'session', session)
    else socket[kSessions] = [session]
  }
}

function takeSessions (socket, connection) {
  const sessions = []
  for (let der; (der = connection.takeSession()) !== undefined;) {
    sessions.push(wrapSession(der, socket[kConnectOptions]))
  }
  return sessions
}

/* ---- reading ----------------------------------------------------------- */

/** With onread, plaintext is in the user's buffer already. */
function take (socket) {
  socket[kPlaintextRead] += shared[SHARED.LENGTH]
  return socket[kOnread] === null ? takePlaintext() : socket[kOnread].take()
}

function onData (socket, chunk) {
  if (isGuarded(socket.ssl)) {
    socket.destroy()
    return
  }
  let more = true
  try {
    more = socket[kOnread] === null
      ? socket.push(chunk)
      : socket[kOnread].give(chunk)
  } catch (error) {
    process.nextTick(rethrow, error)
  }
  if (!more && socket[kConnection] !== null && !socket[kPaused]) {
    socket[kPaused] = true
    socket[kTransport].readStop(socket)
  }
}

proto._read = function () {
  if (!this[kPaused] || this[kConnection] === null) return
  this[kPaused] = false
  this[kTransport].readStart(this)
  process.nextTick(pumpKept, this)
}

/** What the core had when reading stopped. */
function pumpKept (socket) {
  const connection = socket[kConnection]
  for (;;) {
    if (connection === null || socket[kConnection] !== connection ||
        socket[kPaused]) return
    const events = connection.pump()
    if (events === 0) return
    socket[kDeliver](events)
    if (!(events & EVENT.MORE)) break
  }
  if (socket[kConnection] === connection) socket[kTransport].sendOutput(socket)
}

/** close_notify, or the transport's end. */
function onEnd (socket) {
  if (isGuarded(socket.ssl)) {
    socket.destroy()
    return
  }
  socket.push(null)
  socket.read(0)
  if (socket[kState] === SECURE) return
  // As in node, the first to hear of 'end'; if somebody keeps it from there,
  // right after.
  socket.prependOnceListener('end', onDisconnect)
  process.nextTick(() => onDisconnect.call(socket))
}

/** The connection has ended before it was secure. */
function onDisconnect () {
  if (this.destroyed || this._hadError) return
  this._hadError = true
  this.destroy(errors.disconnectedError(this[kConnectOptions] ?? {}))
}

function onFailure (socket, failure) {
  const queue = socket[kQueue]
  if (Array.isArray(failure)) {
    const error = errors.errnoError(...failure)
    if (error.syscall === 'write') queue.fail(error)
    else socket.destroy(error)
    return
  }
  const { pskError } = socket[kConnection]
  if (pskError !== undefined) {
    socket.destroy(pskError)
    return
  }
  if (queue.sending) {
    socket._hadError = true
    queue.fail(errors.writeError(failure))
    return
  }
  if (socket._hadError) return
  socket._hadError = true
  socket[kTransport].sendLast(socket)
  if (!socket._secureEstablished) {
    if (queue.pendingBytes > 0) queue.fail(errors.writeError(failure))
    else socket.destroy(failure)
    return
  }
  socket._emitTLSError(failure)
  if (socket[kConnection] === null) return
  // No more can be read of this connection, and what is being written will
  // never be sent.
  if (!queue.waiting) {
    onEnd(socket)
    return
  }
  queue.error = errors.writeError(failure)
  socket.destroy()
}

proto._emitTLSError = function (error) {
  const reported = this._tlsError(error)
  if (reported) this.emit('error', reported)
}

/** Before control is released (by connect()), errors only go this way. */
proto._tlsError = function (error) {
  this.emit('_tlsError', error)
  return this._controlReleased ? error : null
}

proto._releaseControl = function () {
  if (this._controlReleased) return false
  this._controlReleased = true
  this.removeListener('error', this._tlsError)
  return true
}

/* ---- writing ----------------------------------------------------------- */

proto._write = function (chunk, encoding, callback) {
  if (!isOpenForWriting(this, callback)) return
  this[kQueue].write(chunk, encoding, callback)
}

proto._writev = function (entries, callback) {
  if (!isOpenForWriting(this, callback)) return
  this[kQueue].writev(entries, callback)
}

function isOpenForWriting (socket, callback) {
  if (socket[kConnection] === null) {
    callback(errors.errnoError(-constants.errno.EBADF, 'write'))
    return false
  }
  socket._unrefTimer()
  return true
}

proto._final = function (callback) {
  if (this[kConnection] === null) {
    callback()
    return
  }
  this[kQueue].end(callback)
}

require('./tls-socket-close').install(proto)
require('./tls-socket-info').install(proto)

binding.setCallback(function onEvents (events) {
  this[kDeliver](events)
})

module.exports = { TLSSocket }
