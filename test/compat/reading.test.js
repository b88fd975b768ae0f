'use strict'

/**
 * How plaintext gets to the application: into its own buffer with `onread`, in
 * few large chunks otherwise, and never to the others' harm.
 */

const assert = require('node:assert')
const { once } = require('node:events')

const certs = require('../support/certs')
const { usePeers } = require('../support/peers')
const { connected, secured } = require('../support/sockets')
const { eachSubject } = require('../support/subjects')

const { ca } = certs
const MB = 1 << 20

describe('reading', () => {
  const peers = usePeers()

  /** Sends `size` bytes to each connection that says anything, then ends. */
  const sender = (size) => peers.tlsServer({ ...certs.server, size }, (socket, peer) => {
    const { Buffer } = peer.require('node:buffer')
    socket.once('data', () => socket.end(Buffer.alloc(peer.options.size, 'abcdefg')))
  })

  eachSubject((subject) => {
    describe('with onread', () => {
      it('fills the given buffer, and emits no data', async () => {
        const server = await sender(100_000)
        const buffer = Buffer.alloc(1000)
        const seen = []
        const socket = subject.connect({
          port: server.port,
          host: '127.0.0.1',
          ca,
          onread: {
            buffer,
            callback (length, given) {
              assert.strictEqual(given, buffer)
              seen.push(Buffer.from(given.subarray(0, length)))
            }
          }
        })
        socket.on('data', () => assert.fail('data'))
        await secured(socket)
        socket.write('go')
        await once(socket, 'end')
        const all = Buffer.concat(seen)
        assert.strictEqual(all.length, 100_000)
        assert.ok(all.equals(Buffer.alloc(100_000, 'abcdefg')))
        assert.strictEqual(socket.bytesRead, 100_000)
      })

      it('asks for a new buffer each time', async () => {
        const server = await sender(20_000)
        let made = 0
        let bytes = 0
        const socket = subject.connect({
          port: server.port,
          host: '127.0.0.1',
          ca,
          onread: {
            buffer: () => Buffer.alloc(512, ++made),
            callback (length) {
              bytes += length
              return true
            }
          }
        })
        await secured(socket)
        socket.write('go')
        await once(socket, 'end')
        assert.strictEqual(bytes, 20_000)
        assert.ok(made >= 20_000 / 512)
      })

      // node gives away the rest of what it has decrypted, and may then hang.
      if (subject.native) {
        it('stops when the callback says false, until resume()', async () => {
          const server = await sender(20_000)
          let bytes = 0
          let stopped
          const stop = new Promise((resolve) => { stopped = resolve })
          const socket = subject.connect({
            port: server.port,
            host: '127.0.0.1',
            ca,
            onread: {
              buffer: Buffer.alloc(512),
              callback (length) {
                bytes += length
                if (bytes !== 1024) return true
                stopped()
                return false
              }
            }
          })
          await secured(socket)
          socket.write('go')
          await stop
          for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate)
          assert.strictEqual(bytes, 1024)
          socket.resume()
          await once(socket, 'end')
          assert.strictEqual(bytes, 20_000)
        })
      }
    })

    it('of a fast peer leaves the others their turns', async () => {
      const server = await sender(64 * MB)
      const socket = await secured(subject.connect({ socket: await connected(server), ca }))
      let received = 0
      let atLastTurn = 0
      let most = 0
      socket.on('data', (chunk) => { received += chunk.length })
      socket.write('go')
      while (!socket.readableEnded) {
        await new Promise(setImmediate)
        most = Math.max(most, received - atLastTurn)
        atLastTurn = received
      }
      assert.strictEqual(received, 64 * MB)
      // libuv reads 32 times 64 KB in one turn of its own; the core less.
      const limit = subject.transport === 'fd' ? MB : 4 * MB
      assert.ok(most <= limit, `${most} bytes in one turn of the loop`)
    })

    it('stops at the descriptor while nobody reads', async () => {
      const server = await sender(32 * MB)
      const raw = await connected(server)
      const socket = await secured(subject.connect({ socket: raw, ca }))
      socket.write('go')
      await once(socket, 'readable')
      let before = -1
      while (raw.bytesRead !== before) {
        before = raw.bytesRead
        for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
      }
      assert.ok(raw.bytesRead < 2 * MB, `${raw.bytesRead} bytes read for nobody`)
      let rest = 0
      socket.on('data', (chunk) => { rest += chunk.length })
      await once(socket, 'end')
      assert.strictEqual(rest, 32 * MB)
    })
  })
})
