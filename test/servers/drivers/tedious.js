'use strict'

const { once } = require('node:events')
const { promisify } = require('node:util')
const { Connection, Request } = require('tedious')

/** The only value of the answer to a statement. */
async function ask (connection, text) {
  let value
  await new Promise((resolve, reject) => {
    const request = new Request(text, (error) => error ? reject(error) : resolve())
    request.on('row', ([column]) => { value = column.value })
    connection.execSqlBatch(request)
  })
  return value
}

module.exports = {
  async open ({ host, port, user, password }, tls) {
    const connection = new Connection({
      server: host,
      authentication: { type: 'default', options: { userName: user, password } },
      options: {
        port,
        encrypt: true,
        serverName: tls.servername,
        cryptoCredentialsDetails: { ca: tls.ca },
        trustServerCertificate: false
      }
    })
    connection.on('error', () => {})
    await promisify(connection.connect).call(connection)
    return connection
  },

  answer: (connection) => ask(connection, 'select 6 * 7'),

  echo: async (connection, bytes) => ({
    back: await ask(connection, `echo ${bytes.toString('base64')}`)
  }),

  async close (connection) {
    const ended = once(connection, 'end')
    connection.close()
    await ended
  }
}
