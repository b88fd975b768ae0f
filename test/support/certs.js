'use strict'

/**
 * The keys and certificates of the tests, by name. They are made at first use
 * by scripts/gen-certs.sh and kept in test/.pki.
 *
 *   certs.ca                   Buffer: PEM of a certificate, CRL, bundle ...
 *   certs.server               { cert, key, certFile, keyFile }, ready to be
 *                              spread into TLS options
 *   certs.file('ca.crt')       absolute path
 *   certs.read('ca.crt')       Buffer, read once
 *   certs.fresh('ca.crt')      Buffer with the same content, never seen before
 */

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')

const root = path.join(__dirname, '..', '..')
const dir = path.join(root, 'test', '.pki')

const files = {
  ca: 'ca.crt', // root A: signs everything that has no other issuer named
  otherCa: 'other-ca.crt', // root B
  twinCa: 'twin-ca.crt', // another root with the name of root A
  intermediateCa: 'intermediate.crt', // signed by root A
  bundle: 'bundle.pem', // 120 roots, root A the last of them
  crlEmpty: 'crl-empty.pem', // root A's, nothing revoked
  crlServerRevoked: 'crl-server-revoked.pem', // root A's, revokes `server`
  dh1024: 'dh1024.pem',
  dh2048: 'dh2048.pem'
}

// Names in all server certificates but those that say otherwise: localhost,
// hosta.test, 127.0.0.1, 127.0.0.2, ::1
const identities = {
  server: 'server', // RSA
  ec: 'ec', // P-256
  fromOther: 'from-other', // signed by root B
  hosta: 'hosta', // hosta.test only
  hostb: 'hostb', // hostb.test only
  wildcard: 'wildcard', // *.wild.test
  wrong: 'wrong', // other.example only
  ipOnly: 'ip-only', // 127.0.0.1 and ::1, no name
  cnOnly: 'cn-only', // localhost in the subject, no alternative name
  weak: 'weak', // RSA, 1024 bits
  expired: 'expired', // since 2021
  notYet: 'not-yet', // from 2090
  selfSigned: 'self-signed',
  clientA: 'client-a', // RSA, CN tester
  clientB: 'client-b', // P-256, CN other tester
  clientStranger: 'client-stranger' // signed by root B
}

const cache = new Map()
let made = false

/** The absolute path of a file of the test PKI. */
function file (name) {
  if (!made) {
    execFileSync('bash', [path.join(root, 'scripts', 'gen-certs.sh')], {
      stdio: ['ignore', 'ignore', 'inherit']
    })
    made = true
  }
  return path.join(dir, name)
}

/** The content of a file of the test PKI; the same Buffer each time. */
function read (name) {
  let content = cache.get(name)
  if (content === undefined) {
    content = fs.readFileSync(file(name))
    cache.set(name, content)
  }
  return content
}

/** The content of a file of the test PKI in a Buffer of its own. */
function fresh (name) {
  return Buffer.from(read(name))
}

/** A bundle as the array of the PEM certificates in it. */
function split (pem) {
  return pem.toString().match(/-----BEGIN [^-]+-----[^-]+-----END [^-]+-----\n/g)
}

function identity (name, certName = `${name}.crt`) {
  return {
    cert: read(certName),
    key: read(`${name}.key`),
    certFile: file(certName),
    keyFile: file(`${name}.key`)
  }
}

const certs = { dir, file, read, fresh, split, passphrase: 'secret' }

function define (property, make) {
  Object.defineProperty(certs, property, { enumerable: true, get: make })
}

for (const [property, name] of Object.entries(files)) {
  define(property, () => read(name))
}
for (const [property, name] of Object.entries(identities)) {
  define(property, () => identity(name))
}

// Leaf and intermediate together, as a server should send them; and alone.
define('chained', () => identity('chained', 'chained-full.crt'))
define('chainedAlone', () => identity('chained'))

// clientA in other wrappings, all under certs.passphrase but the last.
define('clientAEncrypted', () => ({
  cert: read('client-a.crt'),
  key: read('client-a-encrypted.key'),
  passphrase: certs.passphrase
}))
define('clientAEncryptedTraditional', () => ({
  cert: read('client-a.crt'),
  key: read('client-a-encrypted-traditional.key'),
  passphrase: certs.passphrase
}))
define('clientAPfx', () => ({
  pfx: read('client-a.pfx'), passphrase: certs.passphrase
}))
define('clientAPfxSha256', () => ({ // its integrity check uses SHA-256
  pfx: read('client-a-sha256.pfx'), passphrase: certs.passphrase
}))
define('clientAPfxLegacy', () => ({ // RC2 and 3DES: needs a legacy provider
  pfx: read('client-a-legacy.pfx'), passphrase: certs.passphrase
}))
define('clientAPfxNoPassword', () => ({ pfx: read('client-a-no-password.pfx') }))

module.exports = certs
