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

// No reset may come together with data: libuv takes the two for a FIN, or not,
// as the timing will have it. So the client says when it has read all there is.
const phases = {
  'in answer to the ClientHello': {
    start: (peers, how) => peers.plainServer(how === 'fin'
      ? (socket) => socket.once('data', () => socket.end())
      : (socket) => socket.once('data', () => socket.resetAndDestroy())),
    breaks: async () => {}
  },

  'in the middle of the flight of the server': {
    async start (peers, how) {
      const server = await peers.tlsServer(certs.server)
      return peers.byteProxy(server.port,
        { down: { cutAt: 300, cut: how, to: 'client', hold: true } })
    },
    async breaks (server, raw) {
      while (raw.bytesRead < 300) await new Promise(setImmediate)
      server.tell('cut')
    }
  },

  'right after the handshake': {
    start: (peers, how) => peers.tlsServer({ ...certs.server, maxVersion: 'TLSv1.2' }, how === 'fin'
      ? (socket, peer) => peer.on('break', () => socket.destroy())
      : (socket, peer) => peer.on('break', () => socket._parent.resetAndDestroy())),
    async breaks (server, raw, socket) {
      await once(socket, 'secureConnect')
      server.tell('break')
    }
  },

  'after data in both directions': {
    start: (peers, how) => peers.tlsServer(certs.server, how === 'fin'
      ? (socket) => socket.once('data', () => {
          socket.write('pong')
          socket.once('data', () => socket.destroy())
        })
      : (socket) => socket.once('data', () => {
          socket.write('pong')
          socket.once('data', () => socket._parent.resetAndDestroy())
        })),
    async breaks (server, raw, socket) {
      await once(socket, 'secureConnect')
      socket.write('ping')
      await once(socket, 'data')
      socket.write('ping')
    }
  }
}

describe('a connection that breaks', () => {
  const peers = usePeers()

  for (const [phase, { start, breaks }] of Object.entries(phases)) {
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
              await breaks(server, raw, socket)
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
