'use strict'

const assert = require('node:assert')

const certs = require('../support/certs')
const { usePeers } = require('../support/peers')
const { closed, connected, failure, secured } = require('../support/sockets')
const { subjects } = require('../support/subjects')

const { ca } = certs

for (const subject of subjects().filter(({ native }) => native)) {
  const { connect, name, transport, tls } = subject
  const counts = () => tls.stats().connections

  describe(`the counts of connections, with ${name}`, () => {
    const peers = usePeers()
    let earlier
    beforeEach(() => { earlier = counts() })

    it('tell those opened, by their transport, and those in the handshake', async () => {
      const peer = await peers.tlsServer(certs.server)
      const raws = [await connected(peer), await connected(peer)]
      const sockets = raws.map((socket) => connect({ socket, ca }))
      assert.strictEqual(counts().handshaking, earlier.handshaking + 2)
      await Promise.all(sockets.map(secured))

      const later = counts()
      assert.strictEqual(later.opened, earlier.opened + 2)
      assert.strictEqual(later[transport], earlier[transport] + 2)
      assert.strictEqual(later.fd + later.stream, earlier.fd + earlier.stream + 2)
      assert.strictEqual(later.handshaking, earlier.handshaking)
      for (const socket of sockets) {
        socket.destroy()
        await closed(socket)
      }
      assert.strictEqual(counts().opened, later.opened)
    })

    it('forget a handshake that failed or was given up', async () => {
      const peer = await peers.tlsServer(certs.server)
      const refused = connect({ socket: await connected(peer), ca: certs.otherCa })
      assert.match((await failure(refused)).code, /VERIFY|SELF_SIGNED/)
      const left = connect({ socket: await connected(peer), ca })
      left.destroy()
      await closed(left)
      assert.strictEqual(counts().handshaking, earlier.handshaking)
      assert.strictEqual(counts().opened, earlier.opened + 2)
    })
  })
}
