'use strict'

const { once } = require('node:events')
const net = require('node:net')
const { clientHello } = require('./client-hello')

/**
 * A proxy in this process, for tests that want to see or to hold back what is on
 * the wire of many connections at once.
 *
 *   hellos   what each connection's ClientHello offers, in order of arrival
 *   port     where it listens
 *   target   the port that new connections are carried to
 *   refuse   called with (socket, hello) instead of carrying a new connection
 *            that wants to resume a session; null: nothing of that kind
 *   hold()   what the server says from now on is kept back
 *   release()
 */
class WireTap {
  hellos = []
  refuse = null
  #server
  #sockets = new Set()
  #held = null

  /**
   * @param {{ port: number }} server
   * @param {object} [listen] where, as net.Server.listen() takes it
   */
  static async before ({ port }, listen = { port: 0, host: '127.0.0.1' }) {
    const tap = new WireTap()
    tap.target = port
    tap.#server = net.createServer({ allowHalfOpen: true },
      (client) => tap.#take(client))
    tap.#server.listen(listen)
    await once(tap.#server, 'listening')
    const { address, port: own } = tap.#server.address()
    Object.assign(tap, { host: address, port: own })
    return tap
  }

  #watch (socket) {
    this.#sockets.add(socket)
    socket.setNoDelay(true)
    socket.on('error', () => {})
    socket.on('close', () => this.#sockets.delete(socket))
  }

  #take (client) {
    this.#watch(client)
    client.once('data', (chunk) => {
      const hello = clientHello(chunk)
      this.hellos.push(hello)
      const resumes = hello.identities.length > 0 || Boolean(hello.ticket)
      if (resumes && this.refuse) this.refuse(client, hello)
      else this.#carry(client, chunk)
    })
  }

  #carry (client, first) {
    const upstream = net.connect({
      port: this.target, host: '127.0.0.1', allowHalfOpen: true
    })
    this.#watch(upstream)
    upstream.write(first)
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
