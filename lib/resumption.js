'use strict'

/**
 * Which sessions a connection offers and leaves behind.
 */

const { givenName } = require('./identity')
const { mayResume } = require('./may-resume')
const { peerKey } = require('./peer-key')
const { kRaw } = require('./symbols')

/**
 * Where the raw socket leads. Without its own getters, which would remember
 * the address beyond its end; and no address, which takes time, where a name
 * stands for it.
 */
function remoteEnd (raw, connection, options) {
  const remote = {}
  const port = connection.remotePort()
  if (port > 0 && givenName(options)) remote.port = port
  else raw?._handle?.getpeername?.(remote)
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
  const raw = socket[kRaw]
  if (!mayResume(options, raw)) return
  const key = peerKey(options, remoteEnd(raw, connection, options),
    connection.servername(), options.ALPNProtocols)
  // An explicit session wins over the store.
  connection.useStore(key, !options.session)
}

module.exports = { useSessions }
