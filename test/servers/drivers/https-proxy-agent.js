'use strict'

const { once } = require('node:events')
const https = require('node:https')
const { buffer } = require('node:stream/consumers')

async function send ({ agent, url, tls }, method, body) {
  const request = https.request(url, { agent, method, ...tls })
  request.end(body)
  const [response] = await once(request, 'response')
  return buffer(response)
}

module.exports = {
  async open ({ host, port, ports }, tls) {
    const { HttpsProxyAgent } = await import('https-proxy-agent')
    const agent = new HttpsProxyAgent(`http://${host}:${ports.PROXY_PORT}`,
      { keepAlive: true })
    return { agent, url: `https://${host}:${port}/`, tls }
  },

  answer: async (client) => String(await send(client, 'GET')),
  echo: async (client, bytes) => ({ back: await send(client, 'POST', bytes) }),
  close: ({ agent }) => agent.destroy()
}
