'use strict'

const { once } = require('node:events')
const https = require('node:https')
const { buffer } = require('node:stream/consumers')

// node's own client. Its agent remembers sessions itself, and gives them to
// connect().
const agent = new https.Agent()

async function send ({ url, tls }, method, body) {
  const request = https.request(url, { agent, method, ...tls })
  request.end(body)
  const [response] = await once(request, 'response')
  return buffer(response)
}

module.exports = {
  open: async ({ host, port }, tls) => ({ url: `https://${host}:${port}/`, tls }),
  answer: async (client) => String(await send(client, 'GET')),
  echo: async (client, bytes) => ({ back: await send(client, 'POST', bytes) }),
  close: () => {}
}
