'use strict'

/** What closes in the turn in which something else happens. */

const assert = require('node:assert')
const { spawnSync } = require('node:child_process')

const certs = require('../support/certs')
const { usePeers } = require('../support/peers')
const { closed, connected, secured } = require('../support/sockets')
const { eachSubject } = require('../support/subjects')
const { traceOf } = require('../support/trace')

const { ca } = certs
const NODE_MAJOR = Number(process.versions.node.split('.', 1)[0])

describe('a close in the turn of something else', () => {
  const peers = usePeers()

  eachSubject((subject) => {
    it("'end' is followed by 'finish' before a setImmediate() of its listener", async () => {
      const server = await peers.tlsServer(certs.server, 'end')
      const raw = await connected(server)
      const events = await traceOf(subject, async ({ connect, trace }) => {
        const socket = trace.watch('tls', connect({ socket: raw, ca }))
        socket.on('end', () => {
          setImmediate(() => {
            trace.note('immediate')
            socket.write('x', (error) => trace.note(error.code))
          })
        })
        await trace.closed()
      })
      assert.deepStrictEqual(events, ['tls.secureConnect', 'tls.secure', 'tls.end',
        'tls.finish', 'immediate', 'EPIPE', 'tls.close(false)'])
    })

    for (const maxVersion of ['TLSv1.2', 'TLSv1.3']) {
      it(`the raw socket's, a tick after a write, leaves that as it is, with ${maxVersion}`, async () => {
        const server = await peers.tlsServer({ ...certs.server, maxVersion }, (socket, peer) =>
          socket.on('data', (data) => peer.report(String(data))))
        const raw = await connected(server)
        const events = await traceOf(subject, async ({ connect, trace }) => {
          const socket = trace.watch('tls', connect({ socket: raw, ca }))
          socket.on('secureConnect', () => {
            socket.write('x', (error) => trace.note(`written ${error ?? ''}`))
            process.nextTick(() => raw.destroy())
          })
          await trace.closed()
        })
        // Row "closing soon after 'secureConnect'" of docs/compat.md.
        const isSent = subject.native || NODE_MAJOR < 24
        if (isSent) assert.strictEqual(await server.next('report'), 'x')
        assert.deepStrictEqual(events.filter((event) => event !== 'tls.secure'), isSent
          ? ['tls.secureConnect', 'written ', 'tls.close(false)']
          : ['tls.secureConnect', 'written Error: write EBADF', 'tls.close(true)',
              'tls.error(EBADF)'])
      })
    }

    // Row "closing soon after 'secureConnect'" of docs/compat.md.
    it("a tick after 'secureConnect' tells the server of the handshake", async () => {
      const server = await peers.tlsServer(certs.server)
      const socket = await secured(subject.connect({ socket: await connected(server), ca }))
      socket.destroy()
      await closed(socket)
      if (subject.native) await server.next('secure')
      else assert.strictEqual((await server.next('clientError')).code, 'ECONNRESET')
    })

    it('a tick after a write sends what was written behind it, too', async () => {
      const server = await peers.tlsServer({ ...certs.server, maxVersion: 'TLSv1.2' },
        (socket, peer) => {
          let all = ''
          socket.on('data', (data) => { all += data })
          socket.on('close', () => peer.report(all))
        })
      const socket = subject.connect({ socket: await connected(server), ca })
      socket.on('secureConnect', () => {
        socket.write('one')
        process.nextTick(() => {
          socket.write('two')
          socket.destroy()
        })
      })
      assert.strictEqual(await server.next('report'), subject.transport === 'fd'
        ? 'onetwo'
        : subject.native || NODE_MAJOR < 24 ? 'one' : '')
    })

    // Row "resets right behind data" of docs/compat.md.
    it("the peer's, by a reset right behind data, is an error", async () => {
      const server = await peers.tlsServer(certs.server, (socket, peer) => {
        const control = peer.require('node:net').createServer((asker) => {
          control.close()
          // No event tells that the kernel has sent it.
          socket.write('last words', () => setTimeout(() => {
            socket._parent.resetAndDestroy()
            asker.end()
          }, 50))
        })
        control.listen(0, '127.0.0.1', () => peer.report(control.address().port))
      })
      const raw = await connected(server)
      const events = await traceOf(subject, async ({ connect, trace }) => {
        const socket = trace.watch('tls', connect({ socket: raw, ca }))
        await secured(socket)
        const port = await server.next('report')
        // Nothing is read until both are here.
        spawnSync(process.execPath,
          ['-e', `require('net').connect(${port}, '127.0.0.1').resume()`])
        await trace.closed()
      })
      const [first, ...rest] = events.slice(2)
      assert.strictEqual(first, 'tls.data(10)')
      // libuv, before 24: as long as the reset comes before it reads.
      if (NODE_MAJOR >= 24 || subject.transport === 'fd' || rest.length === 2) {
        assert.deepStrictEqual(rest, ['tls.error(ECONNRESET)', 'tls.close(true)'])
      } else {
        assert.deepStrictEqual(rest, ['tls.end', 'tls.finish', 'tls.close(false)'])
      }
    })
  })
})
