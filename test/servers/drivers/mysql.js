'use strict'

const { promisify } = require('node:util')
const mysql = require('mysql')
const { answer, echo } = require('../../support/mysql-queries')

const queryOf = (client) => promisify(client.query).bind(client)

module.exports = {
  async open ({ host, port, user, password, database }, ssl) {
    const client = mysql.createConnection({
      host, port, user, password, database, ssl
    })
    try {
      await promisify(client.connect).call(client)
    } catch (error) {
      client.destroy()
      throw error
    }
    return client
  },

  answer: (client) => answer(queryOf(client)),
  echo: (client, bytes) => echo(queryOf(client), bytes),
  close: (client) => promisify(client.end).call(client)
}
