'use strict'

/**
 * Renegotiations that the client asks for, with TLS 1.2.
 */

const assert = require('node:assert')
const { once } = require('node:events')

const certs = require('../support/certs')
const { usePeers } = require('../support/peers')
const { closed, connected, secured, take } = require('../support/sockets')
const { eachSubject } = require('../support/subjects')
const { uncaughtDuring } = require('../support/uncaught')

const { ca } = certs

// What checkServerIdentity may do to refuse.
const refusals = {
  'returns an error': () => new Error('refused'),
  'returns a promise': async () => {},
  'returns what cannot be looked at' () {
    return { get code () { throw new Error('thrown by a getter') } }
  },
  'throws an error' () { throw new Error('refused') },
  'throws what cannot be told' () { throw Object.create(null) }
}

describe('a renegotiation', () => {
  const peers = usePeers()

  eachSubject((subject) => {
    async function upgrade (server, options) {
      return secured(subject.connect({
        socket: await connected(server), ca, maxVersion: 'TLSv1.2', ...options
      }))
    }

    const renegotiate = (socket) => new Promise((resolve, reject) => {
      socket.renegotiate({}, (error) => error ? reject(error) : resolve())
    })

    it('is verified again, and what is written waits for it', async () => {
      const server = await peers.tlsServer(certs.server)
      let checks = 0
      const socket = await upgrade(server, { checkServerIdentity: () => { checks++ } })
      const done = renegotiate(socket)
      socket.write('ping')
      await done
      assert.strictEqual(String(await take(socket, 4)), 'ping')
      assert.strictEqual(checks >= 1, true)
      assert.strictEqual(socket.authorized, true)
      socket.destroy()
    })

    it('that the server answers with its end closes without an error', async () => {
      const server = await peers.tlsServer(certs.server, (socket) => {
        // Too many of them are an attack.
        socket.on('error', () => socket.destroy())
        socket.resume()
      })
      const socket = await upgrade(server)
      const events = []
      for (const event of ['end', 'error', 'close']) socket.on(event, () => events.push(event))
      socket.resume()
      const again = () => {
        if (!socket.destroyed && !events.includes('end')) socket.renegotiate({}, again)
      }
      again()
      await once(socket, 'close')
      assert.deepStrictEqual(events, ['end', 'close'])
    })

    // Row "renegotiations are verified" of docs/compat.md.
    for (const [what, refuse] of Object.entries(subject.native ? refusals : {})) {
      it(`ends the connection when checkServerIdentity ${what}`, async () => {
        const server = await peers.tlsServer(certs.server, (socket) => {
          socket.on('error', () => {})
          socket.pipe(socket)
        })
        let checks = 0
        const socket = await upgrade(server, {
          checkServerIdentity: () => ++checks === 1 ? undefined : refuse()
        })
        const seen = []
        socket.on('data', () => seen.push('data'))
        socket.on('secureConnect', () => seen.push('secureConnect'))
        const caught = await uncaughtDuring(async () => {
          const gone = closed(socket)
          socket.renegotiate({})
          socket.write('ping')
          await gone
        })
        assert.strictEqual(caught.length, /cannot/.test(what) ? 1 : 0)
        assert.deepStrictEqual(seen, [])
        assert.strictEqual(socket.authorized, false)
        assert.strictEqual(checks, 2)
      })
    }

    it('shows the certificate that setKeyCert() has set', async () => {
      const server = await peers.tlsServer({
        ...certs.server, ca, requestCert: true, rejectUnauthorized: false
      }, (socket) => {
        socket.on('data', () => {
          socket.write(socket.getPeerCertificate().subject?.CN ?? 'nobody')
        })
      })
      const socket = await upgrade(server)
      socket.setKeyCert({})
      socket.write('who?')
      assert.strictEqual(String(await take(socket, 6)), 'nobody')
      socket.setKeyCert(certs.clientA)
      await renegotiate(socket)
      socket.write('who?')
      // Row "setKeyCert() of a client" of docs/compat.md: node ignores it.
      assert.strictEqual(String(await take(socket, 6)),
        subject.native ? 'tester' : 'nobody')
      socket.destroy()
      await closed(socket)
    })

    it('is not for TLS 1.3', async () => {
      const server = await peers.tlsServer(certs.server)
      const socket = await upgrade(server, { maxVersion: 'TLSv1.3' })
      await assert.rejects(renegotiate(socket), (error) => {
        assert.strictEqual(error.code, 'ERR_SSL_WRONG_SSL_VERSION')
        return true
      })
      socket.destroy()
    })
  })
})
