'use strict'

/**
 * Which sessions a connection offers and leaves behind.
 */

const { mayResume } = require('./may-resume')
const { peerKey } = require('./peer-key')
const { kRaw } = require('./symbols')

/** Without the raw socket's own getters, which would remember the address
 * beyond its end. */
function remoteEnd (raw) {
  const remote = {}
  raw?._handle?.getpeername?.(remote)
  return remote
}

/**
 * Right before the handshake starts: the core looks for a session in its
 * store, and remembers for which peer to keep the new ones.
 *
 * @param {TLSSocket} socket
 * @param {object} connection native
 * @param {object} options of the connection
 */
function useSessions (socket, connection, options) {
  if (!mayResume(options, socket[kRaw])) return
  const key = peerKey(options, remoteEnd(socket[kRaw]),
    connection.servername(), socket._tlsOptions.ALPNProtocols)
  // An explicit session wins over the store.
  connection.useStore(key, !options.session)
}

module.exports = { useSessions }
