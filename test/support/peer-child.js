'use strict'

/**
 * The child's side of peer-process.js: makes servers of three kinds and tells
 * the parent what they saw.
 *
 *   tls    tls.createServer (peer-tls.js)
 *   plain  a scripted plaintext protocol, TLS when the script says (peer-plain.js)
 *   proxy  a byte proxy (peer-proxy.js)
 *
 * Each kind is `(options, handler, emit, control) -> { server, sockets, ask }`.
 * Handlers arrive as source text and are run in this process: they see their
 * parameters, `require` through `peer.require`, and nothing else.
 */

const { EventEmitter } = require('node:events')
const vm = require('node:vm')

const kinds = {
  tls: require('./peer-tls'),
  plain: require('./peer-plain'),
  proxy: require('./peer-proxy')
}

const servers = new Map()
let nextServer = 1

function listen ({ kind, options, handler }) {
  const id = nextServer++
  const control = new EventEmitter()
  control.setMaxListeners(0)
  const emit = (event, value) => {
    if (process.connected) process.send({ server: id, event, value })
  }
  const run = handler === null ? null : vm.runInThisContext(`(${handler})`)
  const entry = kinds[kind](options, run, emit, control)
  entry.control = control
  entry.sockets = new Set()
  entry.server.on('connection', (socket) => {
    entry.sockets.add(socket)
    socket.once('close', () => entry.sockets.delete(socket))
  })
  servers.set(id, entry)

  return new Promise((resolve, reject) => {
    entry.server.once('error', reject)
    const where = options.path
      ? { path: options.path }
      : { port: 0, host: options.host ?? '127.0.0.1' }
    entry.server.listen(where, () => {
      const address = entry.server.address()
      resolve({ id, address: options.path ? { path: address } : address })
    })
  })
}

const operations = {
  listen,

  tell ({ server, name, value }) {
    return servers.get(server).control.emit(name, value)
  },

  ask ({ server, question }) {
    return servers.get(server).ask(question)
  },

  close ({ server }) {
    const entry = servers.get(server)
    servers.delete(server)
    entry.control.emit('closing')
    for (const socket of entry.sockets) socket.destroy()
    return new Promise((resolve) => entry.server.close(() => resolve()))
  }
}

process.on('message', async ({ id, op, body }) => {
  try {
    process.send({ id, value: await operations[op](body) })
  } catch (error) {
    process.send({ id, error: error.stack })
  }
})

process.on('disconnect', () => process.exit())
// The runner may be gone before the channel says so.
process.on('error', () => process.exit())
