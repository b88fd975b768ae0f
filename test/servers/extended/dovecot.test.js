'use strict'

const { describeDriver } = require('../../support/driver-tests')
const { useServer } = require('../../support/server-process')

// Each connection is served by a process of its own, with its own ticket keys:
// nothing can be resumed.
const resumed = [0, 0, 0]

describe('dovecot', () => {
  const server = useServer('dovecot')

  describe('IMAP', () => {
    for (const implicit of [false, true]) {
      describeDriver('imapflow', server, { answer: 'answer', implicit, resumed })
      describeDriver('imap', server, {
        answer: 'six times seven', implicit, resumed
      })
    }
  })

  describe('POP3', () => {
    describeDriver('node-pop3', server, {
      answer: 'six times seven', opened: [3, 2, 2], resumed
    })
    describeDriver('stls-by-hand', server, {
      answer: '+OK', megabytes: 0, resumed
    })
  })
})
