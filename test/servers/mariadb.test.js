'use strict'

const { describeDriver } = require('../support/driver-tests')
const { useServer } = require('../support/server-process')

describe('MariaDB, upgraded after its greeting', () => {
  const server = useServer('mariadb')
  const expected = { answer: { answer: 42, version: 'TLSv1.3' } }

  for (const driver of ['mysql2', 'mariadb']) {
    describeDriver(driver, server, expected)
    describeDriver(driver, server, {
      ...expected, tls: { transport: 'stream' }, transport: 'stream'
    })
  }
})
