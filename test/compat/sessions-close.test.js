'use strict'

/** However a connection ends, the sessions that it left behind stay good. */

const assert = require('node:assert')
const { once } = require('node:events')

const certs = require('../support/certs')
const { usePeers } = require('../support/peers')
const { leave, versions, visit } = require('../support/session-client')
const { closed, connected, secured, take } = require('../support/sockets')
const { subjects } = require('../support/subjects')

const { ca } = certs

// What the server does when it is told how to close.
function closing (socket, peer) {
  socket.on('error', () => {})
  peer.on('close', (how) => {
    if (how === 'FIN') socket._parent?.end()
    else if (how === 'RST') socket._parent?.resetAndDestroy()
    else socket.destroy()
  })
  socket.pipe(socket)
}

// name -> how a connection is closed, by one side or the other
const ends = {
  'end()': (socket) => { socket.end() },
  'destroy()': (socket) => { socket.destroy() },
  'destroy(error)': (socket) => { socket.destroy(new Error('enough')) },
  'resetAndDestroy()': (socket) => { socket.resetAndDestroy() },
  'destroySoon()': (socket) => { socket.destroySoon() },
  'destroy() of the raw socket': (socket, raw) => { raw.destroy() },
  'resetAndDestroy() of the raw socket': (socket, raw) => { raw.resetAndDestroy() },
  'end() of the raw socket': (socket, raw) => { raw.end() },
  'a reset by the server': (socket, raw, server) => server.tell('close', 'RST'),
  'destroy() by the server': (socket, raw, server) => server.tell('close', 'destroy'),
  'the FIN of the server, without close_notify': (socket, raw, server) =>
    server.tell('close', 'FIN')
}

for (const subject of subjects().filter(({ native }) => native)) {
  for (const version of versions) {
    describe(`sessions of ${version}, with ${subject.name}, outlast`, () => {
      const peers = usePeers()
      beforeEach(() => subject.tls.clear())
      const start = () => peers.tlsServer({
        ...certs.server, minVersion: version, maxVersion: version
      }, closing)

      const open = async (server, reused) => {
        const raw = await connected(server)
        raw.on('error', () => {})
        const socket = await secured(subject.connect({ socket: raw, ca }))
        assert.strictEqual(socket.isSessionReused(), reused)
        socket.on('error', () => {})
        const answer = take(socket, 4)
        socket.write('ping')
        await answer
        return [socket, raw]
      }

      for (const [name, end] of Object.entries(ends)) {
        it(name, async () => {
          const server = await start()
          // The donor, and then those that have resumed themselves.
          for (const reused of [false, true, true]) {
            const [socket, raw] = await open(server, reused)
            const gone = closed(socket)
            await end(socket, raw, server)
            await gone
          }
          const { reused } = await visit(subject, server, { ca })
          assert.strictEqual(reused, true)
        })
      }

      it('their donor, destroyed while others use them', async () => {
        const server = await start()
        const [donor, raw] = await open(server, false)
        const raws = []
        for (let i = 0; i < 4; i++) raws.push(await connected(server))
        const users = raws.map((socket) => subject.connect({ socket, ca }))
        const all = users.map((user) => once(user, 'secureConnect'))
        donor.destroy()
        raw.destroy()
        await Promise.all(all)
        for (const user of users) {
          assert.strictEqual(user.isSessionReused(), true)
          assert.strictEqual(user.getPeerX509Certificate().checkHost('localhost'), 'localhost')
          await leave(user)
        }
      })

      it('a peer that is cut off by FIN in the middle of its data', async () => {
        const server = await start()
        const proxy = await peers.byteProxy(server.port, {
          down: { cutAt: 20_000, to: 'client' }
        })
        for (const reused of [false, true]) {
          const socket = await secured(subject.connect({
            socket: await connected(proxy), ca
          }))
          assert.strictEqual(socket.isSessionReused(), reused)
          socket.on('error', () => {})
          const gone = closed(socket)
          socket.resume()
          socket.write(Buffer.alloc(40_000))
          await gone
        }
      })
    })
  }
}
