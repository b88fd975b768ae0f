'use strict'

/**
 * The check that the certificate is the one of the host that was meant.
 *
 * node's own check is a pure function of the name and the certificate. What
 * it has accepted is remembered by the certificate's fingerprint, so that the
 * next connection to the same server need not build certificate objects.
 * Refusals are not remembered: their errors hold the certificate.
 */

const tls = require('node:tls')

const MEMO_MAX = 1024

/**
 * Whether the check is node's own, known by its source: what somebody else has
 * put in its place, to look at pins or at the time, may refuse tomorrow what it
 * accepts today.
 */
function isNodes (check) {
  const source = String(check)
  return source.includes('splitEscapedAltNames(') &&
    source.includes('ERR_TLS_CERT_ALTNAME_INVALID')
}

const nodeCheck = isNodes(tls.checkServerIdentity)
  ? tls.checkServerIdentity
  : null

// hostname + NUL + fingerprint, in order of arrival.
const accepted = new Set()

const ownIds = newIds()

/** The name that the user has given to the peer, if any. */
function givenName (options) {
  return options.servername || options.host ||
    (options.socket && options.socket._host)
}

/**
 * The name that the certificate has to be for, in node's order.
 *
 * @param {object} options of the connection
 * @returns {string}
 */
function identityName (options) {
  return givenName(options) || 'localhost'
}

/** Numbers of identity functions. Whoever shares sessions shares these, too. */
function newIds () {
  return { known: new WeakMap(), last: 0 }
}

/**
 * A number for an identity function, the same for the same function, never
 * used for another one. Part of what decides whether sessions may be shared.
 *
 * @param {Function} check
 * @param {object} [ids] made by newIds()
 * @returns {number}
 */
function identityId (check, ids = ownIds) {
  let id = ids.known.get(check)
  if (id === undefined) {
    id = ++ids.last
    ids.known.set(check, id)
  }
  return id
}

/**
 * Whether this is the check that node makes by default.
 *
 * @param {unknown} check
 * @returns {boolean}
 */
function isDefaultCheck (check) {
  return check === nodeCheck
}

/**
 * Checks the peer's identity. What options.checkServerIdentity throws passes
 * through, as it does in node.
 *
 * @param {object} options of the connection; checkServerIdentity is a function
 * @param {string | null} fingerprint SHA-256 of the peer's certificate, as a
 *   latin1 string; null: not known, nothing is remembered
 * @param {() => object} getCertificate makes the full certificate object
 * @returns {Error | undefined} what the check returned
 */
function checkIdentity (options, fingerprint, getCertificate) {
  const name = identityName(options)
  if (options.checkServerIdentity !== nodeCheck ||
      typeof name !== 'string' || fingerprint === null) {
    return options.checkServerIdentity(name, getCertificate())
  }
  const key = `${name}\0${fingerprint}`
  if (accepted.has(key)) return undefined
  const error = options.checkServerIdentity(name, getCertificate())
  if (error === undefined) remember(key)
  return error
}

function remember (key) {
  if (accepted.size >= MEMO_MAX) {
    const [oldest] = accepted
    accepted.delete(oldest)
  }
  accepted.add(key)
}

module.exports = {
  checkIdentity, givenName, identityId, identityName, isDefaultCheck, newIds
}
