'use strict'

const assert = require('node:assert')
const crypto = require('node:crypto')
const { once } = require('node:events')

const certs = require('../support/certs')
const { usePeers } = require('../support/peers')
const { records } = require('../support/records')
const { closed, collect, connected, secured, take } = require('../support/sockets')
const { eachSubject } = require('../support/subjects')

const { ca } = certs

const NODE_MAJOR = Number(process.versions.node.split('.', 1)[0])

const sha256 = (bytes) => crypto.createHash('sha256').update(bytes).digest('hex')

describe('writing and reading', () => {
  const peers = usePeers()

  eachSubject((subject) => {
    const upgrade = async (server, options = {}) =>
      secured(subject.connect({ socket: await connected(server), ca, ...options }))

    describe('sizes around the borders of records', () => {
      const sizes = []
      for (const records of [1, 2, 4]) {
        for (const off of [-1, 0, 1]) sizes.push(records * 16384 + off)
      }
      for (const maxVersion of ['TLSv1.2', 'TLSv1.3']) {
        it(`come back as they went with ${maxVersion}: ${sizes.join(', ')}`, async () => {
          const server = await peers.tlsServer({ ...certs.server, maxVersion })
          const socket = await upgrade(server)
          for (const size of sizes) {
            const sent = crypto.randomBytes(size)
            const echoed = take(socket, size)
            socket.write(sent)
            assert.ok((await echoed).equals(sent))
          }
          socket.destroy()
        })
      }
    })

    it('8 MB up arrive whole, in one write and in many', async () => {
      const server = await peers.tlsServer(certs.server, 'sink')
      const sent = crypto.randomBytes(8 << 20)
      for (const step of [sent.length, 65536, 5000]) {
        const socket = await upgrade(server)
        for (let at = 0; at < sent.length; at += step) {
          socket.write(sent.subarray(at, at + step))
        }
        socket.resume().end()
        const seen = await server.connection()
        assert.deepStrictEqual([seen.bytes, seen.sha256], [sent.length, sha256(sent)])
      }
    })

    it('8 MB down arrive whole, by data, by readable and by read(n)', async () => {
      const server = await peers.tlsServer(certs.server, (socket, peer) => {
        const { Buffer } = peer.require('node:buffer')
        const part = Buffer.from(Array.from({ length: 251 }, (_, index) => index))
        socket.end(Buffer.alloc(8 << 20, part))
      })
      const part = Buffer.from(Array.from({ length: 251 }, (_, index) => index))
      const expected = sha256(Buffer.alloc(8 << 20, part))
      const readers = {
        data: (socket, onChunk) => socket.on('data', onChunk),
        readable: (socket, onChunk) => socket.on('readable', () => {
          let chunk
          while ((chunk = socket.read()) !== null) onChunk(chunk)
        }),
        'read(n)': (socket, onChunk) => socket.on('readable', () => {
          let chunk
          while ((chunk = socket.read(Math.min(1000, socket.readableLength) || 1)) !== null) {
            onChunk(chunk)
          }
        })
      }
      for (const read of Object.values(readers)) {
        const socket = await upgrade(server)
        const hash = crypto.createHash('sha256')
        read(socket, (chunk) => hash.update(chunk))
        await once(socket, 'end')
        assert.strictEqual(hash.digest('hex'), expected)
        socket.destroy()
      }
    })

    describe('strings', () => {
      const rows = [
        ['utf8', 'héllo wörld €'],
        [undefined, 'ünïcode by default'],
        ['latin1', 'caf\xe9\xff'],
        ['ascii', 'plain'],
        ['hex', '00ff10'],
        ['base64', 'AP8Q/w=='],
        ['base64url', 'AP8Q_w'],
        ['utf16le', 'wide €'],
        ['binary', '\x00\x80\xff']
      ]
      for (const [encoding, string] of rows) {
        it(`in ${encoding ?? 'no named encoding'} arrive as those bytes`, async () => {
          const server = await peers.tlsServer(certs.server)
          const socket = await upgrade(server)
          const expected = Buffer.from(string, encoding)
          const echoed = take(socket, expected.length)
          socket.write(string, encoding)
          assert.ok((await echoed).equals(expected))
          socket.destroy()
        })
      }

      it('corked with Buffers keep their order and encodings', async () => {
        const server = await peers.tlsServer(certs.server)
        const socket = await upgrade(server)
        socket.cork()
        socket.write('é')
        socket.write('e9', 'hex')
        socket.write(Buffer.from('|'))
        socket.write('6Q==', 'base64')
        socket.write(new Uint8Array([0x7c]))
        process.nextTick(() => socket.uncork())
        const expected = Buffer.from('c3a9e97ce97c', 'hex')
        assert.ok((await take(socket, expected.length)).equals(expected))
        socket.destroy()
      })

      it('after setDefaultEncoding are in that encoding', async () => {
        const server = await peers.tlsServer(certs.server)
        const socket = await upgrade(server)
        socket.setDefaultEncoding('hex')
        socket.write('c3bc')
        assert.strictEqual(String(await take(socket, 2)), 'ü')
        socket.destroy()
      })

      it('read with setEncoding join characters cut between records', async () => {
        const server = await peers.tlsServer(certs.server, (socket, peer) => {
          const bytes = peer.require('node:buffer').Buffer.from('a€b')
          socket.write(bytes.subarray(0, 2))
          setImmediate(() => {
            socket.write(bytes.subarray(2, 3))
            setImmediate(() => socket.end(bytes.subarray(3)))
          })
        })
        const socket = await upgrade(server)
        socket.setEncoding('utf8')
        let text = ''
        for await (const chunk of socket) text += chunk
        assert.strictEqual(text, 'a€b')
      })
    })

    describe('callbacks', () => {
      it('come in the order of the writes, without an error', async () => {
        const server = await peers.tlsServer(certs.server, 'sink')
        const socket = await upgrade(server)
        const order = []
        const done = new Promise((resolve) => {
          for (let index = 0; index < 20; index++) {
            socket.write(Buffer.alloc(index * 3000), (error) => {
              order.push(error ?? index)
              if (index === 19) resolve()
            })
          }
        })
        await done
        assert.deepStrictEqual(order, Array.from({ length: 20 }, (_, index) => index))
        socket.destroy()
      })

      it('of writes that a destroy() overtakes get an error', async () => {
        const server = await peers.tlsServer(certs.server, 'hold')
        const socket = await upgrade(server)
        const errors = await new Promise((resolve) => {
          const told = []
          const onTold = (error) => told.push(error) === 2 && resolve(told)
          socket.write(Buffer.alloc(64 << 20), onTold)
          socket.write('queued', onTold)
          socket.destroy()
        })
        const code = NODE_MAJOR < 22 ? 'ERR_STREAM_DESTROYED' : 'ECANCELED'
        if (subject.native) assert.strictEqual(errors[1].code, code)
        else assert.match(errors[1].code, /^E/)
        assert.strictEqual(errors.length, 2)
      })

      it('of empty writes come in their turn', async () => {
        const server = await peers.tlsServer(certs.server)
        const socket = await upgrade(server)
        const order = []
        socket.write('', () => order.push('empty string'))
        socket.write('a', () => order.push('a'))
        socket.write(Buffer.alloc(0), () => order.push('empty Buffer'))
        socket.end('b', () => order.push('end'))
        assert.strictEqual(String(await collect(socket)), 'ab')
        assert.deepStrictEqual(order, ['empty string', 'a', 'empty Buffer', 'end'])
      })
    })

    describe('backpressure', () => {
      it('is told by false and lifted by drain', async () => {
        const server = await peers.tlsServer(certs.server, (socket, peer) => {
          socket.pause()
          peer.on('read', () => socket.resume())
        })
        const socket = await upgrade(server)
        socket.resume()
        let written = 0
        while (socket.write(Buffer.alloc(65536))) written++
        assert.ok(written < 2)
        assert.strictEqual(socket.writableNeedDrain, true)
        // Fill what lies between, until the peer's silence is felt.
        for (let more = 0; more < 200; more++) socket.write(Buffer.alloc(65536))
        assert.ok(socket.writableLength > 1 << 20)
        const drained = once(socket, 'drain')
        await server.next('secure')
        server.tell('read')
        await drained
        assert.strictEqual(socket.writableLength, 0)
        socket.end()
        assert.strictEqual((await server.connection()).bytes, (written + 201) * 65536)
      })

      it('of a reader that pauses stops the raw socket, too', async () => {
        const size = 24 << 20
        const server = await peers.tlsServer(certs.server, (socket, peer) => {
          socket.end(peer.require('node:buffer').Buffer.alloc(24 << 20))
        })
        const raw = await connected(server)
        const socket = await secured(subject.connect({ socket: raw, ca }))
        await once(socket, 'readable')
        let before = -1
        while (raw.bytesRead !== before) {
          before = raw.bytesRead
          await new Promise((resolve) => setTimeout(resolve, 15))
        }
        assert.ok(raw.bytesRead < 4 << 20, `${raw.bytesRead} bytes were read`)
        assert.ok(socket.readableLength < 4 << 20)
        let received = 0
        for await (const chunk of socket) received += chunk.length
        assert.strictEqual(received, size)
      })
    })

    describe('counters', () => {
      it('bytesRead and bytesWritten are as node counts them', async () => {
        const server = await peers.tlsServer(certs.server)
        const socket = await upgrade(server)
        socket.write('four')
        socket.write('éé')
        assert.strictEqual(socket.bytesWritten, 8)
        await take(socket, 8)
        assert.strictEqual(socket.bytesWritten, 8)
        assert.strictEqual(socket.bytesRead, 8)
        socket.end()
        socket.resume()
        await closed(socket)
        assert.strictEqual(socket.bytesWritten, 8)
        assert.strictEqual(socket.bytesRead, 8)
      })
    })

    describe('records', () => {
      async function sentBy (act, options = {}) {
        const server = await peers.tlsServer({ ...certs.server, maxVersion: 'TLSv1.2' }, 'sink')
        const proxy = await peers.byteProxy(server.port)
        const socket = await upgrade(proxy, options)
        act(socket)
        socket.resume().end()
        const seen = await server.connection()
        const data = records((await proxy.bytes()).up).filter(({ type }) => type === 'data')
        return { seen, data }
      }

      it('of corked writes are one', async () => {
        const { seen, data } = await sentBy((socket) => {
          socket.cork()
          for (let index = 0; index < 50; index++) socket.write('part ')
          socket.uncork()
        })
        assert.strictEqual(seen.bytes, 250)
        assert.strictEqual(data.length, 1)
      })

      it('of the writes of one tick are full', async () => {
        const { seen, data } = await sentBy((socket) => {
          for (let index = 0; index < 32; index++) socket.write(Buffer.alloc(1024))
        })
        assert.strictEqual(seen.bytes, 32 * 1024)
        if (subject.native) assert.strictEqual(data.length, 2)
      })

      it('of a big write are full', async () => {
        const { seen, data } = await sentBy((socket) => socket.write(Buffer.alloc(10 * 16384)))
        assert.strictEqual(seen.bytes, 10 * 16384)
        assert.strictEqual(data.length, 10)
      })

      it('keep to setMaxSendFragment', async () => {
        const { seen, data } = await sentBy((socket) => {
          assert.strictEqual(socket.setMaxSendFragment(511), false)
          assert.strictEqual(socket.setMaxSendFragment(1024), true)
          socket.write(Buffer.alloc(4096))
        })
        assert.strictEqual(seen.bytes, 4096)
        assert.deepStrictEqual([data.length, Math.max(...data.map(({ length }) => length)) < 1100],
          [4, true])
      })
    })

    describe('bad chunks', () => {
      const rows = [
        ['null', null, 'ERR_STREAM_NULL_VALUES'],
        ['a number', 5, 'ERR_INVALID_ARG_TYPE'],
        ['an object', {}, 'ERR_INVALID_ARG_TYPE'],
        ['undefined', undefined, 'ERR_INVALID_ARG_TYPE']
      ]
      for (const [name, chunk, code] of rows) {
        it(`of ${name} throw, and the connection lives on`, async () => {
          const server = await peers.tlsServer(certs.server)
          const socket = await upgrade(server)
          assert.throws(() => socket.write(chunk), { code })
          socket.write('good')
          assert.strictEqual(String(await take(socket, 4)), 'good')
          socket.destroy()
        })
      }

      it('of an unknown encoding throw', async () => {
        const server = await peers.tlsServer(certs.server)
        const socket = await upgrade(server)
        assert.throws(() => socket.write('text', 'utf9'), { code: 'ERR_UNKNOWN_ENCODING' })
        socket.destroy()
      })
    })

    it('unshift() gives back what was read', async () => {
      const server = await peers.tlsServer(certs.server, (socket) => socket.end('head and body'))
      const socket = await upgrade(server)
      const [chunk] = await once(socket, 'data')
      socket.pause()
      socket.unshift(chunk.subarray(4))
      assert.strictEqual(String(await collect(socket)), ' and body')
    })

    it('leaving a loop over the socket destroys it', async () => {
      const server = await peers.tlsServer(certs.server, (socket) => socket.write('first'))
      const socket = await upgrade(server)
      const chunks = socket[Symbol.asyncIterator]()
      assert.strictEqual(String((await chunks.next()).value), 'first')
      await chunks.return()
      if (!socket.closed) await closed(socket)
      assert.strictEqual(socket.destroyed, true)
    })
  })
})
