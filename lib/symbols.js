'use strict'

/**
 * The keys of what a TLSSocket keeps on itself and on the raw socket, and the
 * one of node's own symbols that it cannot do without.
 */

const net = require('node:net')

/** net.Socket keeps its idle timer under a symbol; a socket that is closed
 * has to clear its own. */
const kTimeout = Object.getOwnPropertySymbols(new net.Socket())
  .find((symbol) => symbol.description === 'timeout')

module.exports = {
  kCiphertextRead: Symbol('bytes of ciphertext read'),
  kCiphertextWritten: Symbol('bytes of ciphertext written'),
  kClogged: Symbol('the peer takes no answers'),
  kClosed: Symbol('raw socket has emitted close'),
  kConnection: Symbol('native connection'),
  kConnectOptions: Symbol('connect options'),
  kDataListeners: Symbol('data listeners when the handle was asked for'),
  // The binding calls the function that it was given last: where several
  // copies of this package share it, that of one calls the sockets of all.
  kDeliver: Symbol.for('eager-tls.deliver'),
  kHandshakeTimer: Symbol('handshake timer'),
  kOnread: Symbol('onread'),
  kOwnsRaw: Symbol('made the raw socket itself'),
  kPaused: Symbol('reading stopped'),
  kPlaintextRead: Symbol('bytes of plaintext read'),
  kQueue: Symbol('write queue'),
  kRaw: Symbol('raw socket'),
  kRawClosing: Symbol('raw socket is closing'),
  kRawEnded: Symbol('raw stream has ended'),
  kReady: Symbol('raw socket is ready'),
  kResource: Symbol('asynchronous context'),
  kSessions: Symbol('sessions before secureConnect'),
  kState: Symbol('state'),
  kTimeout,
  kTlsSocket: Symbol('TLS socket of a raw socket'),
  kTransport: Symbol('transport'),
  kVerified: Symbol('peer of the last handshake is verified')
}
