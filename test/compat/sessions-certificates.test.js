'use strict'

/** What a resumed connection says of its peer is what the first one said. */

const assert = require('node:assert')

const certs = require('../support/certs')
const { usePeers } = require('../support/peers')
const { reuses, versions, visit } = require('../support/session-client')
const { subjects } = require('../support/subjects')

const { ca } = certs

/** The issuers that an X509Certificate leads to, with itself, as DER. */
function chainOf (certificate) {
  const chain = []
  for (let at = certificate; at; at = at.issuerCertificate) {
    chain.push(at.raw.toString('base64'))
  }
  return chain
}

/** All that an application may look at in order to know its peer. */
function facts (socket) {
  return {
    short: socket.getPeerCertificate(),
    detailed: socket.getPeerCertificate(true),
    raw: socket.getPeerX509Certificate().raw,
    fingerprint: socket.getPeerX509Certificate().fingerprint256,
    chain: chainOf(socket.getPeerX509Certificate()),
    own: socket.getCertificate(),
    cipher: socket.getCipher(),
    protocol: socket.getProtocol(),
    alpn: socket.alpnProtocol
  }
}

for (const subject of subjects().filter(({ native }) => native)) {
  for (const version of versions) {
    describe(`peers of resumed connections of ${version}, with ${subject.name}:`, () => {
      const peers = usePeers()
      beforeEach(() => subject.tls.clear())

      const start = (identity, options = {}, behaviour) => peers.tlsServer({
        ...identity, minVersion: version, maxVersion: version, ...options
      }, behaviour)

      // [identity, code, whether the second connection may be resumed]
      const rows = {
        trusted: ['server', null, true],
        untrusted: ['fromOther', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', true],
        'self-signed': ['selfSigned', 'DEPTH_ZERO_SELF_SIGNED_CERT', true],
        'of a wrong name': ['wrong', 'ERR_TLS_CERT_ALTNAME_INVALID', true],
        expired: ['expired', 'CERT_HAS_EXPIRED', false],
        'not yet valid': ['notYet', 'CERT_NOT_YET_VALID', true]
      }
      for (const [what, [identity, code, resumed]] of Object.entries(rows)) {
        it(`a certificate that is ${what} is that each time`, async () => {
          const server = await start(certs[identity])
          for (let i = 0; i < 3; i++) {
            assert.deepStrictEqual(
              await visit(subject, server, { ca, rejectUnauthorized: false }), {
                authorized: code === null,
                authorizationError: code,
                code: null,
                reused: i > 0 && resumed
              })
          }
        })
      }

      for (const identity of ['server', 'ec', 'chained']) {
        it(`the certificate '${identity}' can be had in full`, async () => {
          const server = await start(certs[identity], {
            requestCert: true, rejectUnauthorized: false, ALPNProtocols: ['x']
          })
          const options = {
            ca, cert: certs.clientA.cert, key: certs.clientA.key, ALPNProtocols: ['x']
          }
          const [first, second, third] = [
            await visit(subject, server, options, { look: facts }),
            await visit(subject, server, options, { look: facts }),
            await visit(subject, server, options, { look: facts })
          ]
          assert.deepStrictEqual([first, second, third].map((each) => each.reused),
            [false, true, true])
          assert.ok(first.seen.raw.length > 0)
          assert.strictEqual(first.seen.chain.length, identity === 'chained' ? 2 : 1)
          assert.deepStrictEqual(second.seen, first.seen)
          assert.deepStrictEqual(third.seen, first.seen)
        })
      }

      it('a pin holds for the second connection, too', async () => {
        const server = await start(certs.server)
        const { seen } = await visit(subject, server, { ca }, { look: facts })
        const asked = []
        const options = {
          ca,
          checkServerIdentity: (name, certificate) => {
            asked.push([name, certificate.fingerprint256])
          }
        }
        assert.deepStrictEqual(await reuses(subject, server, 3, options),
          [false, true, true])
        assert.deepStrictEqual(asked, Array(3).fill(['localhost', seen.fingerprint]))
      })

      it('what channels are bound to is what the server has', async () => {
        const server = await start(certs.server, {}, (socket, peer) => {
          const hex = (bytes) => bytes?.toString('hex')
          peer.report({
            key: hex(socket.exportKeyingMaterial(32, 'EXPORTER-Channel-Binding')),
            own: hex(socket.getFinished()),
            peer: hex(socket.getPeerFinished())
          })
          socket.on('error', () => {})
          socket.pipe(socket)
        })
        const keys = []
        for (const expected of [false, true]) {
          const { reused, seen } = await visit(subject, server, { ca }, {
            look: (socket) => ({
              key: socket.exportKeyingMaterial(32, 'EXPORTER-Channel-Binding').toString('hex'),
              own: socket.getPeerFinished().toString('hex'),
              peer: socket.getFinished().toString('hex')
            })
          })
          assert.strictEqual(reused, expected)
          assert.deepStrictEqual(seen, await server.report())
          keys.push(seen.key)
        }
        assert.notStrictEqual(keys[0], keys[1])
      })

      it('the server knows the client again', async () => {
        const server = await start(certs.server, {
          ca, requestCert: true, rejectUnauthorized: true
        })
        const people = [certs.clientA, certs.clientB, certs.clientA, certs.clientB]
        for (const { cert, key } of people) await visit(subject, server, { ca, cert, key })
        const seen = []
        for (let i = 0; i < people.length; i++) {
          const { peer, reused } = await server.next('secure')
          seen.push([peer, reused])
        }
        assert.deepStrictEqual(seen, [
          ['tester', false], ['other tester', false], ['tester', true], ['other tester', true]
        ])
      })
    })
  }
}
