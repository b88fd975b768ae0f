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
      options.sessionReuse === false || options.requestOCSP ||
      options.pskCallback) {
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

/**
 * Lets a resumed connection show the certificates of the one before.
 *
 * @param {tls.TLSSocket} socket
 * @param {{ chain: Buffer[], selfSigned: boolean }} ticket
 */
function showCertificates (socket, { chain, selfSigned }) {
  const define = (name, value) => Object.defineProperty(socket, name, {
    configurable: true, enumerable: false, value, writable: true
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

module.exports = { describeChain, peerKey, showCertificates }
