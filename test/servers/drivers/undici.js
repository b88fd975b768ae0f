'use strict'

const { Agent, ProxyAgent, request } = require('undici')

/** The driver's own hook: a function that makes connections. */
function connectorOf (connect, tls) {
  return ({ hostname, port }, callback) => {
    const socket = connect({ host: hostname, port, ...tls })
    const fail = (error) => callback(error, null)
    socket.once('error', fail)
    socket.once('secureConnect', () => {
      socket.removeListener('error', fail)
      callback(null, socket)
    })
  }
}

function dispatcherOf ({ host, ports, proxy }, tls, job) {
  const connections = 1
  if (proxy) {
    const uri = `http://${host}:${ports.PROXY_PORT}`
    return new ProxyAgent({ uri, requestTls: tls, connections })
  }
  const connect = job.way === 'hook'
    ? connectorOf(require(job.package).connect, tls)
    : tls
  return new Agent({ connect, connections })
}

module.exports = {
  open (server, tls, job) {
    const { host, port } = server
    return { dispatcher: dispatcherOf(server, tls, job), url: `https://${host}:${port}/` }
  },

  async answer ({ dispatcher, url }) {
    const { body } = await request(url, { dispatcher })
    return body.text()
  },

  async echo ({ dispatcher, url }, bytes) {
    const { body } = await request(url, { dispatcher, method: 'POST', body: bytes })
    return { back: Buffer.from(await body.arrayBuffer()) }
  },

  close: ({ dispatcher }) => dispatcher.close()
}
