'use strict'

const { RESP_TYPES, createClient } = require('redis')

module.exports = {
  async open ({ host, port, password }, tls) {
    const client = createClient({
      password,
      socket: { tls: true, host, port, reconnectStrategy: false, ...tls }
    })
    client.on('error', () => {})
    await client.connect()
    return client
  },

  answer: (client) => client.eval('return 6 * 7'),

  async echo (client, bytes) {
    await client.set('big', bytes)
    const back = await client
      .withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer }).get('big')
    await client.del('big')
    return { back }
  },

  close: (client) => client.close()
}
