'use strict'

/**
 * Other code in the process has put something on Object.prototype. What node
 * survives, this package does; and no peer gets in by it.
 */

const assert = require('node:assert')
const { once } = require('node:events')

const certs = require('../support/certs')
const { usePeers } = require('../support/peers')
const { connected, failure } = require('../support/sockets')
const { eachSubject } = require('../support/subjects')

const { ca } = certs

// What would let in a peer whose certificate `ca` has not signed.
const gifts = {
  allowPartialTrustChain: true,
  authorized: true,
  ca: certs.otherCa,
  checkServerIdentity: () => undefined,
  rejectUnauthorized: false,
  session: Buffer.from([0x30, 0]),
  _secureEstablished: true
}

// What property descriptors would inherit.
const descriptors = { get: () => 'got', set () {}, value: 'value' }

describe('a polluted Object.prototype', () => {
  const peers = usePeers()

  async function withPolluted (name, value, body) {
    // eslint-disable-next-line no-extend-native
    Object.defineProperty(Object.prototype, name, {
      __proto__: null, configurable: true, enumerable: false, value, writable: true
    })
    try {
      return await body()
    } finally {
      delete Object.prototype[name]
    }
  }

  eachSubject((subject) => {
    for (const [name, value] of Object.entries({ ...gifts, ...descriptors })) {
      it(`lets no stranger in with "${name}", and friends still are`, async () => {
        const stranger = await peers.tlsServer(certs.fromOther)
        const friend = await peers.tlsServer(certs.server)
        const [bad, wrong, good] = [
          await connected(stranger), await connected(friend), await connected(friend)
        ]
        await withPolluted(name, value, async () => {
          const refused = await failure(subject.connect({ socket: bad, ca }))
          assert.match(refused.code, /^UNABLE_TO_/)
          const misnamed = await failure(subject.connect({
            socket: wrong, ca, servername: 'wrong.test'
          }))
          assert.strictEqual(misnamed.code, 'ERR_TLS_CERT_ALTNAME_INVALID')
          const socket = subject.connect({ socket: good, ca })
          await once(socket, 'secureConnect')
          assert.strictEqual(socket.authorized, true)
          assert.match(socket.getPeerX509Certificate().subject, /CN=/)
          socket.destroy()
          await once(socket, 'close')
        })
      })
    }
  })
})
