'use strict'

/**
 * A peer that asks for answers and does not read them.
 */

const assert = require('node:assert')
const { once } = require('node:events')
const fs = require('node:fs')
const net = require('node:net')
const os = require('node:os')
const path = require('node:path')

const certs = require('../support/certs')
const { usePeers } = require('../support/peers')
const { RecordWriter } = require('../support/record-writer')
const { connected, take } = require('../support/sockets')
const { subjects } = require('../support/subjects')

// Their answers are more than a socket of the system and the core hold.
const KEY_UPDATES = 40000

/** Resolves when `measure` has not changed for many turns of the event loop. */
async function settled (measure) {
  let last
  for (let turns = 0; turns < 300; turns++) {
    await new Promise(setImmediate)
    const now = measure()
    if (now !== last) turns = 0
    last = now
  }
}

for (const subject of subjects().filter(({ native }) => native)) {
  describe(`a flood of KeyUpdates, with ${subject.name},`, () => {
    const peers = usePeers()
    let dir
    let front

    beforeEach(() => {
      dir = fs.mkdtempSync(path.join(os.tmpdir(), 'eager-tls-'))
    })

    afterEach(async () => {
      front.close()
      await once(front, 'close')
      fs.rmSync(dir, { recursive: true })
    })

    // Row "answers that the peer does not read" of docs/compat.md.
    it('is not read on while the answers are not read', async () => {
      const server = await peers.sServer(certs.server, [
        '-tls1_3', '-num_tickets', '0', '-ciphersuites', 'TLS_AES_128_GCM_SHA256'
      ])
      const where = { path: path.join(dir, 'front') }
      let peer
      front = net.createServer((client) => {
        const upstream = net.connect(server.port, '127.0.0.1')
        peer = client
        client.pipe(upstream)
        upstream.pipe(client)
        client.on('close', () => upstream.destroy())
      }).listen(where)
      await once(front, 'listening')

      const raw = await connected(where)
      const socket = subject.connect({ socket: raw, ca: certs.ca })
      let secret
      socket.on('keylog', (line) => {
        const found = /^SERVER_TRAFFIC_SECRET_0 \S+ (\S+)/.exec(String(line))
        if (found) secret = Buffer.from(found[1], 'hex')
      })
      await once(socket, 'secureConnect')
      peer.unpipe()
      peer.pause()
      const writer = new RecordWriter(secret)
      const flood = Array.from({ length: KEY_UPDATES }, () => writer.keyUpdate())
      const bytes = Buffer.concat(flood).length
      const before = raw.bytesRead
      peer.write(Buffer.concat(flood))
      peer.write(writer.data('done'))

      await settled(() => raw.bytesRead)
      assert.notStrictEqual(raw.bytesRead, before)
      assert.strictEqual(raw.bytesRead - before < bytes, true)
      assert.strictEqual(raw.writableLength < 2 ** 20, true)

      peer.resume()
      assert.strictEqual(String(await take(socket, 4)), 'done')
      assert.strictEqual(raw.bytesRead - before > bytes, true)
      const gone = once(peer, 'close')
      socket.destroy()
      await gone
    })
  })
}
