'use strict'

/** Idle timers, keep-alive, no-delay, ref and unref of an upgraded socket. */

const assert = require('node:assert')
const { execFile } = require('node:child_process')
const { once } = require('node:events')
const net = require('node:net')
const path = require('node:path')
const { promisify } = require('node:util')

const certs = require('../support/certs')
const { duplexOver } = require('../support/duplexes')
const { usePeers } = require('../support/peers')
const { closed, connected, secured, take } = require('../support/sockets')
const { eachSubject } = require('../support/subjects')

const run = promisify(execFile)
const { ca } = certs

/** When the idle timer of a socket was last started: node keeps it there. */
function idleSince (socket) {
  const key = Object.getOwnPropertySymbols(socket)
    .find((symbol) => symbol.description === 'timeout')
  return socket[key]._idleStart
}

const nextTickOfTheClock = () => new Promise((resolve) => setTimeout(resolve, 3))

describe('timers and options of the socket', () => {
  const peers = usePeers()

  eachSubject((subject) => {
    describe('an idle timer', () => {
      for (const direction of ['sending', 'receiving']) {
        it(`of either socket is refreshed by ${direction}`, async () => {
          const server = await peers.tlsServer(certs.server, (socket, peer) => {
            socket.on('data', (chunk) => peer.report(chunk.length))
            peer.on('speak', () => socket.write('word'))
          })
          const raw = await connected(server)
          raw.setTimeout(60000)
          const socket = await secured(subject.connect({ socket: raw, ca }))
          await server.next('secure')
          socket.resume()
          socket.setTimeout(60000)
          for (let round = 0; round < 3; round++) {
            const before = [idleSince(raw), idleSince(socket)]
            await nextTickOfTheClock()
            if (direction === 'sending') {
              socket.write('word')
              await server.report()
            } else {
              server.tell('speak')
              await once(socket, 'data')
            }
            assert.ok(idleSince(raw) > before[0], 'the timer of the raw socket')
            assert.ok(idleSince(socket) > before[1], 'the timer of the TLS socket')
          }
          socket.destroy()
        })
      }

      it('set on the raw socket before the upgrade fires there when all is silent', async () => {
        const server = await peers.tlsServer(certs.server)
        const raw = await connected(server)
        raw.setTimeout(50)
        const socket = await secured(subject.connect({ socket: raw, ca }))
        await once(raw, 'timeout')
        assert.strictEqual(socket.destroyed, false)
        socket.destroy()
      })

      it('fires once per silence, calls back, and closes nothing', async () => {
        const server = await peers.tlsServer(certs.server)
        const socket = await secured(subject.connect({ socket: await connected(server), ca }))
        let called = 0
        assert.strictEqual(socket.setTimeout(20, () => { called++ }), socket)
        assert.strictEqual(socket.timeout, 20)
        await once(socket, 'timeout')
        assert.strictEqual(called, 1)
        assert.strictEqual(socket.destroyed, false)
        socket.setTimeout(0)
        assert.strictEqual(socket.timeout, 0)
        socket.write('ping')
        assert.strictEqual(String(await take(socket, 4)), 'ping')
        socket.destroy()
      })

      it('fires during a handshake that hangs', async () => {
        const server = await peers.plainServer((socket) => socket.resume())
        const socket = subject.connect({ socket: await connected(server), ca })
        socket.setTimeout(20)
        await once(socket, 'timeout')
        socket.destroy()
      })

      it('works over a Duplex', async () => {
        const server = await peers.tlsServer(certs.server)
        const raw = duplexOver(await connected(server))
        const socket = await secured(subject.connect({ socket: raw, ca }))
        socket.setTimeout(20)
        await once(socket, 'timeout')
        socket.destroy()
      })

      for (const [chunk, code] of [['soon', 'ERR_INVALID_ARG_TYPE'], [-1, 'ERR_OUT_OF_RANGE']]) {
        it(`of ${JSON.stringify(chunk)} throws ${code}`, async () => {
          const server = await peers.tlsServer(certs.server)
          const socket = await secured(subject.connect({ socket: await connected(server), ca }))
          assert.throws(() => socket.setTimeout(chunk), { code })
          socket.destroy()
        })
      }
    })

    describe('the setters of the TLS socket', () => {
      /** Records what reaches the handle of the raw socket. */
      function watchHandle (raw) {
        const calls = []
        for (const name of ['setNoDelay', 'setKeepAlive']) {
          const original = raw._handle[name]
          raw._handle[name] = function (...args) {
            calls.push([name, ...args.slice(0, 2)])
            return original.apply(this, args)
          }
        }
        return calls
      }

      it('reach the raw socket, and return the TLS socket', async () => {
        const server = await peers.tlsServer(certs.server)
        const raw = await connected(server)
        const socket = await secured(subject.connect({ socket: raw, ca }))
        const calls = watchHandle(raw)
        assert.strictEqual(socket.setNoDelay(true).setKeepAlive(true, 5000), socket)
        assert.deepStrictEqual(calls,
          [['setNoDelay', true], ['setKeepAlive', true, 5]])
        socket.destroy()
      })

      it('may be called before the handshake', async () => {
        const server = await peers.tlsServer(certs.server)
        const raw = await connected(server)
        const calls = watchHandle(raw)
        const socket = subject.connect({ socket: raw, ca })
        socket.setNoDelay(true)
        socket.setKeepAlive(true)
        await secured(socket)
        assert.ok(calls.some(([name, on]) => name === 'setNoDelay' && on === true))
        assert.ok(calls.some(([name, on]) => name === 'setKeepAlive' && on === true))
        socket.destroy()
      })

      if (subject.kind === 'node') return
      it('are what the options of the upgrade call', async () => {
        // Row "options of the upgrade" of docs/compat.md.
        const server = await peers.tlsServer(certs.server)
        const raw = await connected(server)
        const calls = watchHandle(raw)
        const socket = await secured(subject.connect({
          socket: raw, ca, noDelay: true, keepAlive: true, keepAliveInitialDelay: 7000
        }))
        assert.ok(calls.some(([name, on]) => name === 'setNoDelay' && on === true))
        assert.ok(calls.some(([name, on, delay]) =>
          name === 'setKeepAlive' && on === true && delay === 7))
        socket.destroy()
      })

      // The fallback's TLSSocket is node's own.
      if (!subject.native) return
      it('are what the options of the constructor call', async () => {
        const server = await peers.tlsServer(certs.server)
        const raw = await connected(server)
        const calls = watchHandle(raw)
        const socket = new subject.tls.TLSSocket(raw, { noDelay: true, keepAlive: true })
        assert.ok(calls.some(([name, on]) => name === 'setNoDelay' && on === true))
        assert.ok(calls.some(([name, on]) => name === 'setKeepAlive' && on === true))
        socket.destroy()
      })

      if (net.Socket.prototype.setTypeOfService) {
        it('set the type of service', async () => {
          const server = await peers.tlsServer(certs.server)
          const raw = await connected(server)
          const socket = await secured(subject.connect({ socket: raw, ca }))
          assert.strictEqual(socket.setTypeOfService(16), socket)
          assert.strictEqual(raw.getTypeOfService(), 16)
          assert.strictEqual(socket.getTypeOfService(), 16)
          assert.throws(() => socket.setTypeOfService(256), { code: 'ERR_OUT_OF_RANGE' })
          socket.destroy()
        })
      }
    })

    it('address facts are those of the raw socket', async () => {
      const server = await peers.tlsServer(certs.server)
      const raw = await connected(server)
      const socket = await secured(subject.connect({ socket: raw, ca }))
      for (const name of ['remoteAddress', 'remotePort', 'remoteFamily', 'localAddress', 'localPort', 'localFamily']) {
        assert.ok(raw[name], name)
        assert.strictEqual(socket[name], raw[name], name)
      }
      assert.deepStrictEqual(socket.address(), raw.address())
      socket.destroy()
      await closed(socket)
    })

    describe('a process with nothing but a TLS socket', () => {
      async function runScript (server, body) {
        const module = subject.kind === 'node' ? 'node:tls' : path.join(__dirname, '../..')
        const script = `
          const net = require('node:net')
          const { connect } = require(${JSON.stringify(module)})
          const raw = net.connect(${server.port}, '127.0.0.1', () => {
            const options = { socket: raw, ca: process.env.TEST_CA }
            const transport = ${JSON.stringify(subject.transport)}
            if (transport) options.transport = transport
            const socket = connect(options, () => {
              process.stdout.write('secure ')
              ${body}
            })
          })
          process.on('exit', () => process.stdout.write('exit'))
        `
        const { stdout } = await run(process.execPath, ['-e', script],
          { env: { ...process.env, TEST_CA: String(ca) } })
        return stdout
      }

      it('that is unref\'d exits, whatever its idle timer', async function () {
        this.timeout(10000)
        const server = await peers.tlsServer(certs.server, 'hold')
        assert.strictEqual(
          await runScript(server, 'socket.setTimeout(600000); socket.unref()'), 'secure exit')
      })

      it('that is ref\'d again goes on until the socket ends', async function () {
        this.timeout(10000)
        const server = await peers.tlsServer(certs.server, (socket) => {
          socket.once('data', () => setTimeout(() => socket.end('late'), 100))
        })
        assert.strictEqual(await runScript(server, `
          socket.unref()
          socket.ref()
          socket.write('query')
          socket.on('data', (chunk) => process.stdout.write(chunk + ' '))
        `), 'secure late exit')
      })
    })
  })
})
