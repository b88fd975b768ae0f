'use strict'

/**
 * What the native core allocates is gone when 'close' is emitted, without any
 * help of the collector; what JavaScript has of it can be collected afterwards.
 *
 * EAGER_TLS_TEST_UPGRADES  how many upgrades the long run makes
 */

const assert = require('node:assert')
const { setTimeout } = require('node:timers/promises')

const certs = require('../support/certs')
const { endings } = require('../support/endings')
const { openSocketCount } = require('../support/open-sockets')
const { usePeers } = require('../support/peers')
const { abandonConnected, closed, connected, secured } = require('../support/sockets')
const { subjects } = require('../support/subjects')

const { ca } = certs
const UPGRADES = Number(process.env.EAGER_TLS_TEST_UPGRADES ?? 2000)
const AT_ONCE = 8

/** Gives other processes and the kernel the time that closing takes. */
async function eventually (done, turns = 3000) {
  for (let turn = 0; turn < turns && !done(); turn++) await setTimeout(1)
}

/** As eventually(), with a collection in each turn. */
function collected (done) {
  return eventually(() => {
    global.gc()
    return done()
  }, 100)
}

for (const subject of subjects().filter(({ native }) => native)) {
  const { stats } = subject.tls

  /** What must be as before; what the cache holds is its own business. */
  const live = () => {
    const { connections, contexts } = stats()
    return {
      connections: connections.live,
      handshaking: connections.handshaking,
      contexts: contexts.live - contexts.cached,
      singleUse: contexts.singleUse
    }
  }
  const { counts } = require('../../lib/runtime')

  describe(`what a connection leaves behind, with ${subject.name}`, () => {
    const peers = usePeers()

    /** One upgrade that ends in one way; resolves when both are closed. */
    async function once ({ server, act, singleUse, opened, onClose }) {
      const raw = await connected(server)
      raw.on('error', () => {})
      const aborting = new AbortController()
      const socket = subject.connect({
        socket: raw, ca, singleUse, signal: aborting.signal
      })
      opened?.(socket, raw)
      socket.on('error', () => {})
      socket.on('close', () => onClose?.())
      const done = [closed(socket), closed(raw)]
      // What ends it may come before it is secure.
      await Promise.all([act(socket, raw, () => aborting.abort()), ...done])
    }

    for (const singleUse of [true, false]) {
      for (const [way, { start, act }] of Object.entries(endings(peers))) {
        it(`is nothing inside 'close' after ${way}, singleUse: ${singleUse}`, async () => {
          const server = await start()
          const before = live()
          const seen = []
          await once({
            server,
            act,
            singleUse,
            opened: () => seen.push(live()),
            onClose: () => seen.push(live())
          })
          assert.deepStrictEqual(seen, [{
            connections: before.connections + 1,
            handshaking: before.handshaking + 1,
            contexts: before.contexts + Number(singleUse),
            singleUse: before.singleUse + Number(singleUse)
          }, before])
        })
      }
    }

    it('is a shared single-use context as long as one of two uses it', async () => {
      const server = await peers.tlsServer(certs.server)
      const before = live()
      const secureContext = subject.tls.createSecureContext({ ca, singleUse: true })
      const sockets = []
      for (let i = 0; i < 2; i++) {
        sockets.push(await secured(subject.connect({
          socket: await connected(server), secureContext
        })))
      }
      secureContext.close()
      assert.strictEqual(live().singleUse, before.singleUse + 1)
      sockets[0].destroy()
      await closed(sockets[0])
      assert.strictEqual(live().singleUse, before.singleUse + 1)
      sockets[1].destroy()
      await closed(sockets[1])
      assert.deepStrictEqual(live(), before)
    })

    it(`is nothing after ${UPGRADES} upgrades that ended in every way`, async function () {
      this.timeout(20000 + UPGRADES * 40)
      const ways = []
      for (const { start, act } of Object.values(endings(peers))) {
        ways.push({ server: await start(), act })
      }
      const now = () => ({
        ...live(),
        descriptors: openSocketCount(),
        polls: counts().polls,
        handles: process.getActiveResourcesInfo()
          .filter((name) => name === 'TCPSocketWrap').length
      })
      const before = now()
      let next = 0
      await Promise.all(Array.from({ length: AT_ONCE }, async () => {
        while (next < UPGRADES) {
          const n = next++
          await once({ ...ways[n % ways.length], singleUse: n % 3 === 0 })
        }
      }))
      await eventually(() => now().descriptors <= before.descriptors &&
        now().polls <= before.polls)
      assert.deepStrictEqual(now(), before)
    })

    it('are objects that are collected', async () => {
      const ways = Object.entries(endings(peers))
      const left = new Set()
      const registry = new FinalizationRegistry((name) => left.delete(name))
      for (const [way, { start, act }] of ways) {
        const server = await start()
        for (let round = 0; round < 3; round++) {
          await once({
            server,
            act,
            singleUse: round === 0,
            opened (socket, raw) {
              for (const [name, object] of Object.entries({ socket, raw })) {
                left.add(`${name} ${round}, ${way}`)
                registry.register(object, `${name} ${round}, ${way}`)
              }
            }
          })
        }
      }
      abandonConnected()
      await collected(() => left.size === 0)
      assert.deepStrictEqual([...left], [])
    })

    it('is nothing that a raw socket keeps which is upgraded again and again', async () => {
      const server = await peers.tlsServer(certs.server)
      const raw = await connected(server)
      const left = new Set()
      const registry = new FinalizationRegistry((n) => left.delete(n))
      const upgradeAgain = (n) => {
        const socket = subject.connect({ socket: raw, ca }).on('error', () => {})
        left.add(n)
        registry.register(socket, n)
      }
      for (let n = 0; n < 10; n++) upgradeAgain(n)
      // The server makes nothing of so many ClientHellos.
      const last = subject.connect({ socket: raw, ca })
      const gone = closed(last)
      await collected(() => left.size === 0)
      assert.deepStrictEqual([...left], [])
      assert.ok(raw.listenerCount('error') <= 2)
      last.destroy()
      await gone
    })

    it('is nothing even if the closed sockets are kept', async () => {
      const server = await peers.tlsServer(certs.server)
      const before = live()
      const kept = []
      for (let n = 0; n < 50; n++) {
        const socket = await secured(subject.connect({
          socket: await connected(server), ca, singleUse: true
        }))
        socket.destroy()
        await closed(socket)
        kept.push(socket)
      }
      assert.deepStrictEqual(live(), before)
      assert.ok(kept.every((socket) => socket.destroyed))
    })
  })
}
