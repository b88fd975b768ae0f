'use strict'

const { once } = require('node:events')
const net = require('node:net')
const { clientHello } = require('./client-hello')

/**
 * A proxy in this process, for tests that want to see or to hold back what is on
 * the wire of many connections at once.
 *
 *   hellos   what each connection's ClientHello offers, in order of arrival
 *   hold()   what the server says from now on is kept back
 *   release()
 */
class WireTap {
  hellos = []
  #server
  #sockets = new Set()
  #held = null

  static async before ({ port }) {
    const tap = new WireTap()
    tap.#server = net.createServer({ allowHalfOpen: true },
      (client) => tap.#carry(client, port))
    tap.#server.listen(0, '127.0.0.1')
    await once(tap.#server, 'listening')
    tap.port = tap.#server.address().port
    return tap
  }

  #carry (client, port) {
    const upstream = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    for (const socket of [client, upstream]) {
      this.#sockets.add(socket)
      socket.setNoDelay(true)
      socket.on('error', () => {})
      socket.on('close', () => this.#sockets.delete(socket))
    }
    client.once('data', (chunk) => this.hellos.push(clientHello(chunk)))
    client.pipe(upstream)
    upstream.on('data', (chunk) => {
      if (this.#held === null) client.write(chunk)
      else this.#held.push(() => client.write(chunk))
    })
    upstream.on('end', () => client.end())
    client.on('close', () => upstream.destroy())
  }

  hold () {
    this.#held = []
  }

  release () {
    for (const write of this.#held) write()
    this.#held = null
  }

  async close () {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }
}

module.exports = { WireTap }
