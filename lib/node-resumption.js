'use strict'

/**
 * Resumption on node:tls, within the rules of this package. node does not
 * check a resumed connection's identity and knows no certificate of it, so a
 * ticket is kept together with the certificates that it was verified by, and
 * only where they are all that the check depends on:
 *
 * - the check is node's own, a function of name and certificate, and both
 *   are the same (the name is part of the key);
 * - the connection that produced the ticket was authorized;
 * - none of the certificates has expired;
 * - no stapled response is asked for, and no pre-shared key is used.
 */

const tls = require('node:tls')

const { peerCertificate, peerX509Certificate } = require('./certificate')
const { identityName, isDefaultCheck } = require('./identity')
const { mayResume } = require('./may-resume')
const { findExported } = require('./node-exported')

// Other runtimes have sessions of their own kinds.
const IS_NODE = process.release?.name === 'node' &&
  process.versions.bun === undefined

/**
 * Everything besides the context that decides whether two connections may
 * share a session, as it is when the first of them starts.
 *
 * @param {string | null} contextKey null: nobody knows the context's options
 * @param {object} options of the connection
 * @returns {string | null} null: this connection is not resumed
 */
function peerKey (contextKey, options) {
  const check = options.checkServerIdentity ?? tls.checkServerIdentity
  if (!IS_NODE || contextKey === null || !isDefaultCheck(check) ||
      !mayResume(options, options.socket)) {
    return null
  }
  const alpn = {}
  if (options.ALPNProtocols) {
    tls.convertALPNProtocols(options.ALPNProtocols, alpn)
  }
  const { minDHSize, path, port, servername, socket } = options
  return JSON.stringify([
    contextKey,
    options.rejectUnauthorized !== false,
    String(minDHSize ?? ''),
    String(identityName(options)),
    String(servername ?? ''),
    String(port ?? socket?.remotePort ?? ''),
    String(path ?? ''),
    alpn.ALPNProtocols?.toString('hex') ?? ''
  ])
}

/**
 * The certificates that a connection was verified by.
 *
 * @param {tls.TLSSocket} socket
 * @returns {{ chain: Buffer[], selfSigned: boolean, notAfter: number }}
 */
function describeChain (socket) {
  const chain = []
  let notAfter = Infinity
  let certificate = socket.getPeerCertificate(true)
  while (certificate?.raw !== undefined) {
    chain.push(certificate.raw)
    notAfter = Math.min(notAfter, Date.parse(certificate.valid_to))
    const issuer = certificate.issuerCertificate
    if (issuer === certificate) {
      return { chain, selfSigned: true, notAfter }
    }
    certificate = issuer
  }
  // Without a certificate there is nothing that could be verified.
  return { chain, selfSigned: false, notAfter: chain.length > 0 ? notAfter : 0 }
}

/** What node takes for a session. */
function isSession (value) {
  return (typeof value === 'string' && value !== '') ||
    ArrayBuffer.isView(value)
}

/**
 * Whether the session that the user has given may be offered: it comes from
 * us, from a connection with the same context, and its peer passes the checks
 * of this connection, or need not.
 *
 * @param {string} contextKey
 * @param {object} options of the connection
 * @returns {{ peer: object, identityError: Error | undefined } | null}
 */
function examineSession (contextKey, options) {
  const peer = IS_NODE ? findExported(options.session) : undefined
  if (peer === undefined || peer.contextKey !== contextKey ||
      peer.notAfter <= Date.now()) {
    return null
  }
  const strict = options.rejectUnauthorized !== false
  if (strict && !peer.authorized) return null
  const check = options.checkServerIdentity ?? tls.checkServerIdentity
  let identityError
  try {
    identityError = check.call(options, identityName(options),
      peerCertificate(peer.chain, peer.selfSigned, true))
  } catch {
    // It is asked again after a full handshake.
    return null
  }
  return strict && identityError ? null : { peer, identityError }
}

/**
 * Lets a resumed connection show the certificates of the one before.
 *
 * @param {tls.TLSSocket} socket
 * @param {{ chain: Buffer[], selfSigned: boolean }} ticket
 */
function showCertificates (socket, { chain, selfSigned }) {
  const define = (name, value) => Object.defineProperty(socket, name, {
    __proto__: null, configurable: true, enumerable: false, value, writable: true
  })
  define('getPeerCertificate', function getPeerCertificate (detailed) {
    return this._handle
      ? peerCertificate(chain, selfSigned, Boolean(detailed))
      : null
  })
  define('getPeerX509Certificate', function getPeerX509Certificate () {
    return this._handle ? peerX509Certificate(chain) : undefined
  })
}

module.exports = {
  describeChain, examineSession, isSession, peerKey, showCertificates
}
