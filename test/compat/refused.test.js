'use strict'

/**
 * Contexts and connections that are refused leave nothing: no count, no
 * descriptor, no memory, and nothing in OpenSSL's queue of errors, which
 * node:crypto uses, too.
 */

const assert = require('node:assert')
const crypto = require('node:crypto')
const { once } = require('node:events')

const certs = require('../support/certs')
const { openSocketCount } = require('../support/open-sockets')
const { usePeers } = require('../support/peers')
const { connected, failure, secured, take } = require('../support/sockets')
const { subjects } = require('../support/subjects')

const { ca } = certs
const ROUNDS = Number(process.env.EAGER_TLS_TEST_REFUSALS ?? 2000)

const bad = {
  'a CA that is no certificate': { cert: certs.read('ca.crt').toString().replace('MII', '!!!') },
  'a PEM that is cut': { cert: certs.read('ca.crt').subarray(0, 400) },
  'a key of another certificate': {
    cert: certs.clientA.cert, key: certs.server.key
  },
  'a wrong passphrase': { ...certs.clientAEncrypted, passphrase: 'wrong' },
  'a PFX that is none': { pfx: Buffer.from('not a PFX') },
  'a PFX with a wrong passphrase': { ...certs.clientAPfx, passphrase: 'wrong' },
  'a cipher that nobody has': { ciphers: 'NOBODY-HAS-THIS' },
  'a curve that nobody has': { ecdhCurve: 'P-0' },
  'signature algorithms that nobody has': { sigalgs: 'none+at+all' },
  'a CRL that is none': { crl: 'no CRL' },
  'a version that is none': { minVersion: 'bogus' }
}

/** All that node:crypto says of a failure of its own. */
function cryptoError () {
  try {
    crypto.createPrivateKey('no key')
  } catch ({ message, code, library, reason, opensslErrorStack }) {
    return { message, code, library, reason, opensslErrorStack }
  }
}

/** In bytes; what is outside of V8's heap, after a collection. */
function external () {
  global.gc()
  global.gc()
  return process.memoryUsage().external
}

for (const subject of subjects().filter(({ native }) => native)) {
  describe(`what is refused, with ${subject.name}`, () => {
    const peers = usePeers()
    const { stats } = subject.tls
    const live = () => {
      const { connections, contexts } = stats()
      return [connections.live, connections.handshaking, contexts.live,
        contexts.cached, contexts.singleUse, openSocketCount()]
    }

    it(`${ROUNDS} times leaves counts, descriptors and memory as they were`, async function () {
      this.timeout(120000)
      const server = await peers.tlsServer(certs.server)
      const socket = await connected(server)
      const options = Object.values(bad)
      const attempt = (n) => assert.throws(() => {
        const one = { ...options[n % options.length], singleUse: n % 2 === 0 }
        if (n % 3 === 0) subject.tls.createSecureContext(one)
        else subject.connect({ socket, ca, ...one })
      })
      for (let n = 0; n < 200; n++) attempt(n)
      const before = live()
      const memory = external()
      for (let n = 0; n < ROUNDS; n++) attempt(n)
      assert.deepStrictEqual(live(), before)
      const more = external() - memory
      assert.ok(more < 65536, `${more} bytes more outside of the heap`)

      // The socket was never touched.
      const upgraded = await secured(subject.connect({ socket, ca }))
      upgraded.write('ping')
      assert.strictEqual(String(await take(upgraded, 4)), 'ping')
      upgraded.destroy()
    })

    for (const [what, options] of Object.entries(bad)) {
      it(`for ${what} is no error of node:crypto`, () => {
        const expected = cryptoError()
        assert.throws(() => subject.tls.createSecureContext(options))
        assert.deepStrictEqual(cryptoError(), expected)
      })
    }

    it('by a peer or for what it says is no error of node:crypto', async () => {
      const expected = cryptoError()
      const servers = [
        await peers.plainServer((socket) => socket.end('no TLS')),
        await peers.tlsServer(certs.fromOther),
        await peers.tlsServer({ ...certs.server, maxVersion: 'TLSv1.2', ciphers: 'ECDHE-RSA-AES128-GCM-SHA256' })
      ]
      for (const server of servers) {
        const seen = []
        const socket = subject.connect({
          socket: await connected(server), ca, ciphers: 'ECDHE-ECDSA-AES128-GCM-SHA256'
        })
        for (const event of ['error', 'close']) {
          socket.on(event, () => seen.push(cryptoError()))
        }
        await failure(socket)
        assert.deepStrictEqual(seen, [expected, expected])
      }
    })

    it('while others are open disturbs none of them', async () => {
      const server = await peers.tlsServer(certs.server)
      const socket = await secured(subject.connect({ socket: await connected(server), ca }))
      for (const options of Object.values(bad)) {
        assert.throws(() => subject.tls.createSecureContext(options))
        assert.strictEqual(crypto.createHash('md5').update('').digest('hex').length, 32)
        assert.throws(() => crypto.createPublicKey('no key'))
        socket.write('ping')
        assert.strictEqual(String((await once(socket, 'data'))[0]), 'ping')
      }
      socket.destroy()
    })
  })
}
