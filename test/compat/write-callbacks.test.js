'use strict'

/** When writes are called back, and with what, once the socket goes. */

const assert = require('node:assert')
const net = require('node:net')

const certs = require('../support/certs')
const { hastyDuplex } = require('../support/duplexes')
const { usePeers } = require('../support/peers')
const { connected, secured } = require('../support/sockets')
const { eachSubject } = require('../support/subjects')
const { Trace } = require('../support/trace')

const { ca } = certs

// Newer versions of node say why a write was not sent.
const CANCELS = Number(process.versions.node.split('.', 1)[0]) >= 22
const CANCELED = CANCELS ? 'ECANCELED' : 'ok'
const CLOSED = CANCELS ? 'EBADF' : 'ok'
const MINE = Object.assign(new Error('mine'), { code: 'MINE' })
const UNVERIFIED = 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'
const BEFORE = 'ERR_SOCKET_CLOSED_BEFORE_CONNECTION'
// More than the kernel takes from a peer that does not read.
const LARGE = 30_000_000

/**
 * Secure, and in the phase of timers: what node calls back in that of immediates
 * comes before what libuv closes.
 */
async function settled (socket, next = (resolve) => setTimeout(resolve, 1)) {
  await secured(socket)
  await new Promise(next)
  return socket
}

describe('writes of a socket that goes', () => {
  const peers = usePeers()

  eachSubject((subject) => {
    /** All events of both sockets and callbacks, from the writes on. */
    const traceFrom = async (raw, { ready, next, writes, act }) => {
      const trace = new Trace(['secure', 'secureConnect', 'session', 'connect'])
      trace.watch('raw', raw)
      const socket = trace.watch('tls', subject.connect({ socket: raw, ca }))
      if (ready) await settled(socket, next)
      for (const [name, chunk] of Object.entries(writes)) {
        socket.write(chunk, (error) => trace.note(`${name} ${error?.code ?? 'ok'}`))
      }
      await act?.(socket, raw)
      await trace.closed()
      return trace.events
    }
    const two = { first: 'a', second: 'b' }
    const large = { large: Buffer.alloc(LARGE), second: 'b' }
    const second = CANCELS ? 'second ECANCELED' : 'second ERR_STREAM_DESTROYED'

    it('by destroy() are called back before the raw socket closes', async () => {
      const server = await peers.tlsServer(certs.server, 'hold')
      const act = (socket) => socket.destroy()
      const ready = true
      assert.deepStrictEqual(
        await traceFrom(await connected(server), { ready, writes: { first: 'a' }, act }),
        ['first ok', 'raw.close(false)', 'tls.close(false)'])
      assert.deepStrictEqual(
        await traceFrom(await connected(server), { ready, writes: large, act }),
        [`large ${CANCELED}`, second, 'raw.close(false)', 'tls.close(false)'])
    })

    it('by destroy() in an immediate are called back before it closes itself', async () => {
      const server = await peers.tlsServer(certs.server, 'hold')
      assert.deepStrictEqual(
        await traceFrom(await connected(server), {
          ready: true,
          next: setImmediate,
          writes: { first: 'a' },
          act: (socket) => socket.destroy()
        }),
        ['raw.close(false)', `first ${CANCELED}`, 'tls.close(false)'])
    })

    it("by destroy(error) are called back behind 'error'", async () => {
      const server = await peers.tlsServer(certs.server, 'hold')
      const act = (socket) => socket.destroy(MINE)
      const ready = true
      assert.deepStrictEqual(
        await traceFrom(await connected(server), { ready, writes: two, act }),
        ['tls.error(MINE)', 'first ok', 'second MINE', 'raw.close(false)', 'tls.close(true)'])
      assert.deepStrictEqual(
        await traceFrom(await connected(server), { ready, writes: large, act }),
        ['tls.error(MINE)', `large ${CANCELED}`, 'second MINE', 'raw.close(false)',
          'tls.close(true)'])
    })

    it("by destroy(error) over a Duplex closes that before 'error'", async () => {
      const server = await peers.tlsServer(certs.server, 'hold')
      for (const ready of [false, true]) {
        const duplex = hastyDuplex(await connected(server))
        const act = (socket) => socket.destroy(MINE)
        assert.deepStrictEqual(await traceFrom(duplex, { ready, writes: {}, act }),
          ['raw.close()', 'tls.error(MINE)', 'tls.close(true)'])
      }
    })

    it('by a reset are called back in front of the close of the raw socket', async () => {
      const server = await peers.tlsServer(certs.server, (socket, peer) => {
        socket.pause()
        peer.on('reset', () => socket._parent.resetAndDestroy())
      })
      const events = await traceFrom(await connected(server), {
        ready: true,
        writes: large,
        act: async () => {
          await server.next('secure')
          // The kernels have what they take, unless they are busy.
          for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
          await server.tell('reset')
        }
      })
      const isMetByWrite = events[0].startsWith('large')
      assert.deepStrictEqual(events, [
        ...isMetByWrite
          ? ['large ECONNRESET', 'second ECONNRESET', 'tls.error(ECONNRESET)']
          : ['tls.error(ECONNRESET)', `large ${CANCELED}`, 'second ECONNRESET'],
        'raw.close(false)', 'tls.close(true)'
      ])
    })

    it("by a failed handshake are called back before 'error'", async () => {
      const server = await peers.plainServer((socket) =>
        socket.once('data', () => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n')))
      assert.deepStrictEqual(
        await traceFrom(await connected(server), { writes: two }),
        ['first EPROTO', 'second EPROTO', 'tls.error(EPROTO)', 'raw.close(false)',
          'tls.close(true)'])
    })

    it('that a failed handshake destroys in their callback has no other error', async () => {
      const server = await peers.plainServer((socket) =>
        socket.once('data', () => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n')))
      const socket = subject.connect({ socket: await connected(server), ca })
      const seen = []
      socket.on('error', (error) => seen.push(`error ${error.code}`))
      socket.write('a', (error) => {
        seen.push(error.code)
        socket.destroy()
      })
      await new Promise((resolve) => socket.once('close', resolve))
      assert.deepStrictEqual(seen, ['EPROTO'])
    })

    it("by a certificate that is refused are called back behind 'error'", async () => {
      const server = await peers.tlsServer(certs.fromOther)
      assert.deepStrictEqual(
        await traceFrom(await connected(server), { writes: two }),
        [`tls.error(${UNVERIFIED})`, `first ${CLOSED}`, `second ${UNVERIFIED}`,
          'raw.close(false)', 'tls.close(true)'])
    })

    it("while it still connects are called back behind 'close'", async () => {
      const server = await peers.tlsServer(certs.server)
      const open = () => net.connect({ port: server.port, host: '127.0.0.1' })
      assert.deepStrictEqual(
        await traceFrom(open(), { writes: two, act: (socket) => socket.destroy() }),
        ['raw.close(false)', 'tls.close(false)', `first ${BEFORE}`, `second ${BEFORE}`])
      assert.deepStrictEqual(
        await traceFrom(open(), { writes: two, act: (socket) => socket.destroy(MINE) }),
        ['tls.error(MINE)', 'raw.close(false)', 'tls.close(true)', `first ${BEFORE}`,
          'second MINE'])
    })

    describe('because of its raw socket', () => {
      it('has what was written before', async () => {
        const server = await peers.tlsServer(certs.server, 'sink')
        assert.deepStrictEqual(
          await traceFrom(await connected(server), {
            ready: true, writes: { first: 'last words' }, act: (socket, raw) => raw.destroy()
          }),
          ['first ok', 'raw.close(false)', 'tls.close(false)'])
        assert.strictEqual((await server.connection()).bytes, 10)
      })

      it('has all of what was ended before', async () => {
        const server = await peers.tlsServer(certs.server, 'sink')
        const socket = await settled(subject.connect({ socket: await connected(server), ca }))
        const seen = []
        socket.on('finish', () => seen.push('finish')).on('close', () => seen.push('close'))
        const closing = new Promise((resolve) => socket.once('close', resolve))
        socket.end('a', (error) => seen.push(error?.code ?? 'ok'))
        socket._parent.destroy()
        await closing
        assert.deepStrictEqual(seen, ['ok', 'finish', 'close'])
      })

      // Row "one error, and none after close" of docs/compat.md.
      it('and that it does not take, fail', async () => {
        const server = await peers.tlsServer(certs.server, 'hold')
        const events = await traceFrom(await connected(server), {
          ready: true, writes: large, act: (socket, raw) => raw.destroy()
        })
        assert.deepStrictEqual(events, subject.native
          ? ['large ECANCELED', 'second ECANCELED', 'tls.error(ECANCELED)',
              'raw.close(false)', 'tls.close(true)']
          : ['large ECANCELED', 'second ECANCELED', 'tls.close(true)',
              'tls.error(ECANCELED)', 'raw.close(false)'])
      })

      it('and that its handle cannot take any more, fail', async () => {
        const server = await peers.tlsServer(certs.server, 'hold')
        const events = await traceFrom(await connected(server), {
          ready: true, writes: two, act: (socket, raw) => raw.destroy()
        })
        assert.deepStrictEqual(events.slice(0, 2), ['first ok', 'second EBADF'])
        assert.strictEqual(events.filter((event) => event === 'tls.error(EBADF)').length, 1)
      })
    })

    it('a write that is sent is called back before setImmediate()', async () => {
      const server = await peers.tlsServer(certs.server, 'sink')
      const socket = await settled(subject.connect({ socket: await connected(server), ca }))
      const seen = []
      await new Promise((resolve) => setTimeout(() => {
        socket.write('x', () => seen.push('written'))
        process.nextTick(process.nextTick, () => seen.push('second tick'))
        setImmediate(resolve)
      }, 1))
      // Row "when writes are called back" of docs/compat.md.
      assert.deepStrictEqual(seen, subject.native
        ? ['written', 'second tick']
        : ['second tick', 'written'])
    })

    it('a write behind raw.end() is sent, or fails', async () => {
      const server = await peers.tlsServer(certs.server, (socket, peer) =>
        socket.on('data', (data) => peer.report(String(data))))
      const socket = await settled(subject.connect({ socket: await connected(server), ca }))
      socket.on('error', () => {})
      socket._parent.end()
      const written = new Promise((resolve) => {
        // Row "writes behind raw.end()" of docs/compat.md.
        assert.strictEqual(socket.write('x', (error) => resolve(error?.code ?? 'ok')),
          subject.native)
      })
      assert.strictEqual(await written, subject.transport === 'fd' ? 'ok' : 'EPIPE')
      if (subject.transport === 'fd') assert.strictEqual(await server.next('report'), 'x')
    })

    it('end() of a socket that never connects fails around its close', async () => {
      const server = await peers.tlsServer(certs.server)
      const raw = net.connect({ port: server.port, host: '127.0.0.1' })
      const socket = subject.connect({ socket: raw, ca })
      const seen = []
      const ended = new Promise((resolve) => socket.end((error) => {
        seen.push(error.code)
        resolve()
      }))
      const closing = new Promise((resolve) => socket.on('close', () => {
        seen.push('close')
        resolve()
      }))
      raw.destroy()
      await Promise.all([ended, closing])
      // Row "end() of a socket that never connects" of docs/compat.md.
      assert.deepStrictEqual(seen, subject.native
        ? ['ERR_STREAM_DESTROYED', 'close']
        : ['close', 'ERR_STREAM_DESTROYED'])
    })
  })
})
