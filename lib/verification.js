'use strict'

/**
 * Whether the peer is who it should be. Asked on every connection, also on a
 * resumed one: node trusts the session there, and its maker.
 */

const errors = require('./errors')
const { checkIdentity } = require('./identity')

/**
 * Sets `authorized` and `authorizationError`.
 *
 * @param {TLSSocket} socket
 * @param {object} connection native
 * @param {object} options of the connection
 * @returns {Error | null} why the socket has to be destroyed
 */
function verifyPeer (socket, connection, options) {
  // What an earlier handshake has shown is no answer.
  socket.authorized = false
  socket.authorizationError = null
  const bits = connection.dhBits()
  if (bits !== 0 && bits < options.minDHSize) {
    return new errors.ERR_TLS_DH_PARAM_SIZE(bits)
  }
  let error = connection.verifyError()
  if (error === null) {
    try {
      error = checkIdentity(options, connection.peerFingerprint() ?? null,
        () => socket.getPeerCertificate(true))
    } catch (thrown) {
      // Whatever was thrown: an unfinished check is no approval.
      return thrown instanceof Error ? thrown : new Error(String(thrown))
    }
  }
  if (!error) {
    socket.authorized = true
    return null
  }
  socket.authorizationError = error.code || error.message
  return options.rejectUnauthorized ? error : null
}

module.exports = { verifyPeer }
