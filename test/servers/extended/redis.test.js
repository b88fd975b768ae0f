'use strict'

const { describeDriver } = require('../../support/driver-tests')
const { useServer } = require('../../support/server-process')

describe('Redis, TLS from the first byte', () => {
  const server = useServer('redis')
  const expected = { answer: 42 }

  describeDriver('ioredis', server, expected)
  describeDriver('ioredis', server, { ...expected, way: 'hook' })
  describeDriver('redis', server, expected)
})
