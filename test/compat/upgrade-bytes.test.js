'use strict'

/** Bytes around the moment of the upgrade: none lost, none too many. */

const assert = require('node:assert')
const crypto = require('node:crypto')
const { once } = require('node:events')

const certs = require('../support/certs')
const { duplexOver } = require('../support/duplexes')
const { usePeers } = require('../support/peers')
const { closed, collect, connected, failure, secured, take } = require('../support/sockets')
const { eachSubject } = require('../support/subjects')

const { ca } = certs

describe('bytes around the upgrade', () => {
  const peers = usePeers()

  eachSubject((subject) => {
    const upgrade = (raw, options = {}) => subject.connect({ socket: raw, ca, ...options })

    async function echo (socket, text = 'ping') {
      socket.write(text)
      assert.strictEqual(String(await take(socket, text.length)), text)
    }

    describe('plaintext that came with the go-ahead and was not read', () => {
      const junk = {
        'one byte': Buffer.from('x'),
        'a line': Buffer.from('250 injected\r\n'),
        'a fake alert': Buffer.from('1503030002010a', 'hex'),
        'a fake record': Buffer.from('170303000541424344' + '45', 'hex')
      }
      /** Each reads the one byte of the go-ahead and leaves the junk unread. */
      const readers = {
        async paused (raw) {
          raw.pause()
          while (raw.readableLength < 2) await once(raw, 'readable')
          assert.strictEqual(String(raw.read(1)), 'S')
          raw.removeAllListeners('readable')
        },
        async 'in readable mode' (raw) {
          raw.on('readable', () => {})
          while (raw.readableLength < 2) await once(raw, 'readable')
          assert.strictEqual(String(raw.read(1)), 'S')
        },
        async 'flowing, and given back by unshift()' (raw) {
          let [chunk] = await once(raw, 'data')
          raw.pause()
          while (chunk.length < 2) {
            raw.resume()
            chunk = Buffer.concat([chunk, (await once(raw, 'data'))[0]])
            raw.pause()
          }
          raw.unshift(chunk.subarray(1))
        }
      }
      for (const [what, bytes] of Object.entries(junk)) {
        for (const [how, read] of Object.entries(readers)) {
          it(`is refused: ${what}, the socket ${how}`, async () => {
            const server = await peers.plainServer((socket, peer) => {
              socket.write(peer.options.answer)
              socket.once('readable', () => peer.startTls(peer.options.tls))
            }, { answer: Buffer.concat([Buffer.from('S'), bytes]), tls: certs.server })
            const raw = await connected(server)
            await read(raw)
            assert.ok(raw.readableLength > 0)
            const socket = upgrade(raw)
            socket.on('data', () => assert.fail('plaintext passed for authenticated'))
            if (subject.kind === 'node') {
              // node feeds it to the TLS engine, which refuses most of it, but
              // swallows a warning alert: the injection goes unnoticed.
              const outcome = await secured(socket).then(() => 'secure', (error) => error.code)
              assert.match(outcome, /^(secure|ERR_SSL_.*)$/)
              assert.strictEqual(outcome === 'secure', what === 'a fake alert')
              socket.destroy()
              return
            }
            // Row "leftover plaintext" of docs/compat.md.
            socket.on('secureConnect', () => assert.fail('secureConnect'))
            const error = await failure(socket)
            assert.strictEqual(error.code, 'ERR_EAGER_TLS_LEFTOVER_PLAINTEXT')
            assert.strictEqual(raw.destroyed, true)
          })
        }
      }

      if (subject.kind === 'node') return
      it('is refused before anything is sent', async () => {
        const server = await peers.plainServer((socket) => {
          socket.resume()
          socket.write('Sx')
        })
        const raw = await connected(server)
        raw.pause()
        while (raw.readableLength < 2) await once(raw, 'readable')
        raw.read(1)
        const error = await failure(upgrade(raw))
        assert.strictEqual(error.code, 'ERR_EAGER_TLS_LEFTOVER_PLAINTEXT')
        assert.strictEqual((await server.next('closed')).bytesRead, 0)
      })
    })

    describe('after the upgrade', () => {
      const size = 8 << 20
      const leave = {
        'without a listener': () => {},
        'with a listener of data': (raw, seen) => raw.on('data', (chunk) => seen.push(chunk)),
        'with a listener of readable': (raw, seen) => raw.on('readable', () => {
          const chunk = raw.read()
          if (chunk !== null) seen.push(chunk)
        }),
        paused: (raw) => raw.pause(),
        'resumed once more': (raw) => setImmediate(() => raw.resume()),
        'without any listener left': (raw) => setImmediate(() => raw.removeAllListeners())
      }
      for (const [how, prepare] of Object.entries(leave)) {
        it(`the raw socket ${how} emits nothing and keeps nothing`, async () => {
          const server = await peers.tlsServer(certs.server, (socket, peer) => {
            socket.end(peer.require('node:buffer').Buffer.alloc(8 << 20, 'z'))
          })
          const raw = await connected(server)
          const seen = []
          prepare(raw, seen)
          const socket = await secured(upgrade(raw))
          const hash = crypto.createHash('sha256')
          let received = 0
          let most = 0
          for await (const chunk of socket) {
            received += chunk.length
            hash.update(chunk)
            most = Math.max(most, raw.readableLength)
          }
          assert.strictEqual(received, size)
          assert.strictEqual(hash.digest('hex'),
            crypto.createHash('sha256').update(Buffer.alloc(size, 'z')).digest('hex'))
          assert.deepStrictEqual(seen, [])
          assert.strictEqual(most, 0)
          assert.ok(raw.bytesRead > size)
          assert.ok(raw.bytesWritten > 0)
        })
      }

      it('the data of a peer that speaks first wait for a listener', async () => {
        const server = await peers.tlsServer(certs.server, (socket) => socket.end('220 hello\r\n'))
        const socket = await secured(upgrade(await connected(server)))
        await new Promise((resolve) => setTimeout(resolve, 20))
        assert.strictEqual(String(await collect(socket)), '220 hello\r\n')
      })
    })

    describe('a raw socket with an encoding', () => {
      for (const encoding of ['utf8', 'latin1', 'hex']) {
        it(`of ${encoding} upgrades, and the TLS socket delivers Buffers`, async () => {
          const server = await peers.startTlsServer(certs.server)
          const raw = await connected(server)
          raw.setEncoding(encoding)
          await once(raw, 'data')
          raw.write('STARTTLS\r\n')
          const [go] = await once(raw, 'data')
          assert.strictEqual(typeof go, 'string')
          const socket = await secured(upgrade(raw))
          await echo(socket, 'bytes')
          socket.destroy()
        })

        // node hands the string to its native half, which aborts the process.
        if (subject.kind === 'node') continue
        it(`of ${encoding} and text in its buffer is an error`, async () => {
          const server = await peers.plainServer((socket) => socket.write('text'))
          const raw = await connected(server)
          raw.setEncoding(encoding)
          raw.pause()
          while (raw.readableLength === 0) await once(raw, 'readable')
          assert.strictEqual((await failure(upgrade(raw))).code,
            'ERR_EAGER_TLS_LEFTOVER_PLAINTEXT')
        })
      }

      it('or a Duplex with one is served or refused with an error', async () => {
        const server = await peers.tlsServer(certs.server)
        const raw = duplexOver(await connected(server))
        raw.setEncoding('latin1')
        raw.on('error', () => {})
        const socket = upgrade(raw)
        const outcome = await Promise.race([
          secured(socket).then(() => 'secure', (error) => error.code),
          once(raw, 'error').then(([error]) => error.code, (error) => error.code)
        ])
        assert.ok(['secure', 'ERR_STREAM_WRAP'].includes(outcome), outcome)
        if (outcome === 'secure') await echo(socket)
        socket.destroy()
        raw.destroy()
      })
    })

    describe('plaintext still queued in the raw socket', () => {
      const size = 4 << 20
      const counting = (peers) => peers.plainServer((socket, peer) => {
        let rest = peer.options.size
        socket.on('readable', function onReadable () {
          while (rest > 0) {
            const chunk = socket.read(Math.min(rest, socket.readableLength) || 1)
            if (chunk === null) return
            rest -= chunk.length
          }
          socket.removeListener('readable', onReadable)
          peer.startTls(peer.options.tls)
        })
      }, { size, tls: certs.server })

      it('goes out before the ClientHello, and its callback comes first', async () => {
        const server = await counting(peers)
        const raw = await connected(server)
        const order = []
        raw.write(Buffer.alloc(size), (error) => order.push(error ?? 'written'))
        const socket = upgrade(raw)
        socket.write('after the handshake', () => order.push('written over TLS'))
        assert.strictEqual(String(await take(socket, 19)), 'after the handshake')
        assert.deepStrictEqual(order, ['written', 'written over TLS'])
        socket.destroy()
      })

      it('goes out before the ClientHello over a Duplex, too', async () => {
        const server = await counting(peers)
        const raw = duplexOver(await connected(server))
        const order = []
        for (let part = 0; part < 4; part++) {
          raw.write(Buffer.alloc(size / 4), (error) => order.push(error ?? part))
        }
        const socket = await secured(upgrade(raw))
        assert.deepStrictEqual(order, [0, 1, 2, 3])
        await echo(socket)
        socket.destroy()
      })
    })

    it('the rest of a reply that comes after the upgrade is a wrong version', async () => {
      const server = await peers.plainServer((socket) => {
        socket.write('HTTP/1.1 200 Connection established\r\n')
        socket.once('data', () => socket.write('\r\n\r\n\r\n\r\n'))
      })
      const raw = await connected(server)
      await once(raw, 'data')
      assert.strictEqual((await failure(upgrade(raw))).code, 'ERR_SSL_WRONG_VERSION_NUMBER')
    })

    describe('what is written in the tick of the upgrade', () => {
      const transports = { 'a socket': (raw) => raw, 'a Duplex': duplexOver }
      for (const [name, over] of Object.entries(transports)) {
        it(`over ${name} arrives once, after the handshake, and calls back`, async () => {
          const server = await peers.tlsServer(certs.server)
          const socket = upgrade(over(await connected(server)))
          const order = []
          socket.once('secureConnect', () => order.push('secure'))
          socket.write('one ', () => order.push('one'))
          socket.write('two ', () => order.push('two'))
          socket.end('three', () => order.push('end'))
          const gone = closed(socket)
          assert.strictEqual(String(await collect(socket)), 'one two three')
          await gone
          assert.deepStrictEqual(order, ['secure', 'one', 'two', 'end'])
          const seen = await server.connection()
          assert.deepStrictEqual([seen.bytes, seen.ended], [13, true])
        })
      }

      it('over a socket still connecting arrives, too', async () => {
        const server = await peers.tlsServer(certs.server)
        const raw = require('node:net').connect({ port: server.port, host: '127.0.0.1' })
        const socket = upgrade(raw)
        socket.end('early')
        assert.strictEqual(String(await collect(socket)), 'early')
        await closed(socket)
      })
    })
  })
})
