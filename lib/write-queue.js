'use strict'

/**
 * From the stream's _write and _writev to the core. Three things happen here:
 *
 * - what is written before the connection is secure waits;
 * - writes of one tick are joined into full records: when the tick is over, what
 *   has piled up in the stream behind the first one is sent with it, and skipped
 *   when the stream hands it over;
 * - what the transport cannot take now is given again when it has drained, and
 *   only then is the write acknowledged.
 *
 * One write is under way at a time, as streams have it.
 */

const { Buffer } = require('node:buffer')
const { ENCODING, EVENT, QUEUED, SHARED } = require('./constants')
const { binding } = require('./runtime')
const { kConnection, kDeliver, kTransport } = require('./symbols')

// A write of that size fills records of its own.
const JOIN_MAX = 16384
const STRING_MAX = 16384
// So much is sent ahead of the stream at most.
const AHEAD_MAX = 65536

const { shared } = binding
// Those that this tick has written to, oldest first.
const unflushed = []

/** Strings that the core can encode itself go as they are. */
function encodingOf (chunk, encoding) {
  if (typeof chunk !== 'string') return ENCODING.BUFFER
  if (chunk.length > STRING_MAX) return -1
  switch (encoding) {
    case 'utf8':
    case 'utf-8':
    case undefined:
    case null:
      return ENCODING.UTF8
    case 'latin1':
    case 'binary':
      return ENCODING.LATIN1
    default:
      return -1
  }
}

/** Puts a chunk on a list; tells its length. */
function append (list, chunk, encoding) {
  let how = encodingOf(chunk, encoding)
  if (how === -1) {
    chunk = Buffer.from(chunk, encoding)
    how = ENCODING.BUFFER
  }
  list.push(chunk, how)
  return byteLength(chunk, how)
}

function toBuffer (chunk, encoding) {
  if (typeof chunk !== 'string') return chunk
  return Buffer.from(chunk, encoding === ENCODING.LATIN1 ? 'latin1' : 'utf8')
}

class WriteQueue {
  #socket
  // The write under way: chunk and encoding alternate. Empty: none.
  #list = []
  #callback = null
  #final = null
  // What of the list the core has not taken yet, as one Buffer.
  #rest = null
  #open = false
  #scheduled = false
  #waiting = false
  #sending = false
  #held = false
  #ended = false
  // Writes, and their bytes, that were sent ahead of the stream's own handing
  // them over.
  #ahead = 0
  #aheadBytes = 0

  /** What the write under way is to be called back with at the end; null: the
   * error that the socket is destroyed with, if that is of a write. */
  error = null

  /** Bytes of plaintext that the core has taken. */
  bytesWritten = 0

  constructor (socket) {
    this.#socket = socket
  }

  /** Whether the transport holds back what was written. */
  get waiting () {
    return this.#waiting
  }

  /** Whether what this tick writes is yet to be sent. */
  get scheduled () {
    return this.#scheduled
  }

  /** Whether the core is being given something at this moment. */
  get sending () {
    return this.#sending
  }

  /** Whether FIN has been sent, or is to be when the output is gone. */
  get ended () {
    return this.#ended
  }

  /** Bytes that the core has taken and the stream still counts as buffered. */
  get aheadBytes () {
    return this.#aheadBytes
  }

  /** Bytes that were written to the stream and not yet taken by the core. */
  get pendingBytes () {
    if (this.#rest !== null) return this.#rest.length
    let bytes = 0
    for (let i = 0; i < this.#list.length; i += 2) {
      bytes += byteLength(this.#list[i], this.#list[i + 1])
    }
    return bytes
  }

  write (chunk, encoding, callback) {
    this.#add(chunk, encoding)
    this.#begin(callback)
  }

  writev (entries, callback) {
    for (const { chunk, encoding } of entries) this.#add(chunk, encoding)
    this.#begin(callback)
  }

  #add (chunk, encoding) {
    if (this.#ahead > 0) {
      this.#ahead--
      if (this.#ahead === 0) this.#aheadBytes = 0
    } else {
      append(this.#list, chunk, encoding)
    }
  }

  #begin (callback) {
    if (this.#list.length === 0) {
      callback()
      return
    }
    this.#callback = callback
    this.#schedule()
  }

  #schedule () {
    if (!this.#open || this.#waiting || this.#scheduled) return
    this.#scheduled = true
    unflushed.push(this)
    if (!this.#held) process.nextTick(flush, this)
  }

  #unschedule () {
    if (!this.#scheduled) return
    this.#scheduled = false
    // They are flushed in this order.
    if (unflushed[0] === this) unflushed.shift()
    else unflushed.splice(unflushed.indexOf(this), 1)
  }

  /**
   * While events are delivered: what listeners write goes out when the last of
   * them has returned, by release(), and not a tick later.
   */
  hold () {
    this.#held = true
  }

  release () {
    this.#held = false
    if (this.#scheduled) this.flush()
  }

  /** The connection is secure: what has waited goes out. */
  open () {
    this.#open = true
    if (this.#list.length > 0 || this.#final !== null) this.#schedule()
  }

  /** Sends what this tick has written. */
  flush () {
    if (!this.#scheduled) return
    this.#unschedule()
    if (this.#socket[kConnection] === null) return
    if (this.#waiting) {
      this.#socket[kTransport].sendOutput(this.#socket)
      return
    }
    if (this.#list.length > 0) this.#encrypt()
    else this.#settle()
  }

  /** What the stream has buffered behind a small write goes with it. */
  #join () {
    const entries = this.#socket.writableBuffer
    if (!entries) return
    let bytes = 0
    for (const { chunk, encoding } of entries) {
      if (bytes > AHEAD_MAX) break
      bytes += append(this.#list, chunk, encoding)
      this.#ahead++
    }
    this.#aheadBytes = bytes
  }

  #encrypt () {
    if (this.#ahead === 0 && this.#list.length === 2 &&
        this.#list[0].length < JOIN_MAX) this.#join()
    const list = this.#list
    this.#list = []
    this.#send(list)
  }

  /** Gives the core what it takes, and the transport what that makes. */
  #send (list) {
    const socket = this.#socket
    this.#sending = true
    for (let connection; (connection = socket[kConnection]) !== null;) {
      const taken = list.length === 2
        ? connection.write(list[0], list[1])
        : connection.writev(list)
      const queued = shared[SHARED.QUEUED]
      this.bytesWritten += taken
      if (shared[SHARED.EVENTS] & EVENT.ERROR) {
        socket[kDeliver](EVENT.ERROR)
        this.#sending = false
        return
      }
      this.#rest = queued & QUEUED.REST ? remainder(list, taken) : null
      this.#waiting = (queued & QUEUED.WAIT) !== 0
      socket[kTransport].sendWritten(socket, this)
      if (this.#waiting || this.#rest === null) break
      list = [this.#rest, ENCODING.BUFFER]
    }
    this.#sending = false
    if (!this.#waiting && socket[kConnection] !== null) this.#settle()
  }

  /**
   * The write under way has failed. As in node, it is the stream that destroys
   * the socket with that, after it has called back.
   */
  fail (error) {
    const socket = this.#socket
    const callback = this.#callback
    if (callback === null || this.#ended) {
      socket.destroy(error)
      return
    }
    this.#callback = null
    try {
      callback(error)
    } finally {
      socket.destroy(error)
    }
  }

  /** The transport cannot take more until it calls drain(). */
  wait () {
    this.#waiting = true
  }

  /** The transport has drained: on with the rest, or the next write. */
  drain () {
    if (!this.#waiting) return
    this.#waiting = false
    // A transport that calls back at once: #send() goes on by itself.
    if (this.#sending || this.#socket[kConnection] === null) return
    if (this.#rest === null) this.#settle()
    else this.#send([this.#rest, ENCODING.BUFFER])
  }

  #settle () {
    const callback = this.#callback
    if (callback !== null) {
      this.#callback = null
      callback()
      return
    }
    if (this.#final !== null && this.#open) this.#finish()
  }

  #finish () {
    this.#callback = this.#final
    this.#final = null
    this.#ended = true
    this.#socket[kTransport].finish(this.#socket, this)
    if (!this.#waiting) this.#settle()
  }

  /** Calls back when close_notify has been sent after all that was written. */
  end (callback) {
    this.#final = callback
    if (this.#open) this.#schedule()
    else this.started()
  }

  /**
   * The ClientHello is sent. As in node, an end does not wait for the handshake
   * unless something was written: FIN goes out at once, and a peer that never
   * answers keeps nobody.
   */
  started () {
    if (this.#final !== null && !this.#open &&
        this.#socket[kTransport] !== null) this.#finish()
  }

  /**
   * The socket is being destroyed: what this tick has written still goes out
   * if the transport takes it at once.
   *
   * @returns {object} `callback`: of what is under way, or null; `isWrite`:
   *   whether that is a write; `sent`: the
   *   core has taken all of it; `encrypted`: and waits for the transport;
   *   `open`: the connection was secure; `connecting` and `outcome`, what it is
   *   called back with, are for the caller to set
   */
  close () {
    let sent = false
    const connection = this.#socket[kConnection]
    if (this.#scheduled && this.#open && !this.#waiting &&
        this.#list.length > 0 && connection !== null) {
      const list = this.#list
      this.#list = []
      this.bytesWritten += connection.writev(list)
      sent = shared[SHARED.QUEUED] === 0 && shared[SHARED.EVENTS] === 0
      this.#socket[kTransport].sendLast(this.#socket)
    }
    this.#unschedule()
    this.bytesWritten += this.pendingBytes
    this.#aheadBytes = 0
    this.#list = []
    this.#rest = null
    const isWrite = this.#callback !== null && !this.#ended
    const callback = this.#callback ?? this.#final
    this.#callback = null
    this.#final = null
    return {
      callback,
      connecting: false,
      encrypted: this.#waiting,
      isWrite,
      open: this.#open,
      outcome: null,
      sent
    }
  }
}

function byteLength (chunk, encoding) {
  return typeof chunk === 'string'
    ? Buffer.byteLength(chunk, encoding === ENCODING.LATIN1 ? 'latin1' : 'utf8')
    : chunk.byteLength
}

function remainder (list, taken) {
  if (list.length === 2) return toBuffer(list[0], list[1]).subarray(taken)
  const buffers = []
  for (let i = 0; i < list.length; i += 2) {
    const buffer = toBuffer(list[i], list[i + 1])
    if (buffer.length > taken) buffers.push(buffer.subarray(taken))
    taken = Math.max(0, taken - buffer.length)
  }
  return Buffer.concat(buffers)
}

function flush (queue) {
  queue.flush()
}

// process.exit() right after a write: node has sent it by then.
process.on('exit', () => {
  for (const queue of [...unflushed]) queue.flush()
  binding.flush()
})

module.exports = { WriteQueue }
