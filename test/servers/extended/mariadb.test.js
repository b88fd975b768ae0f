'use strict'

const assert = require('node:assert')
const certs = require('../../support/certs')
const { runDriver } = require('../../support/driver-process')
const { plain } = require('../../support/driver-tests')
const { useServer } = require('../../support/server-process')

// mysql makes its TLS socket with `new tls.TLSSocket()`, which is node's own:
// the package takes part with the context alone.
describe('MariaDB, with mysql, which calls no connect()', () => {
  const server = useServer('mariadb')

  it('refuses when another CA is trusted', async () => {
    const report = await runDriver('mysql', {
      server: plain(server), refusals: [{ tls: { ca: String(certs.otherCa) } }]
    })
    assert.match(report.refusals[0], /HANDSHAKE_SSL_ERROR/)
    assert.strictEqual(report.status, 0)
  })

  it('works as without the package', async () => {
    const report = await runDriver('mysql', {
      server: plain(server),
      tls: { ca: String(server.ca) },
      connections: 3,
      megabytes: 5
    })
    assert.strictEqual(report.error, undefined)
    assert.strictEqual(report.output, '')
    assert.strictEqual(report.status, 0)
    const { sent, back, server: sum } = report.connections[0].echo
    assert.deepStrictEqual([back, sum], [sent, sent])
    for (const { answer, opened, fallbacks } of report.connections) {
      assert.deepStrictEqual(answer, { answer: 42, version: 'TLSv1.3' })
      assert.strictEqual(opened, 0)
      assert.strictEqual(fallbacks, 0)
    }
  })
})
