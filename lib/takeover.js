'use strict'

/**
 * Taking a raw socket over: from the moment of the call nobody else gets what
 * it reads, and when it is connected and has sent what was written to it
 * before, the handshake may begin.
 *
 * Nothing here depends on listeners on the raw socket that others could
 * remove, but for 'connect', as in node.
 */

const { AsyncResource } = require('node:async_hooks')
const net = require('node:net')
const errors = require('./errors')
const fd = require('./fd-transport')
const { counts } = require('./live-counts')
const stream = require('./stream-transport')
const {
  kClosed, kConnection, kOwnsRaw, kQueue, kRaw, kRawClosing, kReady,
  kTlsSocket, kTransport
} = require('./symbols')

const kOriginal = Symbol('own _destroy')

/** Whether something can be taken for a Duplex, however incomplete. */
function isDuplex (value) {
  return typeof value === 'object' && value !== null &&
    ['on', 'write', 'pause'].every((name) => typeof value[name] === 'function')
}

/**
 * Whether a transport that was demanded cannot carry this raw socket, as far
 * as that can be told before it is connected.
 *
 * @param {object | undefined} raw none: a socket of our own
 * @returns {string | null} why not
 */
function findObstacle (raw) {
  if (!raw) return process.platform === 'win32' ? 'not on Windows' : null
  if (!(raw instanceof net.Socket)) return 'the socket is not a net.Socket'
  if (raw.encrypted) return 'the socket is a TLS socket'
  // A handle gets its descriptor when it is told to connect.
  return !raw._handle || raw.connecting ? null : fd.findObstacle(raw)
}

/* The raw socket's _destroy(): it is closing, whoever asked for it. */
function destroyRaw (error, callback) {
  const socket = this[kTlsSocket]
  const original = this[kOriginal] ?? Object.getPrototypeOf(this)._destroy
  // What its handle has met while carrying us is our error, and ours alone:
  // node takes the handle of a raw socket away.
  if (socket && isHandleError(error) && stream.hasHandle(this) &&
      !socket.destroyed) {
    if (socket[kQueue].ended && error.syscall === 'write') {
      // As in node, nobody misses our close_notify.
      socket[kQueue].drain()
      error = null
    } else {
      original.call(this, null, () => callback(null))
      // Whoever was told of a failed connection need not hear that its alert
      // could not be sent.
      socket.destroy(socket._hadError ? null : error)
      return
    }
  }
  socket?.[kRawClosing](error)
  original.call(this, error, callback)
}

function isHandleError (error) {
  return error?.errno < 0 &&
    (error.syscall === 'read' || error.syscall === 'write')
}

/** Learns of the end of the raw socket. */
function hookDestroy (raw) {
  if (raw._destroy === destroyRaw || typeof raw._destroy !== 'function') return
  if (Object.hasOwn(raw, '_destroy')) raw[kOriginal] = raw._destroy
  raw._destroy = destroyRaw
}

/**
 * Takes the raw socket; to be called once, by the constructor.
 *
 * @param {TLSSocket} socket
 * @param {Duplex} raw
 * @param {string} demanded 'auto', 'fd' or 'stream'
 */
function takeOver (socket, raw, demanded) {
  const former = raw[kTlsSocket]
  if (former) release(former)
  if (raw.destroyed) {
    raw[kClosed] = true
    socket.destroy(errors.disconnectedError(socket._tlsOptions))
    return
  }
  const unread = raw.readableLength
  if (unread > 0) {
    socket.destroy(new errors.ERR_EAGER_TLS_LEFTOVER_PLAINTEXT(unread))
    return
  }
  raw[kTlsSocket] = socket
  hookDestroy(raw)
  raw.removeListener?.('error', onRawError)
  raw.on('error', onRawError)
  if (raw instanceof net.Socket && raw.pending) {
    waitForConnect(socket, raw, demanded)
    return
  }
  choose(socket, raw, demanded)
}

/** A second upgrade: the first TLS socket goes, the raw one stays. */
function release (former) {
  const raw = former[kRaw]
  raw[kTlsSocket] = null
  former[kRaw] = null
  former._parent = null
  former.destroy()
}

/** Of the raw socket: its error is that of whoever has it now. */
function onRawError (error) {
  const socket = this[kTlsSocket]
  if (!socket || socket.destroyed || socket[kRaw] === null) return
  if (socket[kOwnsRaw]) socket.destroy(error)
  else socket._emitTLSError(error)
}

function waitForConnect (socket, raw, demanded) {
  socket.connecting = true
  // What follows belongs to the upgrade, not to the connect().
  raw.once('connect', AsyncResource.bind(() => {
    if (socket.destroyed || raw[kTlsSocket] !== socket) return
    choose(socket, raw, demanded)
    socket.connecting = false
    socket.emit('connect')
  }))
}

/** The raw socket is connected: from here on it reads for nobody else. */
function choose (socket, raw, demanded) {
  const obstacle = demanded === 'stream'
    ? 'not wanted'
    : raw instanceof net.Socket ? fd.findObstacle(raw) : 'no socket'
  if (obstacle === null) {
    fd.stopReading(raw)
    afterQueuedWrites(socket, raw, () => beginFd(socket, raw, demanded))
    return
  }
  beginStream(socket, raw)
}

/** What was written before the upgrade goes first, and its callbacks. */
function afterQueuedWrites (socket, raw, begin) {
  if (!(raw.writableLength > 0)) {
    begin()
    return
  }
  raw.write('', (error) => {
    if (socket.destroyed || socket[kRaw] !== raw) return
    if (error) socket.destroy(error)
    else begin()
  })
}

/** After attach(): hooks of async_hooks have run, and may have closed it. */
function isGone (socket) {
  return socket.destroyed || socket[kConnection] === null
}

function beginFd (socket, raw, demanded) {
  const result = fd.attach(socket, raw)
  if (isGone(socket)) return
  if (result === 0) {
    ready(socket, fd)
    return
  }
  if (demanded === 'fd') {
    socket.destroy(new errors.ERR_EAGER_TLS_TRANSPORT(
      errors.errnoError(result, 'dup').message))
    return
  }
  fd.allowReading(raw)
  beginStream(socket, raw)
}

function beginStream (socket, raw) {
  stream.attach(socket, raw)
  if (isGone(socket)) return
  afterQueuedWrites(socket, raw, () => ready(socket, stream))
}

function ready (socket, transport) {
  socket[kTransport] = transport
  counts[transport.name]++
  socket[kReady]()
}

/** The raw socket's 'close' is noted even if all listeners were removed
 * before; those that come now stay. */
function noteClose (raw, callback) {
  const handle = raw._handle
  raw.once('close', () => {
    raw[kClosed] = true
    // Node keeps both until its next full collection; not us with them.
    raw[kTlsSocket] = null
    if (handle?.[kTlsSocket]) handle[kTlsSocket] = undefined
    callback()
  })
}

/** An error that the raw socket is closed with must not be an uncaught one
 * because somebody has removed our listener. */
function keepErrorListener (raw) {
  if (raw.listenerCount('error') === 0) raw.once('error', onRawError)
}

module.exports = {
  findObstacle,
  isDuplex,
  keepErrorListener,
  noteClose,
  takeOver
}
