'use strict'

const { connect } = require('nats')

/** Sends to a subject that it subscribes to itself, and waits for it. */
async function roundTrip (client, bytes) {
  const subscription = client.subscribe('test', { max: 1 })
  client.publish('test', bytes)
  const { value } = await subscription[Symbol.asyncIterator]().next()
  return Buffer.from(value.data)
}

module.exports = {
  open ({ host, port, user, password }, tls) {
    return connect({
      servers: `${host}:${port}`, user, pass: password, tls, reconnect: false
    })
  },

  answer: async (client) =>
    String(await roundTrip(client, Buffer.from('six times seven'))),

  echo: async (client, bytes) => ({ back: await roundTrip(client, bytes) }),

  close: (client) => client.close()
}
