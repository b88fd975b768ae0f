'use strict'

const { describeDriver } = require('../../support/driver-tests')
const { useServer } = require('../../support/server-process')

describe('RabbitMQ, TLS from the first byte', () => {
  const server = useServer('rabbitmq')

  // With TLS 1.3, Erlang hands out tickets only if it is told to.
  const answer = 'six times seven'
  describeDriver('amqplib', server, { answer, resumed: [0, 0, 0] })
  describeDriver('amqplib', server, {
    answer, tls: { maxVersion: 'TLSv1.2' }, resumed: [0, 1, 1]
  })
})
