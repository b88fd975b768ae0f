'use strict'

const assert = require('node:assert')
const crypto = require('node:crypto')
const { once } = require('node:events')
const net = require('node:net')
const tls = require('node:tls')

const certs = require('../support/certs')
const { closedPort } = require('../support/closed-port')
const { duplexOver } = require('../support/duplexes')
const { usePeers } = require('../support/peers')
const { closed, connected, failure, secured, take } = require('../support/sockets')
const { eachSubject } = require('../support/subjects')
const { traceOf } = require('../support/trace')
const { uncaughtDuring } = require('../support/uncaught')
const { HANDSHAKE_FAILURE } = require('../support/versions')

const { ca } = certs

describe('errors', () => {
  const peers = usePeers()

  eachSubject((subject) => {
    const upgradeTrace = (raw, act = () => {}, options = {}) =>
      traceOf(subject, async ({ connect, trace }) => {
        trace.watch('raw', raw)
        const socket = trace.watch('tls', connect({ socket: raw, ca, ...options }))
        await act(socket, raw)
        await trace.closed()
      })

    const coded = (code) => Object.assign(new Error(code), { code })

    describe('when the raw socket is gone before the upgrade', () => {
      it('tell of a FIN that was read, in place of waiting for ever', async () => {
        const server = await peers.plainServer((socket) => socket.end())
        const raw = peers.keep(net.connect({
          port: server.port, host: '127.0.0.1', allowHalfOpen: true
        }))
        raw.resume()
        await once(raw, 'end')
        const socket = peers.keep(subject.connect({ socket: raw, ca }))
        if (subject.kind === 'node') {
          // node sends its ClientHello and never hears of the end again.
          assert.strictEqual(socket.destroyed, false)
          return
        }
        // Row "raw sockets that have ended" of docs/compat.md.
        assert.strictEqual((await failure(socket)).code, 'ECONNRESET')
      })

      it('tell of a raw socket that was destroyed', async () => {
        const server = await peers.plainServer((socket) => socket.resume())
        const raw = await connected(server)
        raw.destroy()
        await closed(raw)
        const socket = peers.keep(subject.connect({ socket: raw, ca }))
        if (subject.kind === 'node') {
          // node makes a stream of it that never says anything.
          assert.strictEqual(socket.destroyed, false)
          return
        }
        // Row "raw sockets that have ended" of docs/compat.md.
        assert.strictEqual(typeof (await failure(socket)).code, 'string')
      })

      it('come after the caller could listen, once, when the FIN comes in the same tick', async () => {
        const server = await peers.plainServer((socket) => socket.resume().end())
        const events = await traceOf(subject, async ({ connect, trace }) => {
          const raw = net.connect({ port: server.port, host: '127.0.0.1' })
          raw.once('connect', () => {
            trace.watch('tls', connect({ socket: raw, ca }))
          })
          await once(raw, 'close')
          await trace.closed()
        })
        assert.deepStrictEqual(events,
          ['tls.end', 'tls.error(ECONNRESET)', 'tls.close(true)'])
      })
    })

    describe('of the raw socket', () => {
      const stages = {
        'in the tick of the upgrade': () => {},
        'during the handshake': () => new Promise(setImmediate),
        'after the handshake': secured
      }
      for (const [when, reach] of Object.entries(stages)) {
        // A server that never answers, unless the handshake is to be over.
        const server = () => reach === secured
          ? peers.tlsServer(certs.server)
          : peers.plainServer((socket) => socket.resume())

        it(`${when} arrive at the TLS socket`, async () => {
          const raw = await connected(await server())
          const events = await upgradeTrace(raw, async (socket) => {
            await reach(socket)
            raw.destroy(coded('EBROKEN'))
          })
          assert.deepStrictEqual(events, [
            ...(reach === secured ? ['tls.secureConnect', 'tls.secure'] : []),
            'raw.error(EBROKEN)', 'tls.error(EBROKEN)', 'raw.close(true)', 'tls.close(false)'
          ])
        })

        it(`${when} are not uncaught when only the TLS socket has a listener`, async () => {
          const raw = await connected(await server())
          const caught = await uncaughtDuring(async () => {
            const socket = subject.connect({ socket: raw, ca })
            const error = failure(socket)
            await reach(socket)
            raw.destroy(coded('EBROKEN'))
            assert.strictEqual((await error).code, 'EBROKEN')
          })
          assert.deepStrictEqual(caught, [])
        })

        it(`${when} arrive from a Duplex, too`, async () => {
          const raw = duplexOver(await connected(await server()))
          const socket = subject.connect({ socket: raw, ca })
          const error = failure(socket)
          await reach(socket)
          raw.destroy(coded('EBROKEN'))
          assert.strictEqual((await error).code, 'EBROKEN')
          assert.strictEqual(socket.destroyed, true)
        })
      }

      it('are none when a Duplex is destroyed without one', async () => {
        const server = await peers.plainServer((socket) => socket.resume())
        const raw = duplexOver(await connected(server))
        const events = await upgradeTrace(raw, () => { raw.destroy() })
        assert.deepStrictEqual(events, ['raw.close()', 'tls.close(false)'])
      })
    })

    describe('of a socket that cannot connect', () => {
      it('arrive on both sockets when it was not even told to connect', async () => {
        const port = await closedPort()
        const events = await upgradeTrace(new net.Socket(), (socket, raw) => {
          raw.connect(port, '127.0.0.1')
        })
        assert.deepStrictEqual(events.filter((event) => event.startsWith('tls.')),
          ['tls.error(ECONNREFUSED)', 'tls.close(false)'])
        assert.deepStrictEqual(events.filter((event) => event.startsWith('raw.')),
          ['raw.error(ECONNREFUSED)', 'raw.close(true)'])
      })

      it('carry what node puts there when connect() made the socket', async () => {
        const port = await closedPort()
        const socket = subject.connect({ port, host: '127.0.0.1', ca })
        const error = await failure(socket)
        const { code, syscall, address, port: at, errno } = error
        assert.deepStrictEqual({ code, syscall, address, at, errno }, {
          code: 'ECONNREFUSED', syscall: 'connect', address: '127.0.0.1', at: port, errno: -111
        })
      })

      it('leave no hook behind that upgrades the socket when it connects again', async () => {
        const server = await peers.plainServer((socket, peer) => {
          const chunks = []
          socket.on('data', (chunk) => chunks.push(chunk))
          socket.on('end', () => peer.report(Buffer.concat(chunks).toString('latin1')))
        })
        const raw = new net.Socket()
        raw.on('error', () => {})
        const socket = subject.connect({ socket: raw, ca })
        const error = failure(socket)
        raw.connect(await closedPort(), '127.0.0.1')
        assert.strictEqual((await error).code, 'ECONNREFUSED')
        raw.connect(server.port, '127.0.0.1')
        await once(raw, 'connect')
        raw.end('plain')
        assert.strictEqual(await server.report(), 'plain')
        raw.destroy()
      })
    })

    describe('of a handshake', () => {
      for (const [name, over] of [['a socket', (raw) => raw], ['a Duplex', duplexOver]]) {
        it(`without a common cipher close both ends over ${name}`, async () => {
          const server = await peers.tlsServer({
            ...certs.server, maxVersion: 'TLSv1.2', ciphers: 'ECDHE-RSA-AES128-GCM-SHA256'
          })
          const raw = over(await connected(server))
          const rawClosed = closed(raw)
          const socket = subject.connect({
            socket: raw, ca, ciphers: 'ECDHE-RSA-AES256-GCM-SHA384'
          })
          const error = await failure(socket)
          assert.strictEqual(error.code, HANDSHAKE_FAILURE)
          await rawClosed
          assert.strictEqual((await server.next('clientError')).code,
            'ERR_SSL_NO_SHARED_CIPHER')
        })
      }

      it('without a common version have the same code on both sides', async () => {
        const server = await peers.tlsServer({ ...certs.server, maxVersion: 'TLSv1.2' })
        const error = await failure(subject.connect({
          socket: await connected(server), ca, minVersion: 'TLSv1.3'
        }))
        assert.strictEqual(error.code, 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION')
        assert.strictEqual((await server.next('clientError')).code,
          'ERR_SSL_UNSUPPORTED_PROTOCOL')
      })

      it('that fails its verification closes the raw socket', async () => {
        const server = await peers.tlsServer(certs.fromOther)
        assert.deepStrictEqual(await upgradeTrace(await connected(server)), ['tls.secure',
          'tls.error(UNABLE_TO_VERIFY_LEAF_SIGNATURE)', 'raw.close(false)', 'tls.close(true)'])
      })
    })

    describe('of truncation', () => {
      it('are none: a FIN without close_notify is a plain end', async () => {
        const server = await peers.tlsServer(certs.server, (socket) => {
          socket.write('all of it', () => socket.destroy())
        })
        assert.deepStrictEqual(await upgradeTrace(await connected(server)), [
          'tls.secureConnect', 'tls.secure', 'tls.data(9)', 'tls.end', 'tls.finish',
          'raw.close(false)', 'tls.close(false)'])
      })

      it('are none after end() either', async () => {
        const server = await peers.tlsServer({ ...certs.server, allowHalfOpen: true },
          (socket) => socket.resume().on('end', () => socket.destroy()))
        const events = await upgradeTrace(await connected(server), async (socket) => {
          await secured(socket)
          socket.end('bye')
        })
        assert.deepStrictEqual(events, ['tls.secureConnect', 'tls.secure',
          'tls.finish', 'tls.end', 'raw.close(false)', 'tls.close(false)'])
      })
    })

    it('of a peer that dies are one error', async () => {
      const server = await peers.sServer(certs.server)
      const raw = await connected(server)
      const socket = subject.connect({ socket: raw, ca })
      await secured(socket)
      const errors = []
      socket.on('error', (error) => errors.push(error.code))
      socket.resume()
      const gone = closed(socket)
      await server.close()
      await gone
      assert.ok(errors.length <= 1)
      assert.strictEqual(socket.destroyed, true)
      assert.strictEqual(raw.destroyed, true)
    })

    it('of one connection never reach another, nor node:crypto, nor node:tls', async () => {
      const server = await peers.tlsServer(certs.server)
      const broken = await peers.plainServer((socket) => {
        socket.once('data', () => socket.end('no TLS here'))
      })
      const ours = await secured(subject.connect({ socket: await connected(server), ca }))
      const theirs = await secured(tls.connect({ socket: await connected(server), ca }))

      const echo = async (socket) => {
        socket.write('ping')
        assert.strictEqual(String(await take(socket, 4)), 'ping')
      }
      const faults = [
        () => assert.throws(() => subject.tls.createSecureContext({ cert: 'no PEM' }),
          { code: /^ERR_OSSL_/ }),
        () => assert.throws(() => crypto.createPublicKey('no PEM')),
        () => assert.strictEqual(crypto.verify('sha256', Buffer.from('text'),
          crypto.createPublicKey(certs.server.cert), Buffer.alloc(256, 1)), false),
        async () => assert.strictEqual(
          (await failure(subject.connect({ socket: await connected(broken), ca }))).code,
          'ERR_SSL_WRONG_VERSION_NUMBER'),
        async () => assert.strictEqual(
          (await failure(tls.connect({ socket: await connected(broken), ca }))).code,
          'ERR_SSL_WRONG_VERSION_NUMBER')
      ]
      for (const fault of faults) {
        await fault()
        await Promise.all([echo(ours), echo(theirs)])
        assert.strictEqual(crypto.createPrivateKey(certs.server.key).type, 'private')
        const third = await secured(subject.connect({ socket: await connected(server), ca }))
        await echo(third)
        third.destroy()
      }
      ours.destroy()
      theirs.destroy()
    })
  })
})
