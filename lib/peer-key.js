'use strict'

/**
 * All that decides whether two connections may share a session, but for the
 * context, which the core adds. Taken when the handshake starts, and compared
 * as a whole.
 */

const { givenName, identityId, identityName, newIds } = require('./identity')
const { common } = require('./runtime')

// The store of sessions is the binding's, which copies of this package share.
common.identityIds ??= newIds()

/** Unambiguous, whatever the text holds. */
function field (value) {
  const text = value === undefined || value === null ? '' : String(value)
  return `${text.length}:${text}`
}

/**
 * The port counts twice: that of the raw socket may be a proxy's. A peer that
 * was given no name is known by its address: else all on this port would be
 * one, and tickets of one would push out those of another.
 *
 * @param {object} options of the connection
 * @param {{ address?: string, port?: number }} remote end of the raw socket
 * @param {string | false} sni what setServername() may have changed
 * @param {Uint8Array | undefined} alpn wire format
 * @returns {string}
 */
function peerKey (options, remote, sni, alpn) {
  const target = options.path && !options.socket
    ? `path ${options.path}`
    : `port ${remote.port ?? ''} ${options.port ?? ''}`
  const address = givenName(options) ? '' : remote.address
  return field(options.rejectUnauthorized ? 'strict' : 'lax') +
    field(identityId(options.checkServerIdentity, common.identityIds)) +
    field(options.minDHSize) +
    field(options.servername) +
    field(sni) +
    field(identityName(options)) +
    field(target) +
    field(address) +
    field(alpn === undefined ? '' : Buffer.from(alpn).toString('latin1'))
}

module.exports = { peerKey }
