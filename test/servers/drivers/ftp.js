'use strict'

const { once } = require('node:events')
const { promisify } = require('node:util')
const Client = require('ftp')

const call = (client, method, ...args) =>
  promisify(client[method]).call(client, ...args)

async function download (client, name) {
  const stream = await call(client, 'get', name)
  const chunks = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks)
}

module.exports = {
  async open ({ host, port }, secureOptions) {
    const client = new Client()
    client.connect({ host, port, secure: true, secureOptions })
    await once(client, 'ready')
    client.on('error', () => {})
    await call(client, 'cwd', '/pub')
    return client
  },

  async answer (client) {
    await call(client, 'put', Buffer.from('six times seven'), 'answer')
    const size = await call(client, 'size', 'answer')
    const files = await call(client, 'list')
    await call(client, 'delete', 'answer')
    return { size, files: files.map(({ name }) => name) }
  },

  async echo (client, bytes) {
    await call(client, 'put', bytes, 'big')
    const back = await download(client, 'big')
    await call(client, 'delete', 'big')
    return { back }
  },

  async close (client) {
    const closed = once(client, 'close')
    client.end()
    await closed
  }
}
