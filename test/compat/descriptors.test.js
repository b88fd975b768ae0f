'use strict'

/** Every way in which a connection ends gives its descriptors back. */

const assert = require('node:assert')

const certs = require('../support/certs')
const { duplexOver } = require('../support/duplexes')
const { endings } = require('../support/endings')
const { openSocketCount } = require('../support/open-sockets')
const { usePeers } = require('../support/peers')
const { closed, connected, secured } = require('../support/sockets')
const { eachSubject } = require('../support/subjects')

const { ca } = certs

/** Gives the event loop the turns that closing takes. */
async function openSocketsBecome (expected) {
  for (let turn = 0; turn < 200 && openSocketCount() !== expected; turn++) {
    await new Promise(setImmediate)
  }
  assert.strictEqual(openSocketCount(), expected)
}

describe('descriptors are given back after', () => {
  const peers = usePeers()

  eachSubject((subject) => {
    for (const [way, { start, act }] of Object.entries(endings(peers))) {
      for (const [over, wrap] of [['a socket', (raw) => raw], ['a Duplex', duplexOver]]) {
        if (over === 'a Duplex' && way === 'raw.resetAndDestroy()') continue
        it(`${way} over ${over}`, async () => {
          const server = await start()
          const before = openSocketCount()
          for (let round = 0; round < 3; round++) {
            const raw = wrap(await connected(server))
            raw.on('error', () => {})
            const aborting = new AbortController()
            const socket = subject.connect({ socket: raw, ca, signal: aborting.signal })
            const done = [closed(socket), closed(raw)]
            await act(socket, raw, () => aborting.abort())
            await Promise.all(done)
          }
          await openSocketsBecome(before)
        })
      }
    }

    it('thirty connections at once that close in mixed order', async () => {
      const server = await peers.tlsServer(certs.server)
      const before = openSocketCount()
      const sockets = await Promise.all(Array.from({ length: 30 }, async () =>
        secured(subject.connect({ socket: await connected(server), ca }))))
      const done = sockets.map(closed)
      sockets.forEach((socket, index) => {
        if (index % 3 === 0) socket.destroy()
        else if (index % 3 === 1) socket.resume().end()
        else setImmediate(() => socket.destroy())
      })
      await Promise.all(done)
      await openSocketsBecome(before)
    })
  })
})
