'use strict'

/**
 * The raw socket of a connection that is not an upgrade: made by us, hidden,
 * and what it has to tell about connecting is told by the TLS socket.
 */

const net = require('node:net')

const CHECKS_DELAY = Number(process.versions.node.split('.', 1)[0]) >= 24

const FORWARDED = [
  'lookup', 'connectionAttempt', 'connectionAttemptFailed',
  'connectionAttemptTimeout', 'ready'
]

/** Before Node 24 tls.connect() does not look at it, whatever it is. */
function delayOf (milliseconds) {
  return CHECKS_DELAY || typeof milliseconds === 'number'
    ? milliseconds
    : undefined
}

/**
 * @param {TLSSocket} socket
 * @param {object} options of net.connect()
 * @returns {net.Socket} not told to connect yet
 */
function createRaw (socket, options) {
  const raw = new net.Socket({
    allowHalfOpen: socket.allowHalfOpen,
    keepAlive: options.keepAlive,
    keepAliveInitialDelay: delayOf(options.keepAliveInitialDelay),
    noDelay: options.noDelay
  })
  for (const event of FORWARDED) {
    raw.on(event, (...args) => {
      socket._host = raw._host
      if (raw.autoSelectFamilyAttemptedAddresses !== undefined) {
        socket.autoSelectFamilyAttemptedAddresses =
          raw.autoSelectFamilyAttemptedAddresses
      }
      socket.emit(event, ...args)
    })
  }
  return raw
}

module.exports = { createRaw }
