'use strict'

/**
 * eager-tls: TLS for sockets that are already connected, and for all others.
 * The native core where it loads, node:tls where it does not.
 */

const tls = require('node:tls')
const { createConnectAsync } = require('./connect-async')
const { binding, reason } = require('./native')
require('./socket-options')

const backend = binding === null
  ? require('./node-backend')
  : require('./native-backend')

module.exports = {
  TLSSocket: backend.TLSSocket,
  backend: binding === null ? 'node' : 'native',
  backendReason: reason,
  clear: backend.clear,
  configure: backend.configure,
  connect: backend.connect,
  connectAsync: createConnectAsync(backend.connect),
  createSecureContext: backend.createSecureContext,
  stats: backend.stats
}

// node:tls's own, as they are at the time of the call.
for (const name of [
  'DEFAULT_CIPHERS', 'DEFAULT_ECDH_CURVE', 'DEFAULT_MAX_VERSION',
  'DEFAULT_MIN_VERSION', 'checkServerIdentity', 'getCiphers',
  'rootCertificates'
]) {
  Object.defineProperty(module.exports, name, {
    configurable: true, enumerable: true, get: () => tls[name]
  })
}
