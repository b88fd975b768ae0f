'use strict'

/** The `session` option: it wins over the store, and it is not trusted. */

const assert = require('node:assert')
const { once } = require('node:events')
const tls = require('node:tls')

const certs = require('../support/certs')
const { usePeers } = require('../support/peers')
const { leave, reuses, versions, visit } = require('../support/session-client')
const { connected, secured, take } = require('../support/sockets')
const { subjects } = require('../support/subjects')
const { WireTap } = require('../support/wire-tap')

const { ca } = certs
const ALTNAME = 'ERR_TLS_CERT_ALTNAME_INVALID'
const UNTRUSTED = 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'
const getSession = { look: (socket) => socket.getSession() }

/** A session that node:tls made. */
async function sessionOfNode (server, options) {
  const socket = tls.connect({ socket: await connected(server), ...options })
  await secured(socket)
  const answer = take(socket, 4)
  socket.write('ping')
  await answer
  const session = socket.getSession()
  await leave(socket)
  return session
}

/** The same session, ten days older. */
function aged (session) {
  const old = Buffer.from(session)
  // [1] EXPLICIT INTEGER of four bytes: the time.
  const at = old.indexOf(Buffer.from('a1060204', 'hex'))
  assert.notStrictEqual(at, -1)
  old.writeUInt32BE(old.readUInt32BE(at + 4) - 10 * 86_400, at + 4)
  return old
}

for (const subject of subjects().filter(({ native }) => native)) {
  const stored = () => subject.tls.stats().sessions.stored

  for (const version of versions) {
    describe(`given sessions of ${version}, with ${subject.name}:`, () => {
      const peers = usePeers()
      let tap
      beforeEach(() => subject.tls.clear())
      afterEach(async () => {
        await tap?.close()
        tap = undefined
      })

      const start = (identity = certs.server, options = {}) => peers.tlsServer({
        ...identity, minVersion: version, maxVersion: version, ...options
      })
      /** The session of a visit without the store. */
      const sessionOf = async (server, options) => {
        const { seen } = await visit(subject, server,
          { ...options, sessionReuse: false }, getSession)
        return seen
      }

      it('that of getSession() is used, also without the store', async () => {
        const server = await start()
        const session = await sessionOf(server, { ca })
        const options = { ca, session, sessionReuse: false }
        assert.deepStrictEqual(await visit(subject, server, options), {
          authorized: true, authorizationError: null, code: null, reused: true
        })
        assert.strictEqual(stored(), 0)
      })

      it("those of the event 'session' are used", async () => {
        const server = await start()
        const events = []
        await visit(subject, server, { ca, sessionReuse: false }, {
          prepare: (socket) => socket.on('session', (session) => events.push(session))
        })
        assert.strictEqual(events.length, version === 'TLSv1.3' ? 2 : 1)
        for (const session of events) {
          assert.ok(Buffer.isBuffer(session))
          assert.deepStrictEqual(
            await reuses(subject, server, 1, { ca, session, sessionReuse: false }), [true])
        }
      })

      it('it wins over the store, which still gets the new tickets', async () => {
        const server = await peers.sServer(certs.server,
          [version === 'TLSv1.3' ? '-tls1_3' : '-tls1_2', '-rev'])
        tap = await WireTap.before(server)
        const offered = () => tap.hellos.map(({ identities, ticket }) =>
          version === 'TLSv1.3' ? identities[0] : ticket)
        const open = async (options) => {
          const socket = await secured(subject.connect({
            socket: await connected(tap), ca, ...options
          }))
          const answer = take(socket, 5)
          socket.write('ping\n')
          await answer
          const seen = { reused: socket.isSessionReused(), session: socket.getSession() }
          const gone = once(socket, 'close')
          socket.end()
          await gone
          return seen
        }
        const { session } = await open({ sessionReuse: false })
        const { reused } = await open({})
        assert.strictEqual(reused, false)
        const before = stored()
        tap.hellos.length = 0
        assert.strictEqual((await open({ session })).reused, true)
        assert.strictEqual((await open({ session })).reused, true)
        const [first, second] = offered()
        assert.ok(first.length > 0)
        assert.strictEqual(second, first)
        // s_server gives another ticket of TLS 1.3 each time, and in TLS 1.2
        // renews none.
        assert.strictEqual(stored(), before + (version === 'TLSv1.3' ? 2 : 0))
        assert.strictEqual((await open({})).reused, true)
        assert.notStrictEqual(offered()[2], first)
      })

      it('those made by node:tls are used, and the other way round', async () => {
        const server = await start()
        const servername = 'localhost'
        const foreign = await sessionOfNode(server, { ca, servername })
        const result = await visit(subject, server, { ca, servername, session: foreign },
          { look: (socket) => socket.getPeerX509Certificate().subject })
        assert.strictEqual(result.reused, true)
        assert.strictEqual(result.authorized, true)
        assert.ok(result.seen)

        const session = await sessionOf(server, { ca, servername })
        const socket = await secured(tls.connect({
          socket: await connected(server), ca, session, servername
        }))
        assert.strictEqual(socket.isSessionReused(), true)
        await leave(socket)
      })

      // What a strict connection must not fall for: how the session was made,
      // by which server, the strict options, the verdict.
      const lures = {
        'made without verification': ['fromOther', { ca, rejectUnauthorized: false }, { ca }, UNTRUSTED],
        'made under another root': ['server', { ca }, { ca: certs.otherCa }, UNTRUSTED],
        'made before it was revoked': [
          'server', { ca }, { ca, crl: certs.crlServerRevoked }, 'CERT_REVOKED'
        ],
        'of another name': [
          'hosta', { ca, servername: 'hosta.test' }, { ca, servername: 'hostb.test' }, ALTNAME
        ],
        'made under a permissive identity check': [
          'wrong', { ca, checkServerIdentity: () => undefined }, { ca }, ALTNAME
        ],
        'of an expired certificate': [
          'expired', { ca, rejectUnauthorized: false }, { ca }, 'CERT_HAS_EXPIRED'
        ],
        'of a self-signed certificate': [
          'selfSigned', { ca: certs.selfSigned.cert }, { ca }, 'DEPTH_ZERO_SELF_SIGNED_CERT'
        ]
      }
      const makers = {
        'this package': sessionOf,
        'node:tls': sessionOfNode
      }
      for (const [what, [identity, making, strict, code]] of Object.entries(lures)) {
        for (const [maker, make] of Object.entries(makers)) {
          it(`one ${what}, by ${maker}, opens no door`, async () => {
            const server = await start(certs[identity])
            const session = await make(server, making)
            assert.ok(session.length > 0)
            const cold = await visit(subject, server, strict)
            assert.strictEqual(cold.code, code)
            assert.deepStrictEqual(await visit(subject, server, { ...strict, session }), cold)
          })
        }
      }

      it('another server does not take it, and is verified in full', async () => {
        const session = await sessionOf(await start(), { ca })
        const server = await start(certs.ec)
        const result = await visit(subject, server, { ca, session },
          { look: (socket) => socket.getPeerCertificate().bits })
        assert.deepStrictEqual(result, {
          authorized: true, authorizationError: null, code: null, reused: false, seen: 256
        })
      })

      it('of one that is too old the server is the judge, in TLS 1.2 only', async () => {
        const server = await start()
        const session = aged(await sessionOf(server, { ca }))
        assert.deepStrictEqual(await reuses(subject, server, 1, { ca, session }),
          [version === 'TLSv1.2'])
      })

      it('what is no session is ignored', async () => {
        const server = await start()
        const session = await sessionOf(server, { ca })
        const shared = new Uint8Array(new SharedArrayBuffer(64))
        const garbage = [
          Buffer.alloc(0), Buffer.alloc(1), Buffer.from('garbage'), Buffer.alloc(5000, 0x30),
          new DataView(new ArrayBuffer(9)), new Float64Array(3), shared,
          session.subarray(1), session.subarray(0, -1), session.subarray(0, 20)
        ]
        for (const bytes of garbage) {
          assert.deepStrictEqual(await visit(subject, server, {
            ca, session: bytes, sessionReuse: false
          }), {
            authorized: true, authorizationError: null, code: null, reused: false
          })
        }
        // Any view of the right bytes is one.
        const copy = new Uint8Array(new SharedArrayBuffer(session.length + 3), 3)
        copy.set(session)
        const view = new DataView(Uint8Array.from(session).buffer)
        for (const bytes of [copy, view]) {
          assert.deepStrictEqual(
            await reuses(subject, server, 1, { ca, session: bytes, sessionReuse: false }), [true])
        }
      })

      it('one that was tampered with lets nobody in', async () => {
        const server = await start()
        const session = await sessionOf(server, { ca })
        const { seen: raw } = await visit(subject, server, { ca }, {
          look: (socket) => socket.getPeerX509Certificate().raw
        })
        for (let at = 0; at < session.length; at += 29) {
          const forged = Buffer.from(session)
          forged[at] ^= 1
          const result = await visit(subject, server, {
            ca, session: forged, sessionReuse: false
          }, { look: (socket) => socket.getPeerX509Certificate().raw })
          if (result.code !== null) {
            assert.match(result.code, /^(ERR_SSL_|ECONNRESET)/)
            assert.strictEqual(result.authorized, false)
          } else {
            assert.strictEqual(result.authorized, true)
            assert.deepStrictEqual(result.seen, raw)
          }
        }
      })

      it('bytes that change after connect() change nothing', async () => {
        const server = await start()
        const session = await sessionOf(server, { ca })
        const { reused } = await visit(subject, server, { ca, session, sessionReuse: false }, {
          prepare: () => session.fill(0)
        })
        assert.strictEqual(reused, true)
      })

      it('with requestOCSP it is not used', async () => {
        const server = await start()
        const session = await sessionOf(server, { ca })
        assert.deepStrictEqual(
          await reuses(subject, server, 2, { ca, session, requestOCSP: true }), [false, false])
      })
    })
  }
}
