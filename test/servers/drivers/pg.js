'use strict'

const pg = require('pg')

module.exports = {
  async open ({ host, port, user, password, database }, ssl, { extra } = {}) {
    const client = new pg.Client({
      host,
      port,
      user,
      password,
      database,
      ssl,
      enableChannelBinding: extra === 'channelBinding'
    })
    // Whoever does not listen gets an uncaught 'error' if the server goes.
    client.on('error', () => {})
    client.connection.once('authenticationSASLContinue', () => {
      client.mechanism = client.saslSession.mechanism
    })
    await client.connect()
    return client
  },

  async answer (client) {
    const { rows } = await client.query(
      'select ssl, version, 6 * 7 as answer from pg_stat_ssl ' +
      'where pid = pg_backend_pid()')
    return rows[0]
  },

  async echo (client, bytes) {
    const { rows } = await client.query(
      "select $1::bytea as back, encode(sha256($1::bytea), 'hex') as sum",
      [bytes])
    return rows[0]
  },

  close: (client) => client.end(),

  /** The mechanisms by which two connections authenticated. */
  async channelBinding (server, ssl, job) {
    const mechanisms = []
    for (let i = 0; i < 2; i++) {
      const client = await this.open(server, ssl, job)
      mechanisms.push(client.mechanism)
      await client.end()
    }
    return mechanisms
  }
}
