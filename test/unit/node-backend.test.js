'use strict'

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const net = require('node:net')
const os = require('node:os')
const path = require('node:path')
const { Duplex } = require('node:stream')
const tls = require('node:tls')

const certs = require('../support/certs')
const { closed, failure } = require('../support/sockets')
const { host, visitor, withServer } = require('../support/with-server')
const backend = require('../../lib/node-backend')

const { connect } = backend
const { ca } = certs
const visit = visitor(connect)
describe('the node backend', () => {
  let before
  beforeEach(() => {
    backend.clear()
    backend.configure({
      contexts: { max: 256 }, sessions: { enabled: true, perPeer: 8 }
    })
    before = backend.stats()
  })

  /** What has been added to a count since the test began. */
  const added = (group, name) => backend.stats()[group][name] - before[group][name]

  describe('accepts the form', () => {
    const forms = {
      'connect(options)': (port) => connect({ port, host, ca }),
      'connect(port, host, options)': (port) => connect(port, host, { ca }),
      'connect(port, options)': (port) => connect(port, { host, ca }),
      'connect(String(port), host, options)': (port) =>
        connect(String(port), host, { ca }),
      'connect(options, ignored)': (port) =>
        connect({ port, host, ca }, undefined),
      'connect({ socket: null })': (port) =>
        connect({ port, host, ca, socket: null }),
      'connect({ socket })': (port) =>
        connect({ socket: net.connect(port, host), host, ca }),
      'connect(socket, options)': (port) =>
        connect(net.connect(port, host), { host, ca }),
      'connect(socket, undefined, options)': (port) =>
        connect(net.connect(port, host), undefined, { host, ca }),
      'new connect(options)': (port) => Reflect.construct(connect, [{ port, host, ca }]),
      'connect.call(anything, options)': (port) =>
        connect.call({ not: 'tls' }, { port, host, ca })
    }
    for (const [name, open] of Object.entries(forms)) {
      it(name, () => withServer({}, async (port) => {
        const socket = open(port)
        assert.ok(socket instanceof backend.TLSSocket)
        await once(socket, 'secureConnect')
        assert.equal(socket.authorized, true)
        socket.destroy()
        await once(socket, 'close')
      }))
    }

    it('connect(path, options)', async () => {
      const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'eager-tls-path-'))
      const server = tls.createServer(certs.server)
      const file = path.join(directory, 'socket')
      server.listen(file)
      await once(server, 'listening')
      const socket = connect(file, { ca, host: 'localhost' })
      await once(socket, 'secureConnect')
      socket.destroy()
      await once(socket, 'close')
      server.close()
      fs.rmSync(directory, { recursive: true })
    })

    it('with a callback at the end of each', () => withServer({}, async (port) => {
      const calls = [
        (callback) => connect({ port, host, ca }, callback),
        (callback) => connect(port, host, { ca }, callback),
        (callback) => connect(port, { host, ca }, callback),
        (callback) => connect(net.connect(port, host), { host, ca }, callback)
      ]
      for (const call of calls) {
        const socket = await new Promise((resolve) => {
          const made = call(function () { resolve([made, this]) })
        }).then(([made, self]) => {
          assert.equal(made, self)
          return made
        })
        socket.destroy()
        await once(socket, 'close')
      }
    }))
  })

  describe('contexts', () => {
    it('are shared by connections with the same content', () =>
      withServer({}, async (port) => {
        for (let i = 0; i < 3; i++) {
          await visit(port, { ca: Buffer.from(ca), sessionReuse: false })
        }
        assert.equal(added('contexts', 'created'), 1)
        assert.equal(added('contexts', 'hits'), 2)
        backend.clear()
        assert.equal(backend.stats().contexts.live, before.contexts.live)
      }))

    const endings = {
      'end()': (socket) => socket.end(),
      'destroy()': (socket) => socket.destroy(),
      'destroy(error)': (socket) => socket.destroy(new Error('mine')),
      'the raw socket\'s destroy()': (socket, raw) => raw.destroy(),
      'all listeners removed': (socket) => {
        socket.removeAllListeners()
        socket.destroy()
      }
    }
    for (const [name, end] of Object.entries(endings)) {
      it(`for a single use are gone in 'close' after ${name}`, () =>
        withServer({}, async (port) => {
          const raw = net.connect(port, host)
          await once(raw, 'connect')
          const socket = connect({ socket: raw, host, ca, singleUse: true })
          await once(socket, 'secureConnect')
          assert.equal(backend.stats().contexts.singleUse, 1)
          end(socket, raw)
          const ended = closed(socket)
          socket.prependListener('close', () => {
            assert.equal(backend.stats().contexts.singleUse, 0)
            assert.equal(backend.stats().contexts.live, before.contexts.live)
            assert.equal(backend.stats().connections.live,
              before.connections.live)
          })
          socket.resume()
          await ended
        }))
    }

    it('for a single use are gone after a failed handshake', async () => {
      const server = net.createServer((peer) => peer.end('no TLS here\r\n'))
      server.listen(0, host)
      await once(server, 'listening')
      const { port } = server.address()
      const socket = connect({ port, host, ca, singleUse: true })
      const error = await failure(socket)
      assert.equal(error.code, 'ERR_SSL_WRONG_VERSION_NUMBER')
      assert.equal(backend.stats().contexts.live, before.contexts.live)
      server.close()
    })

    it('are not left behind by arguments that are refused', () => {
      for (const options of [{ ca, servername: 5 }, { ca, cert: 'x' },
        { ca, port: 'x' }, { ca, secureContext: {} }, { ca: 5 },
        { ca, session: 5 }]) {
        const raw = new Duplex({ read () {}, write () {} })
        raw.on('error', () => {})
        assert.throws(() => connect(
          'port' in options ? options : { socket: raw, ...options }))
        raw.destroy()
      }
      backend.clear()
      assert.equal(backend.stats().contexts.live, before.contexts.live)
      assert.equal(backend.stats().connections.live, before.connections.live)
      assert.equal(backend.stats().connections.handshaking, 0)
    })

    it('made by createSecureContext are references on cached ones', () =>
      withServer({}, async (port) => {
        const context = backend.createSecureContext({ ca })
        assert.ok(context instanceof tls.SecureContext)
        assert.ok(context instanceof backend.SecureContext)
        await visit(port, { secureContext: context })
        await visit(port)
        assert.equal(added('contexts', 'created'), 1)
        context.close()
        context.close()
        assert.throws(() => connect({ port, host, secureContext: context }),
          { code: 'ERR_EAGER_TLS_CONTEXT_CLOSED' })
        assert.throws(() => context.context,
          { code: 'ERR_EAGER_TLS_CONTEXT_CLOSED' })
        backend.clear()
        assert.equal(backend.stats().contexts.live, before.contexts.live)
      }))

    it('outlive close() for the connections that use them', () =>
      withServer({}, async (port) => {
        const context = backend.createSecureContext({ ca, singleUse: true })
        const socket = connect({ port, host, secureContext: context })
        context.close()
        await once(socket, 'secureConnect')
        assert.equal(backend.stats().contexts.live, before.contexts.live + 1)
        socket.destroy()
        await once(socket, 'close')
        assert.equal(backend.stats().contexts.live, before.contexts.live)
      }))

    it('made by node:tls are used as they are', () =>
      withServer({}, async (port) => {
        const secureContext = tls.createSecureContext({ ca })
        const { authorized } = await visit(port, { secureContext })
        assert.equal(authorized, true)
        assert.equal(added('contexts', 'created'), 0)
      }))
  })

  describe('sessions', () => {
    for (const version of ['TLSv1.2', 'TLSv1.3']) {
      it(`are reused, with the certificates, in ${version}`, () =>
        withServer({ maxVersion: version }, async (port) => {
          const first = await visit(port)
          assert.equal(first.reused, false)
          for (let i = 0; i < 3; i++) {
            const next = await visit(port)
            assert.deepEqual(next, { ...first, reused: true })
          }
          assert.equal(added('sessions', 'offered'), 3)
          assert.equal(added('sessions', 'resumed'), 3)
        }))
    }

    it('are not reused where another answer would be possible', () =>
      withServer({ ALPNProtocols: ['a', 'b'] }, async (port) => {
        await visit(port)
        const others = [
          { sessionReuse: false },
          { servername: 'hosta.test' },
          { host: 'localhost', servername: 'localhost' },
          { rejectUnauthorized: false },
          { ALPNProtocols: ['a'] },
          { ca: [ca, certs.otherCa] },
          { minVersion: 'TLSv1.3' },
          { requestOCSP: true },
          { minDHSize: 2048 },
          { checkServerIdentity: () => {} },
          { checkServerIdentity: tls.checkServerIdentity.bind(tls) }
        ]
        for (const options of others) {
          assert.equal((await visit(port, options)).reused, false,
            JSON.stringify(options))
        }
        assert.equal((await visit(port)).reused, true)
      }))

    it('of connections that were not authorized are not kept', () =>
      withServer({}, async (port) => {
        const options = { ca: certs.otherCa, rejectUnauthorized: false }
        for (let i = 0; i < 2; i++) {
          const { authorized, reused } = await visit(port, options)
          assert.deepEqual([authorized, reused], [false, false])
        }
        assert.equal(backend.stats().sessions.stored, 0)
      }))

    it('of the user go before ours', () => withServer({}, async (port) => {
      const socket = connect({ port, host, ca })
      const [session] = await once(socket, 'session')
      socket.destroy()
      await once(socket, 'close')
      const offered = added('sessions', 'offered')
      const { reused } = await visit(port, { session })
      assert.equal(reused, true)
      assert.equal(added('sessions', 'offered'), offered)
    }))

    it('of the user are reused for another port, as FTP needs it', () =>
      withServer({ ticketKeys: Buffer.alloc(48, 1) }, (first) =>
        withServer({ ticketKeys: Buffer.alloc(48, 1) }, async (second) => {
          const { session } = await visit(first, { sessionReuse: false })
          const { raw, reused } =
            await visit(second, { session, sessionReuse: false })
          assert.equal(reused, true)
          assert.ok(raw.length > 0)
        })))

    it('of the user are not offered where they prove nothing', () =>
      withServer({}, async (port) => {
        const { session } = await visit(port)
        const lax = await visit(port, {
          ca: certs.otherCa, rejectUnauthorized: false, sessionReuse: false
        })
        const cases = [
          [{ session, ca: [ca, certs.otherCa] }, true],
          [{ session, checkServerIdentity: () => {} }, false],
          [{ session: Buffer.concat([session]) }, false],
          [{ session: Buffer.from('nonsense'), servername: 'localhost' }, true],
          [{ session: lax.session }, true]
        ]
        for (const [options, full] of cases) {
          const { authorized, reused } =
            await visit(port, { ...options, sessionReuse: false })
          assert.deepEqual([authorized, reused], [true, !full],
            Object.keys(options).join())
        }
      }))

    it('of the user do not stand for another name', () =>
      withServer(certs.hosta, async (port) => {
        const { session } = await visit(port, { servername: 'hosta.test' })
        const socket = connect({
          port, host, ca, servername: 'hostb.test', session
        })
        assert.equal((await failure(socket)).code,
          'ERR_TLS_CERT_ALTNAME_INVALID')
      }))

    it('of the user keep the verdict of a connection that need not be ' +
      'authorized', () => withServer(certs.hosta, async (port) => {
      const options = { rejectUnauthorized: false, sessionReuse: false }
      const { session } = await visit(port, options)
      const { authorized, authorizationError, reused } =
        await visit(port, { ...options, session })
      assert.deepEqual([authorized, authorizationError, reused],
        [false, 'ERR_TLS_CERT_ALTNAME_INVALID', true])
    }))

    it('are forgotten when the server refuses them', async () => {
      const keys = (byte) => ({ ticketKeys: Buffer.alloc(48, byte) })
      await withServer(keys(1), async (port, server) => {
        await visit(port)
        server.setTicketKeys(Buffer.alloc(48, 2))
        assert.equal((await visit(port)).reused, false)
        assert.equal(added('sessions', 'rejected'), 1)
        assert.equal((await visit(port)).reused, true)
      })
    })

    it('are neither stored nor offered while they are switched off', () =>
      withServer({}, async (port) => {
        backend.configure({ sessions: { enabled: false } })
        await visit(port)
        assert.equal((await visit(port)).reused, false)
        assert.equal(backend.stats().sessions.stored, 0)
      }))
  })

  describe('says why it is used', () => {
    /** Loads the package with its binary hidden. */
    function load (env, code = '') {
      const index = JSON.stringify(path.join(__dirname, '../../lib/index.js'))
      return spawnSync(process.execPath, ['--no-addons', '-e', `
        const eager = require(${index})
        console.log(eager.backend, eager.backendReason)
        ${code}`],
      { encoding: 'utf8', env: { ...process.env, ...env } })
    }

    it('once', () => {
      const { stdout, stderr } = load({ EAGER_TLS_BACKEND: '' }, `
        for (const name of Object.keys(require.cache)) {
          delete require.cache[name]
        }
        require(${JSON.stringify(path.join(__dirname, '../../lib/index.js'))})`)
      assert.match(stdout, /^node The binary .*cannot be loaded|^node No binary/)
      assert.match(stderr,
        /\[EAGER_TLS_FALLBACK\] Warning: eager-tls runs on node:tls/)
      assert.equal(stderr.match(/EAGER_TLS_FALLBACK/g).length, 1)
    })

    it('but not to somebody who asked for it', () => {
      const { stdout, stderr } = load({ EAGER_TLS_BACKEND: 'node' })
      assert.match(stdout, /^node EAGER_TLS_BACKEND=node asks for it\./)
      assert.equal(stderr, '')
    })
  })
})
