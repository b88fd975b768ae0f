'use strict'

const assert = require('node:assert')
const { runDriver } = require('../../support/driver-process')
const { plain } = require('../../support/driver-tests')
const { useScripted } = require('../../support/scripted-server')

describe('SCRAM with channel binding, on a resumed connection', () => {
  const server = useScripted('scram')

  it('binds to the certificate of the first one', async () => {
    const report = await runDriver('pg', {
      server: plain(server),
      tls: { ca: String(server.ca) },
      extra: 'channelBinding'
    })
    assert.strictEqual(report.error, undefined)
    assert.deepStrictEqual(report.extra,
      ['SCRAM-SHA-256-PLUS', 'SCRAM-SHA-256-PLUS'])
    assert.strictEqual(report.resumed, 1)
    assert.strictEqual(report.status, 0)
  })
})
