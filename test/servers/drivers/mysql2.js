'use strict'

const net = require('node:net')
const mysql2 = require('mysql2/promise')
const { answer, echo } = require('../../support/mysql-queries')

const rowsOf = (client) => async (text, values) =>
  (await client.query(text, values))[0]

module.exports = {
  open ({ host, port, user, password, database }, ssl) {
    return mysql2.createConnection({
      // It asks for the name of the host, whatever else the options say; this
      // way that needs not to be one that can be resolved.
      stream: () => net.connect(port, '127.0.0.1'),
      host,
      port,
      user,
      password,
      database,
      ssl: { ...ssl, verifyIdentity: true }
    })
  },

  answer: (client) => answer(rowsOf(client)),
  echo: (client, bytes) => echo(rowsOf(client), bytes),
  close: (client) => client.end()
}
