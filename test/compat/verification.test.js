'use strict'

/** Verdicts over certificates: each with and without rejectUnauthorized. */

const assert = require('node:assert')

const certs = require('../support/certs')
const { usePeers } = require('../support/peers')
const { connected, failure, secured } = require('../support/sockets')
const { eachSubject } = require('../support/subjects')

const { ca } = certs

// [name, the server's certificate, options, the code or null]
const verdicts = [
  ['a trusted certificate', 'server', { ca }, null],
  ['a trusted EC certificate', 'ec', { ca }, null],
  ['a trust store of 120 roots', 'server', { ca: certs.bundle }, null],
  ['a trust store given as an array', 'server', { ca: [certs.otherCa, ca] }, null],
  ['a trust store given as strings', 'server', { ca: [String(certs.otherCa), String(ca)] }, null],
  ['no option ca', 'server', {}, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  ['another root', 'server', { ca: certs.otherCa }, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  ['another root of the same name', 'server', { ca: certs.twinCa }, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  ['a leaf as trust store', 'server', { ca: certs.server.cert }, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  ['an untrusted issuer', 'fromOther', { ca }, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  ['a self-signed certificate', 'selfSigned', { ca }, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
  ['a self-signed certificate that is trusted', 'selfSigned', { ca: certs.selfSigned.cert }, null],
  ['an expired certificate', 'expired', { ca }, 'CERT_HAS_EXPIRED'],
  ['an expired certificate of a wrong name', 'expired', { ca, servername: 'other.test' }, 'CERT_HAS_EXPIRED'],
  ['a certificate not yet valid', 'notYet', { ca }, 'CERT_NOT_YET_VALID'],
  ['a chain over an intermediate', 'chained', { ca }, null],
  ['a chain whose intermediate is not sent', 'chainedAlone', { ca }, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  ['an intermediate in the trust store beside its root', 'chainedAlone', { ca: [ca, certs.intermediateCa] }, null],
  ['an intermediate alone in the trust store', 'chained', { ca: certs.intermediateCa }, 'UNABLE_TO_GET_ISSUER_CERT'],
  ['a revoked certificate', 'server', { ca, crl: certs.crlServerRevoked }, 'CERT_REVOKED'],
  ['an empty revocation list', 'server', { ca, crl: certs.crlEmpty }, null],
  ['a wrong name', 'wrong', { ca }, 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ['a wildcard that matches', 'wildcard', { ca, servername: 'a.wild.test' }, null],
  ['a wildcard over two labels', 'wildcard', { ca, servername: 'a.b.wild.test' }, 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ['a name in the subject only', 'cnOnly', { ca }, null]
]

describe('verification of', () => {
  const peers = usePeers()

  eachSubject((subject) => {
    for (const [name, identity, options, code] of verdicts) {
      it(`${name} ${code ? `fails with ${code}` : 'succeeds'}`, async () => {
        const server = await peers.tlsServer(certs[identity])
        const strict = subject.connect({ socket: await connected(server), ...options })
        if (code === null) {
          await secured(strict)
          assert.strictEqual(strict.authorized, true)
          assert.strictEqual(strict.authorizationError, null)
          strict.destroy()
        } else {
          const error = await failure(strict)
          assert.strictEqual(error.code, code)
          assert.strictEqual(strict.authorized, false)
          assert.strictEqual(strict.authorizationError, code)
        }

        const lax = await secured(subject.connect({
          socket: await connected(server), ...options, rejectUnauthorized: false
        }))
        assert.strictEqual(lax.authorized, code === null)
        assert.strictEqual(lax.authorizationError, code)
        lax.destroy()
      })
    }

    it('a revoked certificate does not outlast the connection with the list', async () => {
      const server = await peers.tlsServer(certs.server)
      for (const [crl, code] of [[certs.crlServerRevoked, 'CERT_REVOKED'], [undefined, null]]) {
        const socket = subject.connect({ socket: await connected(server), ca, crl })
        const outcome = await secured(socket).then(() => null, (error) => error.code)
        assert.strictEqual(outcome, code)
        socket.destroy()
      }
    })

    it('a peer is as strict as it was when connect() was called', async () => {
      const server = await peers.tlsServer(certs.fromOther)
      const socket = subject.connect({ socket: await connected(server), ca })
      socket._tlsOptions.rejectUnauthorized = false
      socket._tlsOptions.checkServerIdentity = () => undefined
      assert.strictEqual((await failure(socket)).code, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE')
      assert.strictEqual(socket.authorized, false)
    })

    it('a context in `credentials` takes the place of no option', async () => {
      const server = await peers.tlsServer(certs.fromOther)
      const loose = subject.tls.createSecureContext({ ca: certs.otherCa })
      for (const credentials of [loose, 'same-origin', {}]) {
        const error = await failure(subject.connect({
          socket: await connected(server), ca, credentials
        }))
        assert.strictEqual(error.code, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE')
        const socket = await secured(subject.connect({
          socket: await connected(server), ca: certs.otherCa, credentials
        }))
        assert.strictEqual(socket instanceof subject.tls.TLSSocket, true)
        socket.destroy()
      }
    })

    it('rejectUnauthorized: undefined is as strict as true', async () => {
      const server = await peers.tlsServer(certs.fromOther)
      const error = await failure(subject.connect({
        socket: await connected(server), ca, rejectUnauthorized: undefined
      }))
      assert.strictEqual(error.code, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE')
    })

    it('the message of the error says what is wrong', async () => {
      const server = await peers.tlsServer(certs.expired)
      const error = await failure(subject.connect({ socket: await connected(server), ca }))
      assert.match(error.message, /^certificate has expired/)
    })
  })
})
