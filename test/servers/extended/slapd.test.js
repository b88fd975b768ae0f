'use strict'

const { describeDriver } = require('../../support/driver-tests')
const { useServer } = require('../../support/server-process')

// Debian builds it with GnuTLS, and it hands out no tickets.
describe('OpenLDAP, upgraded by StartTLS', () => {
  const server = useServer('slapd')
  const expected = { answer: 500, resumed: [0, 0, 0] }

  describeDriver('ldapts', server, expected)
  describeDriver('ldapjs', server, expected)
})
