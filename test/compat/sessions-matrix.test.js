'use strict'

/**
 * Sessions are shared within the same settings and never across a difference;
 * and whatever the store holds, the verdict is that of a connection without it.
 */

const assert = require('node:assert')

const certs = require('../support/certs')
const { versions, visit } = require('../support/session-client')
const { subjects } = require('../support/subjects')
const { tlsServer } = require('../support/tls-server')

const { ca } = certs
const { cert: certA, key: keyA } = certs.clientA
const { cert: certB, key: keyB } = certs.clientB
const allow = () => undefined
const allowToo = () => undefined
const refuse = () => Object.assign(new Error('refused'), { code: 'REFUSED' })
const ALTNAME = 'ERR_TLS_CERT_ALTNAME_INVALID'
const UNTRUSTED = 'SELF_SIGNED_CERT_IN_CHAIN' // the server sends its root, too

// name -> [options, the code that a strict connection fails with or null]
const settings = {
  // First: a refusal drops what was offered, which would cover up a mistake.
  'a refusing identity check': [{ ca, checkServerIdentity: refuse }, 'REFUSED'],
  'root A': [{ ca }, null],
  'root A, nothing enforced': [{ ca, rejectUnauthorized: false }, null],
  'root B': [{ ca: certs.otherCa }, UNTRUSTED],
  'root B, nothing enforced': [{ ca: certs.otherCa, rejectUnauthorized: false }, UNTRUSTED],
  'both roots': [{ ca: [ca, certs.otherCa] }, null],
  'the default roots': [{}, UNTRUSTED],
  'the default roots, nothing enforced': [{ rejectUnauthorized: false }, UNTRUSTED],
  'an empty revocation list': [{ ca, crl: certs.crlEmpty }, null],
  'a revocation list': [{ ca, crl: certs.crlServerRevoked }, 'CERT_REVOKED'],
  'a revocation list, nothing enforced': [{
    ca, crl: certs.crlServerRevoked, rejectUnauthorized: false
  }, 'CERT_REVOKED'],
  'a permissive identity check': [{ ca, checkServerIdentity: allow }, null],
  'another permissive identity check': [{ ca, checkServerIdentity: allowToo }, null],
  'client A': [{ ca, cert: certA, key: keyA }, null],
  'client B': [{ ca, cert: certB, key: keyB }, null],
  'the other name': [{ ca, servername: 'hosta.test' }, null],
  'the other name, as host': [{ ca, host: 'hosta.test' }, null],
  'a wrong name': [{ ca, servername: 'wrong.test' }, ALTNAME],
  'a wrong name, nothing enforced': [{
    ca, servername: 'wrong.test', rejectUnauthorized: false
  }, ALTNAME],
  'protocol x': [{ ca, ALPNProtocols: ['x'] }, null],
  'protocol y': [{ ca, ALPNProtocols: ['y'] }, null],
  'protocols x and y': [{ ca, ALPNProtocols: ['x', 'y'] }, null],
  'a larger minDHSize': [{ ca, minDHSize: 2048 }, null],
  'other ciphers': [{ ca, ciphers: 'ECDHE-RSA-AES128-GCM-SHA256:TLS_AES_128_GCM_SHA256' }, null]
}

function expected ([{ rejectUnauthorized }, code]) {
  return {
    authorized: code === null,
    authorizationError: code,
    code: rejectUnauthorized === false ? null : code
  }
}

for (const subject of subjects().filter(({ kind }) => kind === 'eager')) {
  for (const version of versions) {
    describe(`sessions of ${version}, with ${subject.name},`, () => {
      let server
      before(async () => {
        server = await tlsServer({
          ...certs.server,
          ca,
          requestCert: true,
          rejectUnauthorized: false,
          ALPNProtocols: ['x', 'y'],
          minVersion: version,
          maxVersion: version
        })
      })
      after(() => server.close())
      beforeEach(() => subject.tls.clear())

      for (const [name, setting] of Object.entries(settings)) {
        it(`for ${name} come from no other settings`, async () => {
          const [options] = setting
          const cold = await visit(subject, server, options)
          const { reused, ...verdict } = cold
          assert.deepStrictEqual(verdict, expected(setting))
          assert.strictEqual(reused, verdict.code === null ? false : null)

          subject.tls.clear()
          for (const [other, [otherOptions]] of Object.entries(settings)) {
            if (other !== name) await visit(subject, server, otherOptions)
          }
          assert.deepStrictEqual(await visit(subject, server, options), cold)

          // Among all of these it finds its own again. (node:tls behind the
          // fallback resumes less.)
          if (!subject.native) return
          assert.deepStrictEqual(await visit(subject, server, options), {
            ...cold, reused: cold.code === null ? true : null
          })
        })
      }
    })
  }
}
