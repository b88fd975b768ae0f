'use strict'

const { once } = require('node:events')
const net = require('node:net')

/** A port of 127.0.0.1 on which nobody listens: one that was free just now. */
async function closedPort () {
  const server = net.createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}

module.exports = { closedPort }
