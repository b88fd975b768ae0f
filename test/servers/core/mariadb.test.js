'use strict'

// The server's own counter (Ssl_sessions_reused) stays 0 for all clients, those
// of node:tls included: what the client saw is what is asserted.

const { describeDriver } = require('../../support/driver-tests')
const { useServer } = require('../../support/server-process')

describe('MariaDB, upgraded after its greeting', () => {
  const server = useServer('mariadb')
  const expected = { answer: { answer: 42, version: 'TLSv1.3' } }

  describeDriver('mysql2', server, {
    ...expected, wrongName: { host: 'hostb.test' }
  })
  describeDriver('mariadb', server, expected)
  describeDriver('mariadb', server, {
    ...expected, tls: { transport: 'stream' }, transport: 'stream'
  })
})
