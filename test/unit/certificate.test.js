'use strict'

const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')
const { X509Certificate } = require('node:crypto')
const { once } = require('node:events')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const tls = require('node:tls')

const certs = require('../support/certs')
const {
  ownCertificate, ownX509Certificate, peerCertificate, peerX509Certificate
} = require('../../lib/certificate')

/** What node:tls says of a server, and the DER behind it. */
async function askNode (serverOptions, clientOptions) {
  const server = tls.createServer({
    ...serverOptions, requestCert: true, rejectUnauthorized: false
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = tls.connect({
    port: server.address().port,
    host: '127.0.0.1',
    rejectUnauthorized: false,
    ...clientOptions
  })
  await once(client, 'secureConnect')
  // Before any other getter: node 20 takes the chain apart in
  // getPeerX509Certificate().
  const detailed = client.getPeerCertificate(true)
  const short = client.getPeerCertificate()
  const own = client.getCertificate()
  const x509 = client.getPeerX509Certificate()
  const ownX509 = client.getX509Certificate()
  client.destroy()
  server.close()
  await once(server, 'close')

  const chain = [detailed.raw]
  let last = detailed
  while (last.issuerCertificate && last.issuerCertificate !== last) {
    last = last.issuerCertificate
    chain.push(last.raw)
  }
  return {
    chain,
    selfSigned: last.issuerCertificate === last,
    detailed,
    short,
    own,
    x509,
    ownX509
  }
}

/** deepEqual does not look at the order of keys. */
function assertSameShape (actual, expected) {
  assert.deepEqual(actual, expected)
  for (let a = actual, e = expected; ; a = a.issuerCertificate,
  e = e.issuerCertificate) {
    assert.deepEqual(Object.keys(a), Object.keys(e))
    if (e.issuerCertificate === undefined || e.issuerCertificate === e) {
      assert.equal(a.issuerCertificate === a, e.issuerCertificate === e)
      return
    }
  }
}

/** Self-signed certificates that the test PKI does not have. */
function makeSelfSigned (directory, name, algorithm, extensions) {
  const file = path.join(directory, name)
  execFileSync('openssl', ['req', '-x509', '-newkey', ...algorithm, '-nodes',
    '-keyout', `${file}.key`, '-out', `${file}.crt`, '-days', '30',
    '-subj', '/C=XX/O=One/O=Two/OU=With, comma/CN=localhost',
    ...extensions.flatMap((extension) => ['-addext', extension])],
  { stdio: 'ignore' })
  return {
    key: fs.readFileSync(`${file}.key`), cert: fs.readFileSync(`${file}.crt`)
  }
}

describe('certificate objects', () => {
  let directory
  before(() => {
    directory = fs.mkdtempSync(path.join(os.tmpdir(), 'eager-tls-certs-'))
  })
  after(() => fs.rmSync(directory, { recursive: true }))

  const { ca, clientA } = certs
  const inPki = {
    'an RSA certificate and its root': [certs.server, { ca }],
    'an EC certificate and its root': [certs.ec, { ca }],
    'a certificate whose issuer is not known': [certs.fromOther, { ca }],
    'a self-signed certificate': [certs.selfSigned, { ca }],
    'a self-signed certificate that is trusted':
      [certs.selfSigned, { ca: certs.selfSigned.cert }],
    'a certificate without alternative names': [certs.cnOnly, { ca }],
    'a chain with an intermediate': [{
      cert: certs.read('chained-full.crt'), key: certs.read('chained.key')
    }, { ca }],
    'a chain without its intermediate': [{
      cert: certs.read('chained.crt'), key: certs.read('chained.key')
    }, { ca }]
  }
  for (const [name, [server, client]] of Object.entries(inPki)) {
    it(`are those of node for ${name}`, async () => {
      const expected = await askNode(server, { ...client, ...clientA })
      const { chain, selfSigned } = expected
      assertSameShape(peerCertificate(chain, selfSigned, true),
        expected.detailed)
      assertSameShape(peerCertificate(chain, selfSigned, false),
        expected.short)
      assertSameShape(ownCertificate(expected.own.raw), expected.own)
    })
  }

  const made = {
    'an Ed25519 key': [['ed25519'], ['subjectAltName=DNS:localhost']],
    'a P-384 key': [['ec', '-pkeyopt', 'ec_paramgen_curve:P-384'],
      ['subjectAltName=IP:127.0.0.1,IP:::1']],
    'an RSA-PSS key': [['rsa-pss', '-pkeyopt', 'rsa_keygen_bits:2048'],
      ['extendedKeyUsage=serverAuth,clientAuth']],
    'access information': [['rsa:2048'], [
      'authorityInfoAccess=OCSP;URI:http://ocsp.test/,' +
        'OCSP;URI:http://ocsp2.test/?a:b,caIssuers;URI:http://ca.test/a\'"b,' +
        'caIssuers;email:a@b.test',
      'subjectAltName=DNS:localhost,email:a@b.test,URI:http://x.test/\''
    ]]
  }
  for (const [name, [algorithm, extensions]] of Object.entries(made)) {
    it(`are those of node for a certificate with ${name}`, async () => {
      const server = makeSelfSigned(directory, name.replaceAll(' ', '-'),
        algorithm, extensions)
      const expected = await askNode(server, { ca: server.cert })
      const { chain, selfSigned } = expected
      assert.equal(selfSigned, true)
      assertSameShape(peerCertificate(chain, selfSigned, true),
        expected.detailed)
      assertSameShape(peerCertificate(chain, selfSigned, false),
        expected.short)
    })
  }

  it('are an empty object where there is no certificate', () => {
    assert.deepEqual(peerCertificate([], false, true), {})
    assert.deepEqual(peerCertificate([], false, false), {})
    assert.deepEqual(ownCertificate(undefined), {})
    assert.equal(peerX509Certificate([]), undefined)
    assert.equal(ownX509Certificate(undefined), undefined)
  })

  it('of class X509Certificate lead to the issuers that were sent',
    async () => {
      const expected = await askNode({
        cert: certs.read('chained-full.crt'), key: certs.read('chained.key')
      }, { ca, ...clientA })
      const sent = expected.chain.slice(0, 2)
      let actual = peerX509Certificate(sent)
      let other = expected.x509
      for (let i = 0; i < 2; i++) {
        assert.ok(actual instanceof X509Certificate)
        assert.equal(actual.fingerprint256, other.fingerprint256)
        assert.equal(actual.issuerCertificate, actual.issuerCertificate)
        assert.deepEqual(Object.keys(actual), Object.keys(other))
        actual = actual.issuerCertificate
        other = other.issuerCertificate
      }
      assert.equal(actual, undefined)
      assert.equal(other, undefined)
      assert.equal(ownX509Certificate(expected.own.raw).fingerprint512,
        expected.ownX509.fingerprint512)
    })
})
