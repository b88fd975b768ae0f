'use strict'

/**
 * The sessions that users were given, with what was known of the peer then.
 * node trusts a session that it is given whatever its origin; we let it be
 * offered only if we know it and what it stands for is still true.
 */

const { createHash } = require('node:crypto')

const EXPORTED_MAX = 2048

// digest of the session -> record, in order of arrival
const records = new Map()

function digestOf (session) {
  const bytes = typeof session === 'string'
    ? Buffer.from(session, 'latin1')
    : Buffer.from(session.buffer, session.byteOffset, session.byteLength)
  return createHash('sha256').update(bytes).digest('latin1')
}

/**
 * @param {Buffer} session as it is given out
 * @param {{ contextKey: string, authorized: boolean, chain: Buffer[],
 *   selfSigned: boolean, notAfter: number }} record
 */
function rememberExported (session, record) {
  const digest = digestOf(session)
  records.delete(digest)
  records.set(digest, record)
  if (records.size > EXPORTED_MAX) {
    const [oldest] = records.keys()
    records.delete(oldest)
  }
}

/**
 * @param {string | ArrayBufferView} session
 * @returns {object | undefined} the record
 */
function findExported (session) {
  return records.get(digestOf(session))
}

module.exports = { findExported, rememberExported }
