'use strict'

/**
 * What getSession() gives and the `session` option takes.
 *
 * Until Node 21 that is the DER of the SSL_SESSION. Since 22 node puts the name
 * in front that the connection was verified for, and ignores sessions of
 * another name, or without one if the connection is to be verified. We give
 * and take what the running version does, so that sessions can be handed to
 * and fro; older versions take the newer form, too.
 */

const { Buffer } = require('node:buffer')
const { identityName } = require('./identity')

const PREFIX = Buffer.from('\0nodejs:tls:session:1\0', 'latin1')
const LENGTH_SIZE = 2
const WRAPS = Number(process.versions.node.split('.', 1)[0]) >= 22

/**
 * @param {Buffer} der
 * @param {object | null} options of the connection; null: it was not made by
 *   connect(), and has no name
 * @returns {Buffer}
 */
function wrapSession (der, options) {
  if (!WRAPS) return der
  const name = Buffer.from(String(identityName(options ?? {})))
  const header = Buffer.alloc(PREFIX.length + LENGTH_SIZE)
  PREFIX.copy(header)
  header.writeUInt16BE(name.length, PREFIX.length)
  return Buffer.concat([header, name, der])
}

/**
 * @param {string | ArrayBufferView} session
 * @param {object | null} options of the connection
 * @returns {ArrayBufferView | null} the DER; null: it may not be used
 */
function unwrapSession (session, options) {
  options ??= {}
  if (typeof session === 'string') session = Buffer.from(session, 'latin1')
  if (!ArrayBuffer.isView(session)) throw notASession()
  const bytes = Buffer.from(session.buffer, session.byteOffset,
    session.byteLength)
  const head = PREFIX.length + LENGTH_SIZE
  if (bytes.length < head || !bytes.subarray(0, PREFIX.length).equals(PREFIX)) {
    return WRAPS && options.rejectUnauthorized !== false ? null : bytes
  }
  const end = head + bytes.readUInt16BE(PREFIX.length)
  const name = bytes.toString('utf8', head, end)
  if (name !== identityName(options)) return null
  return bytes.subarray(end)
}

/**
 * The `session` option of connect(): until Node 21 it was no string.
 *
 * @param {unknown} session
 */
function validateSession (session) {
  if (!ArrayBuffer.isView(session) && !(WRAPS && typeof session === 'string')) {
    throw notASession()
  }
}

function notASession () {
  const error = new TypeError('Session must be a buffer')
  error.code = 'ERR_INVALID_ARG_TYPE'
  return error
}

module.exports = { unwrapSession, validateSession, wrapSession }
