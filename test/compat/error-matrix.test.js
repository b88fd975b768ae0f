'use strict'

/**
 * A connection that breaks: by a FIN or a reset, in four phases, with the
 * listener for errors on the TLS socket, on the raw socket, or on both. The
 * traces of node:tls and of this package must be the same in every cell.
 */

const assert = require('node:assert')
const { once } = require('node:events')

const certs = require('../support/certs')
const { usePeers } = require('../support/peers')
const { connected } = require('../support/sockets')
const { sameTrace } = require('../support/trace')
const { uncaughtDuring } = require('../support/uncaught')

const { ca } = certs

const phases = {
  'in answer to the ClientHello': (peers, how) => peers.plainServer(how === 'fin'
    ? (socket) => socket.once('data', () => socket.end())
    : (socket) => socket.once('data', () => socket.resetAndDestroy())),

  async 'in the middle of the flight of the server' (peers, how) {
    const server = await peers.tlsServer(certs.server)
    return peers.byteProxy(server.port, { down: { cutAt: 300, cut: how, to: 'client' } })
  },

  'right after the handshake': (peers, how) =>
    peers.tlsServer(certs.server, how === 'fin' ? 'destroy' : 'reset'),

  'after data in both directions': (peers, how) => peers.tlsServer(certs.server, how === 'fin'
    ? (socket) => socket.once('data', () => {
        socket.write('pong')
        socket.once('data', () => socket.destroy())
      })
    : (socket) => socket.once('data', () => {
        socket.write('pong')
        socket.once('data', () => socket._parent.resetAndDestroy())
      }))
}

describe('a connection that breaks', () => {
  const peers = usePeers()

  for (const [phase, start] of Object.entries(phases)) {
    for (const how of ['fin', 'rst']) {
      for (const place of ['the TLS socket', 'the raw socket', 'both sockets']) {
        it(`${phase} by a ${how.toUpperCase()} with a listener on ${place} is as in node`, async () => {
          const server = await start(peers, how)
          const events = await sameTrace(async ({ connect, trace }) => {
            const raw = await connected(server)
            const caught = await uncaughtDuring(async (caught) => {
              trace.watch('raw', raw, { error: place !== 'the TLS socket' })
              const socket = trace.watch('tls', connect({ socket: raw, ca }),
                { error: place !== 'the raw socket' })
              if (phase.startsWith('after data')) talk(socket)
              await trace.closed('raw')
              // An error without a listener keeps node from emitting 'close'.
              if (caught.length === 0) await trace.closed('tls')
            })
            for (const { code } of caught) trace.note(`uncaught.error(${code})`)
          })
          const errors = events.filter((event) => event.includes('error('))
          const expected = how === 'rst' || !/handshake$|both directions$/.test(phase)
            ? [`${place === 'the raw socket' ? 'uncaught' : 'tls'}.error(ECONNRESET)`]
            : []
          assert.deepStrictEqual(errors, expected)
        })
      }
    }
  }
})

async function talk (socket) {
  await once(socket, 'secureConnect')
  socket.write('ping')
  await once(socket, 'data')
  socket.write('ping')
}
