'use strict'

/**
 * What somebody may try in order to get past the verification, or to have
 * sessions shared that must not be: the server, the holder of the options, other
 * code in the process.
 */

const assert = require('node:assert')

const certs = require('../support/certs')
const { usePeers } = require('../support/peers')
const { reuses, versions, visit } = require('../support/session-client')
const { closed, connected, failure } = require('../support/sockets')
const { subjects } = require('../support/subjects')
const { uncaughtDuring } = require('../support/uncaught')
const { WireTap } = require('../support/wire-tap')
const { REFUSES_ADDRESS_AS_SERVERNAME } = require('../support/versions')

const { ca } = certs
const ALTNAME = 'ERR_TLS_CERT_ALTNAME_INVALID'
const UNTRUSTED = 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'

const ticketKeys = Buffer.alloc(48, 7)

/** A server of this version that a test can give another certificate. */
function rotatable (peers, version) {
  return peers.tlsServer({
    ...certs.server, minVersion: version, maxVersion: version, ticketKeys
  }, (socket, peer) => {
    peer.on('rotate', (options) => socket.server.setSecureContext(options))
    socket.on('error', () => {})
    socket.pipe(socket)
  })
}

for (const subject of subjects().filter(({ native }) => native)) {
  for (const version of versions) {
    describe(`attacks on connections of ${version}, with ${subject.name}:`, () => {
      const peers = usePeers()
      beforeEach(() => subject.tls.clear())

      const start = (identity = certs.server, behaviour) => peers.tlsServer({
        ...identity, minVersion: version, maxVersion: version
      }, behaviour)

      it('setServername() makes it another name', async () => {
        const server = await start()
        const reused = []
        for (const name of ['hosta.test', null, null, 'hosta.test']) {
          const result = await visit(subject, server, { ca }, {
            prepare: (socket) => name && socket.setServername(name)
          })
          reused.push(result.reused)
        }
        assert.deepStrictEqual(reused, [false, false, true, true])
      })

      it('behind one proxy, two ports are two servers', async () => {
        const server = await start()
        const reused = []
        for (const port of [1, 2, undefined, 1, 2]) {
          reused.push((await visit(subject, server, { ca, port })).reused)
        }
        assert.deepStrictEqual(reused, [false, false, false, true, true])
      })

      it('on one port, two addresses without a name are two servers', async () => {
        const server = await start()
        const one = await WireTap.before(server)
        const two = await WireTap.before(server, { port: one.port, host: '127.0.0.2' })
        try {
          const reused = []
          for (const [tap, options] of [
            [one], [two], [one], [two],
            [one, { servername: 'localhost' }], [two, { servername: 'localhost' }]
          ]) {
            reused.push((await visit(subject, tap, { ca, ...options })).reused)
          }
          assert.deepStrictEqual(reused, [false, false, true, true, false, true])
        } finally {
          await one.close()
          await two.close()
        }
      })

      it('options that change during the handshake change nothing', async () => {
        const server = await start(certs.fromOther)
        for (const mutable of [{ ca }, { ca, servername: 'wrong.test' }]) {
          const root = certs.fresh('other-ca.crt')
          const options = { ...mutable, ca: root, checkServerIdentity: () => new Error('refused') }
          const result = await visit(subject, server, options, {
            prepare () {
              root.set(certs.fresh('ca.crt').subarray(0, root.length))
              Object.assign(options, {
                rejectUnauthorized: false,
                checkServerIdentity: () => undefined,
                servername: 'localhost',
                sessionReuse: false
              })
            }
          })
          assert.deepStrictEqual(result, {
            authorized: false, authorizationError: 'refused', reused: null, code: 'refused'
          })
        }
      })

      it('each option is read once, however often it would change', async () => {
        const server = await start(certs.wrong)
        const reads = {}
        const options = {}
        const values = {
          ca: [ca, certs.otherCa],
          rejectUnauthorized: [true, false],
          checkServerIdentity: [subject.tls.checkServerIdentity, () => undefined],
          servername: ['localhost', 'other.example'],
          host: ['localhost', 'other.example'],
          minDHSize: [2048, 1],
          sessionReuse: [true, false]
        }
        for (const [name, [first, later]] of Object.entries(values)) {
          reads[name] = 0
          Object.defineProperty(options, name, {
            enumerable: true, get: () => reads[name]++ === 0 ? first : later
          })
        }
        const socket = subject.connect(await connected(server), options)
        assert.strictEqual((await failure(socket)).code, ALTNAME)
        for (const [name, count] of Object.entries(reads)) {
          assert.strictEqual(count, 1, name)
        }
      })

      it('a certificate refused on a resumed connection is asked for anew', async () => {
        const server = await rotatable(peers, version)
        let pinned = 'RSA'
        const options = {
          ca,
          checkServerIdentity: (name, { bits }) =>
            (bits === 256 ? 'EC' : 'RSA') === pinned
              ? undefined
              : Object.assign(new Error('not pinned'), { code: 'PIN' })
        }
        assert.deepStrictEqual(await reuses(subject, server, 2, options), [false, true])
        // Its tickets stay good: the resumed connection is one with the old one.
        await server.tell('rotate', {
          ...certs.ec, minVersion: version, maxVersion: version, ticketKeys
        })
        pinned = 'EC'
        assert.deepStrictEqual(await reuses(subject, server, 3, options),
          ['PIN', false, true])
      })

      it('names in odd shapes get the verdict that they get without sessions', async () => {
        const server = await start()
        const shapes = [
          [{}, null],
          [{ servername: '' }, null],
          [{ servername: null, host: 'hosta.test' }, null],
          [{ servername: undefined, host: 'wrong.test' }, ALTNAME],
          [{ servername: false, host: '127.0.0.1' }, null],
          [{ host: '127.0.0.9' }, ALTNAME],
          [{ host: ['hosta.test'] }, null],
          [{ host: ['hosta.test', 'localhost'] }, ALTNAME],
          [{ host: { toString: () => 'hosta.test' } }, null],
          [{ host: { toString: () => 'wrong.test' } }, ALTNAME],
          [{ servername: 'localhost' }, null],
          [{ servername: 'wrong.test', host: 'localhost' }, ALTNAME],
          [{ servername: 'localhost', host: 'wrong.test' }, null]
        ]
        if (!REFUSES_ADDRESS_AS_SERVERNAME) {
          shapes.push([{ servername: '127.0.0.1' }, null],
            [{ servername: '127.0.0.9' }, ALTNAME])
        }
        for (let round = 0; round < 2; round++) {
          for (const [shape, code] of shapes) {
            const result = await visit(subject, server, { ca, ...shape })
            assert.strictEqual(result.code, code)
            assert.strictEqual(result.authorized, code === null)
          }
        }
      })

      it('a host that is one name now and another one later is verified as both', async () => {
        const server = await start()
        const names = ['hosta.test', 'hosta.test', 'wrong.test']
        const options = { ca, host: { toString: () => names[0] } }
        assert.strictEqual((await visit(subject, server, options)).code, null)
        names.shift()
        names[0] = 'wrong.test'
        assert.strictEqual((await visit(subject, server, options)).code, ALTNAME)
      })

      it('plaintext sent behind the handshake of an unverified peer goes nowhere', async () => {
        const server = await start(certs.fromOther, (socket, peer) => {
          socket.on('error', () => {})
          socket.on('data', (data) => peer.report(String(data)))
          socket.write('take this')
        })
        const socket = subject.connect({ socket: await connected(server), ca })
        let delivered = false
        socket.on('data', () => { delivered = true })
        socket.write('secret')
        assert.strictEqual((await failure(socket)).code, UNTRUSTED)
        assert.strictEqual(delivered, false)
        await server.next(version === 'TLSv1.3' ? 'clientError' : 'connection')
        assert.strictEqual(server.waiting('report'), 0)
        // TLS 1.2 has the client's Finished before the server's.
        assert.strictEqual(server.waiting('secure'), version === 'TLSv1.3' ? 0 : 1)
      })

      const obstructions = {
        'a listener for newListener that throws' (socket) {
          socket.on('newListener', (event) => {
            if (event === 'secure') throw new Error('obstructed')
          })
        },
        'an emit() that swallows' (socket) {
          const { emit } = socket
          socket.emit = function (event, ...args) {
            return event === 'secure' ? false : emit.call(this, event, ...args)
          }
        }
      }
      for (const [what, obstruct] of Object.entries(obstructions)) {
        it(`${what} 'secure' ends the connection`, async () => {
          const server = await start(certs.server, (socket) => {
            socket.on('error', () => {})
            socket.end('data')
          })
          const socket = subject.connect({ socket: await connected(server), ca })
          let delivered = false
          socket.on('data', () => { delivered = true })
          obstruct(socket)
          socket.write('secret')
          await uncaughtDuring(async () => {
            assert.strictEqual((await failure(socket)).code, 'ERR_EAGER_TLS_INTERNAL')
          })
          assert.strictEqual(socket.authorized, false)
          assert.strictEqual(delivered, false)
          await server.next(version === 'TLSv1.3' ? 'clientError' : 'connection')
          assert.strictEqual(server.waiting('secure'), version === 'TLSv1.3' ? 0 : 1)
        })
      }
    })
  }

  describe(`attacks before the handshake, with ${subject.name}:`, () => {
    const peers = usePeers()

    // Bytes that come while what was written before the upgrade is on its way.
    const early = {
      'the head of a record': '160303',
      'a record that is not complete': '1603030030010203',
      'an alert': '15030300020100',
      text: '323230206f6b0d0a'
    }
    for (const [what, bytes] of Object.entries(early)) {
      it(`${what} that comes too early ends the connection`, async () => {
        const server = await peers.plainServer((socket, peer) => {
          socket.pause()
          peer.report('here')
          peer.on('speak', () => {
            socket.write(Buffer.from(peer.options.bytes, 'hex'))
            socket.resume()
          })
        }, { bytes })
        const raw = await connected(server)
        await server.report()
        raw.write(Buffer.alloc(8 << 20))
        const socket = subject.connect({ socket: raw, ca: certs.ca })
        socket.on('secureConnect', () => assert.fail('secure'))
        const caught = await uncaughtDuring(async () => {
          const failed = failure(socket)
          await server.tell('speak')
          // Three bytes are not enough for the core to say no; the end is.
          setImmediate(() => { if (!socket.destroyed) raw.end() })
          await failed
        })
        assert.deepStrictEqual(caught, [])
      })
    }

    it('an end that comes too early is one', async () => {
      const server = await peers.plainServer((socket, peer) => {
        socket.pause()
        peer.report('here')
        peer.on('speak', () => socket.end())
      }, { allowHalfOpen: true })
      const raw = await connected(server)
      await server.report()
      raw.write(Buffer.alloc(8 << 20))
      const socket = subject.connect({ socket: raw, ca: certs.ca })
      const caught = await uncaughtDuring(async () => {
        const gone = closed(socket)
        await server.tell('speak')
        setImmediate(() => raw.destroy())
        await gone
      })
      assert.deepStrictEqual(caught, [])
    })

    it('two copies of the package share neither contexts nor sessions', async () => {
      const other = secondCopy()
      assert.notStrictEqual(other.connect, subject.tls.connect)
      subject.tls.clear()
      const server = await peers.tlsServer(certs.server)
      const created = other.stats().contexts.created
      assert.deepStrictEqual(await reuses(subject, server, 2, { ca }), [false, true])
      assert.strictEqual(other.stats().contexts.created, created)
      assert.strictEqual(other.stats().sessions.stored, 0)
      const copy = { ...subject, connect: other.connect }
      assert.deepStrictEqual(await reuses(copy, server, 2, { ca }), [false, true])
    })
  })
}

/** The package, loaded once more. */
function secondCopy () {
  const root = require.resolve('../..')
  const dir = root.slice(0, root.lastIndexOf('lib'))
  const saved = {}
  for (const path of Object.keys(require.cache)) {
    if (path.startsWith(`${dir}lib`) || path.endsWith('.node')) {
      saved[path] = require.cache[path]
      delete require.cache[path]
    }
  }
  try {
    return require(root)
  } finally {
    Object.assign(require.cache, saved)
  }
}
