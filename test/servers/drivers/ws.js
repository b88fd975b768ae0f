'use strict'

const { once } = require('node:events')
const { WebSocket } = require('ws')

async function roundTrip (client, data) {
  client.send(data)
  const [back] = await once(client, 'message')
  return back
}

module.exports = {
  async open ({ host, port }, tls, job) {
    const client = new WebSocket(`wss://${host}:${port}/`, {
      ...tls,
      ...(job.way === 'hook' && {
        // The driver's own hook: a function that makes the connection.
        createConnection: ({ host, port }) =>
          require(job.package).connect({ host, port, ...tls })
      })
    })
    await once(client, 'open')
    return client
  },

  answer: async (client) => String(await roundTrip(client, 'six times seven')),
  echo: async (client, bytes) => ({ back: await roundTrip(client, bytes) }),

  async close (client) {
    const closed = once(client, 'close')
    client.close()
    await closed
  }
}
