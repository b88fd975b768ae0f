'use strict'

/**
 * A second upgrade of the same raw socket takes the transport over from the
 * first: some drivers renegotiate that way.
 */

const assert = require('node:assert')

const certs = require('../support/certs')
const { usePeers } = require('../support/peers')
const { closed, connected, secured, take } = require('../support/sockets')
const { eachSubject } = require('../support/subjects')

const { ca } = certs

describe('a second upgrade of the same raw socket', () => {
  const peers = usePeers()

  /**
   * TLS that starts anew when told "again", on the same plain socket. What the
   * first TLS server saw of the end is of no interest.
   */
  const server = () => peers.plainServer((socket, peer) => {
    const serve = (secure) => secure.on('data', (chunk) => {
      if (String(chunk) !== 'again') return secure.write(chunk)
      secure.removeAllListeners('data')
      secure.write('go', () => setImmediate(() => {
        peer.startTls({ ...peer.options.tls }, serve)
        peer.report('ready')
      }))
    })
    peer.startTls(peer.options.tls, serve)
  }, { tls: certs.server })

  eachSubject((subject) => {
    async function echo (socket, text) {
      socket.write(text)
      assert.strictEqual(String(await take(socket, text.length)), text)
    }

    it('is secure, and the first says nothing more', async () => {
      const peer = await server()
      const raw = await connected(peer)
      const first = await secured(subject.connect({ socket: raw, ca }))
      await echo(first, 'one')
      first.write('again')
      assert.strictEqual(String(await take(first, 2)), 'go')
      await peer.report()

      first.removeAllListeners()
      const later = []
      for (const event of ['data', 'end', 'error', 'secureConnect']) {
        first.on(event, () => later.push(event))
      }
      const second = await secured(subject.connect({ socket: raw, ca }))
      await echo(second, 'two')
      assert.strictEqual(raw.destroyed, false)
      assert.deepStrictEqual(later, [])
      // The contract says what becomes of the first; node leaves it lying.
      // Row "a second upgrade" of docs/compat.md.
      if (subject.native) assert.strictEqual(first.destroyed, true)
      second.destroy()
      await closed(raw)
    })
  })
})
