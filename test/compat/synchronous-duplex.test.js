'use strict'

/** A transport that is no stream of node's, and calls back inside write(). */

const assert = require('node:assert')
const crypto = require('node:crypto')
const { EventEmitter } = require('node:events')

const certs = require('../support/certs')
const { usePeers } = require('../support/peers')
const { connected, secured } = require('../support/sockets')
const { subjects } = require('../support/subjects')

const { ca } = certs
// More than the core takes at once.
const SIZE = 700000
const COUNT = 12

class Synchronous extends EventEmitter {
  readable = true
  writable = true
  #raw

  constructor (raw) {
    super()
    this.#raw = raw
    for (const event of ['data', 'end', 'close']) {
      raw.on(event, (...args) => this.emit(event, ...args))
    }
  }

  write (chunk, callback) {
    this.#raw.write(chunk)
    callback?.()
    return true
  }

  end (chunk, callback) {
    this.#raw.end(chunk)
    callback?.()
  }

  pause () { this.#raw.pause() }
  resume () { this.#raw.resume() }
  destroy () { this.#raw.destroy() }
}

// node's own wrapper asks for more of a stream.
for (const subject of subjects().filter(({ native }) => native)) {
  describe(`a transport that calls back at once, with ${subject.name}`, () => {
    const peers = usePeers()

    it('gets large writes whole, each acknowledged once and in order', async () => {
      const server = await peers.tlsServer(certs.server, 'sink')
      const socket = await secured(subject.connect({
        socket: new Synchronous(await connected(server)), ca
      }))
      const hash = crypto.createHash('sha256')
      const acknowledged = []
      for (let n = 0; n < COUNT; n++) {
        const bytes = crypto.randomBytes(SIZE)
        hash.update(bytes)
        socket.write(bytes, () => acknowledged.push(n))
      }
      socket.end()
      socket.resume()
      const seen = await server.connection()
      assert.deepStrictEqual([seen.bytes, seen.sha256, seen.error],
        [COUNT * SIZE, hash.digest('hex'), null])
      assert.deepStrictEqual(acknowledged, [...acknowledged.keys()])
      assert.strictEqual(acknowledged.length, COUNT)
    })

    it('may be destroyed inside of write()', async () => {
      const server = await peers.tlsServer(certs.server, 'sink')
      const transport = new Synchronous(await connected(server))
      const socket = await secured(subject.connect({ socket: transport, ca }))
      const { write } = transport
      transport.write = function (chunk, callback) {
        write.call(this, chunk, callback)
        socket.destroy()
      }
      const closing = new Promise((resolve) => socket.once('close', resolve))
      socket.write(Buffer.alloc(SIZE))
      assert.strictEqual(await closing, false)
    })
  })
}
