'use strict'

const { describeDriver } = require('../../support/driver-tests')
const { useServer } = require('../../support/server-process')

describe('Mosquitto, TLS from the first byte', () => {
  const server = useServer('mosquitto')
  const expected = { answer: 'six times seven' }

  describeDriver('mqtt', server, expected)
  describeDriver('mqtt', server, { ...expected, way: 'hook' })
})
