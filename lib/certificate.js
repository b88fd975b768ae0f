'use strict'

/**
 * DER -> the objects that tls.TLSSocket hands out: the legacy ones of
 * getPeerCertificate() and getCertificate(), and X509Certificate.
 */

const { X509Certificate } = require('node:crypto')

/** One certificate in the running version's own shape. */
function legacy (der) {
  return new X509Certificate(der).toLegacyObject()
}

/**
 * The result of getPeerCertificate().
 *
 * @param {Buffer[]} chain DER, the peer's own first, then its issuers
 * @param {boolean} selfSigned the last one issued itself
 * @param {boolean} detailed with issuers
 * @returns {object} {} if the peer has shown no certificate
 */
function peerCertificate (chain, selfSigned, detailed) {
  if (chain.length === 0) return {}
  const first = legacy(chain[0])
  if (!detailed) return first
  let last = first
  for (let i = 1; i < chain.length; i++) {
    last.issuerCertificate = legacy(chain[i])
    last = last.issuerCertificate
  }
  // A circle, so that it can be told from an issuer that is not known.
  if (selfSigned) last.issuerCertificate = last
  return first
}

/**
 * The result of getPeerX509Certificate().
 *
 * @param {Buffer[]} chain as above
 * @returns {X509Certificate | undefined} its issuerCertificate leads along
 *   the chain and ends with undefined
 */
function peerX509Certificate (chain) {
  return x509At(chain, 0)
}

function x509At (chain, index) {
  if (index >= chain.length) return undefined
  const certificate = new X509Certificate(chain[index])
  let issuer
  let known = false
  Object.defineProperty(certificate, 'issuerCertificate', {
    __proto__: null,
    configurable: true,
    enumerable: false,
    get () {
      if (!known) {
        issuer = x509At(chain, index + 1)
        known = true
      }
      return issuer
    }
  })
  return certificate
}

/**
 * The result of getCertificate().
 *
 * @param {Buffer | undefined} der the own certificate, if there is one
 * @returns {object}
 */
function ownCertificate (der) {
  return der === undefined ? {} : legacy(der)
}

/**
 * The result of getX509Certificate().
 *
 * @param {Buffer | undefined} der
 * @returns {X509Certificate | undefined}
 */
function ownX509Certificate (der) {
  return der === undefined ? undefined : new X509Certificate(der)
}

module.exports = {
  ownCertificate,
  ownX509Certificate,
  peerCertificate,
  peerX509Certificate
}
