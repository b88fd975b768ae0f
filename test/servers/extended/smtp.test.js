'use strict'

const { createHash } = require('node:crypto')
const { describeDriver } = require('../../support/driver-tests')
const { useScripted } = require('../../support/scripted-server')

const answer = createHash('sha256').update('six times seven').digest('hex')

describe('SMTP', () => {
  const server = useScripted('smtp')

  describeDriver('nodemailer', server, { answer })
  describeDriver('nodemailer', server, { answer, implicit: true })
  // It sends one mail over a connection that it is given.
  describeDriver('nodemailer', server, { answer, way: 'hook', megabytes: 0 })
})
