'use strict'

const { describeDriver } = require('../../support/driver-tests')
const { useScripted } = require('../../support/scripted-server')

const answer = 'six times seven'
const proxied = { answer: `${answer}, through the proxy`, proxy: true }

describe('HTTPS and WebSocket', () => {
  const server = useScripted('web')

  describeDriver('https', server, {
    answer, opened: [2, 1, 1], resumed: [1, 1, 1]
  })
  describeDriver('undici', server, { answer })
  describeDriver('undici', server, { answer, way: 'hook' })
  describeDriver('ws', server, { answer })
  describeDriver('ws', server, { answer, way: 'hook' })

  describe('through a proxy, by CONNECT', () => {
    describeDriver('undici', server, proxied)
    describeDriver('https-proxy-agent', server, proxied)
    describeDriver('https-proxy-agent', server, { ...proxied, way: 'import' })
  })
})
