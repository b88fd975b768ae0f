'use strict'

/** Raw sockets that are no net.Socket, TLS in TLS, and protocols on top. */

const assert = require('node:assert')
const crypto = require('node:crypto')
const { once } = require('node:events')
const http2 = require('node:http2')
const https = require('node:https')
const { Duplex } = require('node:stream')
const tls = require('node:tls')

const certs = require('../support/certs')
const { duplexOver, duplexPair } = require('../support/duplexes')
const { usePeers } = require('../support/peers')
const { closed, collect, connected, failure, secured, take } = require('../support/sockets')
const { eachSubject } = require('../support/subjects')
const { uncaughtDuring } = require('../support/uncaught')

const { ca } = certs

/** A Duplex over a socket that is sometimes synchronous and cuts at random. */
class RandomDuplex extends Duplex {
  #socket

  constructor (socket) {
    super()
    this.#socket = socket
    socket.on('data', (chunk) => {
      const at = crypto.randomInt(chunk.length + 1)
      for (const part of [chunk.subarray(0, at), chunk.subarray(at)]) {
        if (part.length > 0 && !this.push(part)) socket.pause()
      }
    })
    socket.on('end', () => this.push(null))
    socket.on('close', () => this.destroy())
  }

  _read () {
    this.#socket.resume()
  }

  _write (chunk, encoding, callback) {
    this.#socket.write(chunk)
    switch (crypto.randomInt(3)) {
      case 0: return callback()
      case 1: return process.nextTick(callback)
      default: setImmediate(callback)
    }
  }

  _final (callback) {
    this.#socket.end(callback)
  }

  _destroy (error, callback) {
    this.#socket.destroy()
    callback(error)
  }
}

describe('a raw socket that is any Duplex', () => {
  const peers = usePeers()

  eachSubject((subject) => {
    const upgrade = (raw, options = {}) =>
      secured(subject.connect({ socket: raw, ca, ...options }))

    /** Sends `bytes` and reads them back, both whole. */
    async function echoed (socket, bytes) {
      const back = take(socket, bytes.length)
      socket.write(bytes)
      assert.ok((await back).equals(bytes))
    }

    describe('carries whatever is sent both ways', () => {
      const kinds = {
        'with asynchronous writes': (raw) => duplexOver(raw),
        'with synchronous writes': (raw) => duplexOver(raw, { sync: true }),
        'in chunks of 7 bytes': (raw) => duplexOver(raw, { chunk: 7 }),
        'with random cuts and callbacks': (raw) => new RandomDuplex(raw),
        'through two Duplexes': (raw) => {
          const [left, right] = duplexPair()
          right.pipe(raw).pipe(right)
          return left
        }
      }
      for (const [name, over] of Object.entries(kinds)) {
        const size = name.includes('7 bytes') ? 100000 : 1 << 20
        it(`${name}, and ends`, async () => {
          const server = await peers.tlsServer(certs.server)
          const socket = await upgrade(over(await connected(server)))
          await echoed(socket, crypto.randomBytes(size))
          const gone = closed(socket)
          socket.end('bye')
          assert.strictEqual(String(await collect(socket)), 'bye')
          await gone
          const seen = await server.connection()
          assert.deepStrictEqual([seen.bytes, seen.ended, seen.error],
            [size + 3, true, null])
        })
      }

      it('in single bytes during the handshake', async () => {
        const server = await peers.tlsServer(certs.server)
        const raw = duplexOver(await connected(server), { chunk: 1 })
        const socket = await upgrade(raw)
        await echoed(socket, Buffer.from('single bytes'))
        socket.destroy()
      })

      it('with sixteen at once', async () => {
        const server = await peers.tlsServer(certs.server)
        await Promise.all(Array.from({ length: 16 }, async () => {
          const socket = await upgrade(new RandomDuplex(await connected(server)))
          await echoed(socket, crypto.randomBytes(200000))
          socket.destroy()
          await closed(socket)
        }))
      })
    })

    it('has no methods of a socket, and they do no harm', async () => {
      const server = await peers.tlsServer(certs.server)
      const socket = await upgrade(duplexOver(await connected(server)))
      assert.strictEqual(socket.setNoDelay(true), socket)
      assert.strictEqual(socket.setKeepAlive(true, 1000), socket)
      assert.strictEqual(socket.ref(), socket)
      assert.strictEqual(socket.unref(), socket)
      assert.strictEqual(socket.remoteAddress, undefined)
      assert.deepStrictEqual({ ...socket.address() }, {})
      await echoed(socket, Buffer.from('fine'))
      socket.destroy()
    })

    // Row "Duplexes in object mode" of docs/compat.md.
    it('in object mode is served, or refused with an error', async () => {
      const server = await peers.tlsServer(certs.server)
      const raw = duplexOver(await connected(server), { objectMode: true })
      const socket = subject.connect({ socket: raw, ca })
      const outcome = await new Promise((resolve) => {
        raw.on('error', (error) => resolve(error.code))
        socket.on('error', (error) => resolve(error.code))
        socket.on('secureConnect', () => resolve('secure'))
      })
      assert.ok(['secure', 'ERR_STREAM_WRAP'].includes(outcome), outcome)
      if (outcome === 'secure') await echoed(socket, Buffer.from('fine'))
      socket.destroy()
      raw.destroy()
    })

    it('that throws in _write does so once, and can be destroyed', async () => {
      const server = await peers.tlsServer(certs.server)
      const mine = new Error('thrown by _write')
      const seen = []
      const caught = await uncaughtDuring(async (caught) => {
        const raw = duplexOver(await connected(server), { throwOnWrite: mine })
        raw.on('error', () => {})
        const socket = subject.connect({ socket: raw, ca })
        socket.on('error', (error) => seen.push(error))
        while (caught.length + seen.length === 0) await new Promise(setImmediate)
        socket.destroy()
        if (!socket.closed) await closed(socket)
        raw.destroy()
      })
      assert.deepStrictEqual([...caught, ...seen], [mine])
    })

    describe('over TLS in TLS', () => {
      const pairs = {
        'this over node:tls': [tls.connect, subject.connect],
        'node:tls over this': [subject.connect, tls.connect],
        'this over itself': [subject.connect, subject.connect]
      }
      /** TLS whose plaintext is TLS again, which echoes. */
      const server = () => peers.tlsServer({ ...certs.hosta, inner: certs.server }, (socket, peer) => {
        const tls = peer.require('node:tls')
        const inner = new tls.TLSSocket(socket, {
          isServer: true,
          secureContext: tls.createSecureContext(peer.options.inner)
        })
        inner.on('error', () => {})
        inner.pipe(inner)
      })
      for (const [name, [outerConnect, innerConnect]] of Object.entries(pairs)) {
        it(`${name} carries 2 MB both ways and ends`, async () => {
          const raw = await connected(await server())
          const outer = await secured(outerConnect({ socket: raw, ca, servername: 'hosta.test' }))
          const inner = await secured(innerConnect({ socket: outer, ca, servername: 'localhost' }))
          assert.strictEqual(outer.getPeerCertificate().subject.CN, 'hosta.test')
          assert.strictEqual(inner.getPeerCertificate().subject.CN, 'localhost')
          await echoed(inner, crypto.randomBytes(2 << 20))
          const gone = [closed(inner), closed(outer)]
          inner.end('last')
          assert.strictEqual(String(await collect(inner)), 'last')
          await Promise.all(gone)
        })

        it(`${name} closes with the outer socket`, async () => {
          const raw = await connected(await server())
          const outer = await secured(outerConnect({ socket: raw, ca, servername: 'hosta.test' }))
          const inner = await secured(innerConnect({ socket: outer, ca }))
          const gone = closed(inner)
          outer.destroy()
          assert.strictEqual(await gone, false)
          assert.strictEqual(raw.destroyed, true)
        })

        it(`${name} sends what the outer one had queued first`, async () => {
          const size = 1 << 20
          const peer = await peers.tlsServer({ ...certs.hosta, inner: certs.server, size }, (socket, peer) => {
            let rest = peer.options.size
            socket.on('readable', function onReadable () {
              while (rest > 0) {
                const chunk = socket.read(Math.min(rest, socket.readableLength) || 1)
                if (chunk === null) return
                rest -= chunk.length
              }
              socket.removeListener('readable', onReadable)
              const tls = peer.require('node:tls')
              const inner = new tls.TLSSocket(socket, {
                isServer: true,
                secureContext: tls.createSecureContext(peer.options.inner)
              })
              inner.pipe(inner)
            })
          })
          const raw = await connected(peer)
          const outer = await secured(outerConnect({ socket: raw, ca, servername: 'hosta.test' }))
          const order = []
          outer.write(Buffer.alloc(size), () => order.push('written'))
          const inner = await secured(innerConnect({ socket: outer, ca }))
          order.push('secure')
          assert.deepStrictEqual(order, ['written', 'secure'])
          await echoed(inner, Buffer.from('inside'))
          inner.destroy()
        })
      }

      it('an inner handshake that fails closes both', async () => {
        const raw = await connected(await server())
        const outer = await secured(tls.connect({ socket: raw, ca, servername: 'hosta.test' }))
        const gone = closed(outer)
        const error = await failure(subject.connect({ socket: outer, ca: certs.otherCa }))
        assert.strictEqual(error.code, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE')
        await gone
      })
    })

    it('switched to another way after the handshake goes on', async () => {
      const server = await peers.tlsServer({ ...certs.server, maxVersion: 'TLSv1.2' })
      const raw = await connected(server)
      const [tlsSide, wireSide] = duplexPair()
      // Until the handshake is over, the bytes pass through hands of our own.
      const up = (chunk) => raw.write(chunk)
      const down = (chunk) => wireSide.write(chunk)
      wireSide.on('data', up)
      raw.on('data', down)
      const socket = await upgrade(tlsSide)
      wireSide.removeListener('data', up)
      raw.removeListener('data', down)
      wireSide.pipe(raw)
      raw.pipe(wireSide)
      await echoed(socket, crypto.randomBytes(100000))
      socket.destroy()
      raw.destroy()
    })

    describe('or a socket, under', () => {
      const transports = { 'a socket': (raw) => raw, 'a Duplex': (raw) => duplexOver(raw) }
      for (const [name, over] of Object.entries(transports)) {
        it(`https over ${name} gets its answer`, async () => {
          const server = await peers.tlsServer(certs.server, (socket) => {
            socket.once('data', () => socket.end(
              'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok'))
          })
          const raw = over(await connected(server))
          const request = https.request({
            createConnection: () => subject.connect({ socket: raw, ca })
          })
          request.end()
          const [response] = await once(request, 'response')
          assert.strictEqual(response.statusCode, 200)
          assert.strictEqual(String(await collect(response)), 'ok')
        })

        for (const when of ['before', 'long after']) {
          it(`http2 over ${name}, begun ${when} the handshake, gets its answer`, async () => {
            const server = await peers.tlsServer({ ...certs.server, ALPNProtocols: ['h2'] }, (socket, peer) => {
              const session = peer.require('node:http2').performServerHandshake(socket)
              session.on('error', () => {})
              session.on('stream', (stream) => {
                stream.respond({ ':status': 200 })
                stream.end('ok')
              })
            })
            const raw = over(await connected(server))
            const socket = subject.connect({ socket: raw, ca, ALPNProtocols: ['h2'] })
            if (when === 'long after') {
              await secured(socket)
              await new Promise((resolve) => setTimeout(resolve, 50))
            }
            const session = http2.connect('https://localhost', { createConnection: () => socket })
            const stream = session.request({ ':path': '/' })
            const [[headers], body] = await Promise.all(
              [once(stream, 'response'), collect(stream)])
            assert.strictEqual(headers[':status'], 200)
            assert.strictEqual(String(body), 'ok')
            session.close()
            await once(session, 'close')
            socket.destroy()
          })
        }
      }
    })
  })
})
