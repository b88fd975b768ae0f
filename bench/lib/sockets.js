'use strict'

/**
 * What the cases do with connections. No promise helpers from node here: the
 * same few listeners for every contender and runtime.
 */

const net = require('node:net')

/**
 * Makes `open(more)`, which connects, upgrades and checks what came out.
 *
 * @param {object} settings of the client process, see client.js
 * @param {(raw: net.Socket, more: object) => net.Socket} upgrade
 */
function createOpen ({ port, plain, resume, warm }, upgrade) {
  return function open (more) {
    return new Promise((resolve, reject) => {
      const raw = net.connect({ port, host: '127.0.0.1', noDelay: true })
      raw.once('error', reject)
      raw.once('connect', () => {
        if (plain) {
          resolve(raw)
          return
        }
        const socket = upgrade(raw, more)
        socket.once('error', reject)
        socket.once('secureConnect', () => {
          const fault = findFault(socket, resume, warm.done)
          if (fault === null) resolve(socket)
          else reject(new Error(fault))
        })
      })
    })
  }
}

/** While it warms up, a contender that resumes needs a full handshake first. */
function findFault (socket, resume, warm) {
  if (socket.authorized !== true) {
    return `not authorized: ${socket.authorizationError}`
  }
  const reused = socket.isSessionReused()
  if (reused && !resume) return 'resumed, which was not asked for'
  if (!reused && resume && warm) return 'not resumed'
  return null
}

/** Writes `request` and resolves with as many bytes as the answer is to have. */
function exchange (socket, request, length) {
  return new Promise((resolve, reject) => {
    const chunks = []
    let received = 0
    const fail = (error) => reject(error ?? new Error('closed early'))
    socket.on('error', fail)
    socket.on('close', fail)
    socket.on('data', function onData (chunk) {
      chunks.push(chunk)
      received += chunk.length
      if (received < length) return
      socket.removeListener('data', onData)
      socket.removeListener('close', fail)
      socket.removeListener('error', fail)
      resolve(chunks.length === 1 ? chunk : Buffer.concat(chunks))
    })
    socket.write(request)
  })
}

const ping = Buffer.from('echo: thirty-two bytes are enough')

/** One small round trip, checked. */
async function pingPong (socket) {
  const answer = await exchange(socket, ping, ping.length)
  if (!ping.equals(answer)) throw new Error('the echo differs')
}

/** Ends a connection and resolves when it is closed. */
function close (socket) {
  return new Promise((resolve, reject) => {
    socket.once('error', reject)
    socket.once('close', () => resolve())
    socket.resume()
    socket.end()
  })
}

/** Runs `task(i)` for i < count, `width` of them at any time. */
async function parallel (count, width, task) {
  let next = 0
  const lane = async () => {
    while (next < count) await task(next++)
  }
  await Promise.all(Array.from({ length: Math.min(count, width) }, lane))
}

module.exports = { close, createOpen, exchange, parallel, pingPong }
