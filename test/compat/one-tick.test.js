'use strict'

/** A write, and then its end by other means in the same tick. */

const assert = require('node:assert')

const certs = require('../support/certs')
const { usePeers } = require('../support/peers')
const { connected, secured } = require('../support/sockets')
const { eachSubject } = require('../support/subjects')

const { ca } = certs

describe('a write', () => {
  const peers = usePeers()

  eachSubject((subject) => {
    const ways = {
      'raw.destroy() and destroy()': (socket, raw) => {
        raw.destroy()
        socket.destroy()
      },
      'raw.resetAndDestroy() and destroy()': (socket, raw) => {
        raw.resetAndDestroy()
        socket.destroy()
      },
      'destroy()': (socket) => socket.destroy()
    }
    // In node this throws.
    if (subject.native) {
      ways['resetAndDestroy()'] = (socket) => socket.resetAndDestroy()
    }
    for (const [way, act] of Object.entries(ways)) {
      for (const count of [1, 3]) {
        it(`${count} times, then ${way} in the same tick: both close, without error`, async () => {
          const server = await peers.tlsServer(certs.server, 'sink')
          const raw = await connected(server)
          const socket = await secured(subject.connect({ socket: raw, ca }))
          await server.next('secure')
          const errors = []
          for (const one of [socket, raw]) {
            one.on('error', (error) => errors.push(error))
          }
          const closing = [socket, raw].map((one) =>
            new Promise((resolve) => one.once('close', resolve)))
          let told = 0
          for (let n = 0; n < count; n++) socket.write('x', () => told++)
          act(socket, raw)
          await Promise.all(closing)
          assert.deepStrictEqual(errors, [])
          assert.strictEqual(told, count)
        })
      }
    }
  })
})
