'use strict'

/** The one callback that OpenSSL itself waits for. */

const assert = require('node:assert')
const { AsyncLocalStorage } = require('node:async_hooks')
const { Duplex } = require('node:stream')

const { duplexOver, duplexPair } = require('../support/duplexes')
const { usePeers } = require('../support/peers')
const { closed, connected, failure, secured, take } = require('../support/sockets')
const { eachSubject } = require('../support/subjects')
const { uncaughtDuring } = require('../support/uncaught')
const { HANDSHAKE_FAILURE } = require('../support/versions')

const KEY = '00112233445566778899aabbccddeeff'
const ciphers = 'PSK:TLS_AES_128_GCM_SHA256'

describe('pskCallback', () => {
  const peers = usePeers()

  eachSubject((subject) => {
    const echo = (version) => peers.plainServer((raw, peer) => {
      const { Buffer } = peer.require('node:buffer')
      const { key, options } = peer.options.psk
      const tls = peer.require('node:tls')
      raw.on('error', () => {})
      const socket = new tls.TLSSocket(raw, {
        ...options,
        isServer: true,
        secureContext: tls.createSecureContext(options),
        pskCallback: () => Buffer.from(key, 'hex')
      })
      socket.on('error', () => {})
      socket.pipe(socket)
    }, { psk: { key: KEY, options: { ciphers, maxVersion: version } } })

    for (const version of ['TLSv1.2', 'TLSv1.3']) {
      describe(`with ${version}`, () => {
        /** `act(socket, raw)` runs inside the callback. */
        async function upgrade (act, { wrap = (raw) => raw, answer } = {}) {
          const server = await echo(version)
          const raw = wrap(await connected(server))
          raw.on('error', () => {})
          return subject.connect({
            socket: raw,
            ciphers,
            maxVersion: version,
            checkServerIdentity: () => {},
            // With TLS 1.3 it is called before the socket is returned.
            pskCallback () {
              act?.(this, raw)
              return answer === undefined
                ? { identity: 'me', psk: Buffer.from(KEY, 'hex') }
                : answer
            }
          })
        }

        it('opens a connection without certificates', async () => {
          const socket = await secured(await upgrade())
          socket.write('ping')
          assert.strictEqual(String(await take(socket, 4)), 'ping')
          socket.destroy()
        })

        it('runs in the asynchronous context of the upgrade', async () => {
          const storage = new AsyncLocalStorage()
          const seen = []
          const socket = await storage.run('mine', () =>
            upgrade(() => seen.push(storage.getStore())))
          await secured(socket)
          assert.deepStrictEqual([...new Set(seen)], ['mine'])
          socket.destroy()
        })

        const closing = {
          'destroy()': (socket) => socket.destroy(),
          'raw.destroy()': (socket, raw) => raw.destroy()
        }
        for (const [way, act] of Object.entries(closing)) {
          // Row "closing inside pskCallback" of docs/compat.md.
          // An error of node's own making, and its 'close' before that.
          if (!subject.native && version === 'TLSv1.3') continue
          for (const [over, wrap] of [['a socket', (raw) => raw], ['a Duplex', duplexOver]]) {
            it(`that calls ${way} over ${over} ends it quietly`, async () => {
              const socket = await upgrade(act, { wrap })
              const events = []
              for (const event of ['secureConnect', 'error', 'data']) {
                socket.on(event, () => events.push(event))
              }
              await closed(socket)
              assert.deepStrictEqual(events, [])
            })
          }
        }

        it('that throws gives its error', async () => {
          const mine = new Error('no key')
          const socket = await upgrade(() => { throw mine })
          assert.strictEqual(await failure(socket), mine)
        })

        it('that gives an empty key has given none', async () => {
          const socket = await upgrade(null, {
            answer: { identity: 'me', psk: new Uint8Array(0) }
          })
          assert.strictEqual((await failure(socket)).code, version === 'TLSv1.2'
            ? 'ERR_SSL_PSK_IDENTITY_NOT_FOUND'
            : HANDSHAKE_FAILURE)
        })

        it('that fails elsewhere does not lend its error to this connection', async () => {
          const socket = await upgrade(() => {
            assert.throws(() => subject.connect({ port: 1, cert: 'no PEM' }),
              { code: 'ERR_OSSL_PEM_NO_START_LINE' })
          }, { answer: null })
          assert.strictEqual((await failure(socket)).code, version === 'TLSv1.2'
            ? 'ERR_SSL_PSK_IDENTITY_NOT_FOUND'
            : HANDSHAKE_FAILURE)
        })
      })
    }

    if (!subject.native) return

    it('may make its Duplex give away what is being read', async () => {
      const server = await echo('TLSv1.2')
      // More than OpenSSL takes in at once, in memory that can go.
      const memory = new ArrayBuffer(100_000, { maxByteLength: 100_000 })
      const plain = await connected(server)
      const raw = new Duplex({
        read () {},
        write: (chunk, encoding, callback) => plain.write(chunk, callback)
      })
      plain.once('data', (chunk) => {
        new Uint8Array(memory).set(chunk)
        raw.push(Buffer.from(memory))
      })
      const socket = subject.connect({
        socket: raw,
        ciphers,
        maxVersion: 'TLSv1.2',
        checkServerIdentity: () => {},
        pskCallback () {
          memory.resize(0)
          return { identity: 'me', psk: Buffer.from(KEY, 'hex') }
        }
      })
      // The zeros behind the server's messages are no record.
      assert.strictEqual((await failure(socket)).code, 'ERR_SSL_WRONG_VERSION_NUMBER')
      assert.strictEqual(memory.byteLength, 0)
    })

    it('may be followed by an exception handler that closes the connection', async () => {
      const { binding } = require('../../lib/runtime')
      const connection = new binding.Connection(null, [], true)
      const mine = new Error('thrown on purpose')
      connection.callback = () => { throw mine }
      connection.setPskCallback(connection.callback)
      const caught = await uncaughtDuring(async () => {
        process.once('uncaughtException', () => connection.close())
        assert.strictEqual(connection.start(), 0)
      })
      assert.deepStrictEqual(caught, [mine])
      assert.throws(() => connection.state(), /closed/)
    })

    it('keeps no socket that was forgotten', async () => {
      const left = new Set()
      const registry = new FinalizationRegistry((n) => left.delete(n))
      const { stats } = subject.tls
      const before = stats().connections.live
      for (let n = 0; n < 10; n++) {
        const socket = new subject.tls.TLSSocket(duplexPair()[0], {
          pskCallback: () => socket
        })
        left.add(n)
        registry.register(socket, n)
      }
      for (let turn = 0; turn < 50 && left.size > 0; turn++) {
        global.gc()
        await new Promise(setImmediate)
      }
      assert.deepStrictEqual([...left], [])
      assert.strictEqual(stats().connections.live, before)
    })
  })
})
