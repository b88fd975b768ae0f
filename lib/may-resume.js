'use strict'

const net = require('node:net')

/**
 * Whether a connection may offer and leave behind sessions that its user did
 * not mention.
 *
 * Not over a Duplex that is no socket: whoever made it may know the flights of
 * the handshake, and with TLS 1.2 those of a resumed one are others. (tedious
 * wraps them into packets of SQL Server's protocol, until 'secureConnect'; the
 * client's Finished, which then is still to come, would go without.)
 * `sessionReuse: true` says that it does not matter.
 *
 * @param {object} options of the connection
 * @param {Duplex | null | undefined} raw none: a socket of our own
 * @returns {boolean}
 */
function mayResume (options, raw) {
  if (options.sessionReuse === false || options.requestOCSP ||
      options.pskCallback) return false
  // An https.Agent hands its connections the sessions that it wants used.
  if (options._agentKey !== undefined) return false
  return options.sessionReuse === true || !raw || raw instanceof net.Socket
}

module.exports = { mayResume }
