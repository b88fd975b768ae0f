'use strict'

/**
 * The transport for every Duplex: ciphertext goes through its streams.
 *
 * What it produces is taken where it produces it, from its own push(), and
 * not from 'data': drivers remove listeners, and leave encodings, 'readable'
 * mode and pauses behind. Its read buffer stays empty.
 */

const { AsyncResource } = require('node:async_hooks')
const { Buffer } = require('node:buffer')
const net = require('node:net')
const { constants } = require('node:os')
const { afterPromises } = require('./after-promises')
const { EVENT } = require('./constants')
const { ERR_EAGER_TLS_LEFTOVER_PLAINTEXT, ERR_STREAM_WRAP, errnoError } =
  require('./errors')
const {
  kClogged, kConnection, kDeliver, kPaused, kQueue, kRaw, kRawEnded, kResource,
  kTlsSocket, kTransport
} = require('./symbols')

// Twice what the core lets one write amount to: more are its own answers, to
// KeyUpdates, that the peer does not read.
const UNREAD_ANSWERS_MAX = 524288

/** Put on the raw socket as its push(). */
function push (chunk, encoding) {
  const socket = this[kTlsSocket]
  // What comes behind the end is an error of the Duplex, which says so itself.
  if (socket === null || (chunk !== null && socket[kRawEnded])) {
    return Object.getPrototypeOf(this).push.call(this, chunk, encoding)
  }
  this._readableState.reading = false
  if (chunk === null) {
    endOf(socket, this)
    return false
  }
  receive(socket, this, chunk, encoding)
  const more = mayRead(socket, this)
  // As push() does: ask for more when this one is dealt with.
  if (more) process.nextTick(readMore, socket, this)
  return more
}

/** Put on a net.Socket as its end(): as in node, what the TLS socket was given
 * before goes first. */
function end (...args) {
  this[kTlsSocket]?.[kQueue].flush()
  return Object.getPrototypeOf(this).end.apply(this, args)
}

/**
 * Whether what the peer sends is wanted. One that asks for answers and does not
 * take them is not listened to until it does: they would fill the memory.
 */
function mayRead (socket, raw) {
  if (socket[kConnection] === null || socket[kPaused]) return false
  socket[kClogged] = raw.writableLength > UNREAD_ANSWERS_MAX
  return !socket[kClogged]
}

function readMore (socket, raw) {
  if (mayRead(socket, raw) && !raw.destroyed && !socket[kRawEnded]) raw.read(0)
}

/** Something was sent. */
function unclog (socket) {
  const raw = socket[kRaw]
  if (!socket[kClogged] || raw === null || !mayRead(socket, raw)) return
  if (raw.push === push) readMore(socket, raw)
  else raw.resume?.()
}

/** Ciphertext as the Duplex gave it. */
function receive (socket, raw, chunk, encoding) {
  const connection = socket[kConnection]
  if (connection === null) return
  if (typeof chunk === 'string') {
    chunk = Buffer.from(chunk, encoding ?? raw._readableState?.defaultEncoding)
  } else if (!ArrayBuffer.isView(chunk)) {
    socket.destroy(new ERR_STREAM_WRAP())
    return
  }
  if (chunk.byteLength === 0) return
  // Earlier writes are still on their way, no ClientHello was sent: whatever
  // this is, it is no answer to it.
  if (socket[kTransport] === null) {
    socket.destroy(new ERR_EAGER_TLS_LEFTOVER_PLAINTEXT(chunk.byteLength))
    return
  }
  deliverAll(socket, connection, connection.receive(chunk))
}

/** In the asynchronous context of the upgrade, not of who feeds the Duplex. */
function deliverAll (socket, connection, events) {
  socket[kResource].runInAsyncScope(deliver, null, socket, connection, events)
}

/**
 * Delivers until the core wants input, JavaScript no more, or all is over. What
 * the data sets in motion comes before the end: that has a turn of its own, as
 * in node.
 */
function deliver (socket, connection, events) {
  let seen = 0
  for (;;) {
    seen |= events
    const last = seen & EVENT.DATA ? events & (EVENT.END | EVENT.ERROR) : 0
    if (last !== 0) setImmediate(deliverLast, socket, connection, last)
    if (events !== last) socket[kDeliver](events & ~last)
    if (socket[kConnection] !== connection) return
    // What came with the handshake waits, as in node, for the promises that
    // wait for 'secureConnect'. So does the client's Finished, which then shares
    // a segment with what they write: alone it would make Nagle's algorithm hold
    // that back.
    if (events & EVENT.HANDSHAKE) {
      afterPromises(deliverKept, socket, connection)
      return
    }
    if (!(events & EVENT.MORE) || socket[kPaused]) break
    events = connection.pump()
  }
  sendOutput(socket)
}

function deliverKept (socket, connection) {
  if (socket[kConnection] !== connection) return
  if (socket[kPaused]) sendOutput(socket)
  else deliverAll(socket, connection, connection.pump())
}

function deliverLast (socket, connection, events) {
  if (socket[kConnection] === connection) deliverAll(socket, connection, events)
}

/** The Duplex ended, with or without close_notify before. */
function endOf (socket, raw) {
  const connection = socket[kConnection]
  if (!socket[kRawEnded]) {
    socket[kRawEnded] = true
    if (connection !== null) {
      const events = connection.receiveEnd()
      if (!socket[kPaused] || !socket._secureEstablished) {
        deliverAll(socket, connection, events)
      }
    }
  }
  // Its own 'end' is emitted, unless it is a net.Socket: node takes the handle
  // of these away, and they never see theirs.
  if (!(raw instanceof net.Socket)) {
    Object.getPrototypeOf(raw).push.call(raw, null)
    raw.read(0)
  }
}

/** Sends what the handshake and the core itself have to say. */
function sendOutput (socket) {
  // What is written in this tick goes with it.
  if (socket[kQueue].scheduled) return
  const output = socket[kConnection].takeOutput()
  // What was ended carries nothing any more.
  if (output !== undefined && !socket[kQueue].ended &&
      !socket[kRaw].writableEnded) write(socket, output, () => unclog(socket))
}

function write (socket, output, callback) {
  try {
    socket[kRaw].write(output, callback)
  } catch (error) {
    socket.destroy(error)
  }
}

function sendWritten (socket, queue) {
  const output = socket[kConnection].takeOutput()
  if (output === undefined) return
  // What the kernel would say.
  if (hasHandle(socket[kRaw]) && socket[kRaw].writableEnded) {
    socket.destroy(errnoError(-constants.errno.EPIPE, 'write'))
    return
  }
  queue.wait()
  write(socket, output, (error) => {
    if (error && !socket.destroyed) {
      queue.fail(error)
      return
    }
    unclog(socket)
    queue.drain()
  })
}

/** What waits may wait only for being called back. */
function hasSent (socket) {
  const raw = socket[kRaw]
  return hasHandle(raw) && raw.writableLength === 0
}

function sendLast (socket) {
  const raw = socket[kRaw]
  const output = socket[kConnection].takeOutput()
  if (output === undefined || socket[kQueue].ended || raw.writableEnded) return
  if (!raw.destroyed) {
    write(socket, output)
  } else if (hasHandle(raw) && !(raw.writableLength > 0)) {
    // It is being destroyed, but its handle still takes what it can.
    net.Socket.prototype._write.call(raw, output, 'buffer', () => {})
  }
}

/** close_notify, and the end of the Duplex behind it. */
function finish (socket, queue) {
  const raw = socket[kRaw]
  socket[kConnection].shutdown()
  const output = socket[kConnection].takeOutput()
  // Ended by somebody else: nobody would get it.
  if (raw.writableEnded) return
  queue.wait()
  const done = () => queue.drain()
  try {
    if (hasHandle(raw)) {
      // FIN, but no 'finish' of the raw socket, which node never emits.
      raw.write(output ?? '', () => {
        if (raw.destroyed) done()
        else raw._final(done)
      })
    } else {
      raw.end(output, done)
    }
  } catch (error) {
    socket.destroy(error)
  }
}

/** A net.Socket of node's own, whose handle node:tls would take away. */
function hasHandle (raw) {
  return raw instanceof net.Socket && !raw.encrypted && Boolean(raw._handle)
}

function onData (socket, raw, chunk) {
  if (socket[kRawEnded]) return
  receive(socket, raw, chunk)
  if (socket[kConnection] !== null && !mayRead(socket, raw)) raw.pause?.()
}

/** Old-style streams have no push() of their own. */
function attachByEvents (socket, raw) {
  raw.on('data', (chunk) => onData(socket, raw, chunk))
  raw.on('end', () => endOf(socket, raw))
  raw.resume?.()
}

function attach (socket, raw) {
  socket[kClogged] = false
  socket[kResource] = new AsyncResource('EAGERTLS')
  if (raw._readableState === undefined || typeof raw.push !== 'function') {
    attachByEvents(socket, raw)
  } else {
    raw.push = push
    if (hasHandle(raw) && !Object.hasOwn(raw, 'end')) raw.end = end
  }
}

function start (socket) {
  const raw = socket[kRaw]
  const connection = socket[kConnection]
  if (raw.readableEnded || raw._readableState?.ended) {
    endOf(socket, raw)
    return
  }
  deliverAll(socket, connection, connection.start())
  if (socket[kConnection] === connection && raw.push === push) {
    raw._readableState.reading = false
    readMore(socket, raw)
  }
}

function readStart (socket) {
  const connection = socket[kConnection]
  const raw = socket[kRaw]
  connection.readStart()
  if (raw.push === push) process.nextTick(readMore, socket, raw)
  else if (mayRead(socket, raw)) raw.resume?.()
}

function readStop (socket) {
  socket[kConnection].readStop()
}

module.exports = {
  attach,
  finish,
  hasHandle,
  hasSent,
  name: 'stream',
  readStart,
  readStop,
  sendLast,
  sendOutput,
  sendWritten,
  start
}
