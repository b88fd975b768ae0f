'use strict'

const mariadb = require('mariadb')
const { answer, echo } = require('../../support/mysql-queries')

module.exports = {
  open ({ host, port, user, password, database }, ssl) {
    return mariadb.createConnection({
      host, port, user, password, database, ssl
    })
  },

  answer: (client) => answer((...args) => client.query(...args)),
  echo: (client, bytes) => echo((...args) => client.query(...args), bytes),
  close: (client) => client.end()
}
