'use strict'

/**
 * What stands in for node's TLSWrap under `socket._handle` and `socket.ssl`:
 * the few members that drivers, http.Agent and http2 touch. It is no
 * StreamBase, so that http2 wraps the socket by its own means.
 */

const { kConnection, kPaused, kQueue, kRaw } = require('./symbols')

const SHARED_METHODS = [
  'exportKeyingMaterial', 'getCertificate', 'getCipher', 'getEphemeralKeyInfo',
  'getFinished', 'getPeerCertificate', 'getPeerFinished',
  'getPeerX509Certificate', 'getProtocol', 'getSession', 'getSharedSigalgs',
  'getTLSTicket', 'getX509Certificate', 'isSessionReused', 'renegotiate',
  'setMaxSendFragment', 'setServername', 'setSession'
]

class Handle {
  #socket
  // Nobody's, or what an http.Agent has put there for the time in which no
  // data may come; then node's own again.
  onread = undefined

  constructor (socket) {
    this.#socket = socket
  }

  get isStreamBase () { return false }

  // The raw socket and its handle, by the names that TLSWrap has for them.
  get _parentWrap () { return this.#socket[kRaw] }
  get _parent () { return this.#socket[kRaw]?._handle }
  get _secureContext () { return this.#socket._tlsOptions.secureContext }

  get reading () { return !this.#socket[kPaused] }
  set reading (value) {}

  get bytesRead () { return this.#socket.bytesRead }
  get bytesWritten () { return this.#socket[kQueue].bytesWritten }
  get writeQueueSize () { return this.#socket[kQueue].pendingBytes }
  get fd () { return this.#socket[kRaw]?._handle?.fd ?? -1 }

  readStart () {
    this.#socket._read()
    return 0
  }

  readStop () {
    return 0
  }

  /** Whether data has come that nobody has read yet. */
  hasPendingRead () {
    return this.#socket[kRaw]?._handle?.hasPendingRead?.() ?? false
  }

  close (callback) {
    if (callback) this.#socket.once('close', callback)
    this.#socket.destroy()
  }

  getAsyncId () {
    return this.#socket[kRaw]?._handle?.getAsyncId?.() ?? 0
  }

  getProviderType () {
    return 0
  }

  hasRef () {
    return this.#socket[kRaw]?._handle?.hasRef?.() ?? true
  }

  ref () { this.#socket.ref() }
  unref () { this.#socket.unref() }
  setNoDelay (enable) { this.#socket.setNoDelay(enable) }
  setKeepAlive (...args) { this.#socket.setKeepAlive(...args) }

  getsockname (out) {
    Object.assign(out, this.#socket._getsockname())
    return 0
  }

  getpeername (out) {
    Object.assign(out, this.#socket._getpeername())
    return 0
  }

  verifyError () { return this.#socket[kConnection]?.verifyError() ?? null }
  getServername () { return this.#socket[kConnection]?.servername() ?? false }
  getALPNNegotiatedProtocol () { return this.#socket.alpnProtocol }
  start () { this.#socket._start() }

  static {
    // The same names on the socket and on node's TLSWrap.
    for (const name of SHARED_METHODS) {
      Object.defineProperty(this.prototype, name, {
        configurable: true,
        value (...args) { return this.#socket[name](...args) },
        writable: true
      })
    }
  }
}

/**
 * Whether somebody else has taken the place of node's own reader: an http.Agent
 * does, on idle sockets, and wants them destroyed by whatever comes.
 */
function isGuarded (handle) {
  return typeof handle?.onread === 'function' &&
    handle.onread.name !== 'onStreamRead'
}

module.exports = { Handle, isGuarded }
