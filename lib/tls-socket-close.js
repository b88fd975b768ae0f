'use strict'

/**
 * The end of a TLS socket: what it holds is freed at once, then the raw socket
 * closes, then 'close' is emitted; and the same when the raw one goes first.
 */

const net = require('node:net')
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
    return
  }
  if (raw instanceof net.Socket) noteClose(raw, callback)
  else setImmediate(callback)
  if (!raw.destroyed) raw.destroy?.()
}

/** As in node, what was being written is called back first, and told only of
 * errors of writes. */
function emitClose (socket, { callback, isWrite, waited }, error) {
  const told = socket[kQueue].error ??
    (error?.syscall === 'write' ? error : null)
  try {
    callback?.(told ?? (isWrite ? errors.canceledError(waited) : null))
  } finally {
    socket.emit('close', Boolean(error))
  }
}

const methods = {
  _destroy (error, callback) {
    const raw = this[kRaw]
    const wasSecure = this[kState] === SECURE
    this.connecting = false
    if (this[kState] === HANDSHAKE) observe.handshakeDone(this, error)
    clearTimers(this)
    const written = this[kQueue].close()
    // A Finished that has waited for company.
    if (wasSecure && this[kConnection] !== null) this[kTransport].sendLast(this)
    closeConnection(this)
    this.ssl = null
    callback(error)
    closeRaw(raw, () => emitClose(this, written, error))
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
    if (this[kRaw] === raw) closeConnection(this)
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
