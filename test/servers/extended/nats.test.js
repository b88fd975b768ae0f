'use strict'

const { describeDriver } = require('../../support/driver-tests')
const { useServer } = require('../../support/server-process')

describe('NATS, upgraded after its greeting', () => {
  const server = useServer('nats')

  describeDriver('nats', server, { answer: 'six times seven' })
})
