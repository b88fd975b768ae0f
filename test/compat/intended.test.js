'use strict'

/**
 * Differences from node:tls that are intended and that no other test is about:
 * both answers, node's and ours. Each is a row of docs/compat.md.
 */

const assert = require('node:assert')
const { execFile } = require('node:child_process')
const diagnosticsChannel = require('node:diagnostics_channel')
const { once } = require('node:events')
const http2 = require('node:http2')
const net = require('node:net')
const path = require('node:path')
const tls = require('node:tls')
const { promisify } = require('node:util')

const certs = require('../support/certs')
const { usePeers } = require('../support/peers')
const { closed, connected, failure, secured, take } = require('../support/sockets')
const { eachSubject } = require('../support/subjects')
const { uncaughtDuring } = require('../support/uncaught')

const run = promisify(execFile)
const { ca } = certs
const sum = (numbers) => numbers.reduce((total, number) => total + number, 0)
const major = Number(process.versions.node.split('.')[0])

describe('by intention', () => {
  const peers = usePeers()

  eachSubject((subject) => {
    const own = subject.native

    // Row "data chunks" of docs/compat.md.
    it('records that come together are one chunk of data', async () => {
      const server = await peers.tlsServer(certs.server, (socket) => {
        socket.on('data', () => socket.write(Buffer.alloc(40000)))
      })
      const socket = await secured(subject.connect({ socket: await connected(server), ca }))
      const sizes = []
      socket.on('data', (chunk) => sizes.push(chunk.length))
      // How much comes together is the network's business.
      for (let round = 1; round <= 50; round++) {
        socket.write('more')
        while (sum(sizes) < round * 40000) await once(socket, 'data')
        if (Math.max(...sizes) > 16384) break
      }
      assert.strictEqual(Math.max(...sizes) > 16384, own)
      socket.destroy()
    })

    // Row "http2" of docs/compat.md. The fallback's socket is node's own, to
    // which the fallback listens as well.
    const isFallback = subject.kind === 'eager' && !subject.native
    if (!isFallback) {
      it('http2 takes the socket for any Duplex', async () => {
        const server = await peers.tlsServer({ ...certs.server, ALPNProtocols: ['h2'] })
        const socket = subject.connect({
          host: '127.0.0.1', port: server.port, ca, ALPNProtocols: ['h2']
        })
        const session = http2.connect('https://localhost', { createConnection: () => socket })
        session.on('error', () => {})
        assert.strictEqual(session.socket.listenerCount('secureConnect'), own ? 0 : 1)
        await once(session, 'connect')
        assert.strictEqual(session.encrypted, !own)
        session.destroy()
        socket.destroy()
      })
    }

    // Row "no handle" of docs/compat.md.
    it('the socket has no handle that could be handed on', async () => {
      const server = await peers.tlsServer(certs.server)
      const socket = await secured(subject.connect({ socket: await connected(server), ca }))
      assert.strictEqual(socket._handle === null, own)
      assert.strictEqual(socket.ssl.isStreamBase, !own)
      assert.strictEqual(typeof socket.ssl.verifyError, 'function')
      socket.destroy()
      await closed(socket)
      assert.strictEqual(socket.ssl, null)
    })

    // Row "checkServerIdentity that throws" of docs/compat.md.
    it('checkServerIdentity that throws ends the connection', async () => {
      const server = await peers.tlsServer(certs.server)
      const mine = new Error('thrown by checkServerIdentity')
      const errors = []
      let socket
      const caught = await uncaughtDuring(async () => {
        const uncaught = once(process, 'uncaughtException')
        socket = peers.keep(subject.connect({
          socket: await connected(server), ca, checkServerIdentity () { throw mine }
        }))
        socket.on('error', (error) => errors.push(error))
        await Promise.race([uncaught, new Promise((resolve) => socket.once('close', resolve))])
      })
      assert.deepStrictEqual([caught, errors], own ? [[], [mine]] : [[mine], []])
      assert.strictEqual(socket.destroyed, own)
      assert.strictEqual(socket.authorized, false)
    })

    // Row "resetAndDestroy()" of docs/compat.md.
    it('resetAndDestroy() resets the connection', async () => {
      const server = await peers.tlsServer(certs.server, (socket, peer) => {
        socket.on('error', (error) => peer.report(error.code))
        socket.pipe(socket)
      })
      const socket = await secured(subject.connect({ socket: await connected(server), ca }))
      socket.write('ping')
      await take(socket, 4)
      if (!own) {
        assert.throws(() => socket.resetAndDestroy(), { code: 'ERR_INVALID_HANDLE_TYPE' })
        socket.destroy()
        return
      }
      const gone = closed(socket)
      assert.strictEqual(socket.resetAndDestroy(), socket)
      assert.strictEqual(await gone, false)
      assert.strictEqual(await server.report(), 'ECONNRESET')
    })

    // Row "diagnostics channel" of docs/compat.md.
    it('the diagnostics channel of node:net tells of what connects', async () => {
      const server = await peers.tlsServer(certs.server)
      const told = []
      const note = ({ socket }) => told.push(socket instanceof tls.TLSSocket)
      diagnosticsChannel.subscribe('net.client.socket', note)
      const socket = await secured(subject.connect({ host: '127.0.0.1', port: server.port, ca }))
      diagnosticsChannel.unsubscribe('net.client.socket', note)
      assert.deepStrictEqual(told, major >= 22 ? [!own] : [])
      socket.destroy()
    })

    // Row "keepAlive and noDelay" of docs/compat.md.
    it('keepAlive and noDelay of a connection of its own are honoured', async () => {
      const server = await peers.tlsServer(certs.server)
      const socket = await secured(subject.connect({
        host: '127.0.0.1', port: server.port, ca, keepAlive: true, noDelay: true
      }))
      // node notes on a socket what it has set.
      const carrier = own ? socket.ssl._parentWrap : socket
      const noted = Object.getOwnPropertySymbols(carrier)
        .filter(({ description }) => /^kSet(KeepAlive|NoDelay)$/.test(description))
        .map((symbol) => Boolean(carrier[symbol]))
      const honoured = own || major >= 24
      assert.deepStrictEqual(noted, [honoured, honoured])
      socket.destroy()
    })

    if (subject.kind !== 'eager' || !own) return

    // Row "aborted signals" of docs/compat.md: node may come upon the remains of its socket.
    it('a signal that was aborted before destroys both sockets', async () => {
      const server = await peers.tlsServer(certs.server)
      const raw = await connected(server)
      const socket = subject.connect({ socket: raw, ca, signal: AbortSignal.abort() })
      assert.strictEqual((await failure(socket)).code, 'ABORT_ERR')
      assert.strictEqual(raw.destroyed, true)
    })

    // Row "handed to node:tls" of docs/compat.md.
    it('what the core cannot do is done by node:tls, and counted', async () => {
      const server = await peers.tlsServer(certs.server)
      const { stats } = subject.tls
      const before = stats().fallbacks
      const socket = await secured(subject.connect({
        socket: await connected(server), secureContext: tls.createSecureContext({ ca })
      }))
      assert.strictEqual(socket.constructor, tls.TLSSocket)
      assert.strictEqual(stats().fallbacks, before + 1)
      socket.write('ping')
      assert.strictEqual(String(await take(socket, 4)), 'ping')
      socket.destroy()
      const serverSide = new subject.tls.TLSSocket(new net.Socket(), {
        isServer: true, secureContext: tls.createSecureContext(certs.server)
      })
      assert.strictEqual(serverSide.constructor, tls.TLSSocket)
      assert.strictEqual(stats().fallbacks, before + 2)
      serverSide.destroy()
    })

    it('a context that somebody has had node\'s half of is left to node:tls', async () => {
      const server = await peers.tlsServer(certs.server)
      const { createSecureContext, stats } = subject.tls
      const before = stats().fallbacks
      const secureContext = createSecureContext({})
      secureContext.context.addCACert(ca)
      const socket = await secured(subject.connect({
        socket: await connected(server), secureContext
      }))
      assert.strictEqual(stats().fallbacks, before + 1)
      socket.destroy()
      secureContext.close()
    })

    it('a trace is node\'s', async () => {
      const server = await peers.tlsServer(certs.server)
      const script = `
        const eager = require(${JSON.stringify(path.join(__dirname, '../..'))})
        const socket = eager.connect({
          host: '127.0.0.1', port: ${server.port}, enableTrace: true, ca: process.env.TEST_CA
        }, () => socket.end())
        socket.on('close', () => console.log(eager.stats().fallbacks))
      `
      const { stdout, stderr } = await run(process.execPath,
        ['--no-warnings', '-e', script], { env: { ...process.env, TEST_CA: String(ca) } })
      assert.strictEqual(stdout.trim(), '1')
      assert.match(stderr, /ClientHello/)
    })
  })
})
