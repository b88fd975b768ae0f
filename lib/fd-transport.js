'use strict'

/**
 * The transport for sockets with a descriptor: the core reads and writes a
 * duplicate of it, ciphertext never passes JavaScript. The raw socket keeps
 * its own handle, which must never read again.
 */

const { EVENT, SHARED } = require('./constants')
const { binding } = require('./runtime')
const { kConnection, kDeliver, kTlsSocket } = require('./symbols')

const { shared } = binding

/* Methods put on the raw socket's handle: whatever net.Socket calls to read,
 * reading does not start, and what keeps the process alive is our poll. */
function neverRead () {
  return 0
}

function ref () {
  this[kTlsSocket][kConnection]?.ref(true)
  return Object.getPrototypeOf(this).ref.call(this)
}

function unref () {
  this[kTlsSocket][kConnection]?.ref(false)
  return Object.getPrototypeOf(this).unref.call(this)
}

/* Getters put on the raw socket: its handle sees none of the traffic. */
const byteCounts = {
  bytesRead: {
    configurable: true,
    enumerable: true,
    get () { return ownCount(this, 'bytesRead') + ciphertext(this)[0] }
  },
  bytesWritten: {
    configurable: true,
    enumerable: true,
    get () { return ownCount(this, 'bytesWritten') + ciphertext(this)[1] }
  }
}

function ownCount (raw, name) {
  return Reflect.get(Object.getPrototypeOf(raw), name, raw) ?? 0
}

/** [read, written] by the core, also after it has closed. */
function ciphertext (raw) {
  const socket = raw[kTlsSocket]
  const connection = socket[kConnection]
  return connection === null
    ? [socket.ciphertextRead, socket.ciphertextWritten]
    : [connection.bytesRead(), connection.bytesWritten()]
}

/**
 * Whether the raw socket, once connected, can be carried by its descriptor.
 *
 * @returns {string | null} why not
 */
function findObstacle (raw) {
  if (process.platform === 'win32') return 'not on Windows'
  const handle = raw._handle
  const kind = handle?.constructor?.name
  if (kind !== 'TCP' && kind !== 'Pipe') {
    return 'the socket has neither a TCP nor a pipe handle'
  }
  if (!(handle.fd >= 0)) return 'the socket has no descriptor'
  return null
}

/** The handle never reads again. */
function stopReading (raw) {
  const handle = raw._handle
  if (!Object.hasOwn(handle, 'readStart')) handle.readStart = neverRead
  if (handle.reading) {
    handle.reading = false
    handle.readStop()
  }
}

/**
 * Begins to carry the connection.
 *
 * @returns {number} 0 or a negative errno, upon which nothing has changed
 */
function attach (socket, raw) {
  const handle = raw._handle
  const result = socket[kConnection].attach(socket, handle.fd)
  if (result < 0) return result
  handle[kTlsSocket] = socket
  handle.ref = ref
  handle.unref = unref
  if (!handle.hasRef()) socket[kConnection].ref(false)
  Object.defineProperties(raw, byteCounts)
  return 0
}

/** Undoes stopReading, for the stream transport to take over. */
function allowReading (raw) {
  if (Object.hasOwn(raw._handle, 'readStart')) delete raw._handle.readStart
}

function start (socket) {
  socket[kDeliver](socket[kConnection].start())
}

function readStop (socket) {
  socket[kConnection].readStop()
}

function readStart (socket) {
  socket[kConnection].readStart()
}

// The core has sent it before write() returned, or does after the callback.
function sendWritten () {}

/** close_notify, and FIN behind it. As in node, that is done later. */
function finish (socket, queue) {
  socket[kConnection].shutdown()
  const queued = shared[SHARED.QUEUED]
  if (shared[SHARED.EVENTS] & EVENT.ERROR) {
    socket[kDeliver](EVENT.ERROR)
    return
  }
  queue.wait()
  if (queued === 0) setImmediate(() => queue.drain())
}

module.exports = {
  allowReading,
  attach,
  findObstacle,
  finish,
  name: 'fd',
  readStart,
  readStop,
  sendLast: sendWritten,
  sendOutput: sendWritten,
  sendWritten,
  start,
  stopReading
}
