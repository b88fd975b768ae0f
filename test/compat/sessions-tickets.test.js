'use strict'

/** Which ticket is offered when, and which ones are kept. */

const assert = require('node:assert')
const { once } = require('node:events')
const { setImmediate: turn } = require('node:timers/promises')

const certs = require('../support/certs')
const { usePeers } = require('../support/peers')
const { leave, reuses, versions, visit } = require('../support/session-client')
const { closed, connected, secured, take } = require('../support/sockets')
const { subjects } = require('../support/subjects')
const { WireTap } = require('../support/wire-tap')

const { ca } = certs
const flags = { 'TLSv1.2': '-tls1_2', 'TLSv1.3': '-tls1_3' }

for (const subject of subjects().filter(({ native }) => native)) {
  const sessions = () => subject.tls.stats().sessions

  /** What `body` adds to the counts. */
  async function counted (body) {
    const before = sessions()
    await body()
    const { offered, resumed, rejected } = sessions()
    return {
      offered: offered - before.offered,
      resumed: resumed - before.resumed,
      rejected: rejected - before.rejected
    }
  }

  for (const version of versions) {
    describe(`tickets of ${version}, with ${subject.name}:`, () => {
      const peers = usePeers()
      const taps = []
      beforeEach(() => subject.tls.clear())
      afterEach(async () => {
        for (const tap of taps.splice(0)) await tap.close()
      })

      const start = (options = {}) => peers.tlsServer({
        ...certs.server, minVersion: version, maxVersion: version, ...options
      })
      const tapped = async (server) => {
        const tap = await WireTap.before(server)
        taps.push(tap)
        return tap
      }

      /** Connections that all start before one has an answer. */
      async function burst (server, count) {
        const raws = []
        for (let i = 0; i < count; i++) raws.push(await connected(server))
        const sockets = raws.map((socket) => subject.connect({ socket, ca }))
        await Promise.all(sockets.map(async (socket) => {
          socket.once('secureConnect', () => socket.write('ping\n'))
          assert.strictEqual(String(await take(socket, 5)), 'gnip\n')
          // s_server forgets the sessions of those that only disappear.
          socket.end()
          await closed(socket)
        }))
      }

      it('of the store are no facts about a connection that only offers them', async () => {
        const server = await start()
        await visit(subject, server, { ca })
        const socket = subject.connect({ socket: await connected(server), ca })
        assert.deepStrictEqual({
          certificate: socket.getPeerCertificate(true),
          x509: socket.getPeerX509Certificate(),
          cipher: socket.getCipher(),
          session: socket.getSession(),
          ticket: socket.getTLSTicket()
        }, {
          certificate: {},
          x509: undefined,
          cipher: undefined,
          session: undefined,
          ticket: undefined
        })
        await secured(socket)
        assert.strictEqual(socket.isSessionReused(), true)
        assert.strictEqual(socket.getPeerCertificate().subject.CN, 'localhost')
      })

      it('a thousand upgrades, one after the other, are resumed but for the first', async () => {
        const server = await start()
        assert.deepStrictEqual(await reuses(subject, server, 1, { ca }), [false])
        let resumed = 0
        const counts = await counted(async () => {
          for (let i = 0; i < 999; i++) {
            const socket = await secured(subject.connect({
              socket: await connected(server), ca
            }))
            if (socket.isSessionReused()) resumed++
            await leave(socket)
          }
        })
        assert.deepStrictEqual(counts, { offered: 999, resumed: 999, rejected: 0 })
        assert.strictEqual(resumed, 999)
      })

      it('a burst uses each ticket once, but for the last one', async () => {
        const server = await peers.sServer(certs.server,
          [flags[version], '-num_tickets', '2', '-rev'])
        const tap = await tapped(server)
        assert.deepStrictEqual(await counted(() => burst(tap, 32)),
          { offered: 0, resumed: 0, rejected: 0 })
        const { stored, peers: known } = sessions()
        assert.deepStrictEqual({ stored, known }, { stored: 8, known: 1 })

        for (let round = 0; round < 2; round++) {
          tap.hellos.length = 0
          assert.deepStrictEqual(await counted(() => burst(tap, 32)),
            { offered: 32, resumed: 32, rejected: 0 })
          const uses = new Map()
          for (const { identities, ticket } of tap.hellos) {
            const offer = version === 'TLSv1.3' ? identities[0] : ticket
            uses.set(offer, (uses.get(offer) ?? 0) + 1)
          }
          const often = [...uses.values()].filter((count) => count > 1)
          if (version === 'TLSv1.3') {
            assert.strictEqual(uses.size, 8)
            assert.deepStrictEqual(often, [25])
          } else {
            // Tickets of TLS 1.2 may be used again: the newest.
            assert.deepStrictEqual([...uses.values()], [32])
          }
        }
      })

      it('they are kept when they come late, and when nobody reads', async () => {
        const server = await start()
        const tap = await tapped(server)
        const socket = subject.connect({ socket: await connected(tap), ca })
        await secured(socket)
        // With TLS 1.2 they come in the handshake.
        tap.hold()
        socket.write('nobody reads the answer')
        await server.next('secure')
        const early = version === 'TLSv1.2' ? 1 : 0
        assert.strictEqual(sessions().stored, early)
        tap.release()
        const enough = version === 'TLSv1.2' ? 1 : 2
        while (sessions().stored < enough) await turn()
        await leave(socket)
        assert.deepStrictEqual(await reuses(subject, tap, 2, { ca }), [true, true])
      })

      it('they are kept when the connection has ended in its own direction', async () => {
        const server = await start()
        const socket = subject.connect({ socket: await connected(server), ca })
        await secured(socket)
        socket.end()
        socket.resume()
        await once(socket, 'close')
        assert.deepStrictEqual(await reuses(subject, server, 1, { ca }), [true])
      })

      it('a server that takes none back is asked in vain, and no harm is done', async () => {
        // Its tickets stand for sessions that it has no store for.
        const server = await start({ tickets: false })
        assert.deepStrictEqual(await reuses(subject, server, 4, { ca }),
          [false, false, false, false])
        const { reused, ...verdict } = await visit(subject, server, { ca })
        assert.strictEqual(reused, false)
        assert.deepStrictEqual(verdict,
          { authorized: true, authorizationError: null, code: null })
      })

      it('a server that remembers sessions itself resumes them', async () => {
        const server = await peers.sServer(certs.server,
          [flags[version], '-no_ticket', '-rev'])
        assert.deepStrictEqual(await counted(async () => {
          await burst(server, 1)
          await burst(server, 1)
          await burst(server, 1)
        }), { offered: 2, resumed: 2, rejected: 0 })
      })
    })
  }
}
