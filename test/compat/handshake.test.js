'use strict'

const assert = require('node:assert')
const { once } = require('node:events')
const os = require('node:os')
const path = require('node:path')

const certs = require('../support/certs')
const { usePeers } = require('../support/peers')
const { closed, connected, failure, secured, take } = require('../support/sockets')
const { eachSubject } = require('../support/subjects')

const { ca } = certs

describe('the handshake', () => {
  const peers = usePeers()

  eachSubject((subject) => {
    const upgrade = async (server, options = {}) =>
      subject.connect({ socket: await connected(server), ca, ...options })

    describe('agrees on a version', () => {
      const rows = [
        [{}, {}, 'TLSv1.3'],
        [{ maxVersion: 'TLSv1.2' }, {}, 'TLSv1.2'],
        [{}, { maxVersion: 'TLSv1.2' }, 'TLSv1.2'],
        [{ minVersion: 'TLSv1.3' }, {}, 'TLSv1.3'],
        [{ minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' }, {}, 'TLSv1.2'],
        [{ secureProtocol: 'TLSv1_2_method' }, {}, 'TLSv1.2'],
        [{ secureProtocol: 'TLS_client_method' }, {}, 'TLSv1.3']
      ]
      for (const [client, server, version] of rows) {
        it(`${version} from ${JSON.stringify(client)} and ${JSON.stringify(server)}`, async () => {
          const peer = await peers.tlsServer({ ...certs.server, ...server })
          const socket = await secured(await upgrade(peer, client))
          assert.strictEqual(socket.getProtocol(), version)
          socket.write('ping')
          assert.strictEqual(String(await take(socket, 4)), 'ping')
          socket.destroy()
        })
      }

      it('or fails when min is above max', async () => {
        const server = await peers.tlsServer(certs.server)
        const error = await failure(await upgrade(server,
          { minVersion: 'TLSv1.3', maxVersion: 'TLSv1.2' }))
        assert.strictEqual(error.code, 'ERR_SSL_NO_PROTOCOLS_AVAILABLE')
      })
    })

    describe('agrees on a cipher', () => {
      const rows = [
        [{ ciphers: 'TLS_CHACHA20_POLY1305_SHA256' }, 'TLS_CHACHA20_POLY1305_SHA256', 'TLSv1.3'],
        [{ ciphers: 'TLS_AES_128_GCM_SHA256:ECDHE-RSA-AES128-GCM-SHA256' }, 'TLS_AES_128_GCM_SHA256', 'TLSv1.3'],
        [{ ciphers: 'ECDHE-RSA-AES256-GCM-SHA384', maxVersion: 'TLSv1.2' }, 'ECDHE-RSA-AES256-GCM-SHA384', 'TLSv1.2'],
        [{ ciphers: 'AES128-GCM-SHA256', maxVersion: 'TLSv1.2' }, 'AES128-GCM-SHA256', 'TLSv1.2']
      ]
      for (const [options, name, version] of rows) {
        it(`${name} from ${JSON.stringify(options)}`, async () => {
          const server = await peers.tlsServer({ ...certs.server, ciphers: `${name}:DEFAULT` })
          const socket = await secured(await upgrade(server, options))
          const cipher = socket.getCipher()
          assert.deepStrictEqual(Object.keys(cipher), ['name', 'standardName', 'version'])
          assert.deepStrictEqual([cipher.name, cipher.version], [name, version])
          socket.destroy()
        })
      }
    })

    describe('with ALPN', () => {
      const server = () => peers.tlsServer({
        ...certs.server, ALPNProtocols: ['postgresql', 'h2', 'http/1.1']
      })
      const rows = [
        ['an array', ['postgresql'], 'postgresql'],
        ['an array of several', ['none', 'http/1.1', 'h2'], 'h2'],
        ['a Buffer', Buffer.from('\x02h2\x08http/1.1'), 'h2'],
        ['a Uint8Array', new Uint8Array(Buffer.from('\x08http/1.1')), 'http/1.1'],
        ['nothing', undefined, false],
        ['an empty array', [], false]
      ]
      for (const [shape, ALPNProtocols, protocol] of rows) {
        it(`given as ${shape} selects ${protocol}`, async () => {
          const peer = await server()
          const socket = await upgrade(peer, { ALPNProtocols })
          assert.strictEqual(socket.alpnProtocol, null)
          await secured(socket)
          assert.strictEqual(socket.alpnProtocol, protocol)
          socket.end()
          assert.strictEqual((await peer.connection()).alpn, protocol)
        })
      }

      it('reports that nothing is common', async () => {
        const error = await failure(await upgrade(await server(), { ALPNProtocols: ['smtp'] }))
        assert.strictEqual(error.code, 'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL')
      })

      it('is false when the server has none', async () => {
        const peer = await peers.tlsServer(certs.server)
        const socket = await secured(await upgrade(peer, { ALPNProtocols: ['h2'] }))
        assert.strictEqual(socket.alpnProtocol, false)
        socket.destroy()
      })
    })

    describe('with a client certificate', () => {
      const rows = {
        'of RSA': [() => certs.clientA, 'tester'],
        'of P-256': [() => certs.clientB, 'other tester'],
        'and a key under a passphrase': [() => certs.clientAEncrypted, 'tester'],
        'and a traditional key under a passphrase': [() => certs.clientAEncryptedTraditional, 'tester'],
        'and a key given as { pem, passphrase }': [() => ({
          cert: certs.clientA.cert,
          key: [{ pem: certs.clientAEncrypted.key, passphrase: certs.passphrase }]
        }), 'tester'],
        'in a PFX': [() => certs.clientAPfx, 'tester'],
        'in a PFX with a SHA-256 check': [() => certs.clientAPfxSha256, 'tester'],
        'in a PFX without a password': [() => certs.clientAPfxNoPassword, 'tester'],
        'in a PFX given as { buf, passphrase }': [() => ({
          pfx: [{ buf: certs.clientAPfx.pfx, passphrase: certs.passphrase }]
        }), 'tester']
      }
      for (const [how, [identity, name]] of Object.entries(rows)) {
        for (const maxVersion of ['TLSv1.2', 'TLSv1.3']) {
          it(`${how} the server sees ${name}, with ${maxVersion}`, async () => {
            const server = await peers.tlsServer({
              ...certs.server, ca, requestCert: true, maxVersion
            })
            const socket = await secured(await upgrade(server, identity()))
            socket.resume().end()
            const seen = await server.connection()
            assert.deepStrictEqual([seen.peer, seen.authorized], [name, true])
          })
        }
      }

      it('none is sent when the server does not ask', async () => {
        const server = await peers.tlsServer(certs.server)
        const socket = await secured(await upgrade(server, certs.clientA))
        socket.resume().end()
        assert.strictEqual((await server.connection()).peer, null)
      })

      it('a server that may go without one sees none', async () => {
        const server = await peers.tlsServer({
          ...certs.server, ca, requestCert: true, rejectUnauthorized: false
        })
        const socket = await secured(await upgrade(server))
        socket.resume().end()
        const seen = await server.connection()
        assert.deepStrictEqual([seen.peer, seen.authorized], [null, false])
      })

      it('two clients of one trust store keep their own', async () => {
        const server = await peers.tlsServer({ ...certs.server, ca, requestCert: true })
        for (const [identity, name] of [['clientA', 'tester'], ['clientB', 'other tester'], ['clientA', 'tester']]) {
          const socket = await secured(await upgrade(server, certs[identity]))
          socket.resume().end()
          assert.strictEqual((await server.connection()).peer, name)
        }
      })
    })

    describe('with weak parameters of a DHE server', () => {
      const server = () => peers.tlsServer({
        ...certs.server, dhparam: certs.dh1024, maxVersion: 'TLSv1.2', ciphers: 'DHE-RSA-AES128-GCM-SHA256:@SECLEVEL=0'
      })
      const ciphers = 'DHE-RSA-AES128-GCM-SHA256:@SECLEVEL=0'

      it('fails below minDHSize', async () => {
        const error = await failure(await upgrade(await server(), { minDHSize: 2048, ciphers }))
        assert.strictEqual(error.code, 'ERR_TLS_DH_PARAM_SIZE')
        assert.match(error.message, /1024/)
      })

      it('succeeds at minDHSize, and tells the key', async () => {
        const socket = await secured(await upgrade(await server(), { minDHSize: 1024, ciphers }))
        const { type, size } = socket.getEphemeralKeyInfo()
        assert.deepStrictEqual({ type, size }, { type: 'DH', size: 1024 })
        socket.destroy()
      })
    })

    describe('emits', () => {
      for (const [maxVersion, labels] of [
        ['TLSv1.2', ['CLIENT_RANDOM']],
        ['TLSv1.3', ['CLIENT_HANDSHAKE_TRAFFIC_SECRET', 'CLIENT_TRAFFIC_SECRET_0',
          'EXPORTER_SECRET', 'SERVER_HANDSHAKE_TRAFFIC_SECRET', 'SERVER_TRAFFIC_SECRET_0']]
      ]) {
        it(`keylog lines with ${maxVersion}`, async () => {
          const server = await peers.tlsServer(certs.server)
          const socket = await upgrade(server, { maxVersion })
          const lines = []
          socket.on('keylog', (line) => lines.push(line))
          await secured(socket)
          await new Promise(setImmediate)
          assert.ok(lines.every((line) => Buffer.isBuffer(line) && line.at(-1) === 10))
          assert.deepStrictEqual(lines.map((line) => String(line).split(' ')[0]).sort(), labels)
          socket.destroy()
        })

        it(`a session that is a Buffer with ${maxVersion}`, async () => {
          const server = await peers.tlsServer(certs.server)
          const socket = await upgrade(server, { maxVersion })
          socket.resume()
          const [session] = await once(socket, 'session')
          assert.ok(Buffer.isBuffer(session))
          assert.strictEqual(socket.isSessionReused(), false)
          socket.destroy()

          const again = await secured(await upgrade(server, { maxVersion, session }))
          assert.strictEqual(again.isSessionReused(), true)
          assert.strictEqual(again.authorized, true)
          again.resume().end()
          await server.connection()
          assert.strictEqual((await server.connection()).reused, true)
        })
      }

      it('secureConnect to the callback, with the socket as this', async () => {
        const server = await peers.tlsServer(certs.server)
        const raw = await connected(server)
        const seen = await new Promise((resolve) => {
          const socket = subject.connect({ socket: raw, ca }, function () {
            resolve([this === socket, arguments.length])
          })
        })
        assert.deepStrictEqual(seen, [true, 0])
        raw.destroy()
      })
    })

    describe('in other forms of the call', () => {
      it('connect(port, host, options, callback) opens the connection', async () => {
        const server = await peers.tlsServer(certs.server)
        const socket = await new Promise((resolve) => {
          const socket = subject.connect(server.port, '127.0.0.1', { ca }, () => resolve(socket))
        })
        assert.strictEqual(socket.authorized, true)
        assert.strictEqual(socket.remotePort, server.port)
        socket.end()
        socket.resume()
        await closed(socket)
      })

      it('connect({ port }) emits connect before secureConnect', async () => {
        const server = await peers.tlsServer(certs.server)
        const socket = subject.connect({ port: server.port, host: '127.0.0.1', ca })
        const order = []
        for (const event of ['lookup', 'connect', 'ready', 'secureConnect']) {
          socket.on(event, () => order.push(event))
        }
        assert.strictEqual(socket.connecting, true)
        await secured(socket)
        assert.deepStrictEqual(order.filter((event) => event !== 'lookup'),
          ['connect', 'ready', 'secureConnect'])
        socket.destroy()
      })

      it('an upgrade of a Unix-domain socket works', async () => {
        const socketPath = path.join(os.tmpdir(), `eager-tls-up-${process.pid}.sock`)
        const server = await peers.tlsServer({ ...certs.server, path: socketPath })
        const socket = await secured(await upgrade(server))
        socket.write('ping')
        assert.strictEqual(String(await take(socket, 4)), 'ping')
        assert.strictEqual(socket.remoteAddress, undefined)
        socket.destroy()
      })

      it('connect(path) reaches a Unix-domain socket', async () => {
        const socketPath = path.join(os.tmpdir(), `eager-tls-${process.pid}.sock`)
        const server = await peers.tlsServer({ ...certs.server, path: socketPath })
        const socket = await new Promise((resolve) => {
          const socket = subject.connect(socketPath, { ca }, () => resolve(socket))
        })
        socket.write('ping')
        assert.strictEqual(String(await take(socket, 4)), 'ping')
        socket.destroy()
        await closed(socket)
        await server.connection()
      })
    })
  })
})
