'use strict'

/** Servers that are others than they were when the session was made. */

const assert = require('node:assert')

const certs = require('../support/certs')
const { usePeers } = require('../support/peers')
const { reuses, versions, visit } = require('../support/session-client')
const { subjects } = require('../support/subjects')
const { WireTap } = require('../support/wire-tap')

const { ca } = certs
const bits = { look: (socket) => socket.getPeerCertificate().bits }
const RSA = 2048
const EC = 256

/** How a server answers a ticket that it does not like. */
const refusals = {
  'an alert': (socket) => socket.end(Buffer.from('15030300020228', 'hex')),
  'its end': (socket) => socket.end(),
  'a reset': (socket) => socket.resetAndDestroy(),
  text: (socket) => socket.end('500 not today\r\n'),
  'the alert internal_error': (socket) => socket.end(Buffer.from('15030300020250', 'hex'))
}

for (const subject of subjects().filter(({ native }) => native)) {
  for (const version of versions) {
    describe(`sessions of ${version}, with ${subject.name}, when`, () => {
      const peers = usePeers()
      let tap
      beforeEach(() => subject.tls.clear())
      afterEach(() => tap.close())

      const start = (identity, options = {}) => peers.tlsServer({
        ...identity, minVersion: version, maxVersion: version, ...options
      })
      /** A server, and a port that leads to it. */
      const begin = async () => {
        tap = await WireTap.before(await start(certs.server))
        assert.deepStrictEqual(await reuses(subject, tap, 2, { ca }), [false, true])
      }

      it('the server starts anew with another certificate, end with it', async () => {
        await begin()
        tap.target = (await start(certs.ec)).port
        const seen = []
        for (let i = 0; i < 3; i++) {
          const result = await visit(subject, tap, { ca }, bits)
          seen.push([result.reused, result.seen, result.authorized])
        }
        assert.deepStrictEqual(seen, [[false, EC, true], [true, EC, true], [true, EC, true]])
        tap.target = (await start(certs.server)).port
        const back = await visit(subject, tap, { ca }, bits)
        assert.deepStrictEqual([back.reused, back.seen], [false, RSA])
      })

      // [what is in the server's place, the strict verdict]
      const impostors = {
        'one that is not trusted': ['fromOther', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
        'one of another name': ['wrong', 'ERR_TLS_CERT_ALTNAME_INVALID'],
        'an expired one': ['expired', 'CERT_HAS_EXPIRED'],
        'a self-signed one': ['selfSigned', 'DEPTH_ZERO_SELF_SIGNED_CERT']
      }
      for (const [what, [identity, code]] of Object.entries(impostors)) {
        it(`another server takes its place, ${what}, help it to nothing`, async () => {
          await begin()
          tap.target = (await start(certs[identity])).port
          const strict = await visit(subject, tap, { ca })
          assert.strictEqual(strict.code, code)
          assert.strictEqual(strict.authorizationError, code)
          const lax = await visit(subject, tap, { ca, rejectUnauthorized: false })
          assert.deepStrictEqual([lax.authorized, lax.authorizationError], [false, code])
        })
      }

      it('the server changes to another version, end with it', async () => {
        await begin()
        const other = version === 'TLSv1.2' ? 'TLSv1.3' : 'TLSv1.2'
        tap.target = (await start(certs.server, {
          minVersion: other, maxVersion: other
        })).port
        assert.deepStrictEqual(await reuses(subject, tap, 3, { ca }), [false, true, true])
      })

      for (const [what, refuse] of Object.entries(refusals)) {
        it(`the server answers with ${what}, are dropped, and the next is a full handshake`, async () => {
          await begin()
          tap.hellos.length = 0
          const before = subject.tls.stats().sessions
          tap.refuse = refuse
          const failed = await visit(subject, tap, { ca })
          assert.notStrictEqual(failed.code, null)
          assert.strictEqual(failed.authorized, false)
          const after = subject.tls.stats().sessions
          assert.strictEqual(after.stored, 0)
          assert.strictEqual(after.rejected, before.rejected + 1)

          assert.deepStrictEqual(await reuses(subject, tap, 1, { ca }), [false])
          const [refused, full] = tap.hellos
          assert.ok(refused.identities.length > 0 || refused.ticket)
          assert.deepStrictEqual(full.identities, [])
          assert.ok(!full.ticket)
          tap.refuse = null
          assert.deepStrictEqual(await reuses(subject, tap, 1, { ca }), [true])
        })
      }

      it('a connection fails before it has offered one, stay', async () => {
        await begin()
        const { stored } = subject.tls.stats().sessions
        const { code } = await visit(subject, tap, { ca }, {
          prepare: (socket) => socket.destroy(new Error('changed my mind'))
        })
        assert.strictEqual(code, 'changed my mind')
        assert.strictEqual(subject.tls.stats().sessions.stored, stored)
        assert.deepStrictEqual(await reuses(subject, tap, 1, { ca }), [true])
      })
    })
  }
}
