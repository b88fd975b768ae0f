'use strict'

/** What configure(), clear() and stats() have to do with sessions. */

const assert = require('node:assert')

const certs = require('../support/certs')
const { usePeers } = require('../support/peers')
const { reuses, versions, visit } = require('../support/session-client')
const { subjects } = require('../support/subjects')

const { ca } = certs
const getSession = { look: (socket) => socket.getSession() }

for (const subject of subjects().filter(({ native }) => native)) {
  const { clear, configure, createSecureContext, stats } = subject.tls
  const settings = (sessions) => configure({ sessions })

  for (const version of versions) {
    // How many sessions a full handshake leaves behind.
    const harvest = version === 'TLSv1.3' ? 2 : 1

    describe(`the store of sessions of ${version}, with ${subject.name},`, () => {
      const peers = usePeers()
      const defaults = configure().sessions
      let server
      beforeEach(async () => {
        clear()
        server = await peers.tlsServer({
          ...certs.server, minVersion: version, maxVersion: version
        })
      })
      afterEach(() => settings(defaults))

      const go = (count, options = {}) => reuses(subject, server, count, { ca, ...options })

      it('counts what it holds and what came of it', async () => {
        const before = stats().sessions
        const since = () => {
          const now = stats().sessions
          return {
            stored: now.stored,
            peers: now.peers,
            offered: now.offered - before.offered,
            resumed: now.resumed - before.resumed,
            rejected: now.rejected - before.rejected
          }
        }
        assert.deepStrictEqual(since(),
          { stored: 0, peers: 0, offered: 0, resumed: 0, rejected: 0 })
        await go(1)
        assert.deepStrictEqual(since(),
          { stored: harvest, peers: 1, offered: 0, resumed: 0, rejected: 0 })
        await go(1)
        // node's server gives nothing new when it resumes.
        assert.deepStrictEqual(since(),
          { stored: 1, peers: 1, offered: 1, resumed: 1, rejected: 0 })
        await go(1)
        assert.deepStrictEqual(since(),
          { stored: 1, peers: 1, offered: 2, resumed: 2, rejected: 0 })
        await go(1, { servername: 'hosta.test' })
        assert.deepStrictEqual(since(),
          { stored: 1 + harvest, peers: 2, offered: 2, resumed: 2, rejected: 0 })
        clear()
        assert.deepStrictEqual(since(),
          { stored: 0, peers: 0, offered: 2, resumed: 2, rejected: 0 })
      })

      it('can be switched off, and on again', async () => {
        await go(1)
        settings({ enabled: false })
        assert.strictEqual(stats().sessions.stored, 0)
        assert.deepStrictEqual(await go(2), [false, false])
        assert.strictEqual(stats().sessions.stored, 0)
        const { seen: session } = await visit(subject, server, { ca }, getSession)
        assert.deepStrictEqual(await go(2, { session }), [true, true])
        settings({ enabled: true })
        assert.deepStrictEqual(await go(2), [false, true])
      })

      it('is not used with sessionReuse: false', async () => {
        assert.deepStrictEqual(await go(2, { sessionReuse: false }), [false, false])
        assert.strictEqual(stats().sessions.stored, 0)
        assert.deepStrictEqual(await go(2), [false, true])
        const { offered } = stats().sessions
        assert.deepStrictEqual(await go(2, { sessionReuse: false }), [false, false])
        assert.strictEqual(stats().sessions.offered, offered)
      })

      it('holds so many sessions of a peer', async () => {
        settings({ perPeer: 1 })
        assert.deepStrictEqual(await go(3), [false, true, true])
        assert.strictEqual(stats().sessions.stored, 1)
        settings({ perPeer: 0 })
        assert.strictEqual(stats().sessions.stored, 0)
        assert.deepStrictEqual(await go(2), [false, false])
      })

      it('holds so many peers, and forgets the least recently used', async () => {
        settings({ maxPeers: 2 })
        const names = { a: 'localhost', b: 'hosta.test', c: '127.0.0.1' }
        const visitTo = async (host) => (await go(1, { host: names[host] }))[0]
        assert.strictEqual(await visitTo('a'), false)
        assert.strictEqual(await visitTo('b'), false)
        assert.strictEqual(await visitTo('a'), true)
        assert.strictEqual(await visitTo('c'), false)
        assert.strictEqual(stats().sessions.peers, 2)
        assert.strictEqual(await visitTo('a'), true)
        assert.strictEqual(await visitTo('c'), true)
        assert.strictEqual(await visitTo('b'), false)
        settings({ maxPeers: 0 })
        assert.strictEqual(stats().sessions.stored, 0)
        assert.deepStrictEqual(await go(2), [false, false])
      })

      it('holds nothing for no time', async () => {
        settings({ timeout: 0 })
        assert.deepStrictEqual(await go(3), [false, false, false])
        assert.strictEqual(stats().sessions.stored, 0)
      })

      it('forgets by clear(), and what was told to it by hand, too', async () => {
        const { seen: session } = await visit(subject, server, { ca }, getSession)
        assert.deepStrictEqual(await go(1), [true])
        clear()
        assert.deepStrictEqual(await go(1), [false])
        clear()
        // From here on it is bytes from anywhere, and verified as such.
        assert.deepStrictEqual(await go(1, { session }), [true])
        assert.deepStrictEqual(await go(1, { session, ca: certs.twinCa }),
          ['UNABLE_TO_VERIFY_LEAF_SIGNATURE'])
      })

      // Row "no resumption with requestOCSP or pskCallback" of docs/compat.md.
      it('is left alone by requestOCSP', async () => {
        assert.deepStrictEqual(await go(2, { requestOCSP: true }), [false, false])
        assert.strictEqual(stats().sessions.stored, 0)
        await go(1)
        assert.deepStrictEqual(await go(2, { requestOCSP: true }), [false, false])
      })

      it('is left alone by pskCallback', async () => {
        const pskCallback = () => null
        assert.deepStrictEqual(await go(2, { pskCallback }), [false, false])
        assert.strictEqual(stats().sessions.stored, 0)
        await go(1)
        assert.deepStrictEqual(await go(2, { pskCallback }), [false, false])
      })

      it('serves contexts of the same content, of whatever make', async () => {
        const secureContext = createSecureContext({ ca })
        assert.deepStrictEqual(await go(1, { ca: undefined, secureContext }), [false])
        secureContext.close()
        clear()
        const again = createSecureContext({ ca: certs.fresh('ca.crt') })
        assert.deepStrictEqual(await go(2, { secureContext: again }), [false, true])
        again.close()
        const other = createSecureContext({ ca: certs.otherCa })
        const { code } = await visit(subject, server, { secureContext: other })
        assert.strictEqual(code, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE')
        other.close()
      })

      it('serves contexts of single use', async () => {
        assert.deepStrictEqual(await go(3, { singleUse: true }), [false, true, true])
      })
    })
  }
}
