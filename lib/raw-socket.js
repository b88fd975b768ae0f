'use strict'

/**
 * The raw socket of a connection that is not an upgrade: made by us, hidden,
 * and what it has to tell about connecting is told by the TLS socket.
 */

const net = require('node:net')

const FORWARDED = [
  'lookup', 'connectionAttempt', 'connectionAttemptFailed',
  'connectionAttemptTimeout', 'ready'
]

/**
 * @param {TLSSocket} socket
 * @param {object} options of net.connect()
 * @returns {net.Socket} not told to connect yet
 */
function createRaw (socket, options) {
  const raw = new net.Socket({
    allowHalfOpen: socket.allowHalfOpen,
    blockList: options.blockList,
    keepAlive: options.keepAlive,
    keepAliveInitialDelay: options.keepAliveInitialDelay,
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
