'use strict'

/**
 * The transport for sockets with a descriptor: the core reads and writes a
 * duplicate of it, ciphertext never passes JavaScript. The raw socket keeps
 * its own handle, which must never read again.
 */

const { afterPromises } = require('./after-promises')
const { EVENT, SHARED } = require('./constants')
const { binding } = require('./runtime')
const {
  kCiphertextRead, kCiphertextWritten, kConnection, kDeliver, kTlsSocket
} = require('./symbols')

const { shared } = binding

/* What the handle of an upgraded socket has in place of its own. */
const overrides = {
  /** Whatever net.Socket calls to read, reading does not start. */
  readStart () {
    return 0
  },

  /** What keeps the process alive is our poll. */
  ref () {
    this[kTlsSocket]?.[kConnection]?.ref(true)
    return baseOf(this).ref.call(this)
  },

  unref () {
    this[kTlsSocket]?.[kConnection]?.ref(false)
    return baseOf(this).unref.call(this)
  },

  /** The handle itself sees none of the traffic. */
  get bytesRead () {
    return Reflect.get(baseOf(this), 'bytesRead', this) + ciphertext(this)[0]
  },

  get bytesWritten () {
    return Reflect.get(baseOf(this), 'bytesWritten', this) + ciphertext(this)[1]
  }
}

// They inherit nothing, whatever somebody puts on Object.prototype.
const descriptors = Object.getOwnPropertyDescriptors(overrides)
for (const descriptor of Object.values(descriptors)) {
  Object.setPrototypeOf(descriptor, null)
}

// By the prototype of the handle, TCP's or Pipe's.
const prototypes = new WeakMap()

function baseOf (handle) {
  return Object.getPrototypeOf(Object.getPrototypeOf(handle))
}

function upgradedPrototype (base) {
  let prototype = prototypes.get(base)
  if (prototype === undefined) {
    prototype = Object.create(base, descriptors)
    prototypes.set(base, prototype)
    prototypes.set(prototype, prototype)
  }
  return prototype
}

/** [read, written] by the core, also after it has closed. */
function ciphertext (handle) {
  const socket = handle[kTlsSocket]
  if (socket === undefined) return [0, 0]
  const connection = socket[kConnection]
  return connection === null
    ? [socket[kCiphertextRead], socket[kCiphertextWritten]]
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
  const { reading } = handle
  Object.setPrototypeOf(handle, upgradedPrototype(Object.getPrototypeOf(handle)))
  if (reading) {
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
  if (!handle.hasRef()) socket[kConnection].ref(false)
  return 0
}

/** Undoes stopReading, for the stream transport to take over. */
function allowReading (raw) {
  Object.setPrototypeOf(raw._handle, baseOf(raw._handle))
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

/** What waits, waits because the kernel takes no more. */
function hasSent () {
  return false
}

/**
 * close_notify, and FIN behind it. As in node it is done later: before the next
 * setImmediate() of whoever was told of an event, but behind promises.
 */
function finish (socket, queue) {
  const isInCallback = socket[kConnection].shutdown()
  const queued = shared[SHARED.QUEUED]
  if (shared[SHARED.EVENTS] & EVENT.ERROR) {
    socket[kDeliver](EVENT.ERROR)
    return
  }
  queue.wait()
  if (queued !== 0) return
  const done = () => queue.drain()
  if (isInCallback) afterPromises(done)
  else setImmediate(done)
}

module.exports = {
  allowReading,
  attach,
  findObstacle,
  finish,
  hasSent,
  name: 'fd',
  readStart,
  readStop,
  sendLast: sendWritten,
  sendOutput: sendWritten,
  sendWritten,
  start,
  stopReading
}
