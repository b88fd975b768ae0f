'use strict'

/** The transport ends at an unusual moment. */

const assert = require('node:assert')
const { once } = require('node:events')
const { Duplex } = require('node:stream')

const certs = require('../support/certs')
const { hastyDuplex } = require('../support/duplexes')
const { usePeers } = require('../support/peers')
const { collect, connected, failure, secured } = require('../support/sockets')
const { eachSubject } = require('../support/subjects')

const { ca } = certs
const SIZE = 300000

describe('a transport that ends', () => {
  const peers = usePeers()

  eachSubject((subject) => {
    it('with all the data in one chunk before a paused reader, loses none of it', async () => {
      const server = await peers.tlsServer({
        ...certs.server, maxVersion: 'TLSv1.2'
      }, (socket, peer) => {
        const { Buffer } = peer.require('node:buffer')
        socket.once('data', () => socket.end(Buffer.alloc(300000, 'x')))
      })
      const raw = await connected(server)
      let held = null
      const duplex = new Duplex({
        read () {},
        write (chunk, encoding, callback) { raw.write(chunk, callback) },
        final (callback) { raw.end(callback) },
        destroy (error, callback) {
          raw.destroy()
          callback(error)
        }
      })
      raw.on('data', (chunk) => held === null ? duplex.push(chunk) : held.push(chunk))
      const socket = await secured(subject.connect({ socket: duplex, ca }))
      held = []
      socket.write('go')
      await once(raw, 'end')
      duplex.push(Buffer.concat(held))
      duplex.push(null)
      await new Promise(setImmediate)
      assert.strictEqual((await collect(socket)).length, SIZE)
    })

    // Row "ends in a renegotiation" of docs/compat.md.
    for (const later of [false, true]) {
      it(`and then gives more${later ? ', later' : ''}, fails with its own error`, async () => {
        const server = await peers.tlsServer({
          ...certs.server, maxVersion: 'TLSv1.2'
        }, (socket) => socket.once('data', () => socket.end('answer')))
        const raw = await connected(server)
        const duplex = hastyDuplex(raw)
        const socket = await secured(subject.connect({ socket: duplex, ca }))
        const failed = failure(socket)
        const read = []
        socket.on('data', (chunk) => read.push(chunk))
        socket.write('go')
        await once(raw, 'end')
        duplex.push(null)
        if (later) await once(duplex, 'end')
        duplex.push('more')
        assert.strictEqual((await failed).code, 'ERR_STREAM_PUSH_AFTER_EOF')
        assert.strictEqual(String(Buffer.concat(read)), 'answer')
      })
    }

    // node never calls back, and never closes.
    if (!subject.native) return

    for (const allowHalfOpen of [false, true]) {
      it(`in the middle of a renegotiation, refuses what is written, allowHalfOpen: ${allowHalfOpen}`, async () => {
        const server = await peers.tlsServer({
          ...certs.server, maxVersion: 'TLSv1.2'
        }, 'sink')
        const proxy = await peers.plainServer((client, peer) => {
          const onward = peer.require('node:net').connect(peer.options.target, '127.0.0.1')
          let open = true
          for (const socket of [client, onward]) socket.on('error', () => {})
          client.on('data', (chunk) => open ? onward.write(chunk) : client.end())
          client.on('close', () => onward.destroy())
          onward.pipe(client)
          peer.on('stop', () => { open = false })
        }, { allowHalfOpen: true, target: server.port })
        const raw = await connected(proxy, { allowHalfOpen })
        const socket = await secured(subject.connect({ socket: raw, ca, allowHalfOpen }))
        const failed = failure(socket)
        socket.once('end', () => socket.write('x'))
        socket.resume()
        await server.next('secure')
        await proxy.tell('stop')
        assert.strictEqual(socket.renegotiate({}, () => {}), true)
        const { code, syscall } = await failed
        assert.deepStrictEqual({ code, syscall }, { code: 'EPIPE', syscall: 'write' })
      })
    }
  })
})
