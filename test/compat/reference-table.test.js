'use strict'

/**
 * What node:tls does in the situations that users ask about most, one test per
 * situation: the trace stands in the test and is proved against node:tls and
 * this package. Where this package means to differ, the test says both.
 */

const assert = require('node:assert')
const { once } = require('node:events')
const net = require('node:net')

const certs = require('../support/certs')
const { closedPort } = require('../support/closed-port')
const { duplexOver } = require('../support/duplexes')
const { usePeers } = require('../support/peers')
const { closed, connected, failure, secured } = require('../support/sockets')
const { eachSubject } = require('../support/subjects')
const { traceOf } = require('../support/trace')
const { uncaughtDuring } = require('../support/uncaught')
const { HANDSHAKE_FAILURE } = require('../support/versions')

const { ca } = certs

describe('the reference table', () => {
  const peers = usePeers()

  eachSubject((subject) => {
    /** A connection that is done with, and a session that it left. */
    async function sessionOf (server, options, finish = (socket) => socket.end()) {
      const socket = subject.connect({ socket: await connected(server), ca, ...options })
      // Only the last ticket of a TLS 1.3 server is sure to be a usable one.
      const [session] = await once(socket, 'session')
      finish(socket)
      socket.resume()
      await closed(socket)
      return session
    }

    /** The trace of one upgrade to `server`. */
    function traceTo (server, scenario, options = {}) {
      return traceOf(subject, async ({ connect, trace }) => {
        const raw = trace.watch('raw', await connected(server))
        const socket = trace.watch('tls', connect({ socket: raw, ca, ...options }))
        await scenario(socket, raw, trace)
        await trace.closed()
      })
    }

    it('a session of one host is no proof of another', async () => {
      const server = await peers.tlsServer(certs.hosta)
      const session = await sessionOf(server, { servername: 'hosta.test' })
      const socket = subject.connect({
        socket: await connected(server), ca, servername: 'hostb.test', session
      })
      const outcome = await secured(socket).then(() => 'secure', (error) => error.code)
      if (outcome === 'secure') {
        // Newer versions of node look at the name on resumption, too.
        assert.strictEqual(subject.kind, 'node')
        assert.strictEqual(socket.isSessionReused(), true)
        assert.strictEqual(socket.authorized, true)
        socket.destroy()
        return
      }
      // Row "resumed connections are verified" of docs/compat.md.
      assert.strictEqual(outcome, 'ERR_TLS_CERT_ALTNAME_INVALID')
    })

    it('a session made under one trust store is no proof under another', async () => {
      const server = await peers.tlsServer(certs.server)
      const session = await sessionOf(server, {})
      const socket = subject.connect({
        socket: await connected(server), ca: certs.otherCa, session
      })
      if (subject.kind === 'node') {
        await secured(socket)
        assert.strictEqual(socket.isSessionReused(), true)
        assert.strictEqual(socket.authorized, true)
        socket.destroy()
        return
      }
      // Row "resumed connections are verified" of docs/compat.md.
      assert.strictEqual((await failure(socket)).code, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE')
    })

    it('a session made without verification fails a strict connection', async () => {
      const server = await peers.tlsServer(certs.fromOther)
      const session = await sessionOf(server, { rejectUnauthorized: false })
      const socket = subject.connect({ socket: await connected(server), ca, session })
      assert.strictEqual((await failure(socket)).code, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE')
    })

    it('a resumed connection and the certificate of its peer', async () => {
      const server = await peers.tlsServer(certs.server)
      const session = await sessionOf(server, {})
      const socket = await secured(subject.connect({
        socket: await connected(server), ca, session
      }))
      assert.strictEqual(socket.isSessionReused(), true)
      assert.strictEqual(socket.authorized, true)
      if (subject.kind === 'node') {
        assert.deepStrictEqual(Object.keys(socket.getPeerCertificate()), [])
      } else {
        // Row "resumed connections have certificates" of docs/compat.md.
        assert.strictEqual(socket.getPeerCertificate().subject.CN, 'localhost')
        assert.strictEqual(socket.getPeerX509Certificate().subject, 'CN=localhost')
      }
      socket.destroy()
    })

    it('a first connection closed by destroy() leaves a session that resumes', async () => {
      const server = await peers.tlsServer(certs.server)
      const session = await sessionOf(server, {}, (socket) => socket.destroy())
      const socket = await secured(subject.connect({
        socket: await connected(server), ca, session
      }))
      assert.strictEqual(socket.isSessionReused(), true)
      socket.destroy()
    })

    it('queued plaintext goes out whole before the ClientHello', async () => {
      const size = 16 << 20
      const server = await peers.plainServer((socket, peer) => {
        const { size, tls } = peer.options
        const { Buffer } = peer.require('node:buffer')
        let seen = 0
        let wrong = 0
        socket.on('readable', function onReadable () {
          let chunk
          while (seen < size && (chunk = socket.read(Math.min(size - seen, socket.readableLength))) !== null) {
            seen += chunk.length
            if (!chunk.equals(Buffer.alloc(chunk.length, 'a'))) wrong++
          }
          if (seen < size) return
          socket.removeListener('readable', onReadable)
          peer.report({ seen, wrong })
          peer.startTls(tls)
        })
      }, { size, tls: certs.server })
      const raw = await connected(server)
      const order = []
      raw.write(Buffer.alloc(size, 'a'), () => order.push('written'))
      assert.ok(raw.writableLength > 0)
      const socket = subject.connect({ socket: raw, ca })
      await secured(socket)
      order.push('secure')
      assert.deepStrictEqual(await server.report(), { seen: size, wrong: 0 })
      assert.deepStrictEqual(order, ['written', 'secure'])
      socket.end('over TLS')
      const [echoed] = await once(socket, 'data')
      assert.strictEqual(String(echoed), 'over TLS')
      socket.destroy()
    })

    it('the raw socket is destroyed after secureConnect', async () => {
      const server = await peers.tlsServer(certs.server)
      const events = await traceTo(server, async (socket, raw) => {
        await secured(socket)
        raw.destroy()
      })
      assert.deepStrictEqual(events,
        ['tls.secureConnect', 'tls.secure', 'raw.close(false)', 'tls.close(false)'])
    })

    it('destroy() closes both sockets without an end', async () => {
      const server = await peers.tlsServer(certs.server)
      const events = await traceTo(server, async (socket) => {
        await secured(socket)
        socket.destroy()
      })
      assert.deepStrictEqual(events,
        ['tls.secureConnect', 'tls.secure', 'raw.close(false)', 'tls.close(false)'])
    })

    it('end() finishes, then the answer ends, then both sockets close', async () => {
      const server = await peers.tlsServer(certs.server, 'sink')
      const events = await traceTo(server, async (socket) => {
        await secured(socket)
        socket.end('bye')
      })
      assert.deepStrictEqual(events, ['tls.secureConnect', 'tls.secure',
        'tls.finish', 'tls.end', 'raw.close(false)', 'tls.close(false)'])
      assert.strictEqual((await server.connection()).bytes, 3)
    })

    it('a FIN in the handshake', async () => {
      const server = await peers.plainServer((socket) => {
        socket.once('data', () => socket.end())
      })
      let seen
      const events = await traceTo(server, async (socket) => {
        seen = failure(socket)
      }, { host: 'localhost', port: 1234, path: '/nowhere', localAddress: '127.0.0.1' })
      assert.deepStrictEqual(events,
        ['tls.end', 'tls.error(ECONNRESET)', 'raw.close(false)', 'tls.close(true)'])
      const error = await seen
      assert.strictEqual(error.message,
        'Client network socket disconnected before secure TLS connection was established')
      const { code, path, host, port, localAddress } = error
      assert.deepStrictEqual({ code, path, host, port, localAddress }, {
        code: 'ECONNRESET',
        path: '/nowhere',
        host: 'localhost',
        port: 1234,
        localAddress: '127.0.0.1'
      })
      assert.strictEqual(error.syscall, undefined)
    })

    it('a reset in the handshake', async () => {
      const server = await peers.plainServer((socket) => {
        socket.once('data', () => socket.resetAndDestroy())
      })
      let seen
      const events = await traceTo(server, async (socket) => {
        seen = failure(socket)
      })
      assert.deepStrictEqual(events,
        ['tls.error(ECONNRESET)', 'raw.close(false)', 'tls.close(true)'])
      const { message, code, errno, syscall } = await seen
      assert.deepStrictEqual({ message, code, errno, syscall }, {
        message: 'read ECONNRESET', code: 'ECONNRESET', errno: -104, syscall: 'read'
      })
    })

    it('plain text in answer to the ClientHello', async () => {
      const server = await peers.plainServer((socket) => {
        socket.once('data', () => socket.write('HTTP/1.1 403 Forbidden\r\n\r\n'))
      })
      let seen
      let raw
      const events = await traceTo(server, async (socket, socketBelow) => {
        seen = failure(socket)
        raw = socketBelow
      })
      assert.deepStrictEqual(events, ['tls.error(ERR_SSL_WRONG_VERSION_NUMBER)',
        'raw.close(false)', 'tls.close(true)'])
      const { code, library, reason, message } = await seen
      assert.deepStrictEqual({ code, library, reason }, {
        code: 'ERR_SSL_WRONG_VERSION_NUMBER',
        library: 'SSL routines',
        reason: 'wrong version number'
      })
      assert.match(message, /wrong version number/)
      assert.strictEqual(raw.destroyed, true)
    })

    it('the timeout option of an upgrade', async () => {
      const server = await peers.tlsServer(certs.server, 'hold')
      const socket = await secured(subject.connect({
        socket: await connected(server), ca, timeout: 40
      }))
      if (subject.kind === 'node') {
        assert.strictEqual(socket.timeout, undefined)
      } else {
        // Row "options of the upgrade" of docs/compat.md.
        assert.strictEqual(socket.timeout, 40)
        await once(socket, 'timeout')
      }
      socket.setTimeout(20)
      await once(socket, 'timeout')
      assert.strictEqual(socket.destroyed, false)
      socket.destroy()
    })

    for (const error of [null, Object.assign(new Error('gone'), { code: 'EGONE' })]) {
      it(`a Duplex is destroyed ${error ? 'with' : 'without'} an error`, async () => {
        const server = await peers.tlsServer(certs.server)
        const events = await traceOf(subject, async ({ connect, trace }) => {
          const raw = duplexOver(await connected(server))
          raw.on('error', () => {})
          const socket = trace.watch('tls', connect({ socket: raw, ca }))
          await secured(socket)
          raw.destroy(error)
          await trace.closed()
        })
        assert.deepStrictEqual(events, ['tls.secureConnect', 'tls.secure',
          ...(error ? ['tls.error(EGONE)'] : []), 'tls.close(false)'])
      })
    }

    it('a client certificate is missing, with TLS 1.2', async () => {
      const server = await peers.tlsServer({
        ...certs.server, ca, requestCert: true, maxVersion: 'TLSv1.2'
      })
      const events = await traceTo(server, () => {})
      assert.deepStrictEqual(events, [`tls.error(${HANDSHAKE_FAILURE})`,
        'raw.close(false)', 'tls.close(true)'])
    })

    it('a client certificate is missing, with TLS 1.3', async () => {
      const server = await peers.tlsServer({ ...certs.server, ca, requestCert: true })
      const events = await traceTo(server, () => {})
      assert.deepStrictEqual(events, [
        'tls.secureConnect', 'tls.secure',
        'tls.error(ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED)',
        'tls.end', 'tls.finish', 'raw.close(false)', 'tls.close(false)'
      ])
    })

    it('a socket still connecting is refused', async () => {
      const port = await closedPort()
      const events = await traceOf(subject, async ({ connect, trace }) => {
        const raw = trace.watch('raw', net.connect({ port, host: '127.0.0.1' }))
        trace.watch('tls', connect({ socket: raw, ca }))
        await trace.closed()
      })
      assert.deepStrictEqual(events.toSorted(), ['raw.close(true)',
        'raw.error(ECONNREFUSED)', 'tls.close(false)', 'tls.error(ECONNREFUSED)'])
      assert.deepStrictEqual(events.filter((event) => event.includes('close')),
        ['raw.close(true)', 'tls.close(false)'])
    })

    it('a listener of data throws, and the connection lives on', async () => {
      const server = await peers.tlsServer(certs.server)
      const socket = await secured(subject.connect({ socket: await connected(server), ca }))
      const mine = new Error('thrown by a listener')
      const caught = await uncaughtDuring(async () => {
        socket.once('data', () => { throw mine })
        socket.write('one')
        await new Promise((resolve) => process.once('uncaughtException', resolve))
      })
      assert.deepStrictEqual(caught, [mine])
      assert.strictEqual(socket.destroyed, false)
      socket.write('two')
      const [chunk] = await once(socket, 'data')
      assert.strictEqual(String(chunk), 'two')
      socket.destroy()
    })
  })
})
