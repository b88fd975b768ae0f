'use strict'

/**
 * The end of a TLS socket: what it holds is freed at once, then the raw socket
 * closes, then 'close' is emitted; and the same when the raw one goes first.
 */

const net = require('node:net')
const { constants } = require('node:os')
const errors = require('./errors')
const observe = require('./observe')
const { watchIdleContexts } = require('./runtime')
const { CLOSED, HANDSHAKE, SECURE, setState } = require('./socket-state')
const {
  kCiphertextRead, kCiphertextWritten, kClosed, kConnection, kQueue, kRaw,
  kRawClosing, kRawEnded, kState, kTimeout, kTransport
} = require('./symbols')
const { keepErrorListener, noteClose } = require('./takeover')

/** Frees the engine, and with it a single-use context, at once. */
function closeConnection (socket, reset = false) {
  const connection = socket[kConnection]
  if (connection === null) return
  socket[kCiphertextRead] = connection.bytesRead()
  socket[kCiphertextWritten] = connection.bytesWritten()
  socket[kConnection] = null
  connection.close(reset || socket[kRaw]?.resetAndClosing === true)
  watchIdleContexts()
  observe.contextsChanged()
}

function clearTimers (socket) {
  setState(socket, CLOSED)
  for (let s = socket; s != null; s = s._parent) clearTimeout(s[kTimeout])
}

/** The raw socket closes first, then ours does. */
function closeRaw (raw, callback) {
  if (raw === null || raw[kClosed]) {
    process.nextTick(callback)
  } else if (raw instanceof net.Socket) {
    noteClose(raw, callback)
    if (!raw.destroyed) raw.destroy()
  } else {
    setImmediate(callback)
  }
}

/** As in node, before 'error' is told: its own 'close' comes first then. */
function closeDuplex (raw) {
  if (raw === null || raw instanceof net.Socket || raw.destroyed) return
  raw.destroy?.()
}

/**
 * What the write under way is called back with: as in node, it is told only of
 * errors of writes.
 */
function outcomeOf (socket, written, error) {
  if (written.sent) return null
  if (socket[kQueue].error !== null) return socket[kQueue].error
  if (error?.syscall === 'write') return error
  if (written.connecting) return new errors.ERR_SOCKET_CLOSED_BEFORE_CONNECTION()
  return errors.canceledError(written, socket._secureEstablished)
}

/** Once. */
function callBack (written) {
  const { callback, outcome } = written
  written.callback = null
  callback?.(outcome)
}

/**
 * When node does it: for what was sent, in the next turn; for what the transport
 * has not taken, right behind 'error'; for what waits for the handshake, when
 * the raw socket has closed.
 */
function scheduleCallBack (socket, written) {
  if (!socket._secureEstablished) return
  const raw = socket[kRaw]
  if (written.sent && raw !== null && !raw[kClosed]) setImmediate(callBack, written)
  else process.nextTick(callBack, written)
}

function emitClose (socket, written, error) {
  // Node has lost sight of it.
  if (written.sent && written.callback !== null) {
    written.outcome = errors.canceledError(written, true)
  }
  // As in node: a write that waits for the connection is told of its end by
  // 'close'.
  if (written.connecting) {
    try {
      socket.emit('close', Boolean(error))
    } finally {
      callBack(written)
    }
    return
  }
  try {
    callBack(written)
  } finally {
    socket.emit('close', Boolean(error))
  }
}

/** The raw socket goes first: what was written until now still does, and what
 * it can take no more has failed. */
function loseRaw (socket) {
  const queue = socket[kQueue]
  if (socket[kConnection] !== null && (queue.ended || socket[kState] === SECURE)) {
    const written = queue.close()
    if (written.isWrite && !written.sent &&
        !(written.encrypted && socket[kTransport].hasSent(socket))) {
      written.outcome = errors.errnoError(-constants.errno.ECANCELED, 'write')
    }
    // Behind an error of the raw socket, which is still to be told.
    if (written.callback !== null) {
      process.nextTick(process.nextTick, callBack, written)
    }
  }
  closeConnection(socket)
}

const methods = {
  _destroy (error, callback) {
    const raw = this[kRaw]
    const wasSecure = this[kState] === SECURE
    const written = this[kQueue].close()
    written.connecting = this.connecting && written.isWrite
    this.connecting = false
    if (this[kState] === HANDSHAKE) observe.handshakeDone(this, error)
    clearTimers(this)
    // A Finished that has waited for company.
    if (wasSecure && this[kConnection] !== null) this[kTransport].sendLast(this)
    closeConnection(this)
    this.ssl = null
    try {
      closeDuplex(raw)
    } finally {
      callback(error)
      if (written.isWrite) {
        written.outcome = outcomeOf(this, written, error)
        scheduleCallBack(this, written)
      }
      closeRaw(raw, () => emitClose(this, written, error))
    }
  },

  /** The raw socket is being destroyed, by us or by somebody else. */
  [kRawClosing] (error) {
    const raw = this[kRaw]
    if (this.destroyed || raw === null) return
    if (error) keepErrorListener(raw)
    // All that came is still to be read: it ends by itself.
    if (!error && this[kRawEnded] && this[kState] === SECURE &&
        !this.readableEnded) {
      noteClose(raw, () => {})
      return
    }
    if (this[kRaw] === raw) loseRaw(this)
    noteClose(raw, () => this.destroy())
  },

  resetAndDestroy () {
    const raw = this[kRaw]
    if (this[kConnection] === null || !raw?.resetAndDestroy) {
      this.destroy(new errors.ERR_SOCKET_CLOSED())
      return this
    }
    closeConnection(this, true)
    raw.resetAndDestroy()
    this.destroy()
    return this
  }
}

/** Puts all of it on TLSSocket.prototype, as visible as it is in node. */
function install (proto) {
  for (const name of Reflect.ownKeys(methods)) {
    Object.defineProperty(proto, name, {
      configurable: true, enumerable: true, value: methods[name], writable: true
    })
  }
}

module.exports = { install }
