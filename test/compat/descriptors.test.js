'use strict'

/** Every way in which a connection ends gives its descriptors back. */

const assert = require('node:assert')

const certs = require('../support/certs')
const { duplexOver } = require('../support/duplexes')
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
    const echo = () => peers.tlsServer(certs.server)
    const untilSecure = (act) => async (socket, raw, abort) => {
      await secured(socket)
      act(socket, raw, abort)
    }
    const ways = {
      'end()': [echo, untilSecure((socket) => socket.resume().end('bye'))],
      'destroy()': [echo, untilSecure((socket) => socket.destroy())],
      'destroy() in the handshake': [echo, (socket) => socket.destroy()],
      'raw.destroy()': [echo, untilSecure((socket, raw) => raw.destroy())],
      'raw.resetAndDestroy()': [echo, untilSecure((socket, raw) => raw.resetAndDestroy())],
      'an end of the server': [() => peers.tlsServer(certs.server, 'end'), (socket) => socket.resume()],
      'a FIN of the server': [() => peers.tlsServer(certs.server, 'destroy'), (socket) => socket.resume()],
      'a reset of the server': [() => peers.tlsServer(certs.server, 'reset'), (socket) => socket.resume()],
      'a failed handshake': [() => peers.plainServer((socket) => {
        socket.once('data', () => socket.write('no TLS'))
      }), () => {}],
      'a failed verification': [() => peers.tlsServer(certs.fromOther), () => {}],
      'an abort signal': [echo, untilSecure((socket, raw, abort) => abort())]
    }
    for (const [way, [start, act]] of Object.entries(ways)) {
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
      const server = await echo()
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
