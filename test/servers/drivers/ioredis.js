'use strict'

const { once } = require('node:events')
const { AbstractConnector, Redis } = require('ioredis')

/** The driver's own hook: a connector that uses the package's connect(). */
function connectorOf (connect, { host, port }, tls) {
  return class extends AbstractConnector {
    async connect () {
      this.stream = connect({ host, port, ...tls })
      await once(this.stream, 'secureConnect')
      return this.stream
    }
  }
}

module.exports = {
  async open (server, tls, job) {
    const { host, port, password } = server
    const client = new Redis({
      host,
      port,
      password,
      lazyConnect: true,
      retryStrategy: null,
      ...(job.way === 'hook'
        ? { Connector: connectorOf(require(job.package).connect, server, tls) }
        : { tls })
    })
    // What connect() rejects with does not say why.
    let why = null
    client.on('error', (error) => { why ??= error })
    try {
      await client.connect()
    } catch (error) {
      throw why ?? error
    }
    return client
  },

  answer: (client) => client.eval('return 6 * 7', 0),

  async echo (client, bytes) {
    await client.set('big', bytes)
    const back = await client.getBuffer('big')
    await client.del('big')
    return { back }
  },

  close: (client) => client.quit()
}
