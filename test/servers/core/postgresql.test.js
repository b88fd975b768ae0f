'use strict'

const assert = require('node:assert')
const { runDriver } = require('../../support/driver-process')
const { describeDriver, plain } = require('../../support/driver-tests')
const { useServer } = require('../../support/server-process')

describe('PostgreSQL, upgraded after SSLRequest', () => {
  const server = useServer('postgresql')
  const expected = {
    answer: { ssl: true, version: 'TLSv1.3', answer: 42 },
    // It switches OpenSSL's session cache and tickets off.
    resumed: [0, 0, 0]
  }

  // pg asks for the name of the host unless that is an address.
  const pg = {
    ...expected, wrongName: { host: '127.0.0.1', servername: 'hostb.test' }
  }
  describeDriver('pg', server, pg)
  describeDriver('pg', server, {
    ...pg, tls: { transport: 'stream' }, transport: 'stream'
  })
  describeDriver('postgres', server, expected)
  describeDriver('postgres', server, { ...expected, way: 'import' })

  it('lets pg bind its password exchange to the channel', async () => {
    const report = await runDriver('pg', {
      server: plain(server),
      tls: { ca: String(server.ca) },
      extra: 'channelBinding'
    })
    assert.deepStrictEqual(report.extra,
      ['SCRAM-SHA-256-PLUS', 'SCRAM-SHA-256-PLUS'])
    assert.strictEqual(report.status, 0)
  })
})
