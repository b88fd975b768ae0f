'use strict'

const { describeDriver } = require('../../support/driver-tests')
const { useScripted } = require('../../support/scripted-server')

describe('SQL Server, whose handshake travels in TDS packets', () => {
  const server = useScripted('tds')

  describeDriver('tedious', server, {
    answer: 42,
    // Over a Duplex that the driver makes, see lib/may-resume.js; it closes the
    // connection below that, and nothing above.
    transport: 'stream',
    resumed: [0, 0, 0],
    collect: true
  })
})
