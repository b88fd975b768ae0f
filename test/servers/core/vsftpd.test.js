'use strict'

const assert = require('node:assert')
const { runDriver } = require('../../support/driver-process')
const { describeDriver, plain } = require('../../support/driver-tests')
const { useServer } = require('../../support/server-process')

// It demands that each data connection resumes the session of its control
// connection.
describe('vsftpd, upgraded after AUTH TLS', () => {
  const server = useServer('vsftpd')
  const expected = {
    answer: { size: 15, files: ['answer'] },
    opened: [5, 3, 3],
    resumed: [4, 3, 3]
  }

  describeDriver('basic-ftp', server, expected)
  describeDriver('basic-ftp', server, {
    ...expected, tls: { transport: 'stream' }, transport: 'stream'
  })

  it('accepts ten transfers in a row, each resumed', async () => {
    const report = await runDriver('basic-ftp', {
      server: plain(server),
      tls: { ca: String(server.ca) },
      extra: 'transfers'
    })
    assert.deepStrictEqual(report.extra,
      [0, 1, 2, 3, 4].map((i) => `content ${i}`))
    assert.strictEqual(report.resumed, 10)
    assert.strictEqual(report.status, 0)
  })
})
