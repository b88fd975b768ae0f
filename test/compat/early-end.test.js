'use strict'

/** An end while the handshake is under way. */

const assert = require('node:assert')
const { once } = require('node:events')
const net = require('node:net')

const certs = require('../support/certs')
const { duplexOver } = require('../support/duplexes')
const { usePeers } = require('../support/peers')
const { connected } = require('../support/sockets')
const { eachSubject } = require('../support/subjects')
const { traceOf } = require('../support/trace')

const { ca } = certs

const CANCELS = Number(process.versions.node.split('.', 1)[0]) >= 22

describe('before the handshake is done', () => {
  const peers = usePeers()

  eachSubject((subject) => {
    const raws = {
      'a socket': connected,
      'a socket still connecting': async ({ port }) =>
        peers.keep(net.connect({ port, host: '127.0.0.1' })),
      'a Duplex': async (server) => duplexOver(await connected(server))
    }

    /** It takes the ClientHello, and never answers. */
    const silentServer = () => peers.plainServer((socket, peer) => {
      socket.on('end', () => peer.report('FIN')).resume()
    }, { allowHalfOpen: true })

    for (const [name, open] of Object.entries(raws)) {
      it(`end() over ${name} sends FIN and finishes`, async () => {
        const server = await silentServer()
        const socket = subject.connect({ socket: await open(server), ca })
        socket.end()
        await once(socket, 'finish')
        assert.strictEqual(await server.next('report'), 'FIN')
        assert.strictEqual(socket.readyState, 'readOnly')
        socket.destroy()
        await once(socket, 'close')
      })

      it(`destroySoon() over ${name} closes it`, async () => {
        const server = await silentServer()
        const socket = subject.connect({ socket: await open(server), ca })
        socket.destroySoon()
        const [hadError] = await once(socket, 'close')
        assert.strictEqual(hadError, false)
        assert.strictEqual(await server.next('report'), 'FIN')
        assert.strictEqual(socket.writableFinished, true)
      })
    }

    for (const maxVersion of ['TLSv1.2', 'TLSv1.3']) {
      it(`end() and then the answer, with ${maxVersion}, is no error of a write`, async () => {
        const server = await peers.tlsServer({ ...certs.server, maxVersion })
        const events = await traceOf(subject, async ({ connect, trace }) => {
          const raw = await connected(server)
          trace.watch('tls', connect({ socket: raw, ca })).end()
          await trace.closed()
        })
        assert.strictEqual(events[0], 'tls.finish')
        assert.strictEqual(events.some((event) => /EPIPE/.test(event)), false)
        assert.match((await server.next('clientError')).code, /ECONNRESET|EPROTO|EPIPE/)
      })
    }

    it('end() waits for what was written', async () => {
      const server = await peers.tlsServer(certs.server, 'sink')
      const socket = subject.connect({ socket: await connected(server), ca })
      socket.resume().write('first')
      socket.end()
      assert.strictEqual((await server.connection()).bytes, 5)
    })

    it('FIN destroys the socket before anybody hears of the end', async () => {
      const server = await peers.plainServer((socket) => socket.end())
      const socket = subject.connect({ socket: await connected(server), ca })
      const seen = []
      socket.on('error', (error) => seen.push(error.code))
      socket.on('end', () => seen.push(`end, destroyed: ${socket.destroyed}`))
      socket.on('end', () => process.nextTick(() => seen.push('a tick later')))
      socket.resume()
      await new Promise((resolve) => socket.once('close', resolve))
      assert.deepStrictEqual(seen, ['end, destroyed: true', 'ECONNRESET', 'a tick later'])
    })

    it('destroy() calls back, and counts, what was being written right before close', async () => {
      const server = await silentServer()
      const events = await traceOf(subject, async ({ connect, trace }) => {
        const raw = await connected(server)
        trace.watch('raw', raw)
        const socket = trace.watch('tls', connect({ socket: raw, ca }))
        socket.write('first', (error) => trace.note(`first(${error ?? ''})`))
        socket.write('second', (error) => trace.note(`second(${error.code})`))
        assert.strictEqual(socket.bytesWritten, 11)
        socket.destroy(Object.assign(new Error('mine'), { code: 'MINE' }))
        await trace.closed()
        assert.strictEqual(socket.bytesWritten, 5)
      })
      // What newer versions of node say.
      const why = CANCELS
        ? 'Error: write ECANCELED Canceled because of SSL destruction'
        : ''
      assert.deepStrictEqual(events, ['tls.error(MINE)', 'raw.close(false)',
        `first(${why})`, 'second(MINE)', 'tls.close(true)'])
    })

    it('is over, destroy() calls a write back that the peer does not take', async () => {
      const server = await peers.tlsServer(certs.server, 'hold')
      const socket = subject.connect({ socket: await connected(server), ca })
      await once(socket, 'secureConnect')
      const written = new Promise((resolve) =>
        socket.write(Buffer.alloc(30_000_000), resolve))
      await new Promise((resolve) => setImmediate(resolve))
      socket.destroy()
      assert.strictEqual((await written)?.message,
        CANCELS ? 'write ECANCELED' : undefined)
    })

    it('end() is not told that destroy() came before it was done', async () => {
      const server = await silentServer()
      const socket = subject.connect({ socket: await connected(server), ca })
      const ended = new Promise((resolve) => socket.end(resolve))
      await once(socket, 'finish')
      socket.destroy()
      assert.ok(!(await ended))
    })
  })
})
