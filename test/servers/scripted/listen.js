'use strict'

const { once } = require('node:events')
const fs = require('node:fs')

const [certFile, keyFile] = process.argv.slice(2)

/** What the server proves its name with. */
const identity = {
  cert: fs.readFileSync(certFile), key: fs.readFileSync(keyFile)
}

/**
 * Listens with each of the servers, tells the parent their ports and ends with
 * it.
 *
 * @param {Record<string, net.Server>} servers by the name of the port
 */
async function listen (servers) {
  process.once('disconnect', () => process.exit())
  const ports = {}
  for (const [name, server] of Object.entries(servers)) {
    server.listen(0, '127.0.0.1')
    const tcp = server.server ?? server
    await once(tcp, 'listening')
    ports[name] = tcp.address().port
  }
  process.send(ports)
}

module.exports = { identity, listen }
