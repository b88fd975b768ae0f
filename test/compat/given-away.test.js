'use strict'

/**
 * ArrayBuffers that user code detaches or resizes while the core writes to
 * them: nothing is ever written to memory that has gone.
 */

const assert = require('node:assert')
const { once } = require('node:events')
const v8 = require('node:v8')
const vm = require('node:vm')
const { MessageChannel } = require('node:worker_threads')

const certs = require('../support/certs')
const { usePeers } = require('../support/peers')
const { closed, connected, failure, secured } = require('../support/sockets')
const { eachSubject } = require('../support/subjects')

const { ca } = certs
const ASKED = 16384
const major = Number(process.versions.node.split('.')[0])

/**
 * As transfer() does in newer versions, also where marks forbid it; but since
 * 24 there is no way around these.
 */
function detach (arrayBuffer) {
  v8.setFlagsFromString('--allow-natives-syntax')
  const script = new vm.Script('(ab) => %ArrayBufferDetach(ab)')
  try {
    script.runInThisContext()(arrayBuffer)
  } catch (error) {
    assert.match(error.message, /\[\[ArrayBufferDetachKey\]\]/)
    return
  }
  assert.strictEqual(arrayBuffer.byteLength, 0)
}

describe('memory that was given away', () => {
  const peers = usePeers()

  eachSubject((subject) => {
    /** Answers each byte with 16 KB of it. */
    const answering = () => peers.tlsServer(certs.server, (socket, peer) => {
      const { Buffer } = peer.require('node:buffer')
      socket.on('data', (chunk) => {
        for (const byte of chunk) socket.write(Buffer.alloc(16384, byte))
      })
    })

    /** Asks once, and resolves with what came, each chunk as `use` left it. */
    async function ask (socket, letter, use) {
      let bytes = 0
      socket.write(letter)
      while (bytes < ASKED) {
        const [chunk] = await once(socket, 'data')
        bytes += chunk.length
        assert.ok(chunk.equals(Buffer.alloc(chunk.length, letter)))
        use(chunk)
      }
      assert.strictEqual(bytes, ASKED)
    }

    const ways = {
      'by postMessage()': ({ buffer }) => {
        const { port1, port2 } = new MessageChannel()
        try {
          port1.postMessage(buffer, [buffer])
        } catch (error) {
          // What others have slices of cannot be transferred.
          assert.strictEqual(error.code, 25)
        }
        port1.close()
        port2.close()
      },
      'by detaching it': ({ buffer }) => detach(buffer)
    }
    // Newer versions of node read into the memory that has gone, and throw.
    const bearable = subject.native || major < 24 ? Object.entries(ways) : []
    for (const [way, give] of bearable) {
      it(`as a chunk ${way} is not written to again`, async () => {
        const server = await answering()
        const sockets = []
        for (let n = 0; n < 2; n++) {
          sockets.push(await secured(subject.connect({
            socket: await connected(server), ca
          })))
        }
        for (const letter of 'abcdef') {
          await ask(sockets[0], letter, give)
          await ask(sockets[1], letter, () => {})
        }
        for (const socket of sockets) socket.destroy()
      })
    }

    describe('as the buffer of onread', () => {
      const open = (server, onread) => subject.connect({
        port: server.port, host: '127.0.0.1', ca, onread
      })

      it('by its callback closing the socket is no longer asked for', async () => {
        const server = await peers.tlsServer(certs.server, (socket) => socket.write('data'))
        let calls = 0
        const socket = open(server, {
          buffer: () => Buffer.alloc(1024),
          callback () {
            calls++
            socket.destroy()
          }
        })
        assert.strictEqual(await closed(socket), false)
        assert.strictEqual(calls, 1)
      })

      // Row "buffers given away" of docs/compat.md.
      // node writes into what has gone, or reads into nothing for ever.
      if (!subject.native) return

      it('by detaching it ends the connection', async () => {
        const server = await peers.tlsServer(certs.server, (socket) => socket.write('0123456789'))
        const buffer = Buffer.from(new ArrayBuffer(4))
        const seen = []
        const socket = open(server, {
          buffer,
          callback (length) {
            seen.push(length)
            structuredClone(buffer.buffer, { transfer: [buffer.buffer] })
          }
        })
        const { code, syscall } = await failure(socket)
        assert.deepStrictEqual({ seen, code, syscall },
          { seen: [4], code: 'ENOBUFS', syscall: 'read' })
      })

      it('by making it smaller is filled as far as it reaches', async () => {
        const server = await peers.tlsServer(certs.server, (socket) => socket.end('0123456789'))
        const arrayBuffer = new ArrayBuffer(4, { maxByteLength: 8 })
        const view = new Uint8Array(arrayBuffer)
        const seen = []
        const socket = open(server, {
          buffer: view,
          callback (length, bytes) {
            seen.push(Buffer.from(bytes.subarray(0, length)).toString())
            arrayBuffer.resize(seen.length === 1 ? 1 : 8)
          }
        })
        await closed(socket)
        assert.deepStrictEqual(seen, ['0123', '4', '56789'])
      })

      for (const [kind, buffer] of Object.entries({
        'that is empty': Buffer.alloc(0),
        'that is an empty part of another': Buffer.alloc(10).subarray(5, 5)
      })) {
        it(`${kind} ends the connection`, async () => {
          const server = await peers.tlsServer(certs.server, (socket) => socket.write('data'))
          const socket = open(server, {
            buffer, callback: () => assert.fail('called')
          })
          assert.strictEqual((await failure(socket)).code, 'ENOBUFS')
        })
      }
    })
  })
})
