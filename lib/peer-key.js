'use strict'

/**
 * All that decides whether two connections may share a session, but for the
 * context, which the core adds. Taken when the handshake starts, and compared
 * as a whole.
 */

const { identityId, identityName } = require('./identity')

/** Unambiguous, whatever the text holds. */
function field (value) {
  const text = value === undefined || value === null ? '' : String(value)
  return `${text.length}:${text}`
}

/**
 * @param {object} options of the connection
 * @param {object | null} raw the raw socket, connected
 * @param {Uint8Array | undefined} alpn wire format
 * @returns {string}
 */
function peerKey (options, raw, alpn) {
  const target = options.path && !options.socket
    ? `path ${options.path}`
    : `port ${raw?.remotePort ?? options.port ?? ''}`
  return field(options.rejectUnauthorized ? 'strict' : 'lax') +
    field(identityId(options.checkServerIdentity)) +
    field(options.minDHSize) +
    field(options.servername) +
    field(identityName(options)) +
    field(target) +
    field(alpn === undefined ? '' : Buffer.from(alpn).toString('latin1'))
}

module.exports = { peerKey }
