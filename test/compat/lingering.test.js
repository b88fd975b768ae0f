'use strict'

/**
 * A connection that is closed while its last bytes are under way, by a client
 * that no longer reads, to a peer that goes on sending: whatever is sent to a
 * descriptor that is closed is answered with a reset, and that would destroy
 * them. (node:tls loses them.)
 */

const assert = require('node:assert')
const { execFile } = require('node:child_process')
const { once } = require('node:events')
const path = require('node:path')
const { setTimeout } = require('node:timers/promises')
const { promisify } = require('node:util')

const certs = require('../support/certs')
const { openSocketCount } = require('../support/open-sockets')
const { usePeers } = require('../support/peers')
const { closed, connected, secured } = require('../support/sockets')
const { subjects } = require('../support/subjects')

const run = promisify(execFile)
const root = path.join(__dirname, '../..')
const { ca } = certs
// More than the peer's kernel takes from a sender before its owner reads,
// less than ours takes from its owner.
const SIZE = 1 << 20

// Over a stream it is node that closes the descriptor.
const native = subjects().filter(({ transport }) => transport === 'fd')

for (const subject of native) {
  describe(`a descriptor whose last bytes are under way, with ${subject.name}`, () => {
    const peers = usePeers()

    async function sendAndEnd () {
      const server = await peers.tlsServer({
        ...certs.server, maxVersion: 'TLSv1.2'
      }, (socket, peer) => {
        socket.pause()
        peer.on('send', () => socket.write('late', () => peer.report('sent')))
        peer.on('read', () => socket.resume())
      })
      const raw = await connected(server)
      const before = openSocketCount()
      const socket = await secured(subject.connect({ socket: raw, ca }))
      socket.end(Buffer.alloc(SIZE, 'x'))
      await once(socket, 'finish')
      return { server, socket, before }
    }

    it('outlives the connection until the peer has them', async () => {
      const { live } = subject.tls.stats().connections
      const { server, socket, before } = await sendAndEnd()
      socket.destroy()
      await closed(socket)
      assert.strictEqual(subject.tls.stats().connections.live, live)
      await server.tell('send')
      await server.report()
      await server.tell('read')
      const seen = await server.connection()
      assert.deepStrictEqual([seen.bytes, seen.ended, seen.error], [SIZE, true, null])
      // Its own, and the one of the raw socket.
      while (openSocketCount() > before - 1) await setTimeout(1)
    })

    it('is closed after a while if the peer never ends', async () => {
      const { socket, before } = await sendAndEnd()
      socket.destroy()
      await closed(socket)
      assert.strictEqual(openSocketCount(), before)
      while (openSocketCount() > before - 1) await setTimeout(20)
    })

    it('is closed at once by resetAndDestroy()', async () => {
      const { server, socket, before } = await sendAndEnd()
      socket.resetAndDestroy()
      await closed(socket)
      assert.strictEqual(openSocketCount(), before - 1)
      await server.tell('read')
      assert.ok((await server.connection()).bytes < SIZE)
    })

    it('keeps no process alive', async () => {
      const server = await peers.tlsServer(certs.server, 'hold')
      const { stdout } = await run(process.execPath, ['-e', `
        const { connect } = require(${JSON.stringify(root)})
        const { counts } = require(${JSON.stringify(root)} + '/lib/runtime')
        const socket = connect({
          port: ${server.port}, host: '127.0.0.1', ca: process.env.TEST_CA
        }, () => {
          socket.end(Buffer.alloc(${SIZE}))
          socket.destroySoon()
        })
        process.on('exit', () => console.log(counts().polls))
      `], { env: { ...process.env, TEST_CA: String(ca) } })
      assert.strictEqual(stdout, '1\n')
    })
  })
}
