'use strict'

/** Small things that almost every test about sockets says. */

const { once } = require('node:events')
const net = require('node:net')

const opened = new Set()

/** A raw socket that is connected to the server. */
async function connected (server, options = {}) {
  const where = server.path
    ? { path: server.path }
    : { port: server.port, host: server.host ?? '127.0.0.1' }
  const socket = net.connect({ ...where, ...options })
  opened.add(socket)
  await once(socket, 'connect')
  return socket
}

/** Destroys what connected() opened, whatever state a test left it in. */
function abandonConnected () {
  for (const socket of opened) {
    socket.on('error', () => {})
    socket.destroy()
  }
  opened.clear()
}

/** Resolves on `secureConnect`, rejects on `error`. */
async function secured (socket) {
  await once(socket, 'secureConnect')
  return socket
}

/** Resolves with `hadError` on `close`; an error on the way is not a failure. */
function closed (socket) {
  return new Promise((resolve) => {
    socket.once('error', () => {})
    socket.once('close', resolve)
  })
}

/**
 * The error of a socket that must fail: resolves with the one `error` after
 * `close`, rejects when there was none or more than one.
 */
function failure (socket) {
  return new Promise((resolve, reject) => {
    const errors = []
    socket.on('error', (error) => errors.push(error))
    socket.once('close', () => {
      if (errors.length === 1) resolve(errors[0])
      else reject(new Error(`${errors.length} errors before 'close'`))
    })
  })
}

/** All that a stream delivers until its end. */
async function collect (stream) {
  const chunks = []
  for await (const chunk of stream) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks)
}

/** Resolves with the first `length` bytes that a flowing socket delivers. */
function take (socket, length) {
  return new Promise((resolve, reject) => {
    const chunks = []
    let have = 0
    const onData = (chunk) => {
      chunks.push(chunk)
      have += chunk.length
      if (have < length) return
      socket.removeListener('data', onData)
      resolve(Buffer.concat(chunks))
    }
    socket.on('data', onData)
    socket.once('error', reject)
    socket.once('close', () => {
      if (have < length) reject(new Error(`closed after ${have} bytes`))
    })
  })
}

module.exports = { abandonConnected, closed, collect, connected, failure, secured, take }
