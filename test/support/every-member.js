'use strict'

/**
 * A child process of prototype-chain.test.js: uses every member that a TLS
 * socket has or inherits from node's classes for sockets, each on a socket of
 * its own that is fresh, open or closed. What is reached that should not be
 * ends the process; what it prints says what has happened:
 *
 *   { "getCipher": { "fresh": "returned", "closed": "threw ERR_..." } }
 */

const { once } = require('node:events')
const net = require('node:net')
const tls = require('node:tls')

const eager = require('../..')
const certs = require('./certs')

const transport = process.env.EAGER_TLS_TEST_TRANSPORT

const chain = [
  eager.TLSSocket.prototype, tls.TLSSocket.prototype, net.Socket.prototype
]

/* What only streams call is called as they do. */
const done = () => {}
const ARGUMENTS = {
  _destroy: [null, done],
  _final: [done],
  _write: ['x', 'utf8', done],
  _writeGeneric: [false, 'x', 'utf8', done],
  _writev: [[{ chunk: 'x', encoding: 'utf8' }], done]
}
const NONSENSE = [{}, [], done, 'x']

/** name or symbol -> how to use it on a socket */
function members () {
  const found = new Map()
  for (const proto of chain.toReversed()) {
    for (const name of Reflect.ownKeys(proto)) {
      if (name === 'constructor') continue
      const { value } = Object.getOwnPropertyDescriptor(proto, name)
      found.set(name, typeof value === 'function'
        ? (socket, args) => socket[name](...args)
        : (socket) => socket[name])
    }
  }
  return found
}

async function makeSocket (state, port) {
  const raw = net.connect(port, '127.0.0.1')
  await once(raw, 'connect')
  const options = { socket: raw, ca: certs.ca, transport }
  if (state === 'fresh') {
    const socket = new eager.TLSSocket(raw, options)
    socket.on('error', () => {})
    return { raw, socket }
  }
  const socket = eager.connect(options)
  socket.on('error', () => {})
  await once(socket, 'secureConnect')
  if (state === 'closed') {
    socket.destroy()
    await once(socket, 'close')
  }
  return { raw, socket }
}

async function outcome (use, state, args, port) {
  const { raw, socket } = await makeSocket(state, port)
  let result = 'returned'
  try {
    use(socket, args)
  } catch (error) {
    result = `threw ${error.code ?? error.message}`
  }
  // Whatever it has put off happens now.
  for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate)
  socket.destroy()
  raw.destroy()
  return result
}

async function main () {
  const server = tls.createServer(certs.server, (socket) => {
    socket.on('error', () => {})
    socket.resume()
  })
  server.on('tlsClientError', () => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  const results = {}
  for (const [name, use] of members()) {
    const result = results[name.description ?? name] = {}
    for (const state of ['fresh', 'open', 'closed']) {
      const args = ARGUMENTS[name]
      result[state] = await outcome(use, state, args ?? [], port)
      result[`${state}, with nonsense`] =
        await outcome(use, state, args ?? NONSENSE, port)
    }
  }
  server.close()
  while (eager.stats().connections.live > 0) await new Promise(setImmediate)
  process.stdout.write(JSON.stringify(results))
}

process.on('uncaughtException', (error) => {
  process.stderr.write(`uncaught: ${error.stack}\n`)
  process.exit(1)
})

main()
