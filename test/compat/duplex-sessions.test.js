'use strict'

const assert = require('node:assert')

const certs = require('../support/certs')
const { duplexOver } = require('../support/duplexes')
const { usePeers } = require('../support/peers')
const { closed, connected, secured, take } = require('../support/sockets')
const { subjects } = require('../support/subjects')

for (const subject of subjects().filter(({ kind }) => kind === 'eager')) {
  describe(`sessions over a Duplex that is no socket, with ${subject.name}`, () => {
    const peers = usePeers()

    // Row "automatic resumption" of docs/compat.md.
    // [what, how the raw socket is carried, options, whether it is resumed]
    const rows = [
      ['are left alone', duplexOver, {}, false],
      ['are used if that is wanted', duplexOver, { sessionReuse: true }, true],
      ['are another matter than over a socket', (raw) => raw, {}, true]
    ]
    for (const [what, carry, options, expected] of rows) {
      it(what, async () => {
        subject.tls.clear()
        const peer = await peers.tlsServer({
          ...certs.server, maxVersion: 'TLSv1.2'
        })
        const reused = []
        for (let i = 0; i < 2; i++) {
          const socket = await secured(subject.connect({
            socket: carry(await connected(peer)), ca: certs.ca, ...options
          }))
          reused.push(socket.isSessionReused())
          socket.write('ping')
          assert.strictEqual(String(await take(socket, 4)), 'ping')
          socket.destroy()
          await closed(socket)
        }
        assert.deepStrictEqual(reused, [false, expected])
      })
    }

    for (const [what, options] of [
      ['over a Duplex', { carry: duplexOver }],
      ['with sessionReuse: false', { carry: (raw) => raw, sessionReuse: false }]
    ]) {
      it(`an explicit one is used ${what}, whatever the certificate`, async () => {
        const peer = await peers.tlsServer({ ...certs.selfSigned, maxVersion: 'TLSv1.2' })
        const { carry, ...rest } = options
        const upgrade = async (session) => secured(subject.connect({
          socket: carry(await connected(peer)), rejectUnauthorized: false, session, ...rest
        }))
        const first = await upgrade(undefined)
        const session = first.getSession()
        first.destroy()
        await closed(first)
        const second = await upgrade(session)
        assert.strictEqual(second.isSessionReused(), true)
        second.destroy()
      })
    }
  })
}
