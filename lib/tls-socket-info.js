'use strict'

/**
 * The rest of a TLSSocket's surface: what can be asked of it, and what is
 * passed on to the raw socket. Getters answer as node's do before the
 * handshake and after the end.
 */

const net = require('node:net')
const certificate = require('./certificate')
const errors = require('./errors')
const { binding } = require('./runtime')
const { createSecureContext, handleOf, isForeign } = require('./secure-context')
const nodeInternals = require('./node-internals')
const { isReplaced } = require('./node-originals')
const { unwrapSession, wrapSession } = require('./session-format')
const {
  kConnection, kConnectOptions, kDataListeners, kOnread, kPaused,
  kPlaintextRead, kQueue, kRaw, kTransport
} = require('./symbols')

const HAS_KEY_SHAPE = Number(process.versions.node.split('.', 1)[0]) >= 24

const { on, pause, prependListener, resume } = net.Socket.prototype

function validateString (value, name) {
  if (typeof value !== 'string') {
    throw new errors.ERR_INVALID_ARG_TYPE(name, 'string', value)
  }
}

function validateNumber (value, name, min, max) {
  if (typeof value !== 'number') {
    throw new errors.ERR_INVALID_ARG_TYPE(name, 'number', value)
  }
  if (!Number.isInteger(value)) {
    throw new errors.ERR_OUT_OF_RANGE(name, 'an integer', value)
  }
  if (value < min || value > max) {
    throw new errors.ERR_OUT_OF_RANGE(name, `>= ${min} && <= ${max}`, value)
  }
}

/** Until Node 24 it holds what there is; since then all three, and the group. */
function ephemeralKeyInfo (connection) {
  const found = connection.ephemeralKey()
  if (!HAS_KEY_SHAPE) return found
  const { type, name, size } = found
  const group = type === undefined ? connection.hybridGroup() : undefined
  return group === undefined
    ? { type, name, size }
    : { type: 'TLSGroup', name: group, size: undefined }
}

/** Facts about the connection and its peer. */
const facts = {
  getPeerCertificate (detailed) {
    if (this[kConnection] === null) return null
    const list = this[kConnection].peerCertificates(Boolean(detailed))
    if (list === undefined) return {}
    const [selfSigned, , ...chain] = list
    return certificate.peerCertificate(chain, selfSigned, Boolean(detailed))
  },

  getPeerX509Certificate () {
    const list = this[kConnection]?.peerCertificates(true)
    if (list === undefined) return undefined
    const [, sent, ...chain] = list
    return certificate.peerX509Certificate(chain.slice(0, Math.max(sent, 1)))
  },

  getCertificate () {
    if (this[kConnection] === null) return null
    return certificate.ownCertificate(this[kConnection].ownCertificate()[0])
  },

  getX509Certificate () {
    if (this[kConnection] === null) return undefined
    return certificate.ownX509Certificate(
      this[kConnection].ownCertificate()[0])
  },

  getCipher () {
    return this[kConnection] === null ? null : this[kConnection].cipher()
  },

  getProtocol () {
    return this[kConnection] === null ? null : this[kConnection].protocol()
  },

  getEphemeralKeyInfo () {
    return this[kConnection] === null
      ? null
      : ephemeralKeyInfo(this[kConnection])
  },

  getSharedSigalgs () {
    return this[kConnection] === null ? null : this[kConnection].sharedSigalgs()
  },

  getFinished () {
    return this[kConnection] === null ? null : this[kConnection].finished(false)
  },

  getPeerFinished () {
    return this[kConnection] === null ? null : this[kConnection].finished(true)
  },

  getSession () {
    if (this[kConnection] === null) return null
    const der = this[kConnection].session()
    return der === undefined
      ? undefined
      : wrapSession(der, this[kConnectOptions])
  },

  getTLSTicket () {
    return this[kConnection] === null ? null : this[kConnection].ticket()
  },

  isSessionReused () {
    return this[kConnection] === null ? null : this[kConnection].sessionReused()
  },

  exportKeyingMaterial (length, label, context) {
    validateNumber(length, 'length', 1, 2 ** 32 - 1)
    validateString(label, 'label')
    if (context !== undefined && !ArrayBuffer.isView(context)) {
      throw new errors.ERR_INVALID_ARG_TYPE('context',
        ['Buffer', 'TypedArray', 'DataView'], context)
    }
    if (!this._secureEstablished || this[kConnection] === null) {
      throw new errors.ERR_TLS_INVALID_STATE()
    }
    return this[kConnection].exportKeyingMaterial(length, label, context)
  }
}

/** What changes the connection. */
const controls = {
  setServername (name) {
    validateString(name, 'name')
    this[kConnection]?.setServername(name)
  },

  setSession (session) {
    const der = unwrapSession(session, this[kConnectOptions])
    if (der === null) return
    try {
      this[kConnection]?.setSession(der)
    } catch (error) {
      // As in node, bytes that are no session are ignored.
      if (!error.code?.startsWith('ERR_SSL_') &&
          !error.code?.startsWith('ERR_OSSL_')) throw error
    }
  },

  setMaxSendFragment (size) {
    validateNumber(size, 'size', -(2 ** 31), 2 ** 31 - 1)
    return this[kConnection]?.setMaxSendFragment(size) ?? false
  },

  /** As in node, where only a server refuses renegotiations. */
  disableRenegotiation () {},

  renegotiate (options, callback) {
    if (options === null || typeof options !== 'object') {
      throw new errors.ERR_INVALID_ARG_TYPE('options', 'object', options)
    }
    if (callback !== undefined && typeof callback !== 'function') {
      throw new errors.ERR_INVALID_ARG_TYPE('callback', 'function', callback)
    }
    if (this.destroyed) return undefined
    try {
      this[kConnection].renegotiate()
    } catch (error) {
      if (callback) process.nextTick(callback, error)
      return false
    }
    this[kTransport]?.sendOutput(this)
    if (callback) this.once('secure', () => callback(null))
    return true
  },

  setKeyCert (context) {
    if (this[kConnection] === null) return
    const own = isForeign(context)
      ? createSecureContext(binding, context)
      : context
    this[kConnection].useIdentityOf(handleOf(own))
    if (own !== context) own.close()
  },

  /** Connections that are to be traced are node:tls's from the start. */
  enableTrace () {}
}

/* What the core records is only recorded while somebody listens. */
function wantEvent (socket, event) {
  if (event === 'keylog') socket[kConnection]?.wantKeylog(true)
  else if (event === 'session') socket[kConnection]?.wantSessions(true)
}

function onAndWant (event, listener) {
  wantEvent(this, event)
  return on.call(this, event, listener)
}

const listening = {
  addListener: onAndWant,

  on: onAndWant,

  prependListener (event, listener) {
    wantEvent(this, event)
    return prependListener.call(this, event, listener)
  }
}

/** Passed on to the raw socket. */
const transportMethods = {
  setNoDelay (enable) {
    this[kRaw]?.setNoDelay?.(enable)
    return this
  },

  setKeepAlive (...args) {
    this[kRaw]?.setKeepAlive?.(...args)
    return this
  },

  ref () {
    this[kRaw]?.ref?.()
    return this
  },

  unref () {
    this[kRaw]?.unref?.()
    return this
  },

  _getpeername () {
    if (this[kConnection] === null) return this._peername ?? {}
    this._peername = this[kRaw]?._getpeername?.() ?? {}
    return this._peername
  },

  _getsockname () {
    return this[kConnection] === null
      ? {}
      : this[kRaw]?._getsockname?.() ?? {}
  }
}

/* With onread nothing is buffered here: stopping means not to read. */
const flow = {
  pause () {
    if (this[kOnread] !== null && this[kConnection] && !this[kPaused]) {
      this[kPaused] = true
      this[kTransport]?.readStop(this)
    }
    return pause.call(this)
  },

  resume () {
    if (this[kOnread] !== null) this._read()
    return resume.call(this)
  }
}

const getters = {
  /**
   * Nothing, in general: node:tls and http2 then take this socket for any
   * Duplex, as they must. Two want a handle: an http.Agent guards its idle
   * sockets against unasked-for data by it; and node:tls looks again when it
   * has wrapped the socket, and takes one without for unconnected. What has
   * come between is its listener for 'data'.
   */
  _handle () {
    // With ours in its place, node:tls does not come to wrap it.
    if (isReplaced()) return this.ssl
    const listeners = this.listenerCount('data')
    const wrapped = listeners > this[kDataListeners]
    this[kDataListeners] = listeners
    return wrapped || this.listenerCount('agentRemove') > 0 ? this.ssl : null
  },

  pending () { return this.ssl === null || this.connecting },

  bufferSize () { return this.ssl === null ? undefined : this.writableLength },

  bytesRead () { return this[kPlaintextRead] },

  bytesWritten () {
    const queue = this[kQueue]
    let bytes = queue.bytesWritten + queue.pendingBytes - queue.aheadBytes
    for (const { chunk, encoding } of this.writableBuffer ?? []) {
      bytes += typeof chunk === 'string'
        ? Buffer.byteLength(chunk, encoding)
        : chunk.byteLength
    }
    return bytes
  },

  _bytesDispatched () { return this[kQueue].bytesWritten }
}

/** Puts all of it on TLSSocket.prototype, as visible as it is in node. */
function install (proto) {
  const groups =
    [facts, controls, listening, flow, transportMethods, nodeInternals]
  for (const methods of groups) {
    for (const name of Reflect.ownKeys(methods)) {
      Object.defineProperty(proto, name, {
        configurable: true, enumerable: true, value: methods[name], writable: true
      })
    }
  }
  for (const name of Object.keys(getters)) {
    const inherited =
      Object.getOwnPropertyDescriptor(net.Socket.prototype, name)
    Object.defineProperty(proto, name, {
      configurable: true,
      enumerable: inherited?.enumerable ?? false,
      get: getters[name],
      // net.Socket's constructor sets what it inherits.
      set: name === '_handle' ? () => {} : undefined
    })
  }
}

module.exports = { install }
