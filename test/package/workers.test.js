'use strict'

const assert = require('node:assert/strict')

const certs = require('../support/certs')
const { usePeers } = require('../support/peers')
const { sharedProject } = require('./support/project')

describe('twenty workers that come and go', function () {
  this.timeout(240_000)
  const peers = usePeers()
  let project
  before(async () => { project = await sharedProject() })

  for (const backend of ['native', 'node']) {
    it(`leave nothing behind (${backend} backend)`, async () => {
      const server = await peers.tlsServer(certs.server)
      const silent = await peers.plainServer((socket) => socket.resume())
      const seen = await project.json(['workers.js', String(server.port),
        String(silent.port), certs.file('ca.crt')],
      { env: { EAGER_TLS_BACKEND: backend } })
      const worker = { backend, echoed: 'worker', live: 4, handshaking: 1 }
      seen.workers.sort((a, b) => b.number - a.number)
      assert.deepEqual(seen, {
        echoed: 'main',
        workers: [
          { ...worker, failure: null, number: 18 },
          { ...worker, failure: 'as planned', number: 6 }
        ],
        leaked: 0,
        live: 0
      })
    })
  }
})
