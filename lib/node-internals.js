'use strict'

/**
 * What a TLS socket inherits from node's classes and what would reach node's
 * binding there: a TLSWrap that it does not have. Nobody but node calls most
 * of these; here they are harmless, as test/unit/prototype-chain.test.js
 * proves.
 */

const net = require('node:net')
const tls = require('node:tls')
const { kRaw } = require('./symbols')

// The handle of an autoSelectFamily attempt: the raw socket has its own.
const kReinitializeHandle =
  Object.getOwnPropertySymbols(tls.TLSSocket.prototype)
    .find((symbol) => symbol.description === 'kReinitializeHandle')

const inert = {
  _wrapHandle () { return this.ssl },
  _init () {},
  _finishInit () {},
  _destroySSL () {}
}
if (kReinitializeHandle !== undefined) inert[kReinitializeHandle] = () => {}

const rerouted = {
  _writeGeneric (writev, data, encoding, callback) {
    if (writev) this._writev(data, callback)
    else this._write(data, encoding, callback)
  }
}

// Since Node 24.
if (net.Socket.prototype.setTypeOfService !== undefined) {
  const { getTypeOfService, setTypeOfService } = net.Socket.prototype
  rerouted.setTypeOfService = function (tos) {
    const raw = this[kRaw]
    setTypeOfService.call(raw instanceof net.Socket ? raw : this, tos)
    return this
  }
  rerouted.getTypeOfService = function () {
    const raw = this[kRaw]
    return getTypeOfService.call(raw instanceof net.Socket ? raw : this)
  }
}

module.exports = { ...inert, ...rerouted }
