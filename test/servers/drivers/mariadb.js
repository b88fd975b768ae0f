'use strict'

const mysql2 = require('mariadb')
const { answer, echo } = require('../../support/mysql-queries')

const rowsOf = (client) => async (text, values) =>
  (await client.query(text, values))[0]

module.exports = {
  async open ({ host, port, user, password, database }, ssl) {
    const client = await mysql2.createConnection({
      host,
      port,
      user,
      password,
      database,
      ssl: { ...ssl, verifyIdentity: true }
    })
    return client
  },

  answer: (client) => answer(rowsOf(client)),
  echo: (client, bytes) => echo(rowsOf(client), bytes),
  close: (client) => client.end()
}
